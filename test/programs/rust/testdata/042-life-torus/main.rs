//! Life on a torus with rows as bit masks; finds the period of patterns.
use std::collections::HashMap;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Board {
    width: u32,
    rows: Vec<u64>,
}

impl Board {
    fn parse(width: u32, height: usize, at: (usize, u32), pattern: &str) -> Board {
        let mut rows = vec![0; height];
        for (r, line) in pattern.split('/').enumerate() {
            for (c, _) in line.chars().enumerate().filter(|(_, ch)| *ch == 'O') {
                rows[at.0 + r] |= 1 << (at.1 + c as u32);
            }
        }
        Board { width, rows }
    }

    fn shift(&self, row: u64, left: bool) -> u64 {
        let mask = (1 << self.width) - 1;
        if left {
            (row << 1 | row >> (self.width - 1)) & mask
        } else {
            (row >> 1 | row << (self.width - 1)) & mask
        }
    }

    /// Adds up the eight neighbours of a whole row at once, bit by bit.
    fn step(&self) -> Board {
        let h = self.rows.len();
        let rows = (0..h)
            .map(|r| {
                let (up, here, down) = (self.rows[(r + h - 1) % h], self.rows[r], self.rows[(r + 1) % h]);
                let neighbours = [
                    self.shift(up, true),
                    up,
                    self.shift(up, false),
                    self.shift(here, true),
                    self.shift(here, false),
                    self.shift(down, true),
                    down,
                    self.shift(down, false),
                ];
                let (mut ones, mut twos, mut fours) = (0u64, 0u64, 0u64);
                for n in neighbours {
                    let carry = ones & n;
                    ones ^= n;
                    fours |= twos & carry;
                    twos ^= carry;
                }
                twos & !fours & (ones | here)
            })
            .collect();
        Board {
            width: self.width,
            rows,
        }
    }

    fn draw(&self) {
        for row in &self.rows {
            println!(
                "{}",
                (0..self.width)
                    .map(|c| if row >> c & 1 == 1 { '●' } else { '·' })
                    .collect::<String>()
            );
        }
    }

    fn alive(&self) -> u32 {
        self.rows.iter().map(|r| r.count_ones()).sum()
    }
}

fn main() {
    for (name, pattern) in [
        ("blinker", "OOO"),
        ("glider", ".O./..O/OOO"),
        ("acorn", ".O...../...O.../OO..OOO"),
        ("block", "OO/OO"),
        ("dies", "O.O"),
    ] {
        let mut board = Board::parse(20, 12, (4, 6), pattern);
        let mut seen = HashMap::new();
        let mut t = 0;
        while seen.insert(board.clone(), t).is_none() && t < 2000 {
            board = board.step();
            t += 1;
        }
        let first = seen.get(&board).copied();
        println!(
            "{name}: {} cells after {t} steps, last recorded at {first:?}",
            board.alive()
        );
        if name == "acorn" {
            board.draw();
        }
    }
}
