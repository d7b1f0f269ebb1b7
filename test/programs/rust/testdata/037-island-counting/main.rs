//! Union-find over a map of islands on standard input.
use std::collections::BTreeMap;
use std::io::{self, BufRead};

struct Sets {
    parent: Vec<usize>,
    size: Vec<usize>,
}

impl Sets {
    fn new(n: usize) -> Self {
        Sets {
            parent: (0..n).collect(),
            size: vec![1; n],
        }
    }

    fn find(&mut self, mut x: usize) -> usize {
        while self.parent[x] != x {
            self.parent[x] = self.parent[self.parent[x]];
            x = self.parent[x];
        }
        x
    }

    fn union(&mut self, a: usize, b: usize) {
        let (mut a, mut b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        if self.size[a] < self.size[b] {
            std::mem::swap(&mut a, &mut b);
        }
        self.parent[b] = a;
        self.size[a] += self.size[b];
    }
}

fn main() {
    let map: Vec<Vec<bool>> = io::stdin()
        .lock()
        .lines()
        .map(|l| l.unwrap().chars().map(|c| c == '▲').collect())
        .collect();
    let (rows, cols) = (map.len(), map[0].len());
    let mut sets = Sets::new(rows * cols);
    for r in 0..rows {
        for c in 0..cols {
            if !map[r][c] {
                continue;
            }
            if r + 1 < rows && map[r + 1][c] {
                sets.union(r * cols + c, (r + 1) * cols + c);
            }
            if c + 1 < cols && map[r][c + 1] {
                sets.union(r * cols + c, r * cols + c + 1);
            }
        }
    }
    let mut islands: BTreeMap<usize, (char, usize)> = BTreeMap::new();
    for r in 0..rows {
        let line: String = (0..cols)
            .map(|c| {
                if !map[r][c] {
                    return '~';
                }
                let root = sets.find(r * cols + c);
                let next = (b'A' + islands.len() as u8) as char;
                islands.entry(root).or_insert((next, sets.size[root])).0
            })
            .collect();
        println!("{line}");
    }
    let mut named: Vec<_> = islands.values().collect();
    named.sort();
    println!("{} islands: {named:?}", named.len());
}
