use std::ops::{Add, Mul};

/// A step or a place on the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Vector {
    pub x: i32,
    pub y: i32,
}

#[derive(Debug, Clone, Copy)]
pub enum Turn {
    Left,
    Right,
    Back,
}

impl Vector {
    pub const NORTH: Vector = Vector { x: 0, y: 1 };

    pub fn turned(self, turn: Turn) -> Vector {
        match turn {
            Turn::Left => Vector {
                x: -self.y,
                y: self.x,
            },
            Turn::Right => Vector {
                x: self.y,
                y: -self.x,
            },
            Turn::Back => self * -1,
        }
    }

    pub fn distance(self) -> i32 {
        self.x.abs() + self.y.abs()
    }
}

impl Add for Vector {
    type Output = Vector;
    fn add(self, o: Vector) -> Vector {
        Vector {
            x: self.x + o.x,
            y: self.y + o.y,
        }
    }
}

impl Mul<i32> for Vector {
    type Output = Vector;
    fn mul(self, k: i32) -> Vector {
        Vector {
            x: self.x * k,
            y: self.y * k,
        }
    }
}
