//! What the library owns.
use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Clone)]
pub struct Book {
    title: String,
}

impl Book {
    pub fn new(title: &str) -> Self {
        Book {
            title: title.to_string(),
        }
    }
}

impl fmt::Display for Book {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "«{}»", self.title)
    }
}

#[derive(Default)]
pub struct Catalogue {
    entries: BTreeMap<u32, (Book, u32)>,
}

impl Catalogue {
    pub fn add(&mut self, book: Book, copies: u32) -> u32 {
        let id = self.entries.len() as u32 + 1;
        self.entries.insert(id, (book, copies));
        id
    }

    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut (Book, u32)> {
        self.entries.get_mut(&id)
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, &Book, u32)> {
        self.entries.iter().map(|(id, (book, n))| (*id, book, *n))
    }
}
