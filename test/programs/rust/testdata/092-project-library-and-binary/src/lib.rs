//! Vectors and rotations on the integer grid.
pub mod path;
mod vector;

pub use vector::{Turn, Vector};
