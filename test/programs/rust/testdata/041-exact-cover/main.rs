//! Knuth's algorithm X with sets: pentomino-like tilings of small boards.
use std::collections::{BTreeMap, BTreeSet};

type Rows = BTreeMap<usize, Vec<usize>>;
type Columns = BTreeMap<usize, BTreeSet<usize>>;

struct Problem {
    rows: Rows,
    columns: Columns,
    found: usize,
    first: Option<Vec<usize>>,
}

impl Problem {
    fn new(rows: Rows) -> Self {
        let mut columns: Columns = BTreeMap::new();
        for (&r, cols) in &rows {
            for &c in cols {
                columns.entry(c).or_default().insert(r);
            }
        }
        Problem {
            rows,
            columns,
            found: 0,
            first: None,
        }
    }

    fn select(&mut self, row: usize) -> Vec<(usize, BTreeSet<usize>)> {
        let mut removed = Vec::new();
        for c in self.rows[&row].clone() {
            let column = self.columns.remove(&c).unwrap();
            for &r in &column {
                for other in &self.rows[&r] {
                    if let Some(col) = self.columns.get_mut(other) {
                        col.remove(&r);
                    }
                }
            }
            removed.push((c, column));
        }
        removed
    }

    fn restore(&mut self, removed: Vec<(usize, BTreeSet<usize>)>) {
        for (c, column) in removed.into_iter().rev() {
            for &r in &column {
                for other in &self.rows[&r] {
                    if let Some(col) = self.columns.get_mut(other) {
                        col.insert(r);
                    }
                }
            }
            self.columns.insert(c, column);
        }
    }

    fn search(&mut self, chosen: &mut Vec<usize>) {
        let Some(column) = self.columns.values().min_by_key(|rows| rows.len()).cloned() else {
            self.found += 1;
            self.first.get_or_insert_with(|| chosen.clone());
            return;
        };
        for row in column {
            chosen.push(row);
            let removed = self.select(row);
            self.search(chosen);
            self.restore(removed);
            chosen.pop();
        }
    }
}

fn tilings(height: usize, width: usize, shapes: &[&[(usize, usize)]]) -> Problem {
    let mut rows = Rows::new();
    for shape in shapes {
        for r in 0..height {
            for c in 0..width {
                if shape.iter().all(|&(dr, dc)| r + dr < height && c + dc < width) {
                    rows.insert(
                        rows.len(),
                        shape.iter().map(|&(dr, dc)| (r + dr) * width + c + dc).collect(),
                    );
                }
            }
        }
    }
    Problem::new(rows)
}

fn main() {
    let dominoes: [&[(usize, usize)]; 2] = [&[(0, 0), (0, 1)], &[(0, 0), (1, 0)]];
    for (h, w) in [(2, 3), (4, 4), (4, 5), (3, 5)] {
        let mut p = tilings(h, w, &dominoes);
        p.search(&mut Vec::new());
        println!("{h}x{w} by dominoes: {} tilings", p.found);
    }
    let corners: [&[(usize, usize)]; 4] = [
        &[(0, 0), (0, 1), (1, 0)],
        &[(0, 0), (0, 1), (1, 1)],
        &[(0, 0), (1, 0), (1, 1)],
        &[(0, 1), (1, 0), (1, 1)],
    ];
    let mut p = tilings(5, 6, &corners);
    p.search(&mut Vec::new());
    println!("5x6 by corners: {} tilings, the first:", p.found);
    let mut board = vec!['?'; 30];
    for (i, row) in p.first.iter().flatten().enumerate() {
        p.rows[row]
            .iter()
            .for_each(|&cell| board[cell] = (b'a' + i as u8) as char);
    }
    board
        .chunks(6)
        .for_each(|line| println!("{}", line.iter().collect::<String>()));
}
