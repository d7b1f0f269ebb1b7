//! Walks written as text: `F3 L F2 B R F10`.
use crate::{Turn, Vector};
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub struct Walk {
    pub end: Vector,
    pub visited: BTreeSet<Vector>,
    pub crossings: usize,
}

/// Follows a walk; the error names the first word that is not understood.
pub fn follow(text: &str) -> Result<Walk, String> {
    let mut walk = Walk::default();
    walk.visited.insert(walk.end);
    let mut heading = Vector::NORTH;
    for word in text.split_whitespace() {
        match (word, word.strip_prefix('F').map(str::parse::<u32>)) {
            ("L", _) => heading = heading.turned(Turn::Left),
            ("R", _) => heading = heading.turned(Turn::Right),
            ("B", _) => heading = heading.turned(Turn::Back),
            (_, Some(Ok(steps))) => {
                for _ in 0..steps {
                    walk.end = walk.end + heading;
                    walk.crossings += !walk.visited.insert(walk.end) as usize;
                }
            }
            _ => return Err(format!("{word:?} is not a step")),
        }
    }
    Ok(walk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_returns() {
        assert_eq!(follow("F2 R F2 R F2 R F2").unwrap().end, Vector::default());
    }
}
