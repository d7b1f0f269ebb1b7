//! A small unsigned big integer: addition, multiplication, printing.
use std::fmt;
use std::ops::{Add, Mul};

const BASE: u64 = 1_000_000_000;

#[derive(Clone, PartialEq, Eq)]
struct Big(Vec<u32>);

impl From<u64> for Big {
    fn from(mut n: u64) -> Self {
        let mut limbs = vec![];
        while n > 0 {
            limbs.push((n % BASE) as u32);
            n /= BASE;
        }
        Big(limbs)
    }
}

impl Add for &Big {
    type Output = Big;
    fn add(self, other: &Big) -> Big {
        let (mut out, mut carry) = (vec![], 0u64);
        for i in 0..self.0.len().max(other.0.len()) {
            carry += *self.0.get(i).unwrap_or(&0) as u64 + *other.0.get(i).unwrap_or(&0) as u64;
            out.push((carry % BASE) as u32);
            carry /= BASE;
        }
        if carry > 0 {
            out.push(carry as u32);
        }
        Big(out)
    }
}

impl Mul for &Big {
    type Output = Big;
    fn mul(self, other: &Big) -> Big {
        let mut out = vec![0u32; self.0.len() + other.0.len()];
        for (i, &a) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (j, &b) in other.0.iter().chain([&0]).enumerate() {
                if i + j < out.len() {
                    carry += a as u64 * b as u64 + out[i + j] as u64;
                    out[i + j] = (carry % BASE) as u32;
                    carry /= BASE;
                }
            }
        }
        while out.last() == Some(&0) {
            out.pop();
        }
        Big(out)
    }
}

impl Big {
    fn pow(&self, mut e: u32) -> Big {
        let (mut base, mut acc) = (self.clone(), Big::from(1));
        while e > 0 {
            if e & 1 == 1 {
                acc = &acc * &base;
            }
            base = &base * &base;
            e >>= 1;
        }
        acc
    }
}

impl fmt::Display for Big {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.0.last().unwrap_or(&0).to_string();
        for limb in self.0.iter().rev().skip(1) {
            text += &format!("{limb:09}");
        }
        f.pad_integral(true, "", &text)
    }
}

fn main() {
    let factorial = (1..=60u64).fold(Big::from(1), |acc, n| &acc * &Big::from(n));
    println!("60! = {factorial}");
    let (mut a, mut b) = (Big::from(0), Big::from(1));
    for _ in 0..300 {
        (a, b) = (b.clone(), &a + &b);
    }
    println!("fib(300) = {a}");
    let power = Big::from(2).pow(1279);
    let digits = power.to_string();
    println!(
        "2^1279 has {} digits, sum {}",
        digits.len(),
        digits.bytes().map(|d| (d - b'0') as u32).sum::<u32>()
    );
    println!("{}", Big::from(99).pow(9));
    println!("[{:>25}] [{:<5}]", Big::from(u64::MAX), Big::from(0));
    let cubes: Big = (1..=100u64)
        .map(|n| Big::from(n).pow(3))
        .fold(Big::from(0), |s, c| &s + &c);
    println!("{cubes} {}", cubes == Big::from(5050).pow(2));
}
