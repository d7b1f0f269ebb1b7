//! Why a loan is refused.
use crate::catalogue::Book;
use std::fmt;

#[derive(Debug)]
pub enum LoanError {
    Unknown(u32),
    NoneLeft(Book),
    TooMany(usize),
}

impl fmt::Display for LoanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoanError::Unknown(id) => write!(f, "there is no book {id}"),
            LoanError::NoneLeft(book) => write!(f, "all copies of {book} are out"),
            LoanError::TooMany(limit) => write!(f, "{limit} books are the most"),
        }
    }
}

impl std::error::Error for LoanError {}
