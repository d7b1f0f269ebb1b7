//! Permutations, combinations, products and Gray codes as iterators.

struct Permutations<T> {
    items: Option<Vec<T>>,
}

impl<T: Ord + Clone> Iterator for Permutations<T> {
    type Item = Vec<T>;
    fn next(&mut self) -> Option<Vec<T>> {
        let current = self.items.clone()?;
        let v = self.items.as_mut()?;
        match (1..v.len()).rev().find(|&i| v[i - 1] < v[i]) {
            None => self.items = None,
            Some(i) => {
                let j = (i..v.len())
                    .rev()
                    .find(|&j| v[j] > v[i - 1])
                    .expect("there is a larger one");
                v.swap(i - 1, j);
                v[i..].reverse();
            }
        }
        Some(current)
    }
}

fn permutations<T: Ord + Clone>(mut items: Vec<T>) -> Permutations<T> {
    items.sort();
    Permutations { items: Some(items) }
}

fn combinations<T: Clone>(items: &[T], k: usize) -> Vec<Vec<T>> {
    match (k, items) {
        (0, _) => vec![vec![]],
        (_, []) => vec![],
        (_, [first, rest @ ..]) => {
            let with = combinations(rest, k - 1).into_iter().map(|mut c| {
                c.insert(0, first.clone());
                c
            });
            with.chain(combinations(rest, k)).collect()
        }
    }
}

fn product(axes: &[&str]) -> Vec<String> {
    axes.iter().fold(vec![String::new()], |acc, axis| {
        acc.iter()
            .flat_map(|p| axis.chars().map(move |c| format!("{p}{c}")))
            .collect()
    })
}

fn partitions(n: u32, max: u32) -> Vec<Vec<u32>> {
    if n == 0 {
        return vec![vec![]];
    }
    (1..=n.min(max))
        .rev()
        .flat_map(|first| {
            partitions(n - first, first)
                .into_iter()
                .map(move |rest| [vec![first], rest].concat())
        })
        .collect()
}

fn main() {
    let words: Vec<String> = permutations("éab".chars().collect())
        .map(|p| p.into_iter().collect())
        .collect();
    println!("{words:?}");
    println!(
        "{} arrangements of mississippi's first six letters",
        permutations("missis".chars().collect()).count()
    );
    println!("{:?}", permutations(vec![1, 1, 2]).collect::<Vec<_>>());
    println!(
        "{:?}",
        combinations(&["你", "好", "🦀", "é"], 2)
            .iter()
            .map(|c| c.concat())
            .collect::<Vec<_>>()
    );
    println!(
        "{} hands of 4 from 20",
        combinations(&(0..20).collect::<Vec<_>>(), 4).len()
    );
    println!("{}", product(&["ab", "12", "×+"]).join(" "));
    println!(
        "{}",
        (0..16u32)
            .map(|i| format!("{:04b}", i ^ i >> 1))
            .collect::<Vec<_>>()
            .join(" ")
    );
    partitions(6, 6).iter().for_each(|p| print!("{p:?} "));
    println!("\n{} partitions of 30", partitions(30, 30).len());
    let queens = permutations((0..6i32).collect())
        .filter(|p| (0..6).all(|i| (i + 1..6).all(|j| (p[i] - p[j]).abs() != (j - i) as i32)));
    println!("{:?}", queens.collect::<Vec<_>>());
}
