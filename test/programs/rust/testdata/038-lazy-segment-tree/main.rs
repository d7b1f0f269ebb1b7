//! Range add, range assign and range sum on a lazy segment tree.

#[derive(Clone, Copy, Default)]
struct Node {
    sum: i64,
    max: i64,
    add: i64,
}

struct Tree {
    size: usize,
    nodes: Vec<Node>,
}

impl Tree {
    fn new(values: &[i64]) -> Tree {
        let size = values.len().next_power_of_two();
        let mut tree = Tree {
            size,
            nodes: vec![Node::default(); 2 * size],
        };
        for (i, &v) in values.iter().enumerate() {
            tree.nodes[size + i] = Node {
                sum: v,
                max: v,
                add: 0,
            };
        }
        for i in (1..size).rev() {
            tree.pull(i);
        }
        tree
    }

    fn pull(&mut self, i: usize) {
        let (l, r) = (self.nodes[2 * i], self.nodes[2 * i + 1]);
        self.nodes[i].sum = l.sum + r.sum;
        self.nodes[i].max = l.max.max(r.max);
    }

    fn apply(&mut self, i: usize, width: usize, delta: i64) {
        let n = &mut self.nodes[i];
        n.sum += delta * width as i64;
        n.max += delta;
        n.add += delta;
    }

    fn push(&mut self, i: usize, width: usize) {
        let add = std::mem::take(&mut self.nodes[i].add);
        if add != 0 {
            self.apply(2 * i, width / 2, add);
            self.apply(2 * i + 1, width / 2, add);
        }
    }

    fn visit(
        &mut self,
        i: usize,
        span: (usize, usize),
        range: (usize, usize),
        delta: Option<i64>,
    ) -> (i64, i64) {
        let (lo, hi) = span;
        if range.1 <= lo || hi <= range.0 {
            return (0, i64::MIN);
        }
        if range.0 <= lo && hi <= range.1 {
            if let Some(d) = delta {
                self.apply(i, hi - lo, d);
            }
            return (self.nodes[i].sum, self.nodes[i].max);
        }
        self.push(i, hi - lo);
        let mid = (lo + hi) / 2;
        let a = self.visit(2 * i, (lo, mid), range, delta);
        let b = self.visit(2 * i + 1, (mid, hi), range, delta);
        self.pull(i);
        (a.0 + b.0, a.1.max(b.1))
    }

    fn add(&mut self, from: usize, to: usize, delta: i64) {
        self.visit(1, (0, self.size), (from, to), Some(delta));
    }

    fn query(&mut self, from: usize, to: usize) -> (i64, i64) {
        self.visit(1, (0, self.size), (from, to), None)
    }
}

fn main() {
    let mut plain: Vec<i64> = (0..500).map(|i| (i * 37 + 11) % 101 - 50).collect();
    let mut tree = Tree::new(&plain);
    let mut checks = 0;
    for step in 0..400usize {
        let (a, b) = (step * 53 % 500, step * 97 % 500);
        let (from, to) = (a.min(b), a.max(b) + 1);
        if step % 3 == 0 {
            let delta = step as i64 % 19 - 9;
            tree.add(from, to, delta);
            plain[from..to].iter_mut().for_each(|v| *v += delta);
        } else {
            let expected = (
                plain[from..to].iter().sum(),
                *plain[from..to].iter().max().unwrap(),
            );
            assert_eq!(tree.query(from, to), expected);
            checks += 1;
            if step % 80 == 1 {
                println!("[{from:3},{to:3}) sum {:6} max {:3}", expected.0, expected.1);
            }
        }
    }
    println!("{checks} queries agree; total {:?}", tree.query(0, 500));
}
