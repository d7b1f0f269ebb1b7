//! Prefix sums in two dimensions and a Fenwick tree for changing grids.

struct Fenwick {
    cols: usize,
    cells: Vec<i64>,
}

impl Fenwick {
    fn new(rows: usize, cols: usize) -> Self {
        Fenwick {
            cols: cols + 1,
            cells: vec![0; (rows + 1) * (cols + 1)],
        }
    }

    fn add(&mut self, r: usize, c: usize, delta: i64) {
        let rows = self.cells.len() / self.cols;
        let mut i = r + 1;
        while i < rows {
            let mut j = c + 1;
            while j < self.cols {
                self.cells[i * self.cols + j] += delta;
                j += j & j.wrapping_neg();
            }
            i += i & i.wrapping_neg();
        }
    }

    fn prefix(&self, r: usize, c: usize) -> i64 {
        let mut sum = 0;
        let mut i = r;
        while i > 0 {
            let mut j = c;
            while j > 0 {
                sum += self.cells[i * self.cols + j];
                j &= j - 1;
            }
            i &= i - 1;
        }
        sum
    }

    fn rect(&self, r: std::ops::Range<usize>, c: std::ops::Range<usize>) -> i64 {
        self.prefix(r.end, c.end) - self.prefix(r.start, c.end) - self.prefix(r.end, c.start)
            + self.prefix(r.start, c.start)
    }
}

/// The largest sum of any rectangle, by Kadane's algorithm over row bands.
fn best_rectangle(grid: &[Vec<i64>]) -> (i64, [usize; 4]) {
    let mut best = (i64::MIN, [0; 4]);
    for top in 0..grid.len() {
        let mut band = vec![0; grid[0].len()];
        for bottom in top..grid.len() {
            let (mut sum, mut left) = (0, 0);
            for (c, v) in grid[bottom].iter().enumerate() {
                band[c] += v;
                if sum <= 0 {
                    (sum, left) = (0, c);
                }
                sum += band[c];
                if sum > best.0 {
                    best = (sum, [top, left, bottom, c]);
                }
            }
        }
    }
    best
}

fn main() {
    let grid: Vec<Vec<i64>> = (0..12)
        .map(|r| (0..16).map(|c| (r * 7 + c * 11 + r * c * 3) % 23 - 11).collect())
        .collect();
    let mut tree = Fenwick::new(12, 16);
    for (r, row) in grid.iter().enumerate() {
        for (c, &v) in row.iter().enumerate() {
            tree.add(r, c, v);
        }
        println!("{}", row.iter().map(|v| format!("{v:4}")).collect::<String>());
    }
    println!(
        "all {} | middle {} | corner {}",
        tree.rect(0..12, 0..16),
        tree.rect(3..9, 4..12),
        tree.rect(11..12, 15..16)
    );
    let (sum, [top, left, bottom, right]) = best_rectangle(&grid);
    println!(
        "best {sum} in rows {top}..={bottom}, columns {left}..={right}: {}",
        tree.rect(top..bottom + 1, left..right + 1)
    );
    tree.add(5, 5, 1000);
    println!("{} {}", tree.rect(5..6, 5..6), tree.rect(0..5, 0..16));
}
