//! Where books are lent and given back.
mod error;

use crate::catalogue::{Book, Catalogue};
pub use error::LoanError;
use std::collections::BTreeMap;
use std::fmt::Write;

pub struct Desk {
    catalogue: Catalogue,
    limit: usize,
    loans: BTreeMap<String, Vec<u32>>,
}

impl Desk {
    pub fn new(catalogue: Catalogue, limit: usize) -> Self {
        Desk {
            catalogue,
            limit,
            loans: BTreeMap::new(),
        }
    }

    pub fn lend(&mut self, who: &str, id: u32) -> Result<Book, LoanError> {
        let loans = self.loans.entry(who.to_string()).or_default();
        if loans.len() >= self.limit {
            return Err(LoanError::TooMany(self.limit));
        }
        let (book, copies) = self.catalogue.get_mut(id).ok_or(LoanError::Unknown(id))?;
        *copies = copies
            .checked_sub(1)
            .ok_or_else(|| LoanError::NoneLeft(book.clone()))?;
        loans.push(id);
        Ok(book.clone())
    }

    pub fn give_back(&mut self, who: &str, id: u32) -> bool {
        let Some(loans) = self.loans.get_mut(who) else {
            return false;
        };
        let Some(at) = loans.iter().position(|&l| l == id) else {
            return false;
        };
        loans.remove(at);
        if let Some((_, copies)) = self.catalogue.get_mut(id) {
            *copies += 1;
        }
        true
    }

    pub fn report(&self) -> String {
        let mut out = String::new();
        for (id, book, copies) in self.catalogue.iter() {
            writeln!(out, "{id} {book}: {copies} left").expect("writing to a String");
        }
        for (who, loans) in &self.loans {
            writeln!(out, "{who} has {loans:?}").expect("writing to a String");
        }
        out
    }
}
