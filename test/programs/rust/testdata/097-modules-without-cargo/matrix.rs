//! A rectangular grid of characters.
use std::fmt;

pub struct Grid {
    width: usize,
    cells: Vec<char>,
}

impl Grid {
    pub fn new(width: usize, height: usize, fill: char) -> Self {
        Grid {
            width,
            cells: vec![fill; width * height],
        }
    }

    pub fn set(&mut self, x: usize, y: usize, c: char) {
        self.cells[y * self.width + x] = c;
    }

    pub fn get(&self, x: usize, y: usize) -> Option<char> {
        (x < self.width)
            .then(|| self.cells.get(y * self.width + x).copied())
            .flatten()
    }

    pub fn transposed(&self) -> Grid {
        let height = self.cells.len() / self.width;
        let cells = (0..self.width)
            .flat_map(|x| (0..height).map(move |y| y * self.width + x))
            .map(|i| self.cells[i]);
        Grid {
            width: height,
            cells: cells.collect(),
        }
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cells
            .chunks(self.width)
            .try_for_each(|row| writeln!(f, "{}", row.iter().collect::<String>()))
    }
}
