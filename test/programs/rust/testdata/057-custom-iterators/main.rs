//! Own iterators and adaptors: peeking, grouping, windows, infinite ones.
use std::iter::{FromIterator, Peekable};

struct Fibonacci(u64, u64);

impl Iterator for Fibonacci {
    type Item = u64;
    fn next(&mut self) -> Option<u64> {
        let value = self.0;
        (self.0, self.1) = (self.1, self.0.checked_add(self.1)?);
        Some(value)
    }
}

struct Runs<I: Iterator>(Peekable<I>);

impl<I: Iterator<Item = T>, T: PartialEq> Iterator for Runs<I> {
    type Item = (T, usize);
    fn next(&mut self) -> Option<(T, usize)> {
        let first = self.0.next()?;
        let mut n = 1;
        while self.0.next_if(|x| *x == first).is_some() {
            n += 1;
        }
        Some((first, n))
    }
}

trait IteratorExt: Iterator + Sized {
    fn runs(self) -> Runs<Self> {
        Runs(self.peekable())
    }

    fn every(self, n: usize) -> impl Iterator<Item = Self::Item> {
        self.enumerate().filter(move |(i, _)| i % n == 0).map(|(_, x)| x)
    }
}

impl<I: Iterator> IteratorExt for I {}

struct Countdown(u32);

impl Iterator for Countdown {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        self.0 = self.0.checked_sub(1)?;
        Some(self.0)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0 as usize, Some(self.0 as usize))
    }
}

impl ExactSizeIterator for Countdown {}

#[derive(Debug)]
struct Stats {
    n: usize,
    sum: i64,
}

impl FromIterator<i64> for Stats {
    fn from_iter<I: IntoIterator<Item = i64>>(iter: I) -> Self {
        iter.into_iter().fold(Stats { n: 0, sum: 0 }, |s, x| Stats {
            n: s.n + 1,
            sum: s.sum + x,
        })
    }
}

fn main() {
    println!(
        "{:?}",
        Fibonacci(0, 1).skip(10).step_by(5).take(6).collect::<Vec<_>>()
    );
    println!(
        "{} steps before an overflow, last {:?}",
        Fibonacci(0, 1).count(),
        Fibonacci(0, 1).last()
    );
    println!("{:?}", "aaabccccd你你🦀".chars().runs().collect::<Vec<_>>());
    println!(
        "{:?} {}",
        (0..20).every(6).collect::<Vec<_>>(),
        Countdown(7).len()
    );
    println!("{:?}", (1..=10).map(|x| x * x).collect::<Stats>());
    let (even, odd): (Vec<u64>, Vec<u64>) =
        Fibonacci(1, 2).take_while(|&f| f < 100).partition(|f| f % 2 == 0);
    println!("{even:?} {odd:?}");
    println!(
        "{:?}",
        "one two three"
            .split(' ')
            .rev()
            .flat_map(str::chars)
            .scan(0, |n, c| {
                *n += 1;
                Some(format!("{n}{c}"))
            })
            .every(3)
            .collect::<String>()
    );
    println!(
        "{:?}",
        [3, 1, 4, 1, 5, 9, 2, 6]
            .windows(3)
            .map(|w| w.iter().sum::<i32>())
            .max()
    );
    let pascal = std::iter::successors(Some(vec![1u32]), |row| {
        Some(
            [
                &[1][..],
                &row.windows(2).map(|w| w[0] + w[1]).collect::<Vec<_>>(),
                &[1],
            ]
            .concat(),
        )
    });
    pascal.take(7).for_each(|row| println!("{row:?}"));
    let mut it = (1..4).chain(7..9).cycle().peekable();
    println!(
        "{:?} {:?} {:?}",
        it.peek().copied(),
        it.nth(5),
        it.by_ref().take(3).collect::<Vec<_>>()
    );
    println!(
        "{:?}",
        [1.5, -2.0, 9.25]
            .iter()
            .copied()
            .reduce(f64::max)
            .zip(Some("pair"))
    );
}
