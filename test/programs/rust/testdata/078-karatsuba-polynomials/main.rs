//! Polynomials: Karatsuba products, division, evaluation, derivative, roots.
use std::fmt;

#[derive(Clone, PartialEq, Debug)]
struct Poly(Vec<i128>);

fn karatsuba(a: &[i128], b: &[i128]) -> Vec<i128> {
    let n = a.len();
    if n <= 8 {
        let mut out = vec![0; 2 * n - 1];
        for (i, x) in a.iter().enumerate() {
            b.iter().enumerate().for_each(|(j, y)| out[i + j] += x * y);
        }
        return out;
    }
    let h = n / 2;
    let sum = |s: &[i128]| -> Vec<i128> {
        (0..n - h)
            .map(|i| s[h + i] + s[..h].get(i).unwrap_or(&0))
            .collect()
    };
    let low = karatsuba(&a[..h], &b[..h]);
    let high = karatsuba(&a[h..], &b[h..]);
    let mut middle = karatsuba(&sum(a), &sum(b));
    low.iter().enumerate().for_each(|(i, x)| middle[i] -= x);
    high.iter().enumerate().for_each(|(i, x)| middle[i] -= x);
    let mut out = vec![0; 2 * n - 1];
    for (part, shift) in [(low, 0), (middle, h), (high, 2 * h)] {
        part.iter().enumerate().for_each(|(i, x)| out[i + shift] += x);
    }
    out
}

impl Poly {
    fn trim(mut self) -> Poly {
        while self.0.len() > 1 && self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    fn times(&self, o: &Poly) -> Poly {
        let n = self.0.len().max(o.0.len());
        let pad = |p: &Poly| -> Vec<i128> { (0..n).map(|i| *p.0.get(i).unwrap_or(&0)).collect() };
        Poly(karatsuba(&pad(self), &pad(o))).trim()
    }

    fn at(&self, x: i128) -> i128 {
        self.0.iter().rev().fold(0, |acc, c| acc * x + c)
    }

    fn derivative(&self) -> Poly {
        Poly(
            self.0
                .iter()
                .enumerate()
                .skip(1)
                .map(|(i, c)| c * i as i128)
                .collect(),
        )
    }

    /// Divides by a polynomial whose leading coefficient is one.
    fn divide(&self, by: &Poly) -> (Poly, Poly) {
        let mut rest = self.0.clone();
        let d = by.0.len() - 1;
        let mut quotient = vec![0; rest.len().saturating_sub(d).max(1)];
        for i in (d..rest.len()).rev() {
            let q = rest[i];
            quotient[i - d] = q;
            by.0.iter()
                .enumerate()
                .for_each(|(j, c)| rest[i - d + j] -= q * c);
        }
        rest.truncate(d.max(1));
        (Poly(quotient), Poly(rest).trim())
    }
}

impl fmt::Display for Poly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exponent = |n: usize| {
            n.to_string()
                .chars()
                .map(|c| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(c as usize - 48).unwrap())
                .collect::<String>()
        };
        let mut first = true;
        for (i, &c) in self.0.iter().enumerate().rev().filter(|(_, c)| **c != 0) {
            let sign = if c < 0 {
                "-"
            } else if first {
                ""
            } else {
                "+"
            };
            let size = if c.abs() == 1 && i > 0 {
                String::new()
            } else {
                c.abs().to_string()
            };
            let power = match i {
                0 => String::new(),
                1 => "x".into(),
                _ => format!("x{}", exponent(i)),
            };
            write!(
                f,
                "{}{sign}{}{size}{power}",
                if first { "" } else { " " },
                if first { "" } else { " " }
            )?;
            first = false;
        }
        if first { f.write_str("0") } else { Ok(()) }
    }
}

fn main() {
    let roots: [i128; 5] = [1, -2, 3, -4, 5];
    let p = roots
        .iter()
        .fold(Poly(vec![1]), |acc, r| acc.times(&Poly(vec![-r, 1])));
    println!("{p}\n{}", p.derivative());
    println!("{:?}", (-10..10).filter(|&x| p.at(x) == 0).collect::<Vec<_>>());
    let (q, r) = p.divide(&Poly(vec![-3, 1]));
    println!("{q} remainder {r}");
    println!("{:?}", Poly(vec![5, 0, 0, 1]).divide(&Poly(vec![1, 0, 1])));
    let binomial = (0..40).fold(Poly(vec![1]), |acc, _| acc.times(&Poly(vec![1, 1])));
    println!(
        "largest coefficient of (x + 1)⁴⁰: {}",
        binomial.0.iter().max().unwrap()
    );
    let (a, b) = (
        Poly((0..100).map(|i| i * i % 19 - 9).collect()),
        Poly((0..77).map(|i| i * 7 % 23 - 11).collect()),
    );
    println!(
        "{}",
        [-3, 0, 1, 2].iter().all(|&x| {
            let m = |v: i128| v.rem_euclid(1_000_003);
            let e = |p: &Poly| p.0.iter().rev().fold(0, |acc, c| m(acc * x + c));
            m(e(&a) * e(&b)) == e(&a.times(&b))
        })
    );
}
