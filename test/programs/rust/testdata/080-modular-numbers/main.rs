//! Arithmetic modulo a constant as a type: inverses, binomials, roots, CRT.
use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Mod<const M: u64>(u64);

impl<const M: u64> Mod<M> {
    fn new(n: i64) -> Self {
        Mod(n.rem_euclid(M as i64) as u64)
    }

    fn pow(self, e: u64) -> Self {
        let half = if e == 0 { return Mod(1) } else { self.pow(e / 2) };
        if e % 2 == 0 {
            half * half
        } else {
            half * half * self
        }
    }

    /// The inverse by the extended Euclidean algorithm, if there is one.
    fn inverse(self) -> Option<Self> {
        let (mut r, mut s) = ((M as i64, self.0 as i64), (0i64, 1i64));
        while r.1 != 0 {
            let q = r.0 / r.1;
            r = (r.1, r.0 - q * r.1);
            s = (s.1, s.0 - q * s.1);
        }
        (r.0 == 1).then(|| Self::new(s.0))
    }
}

impl<const M: u64> Add for Mod<M> {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Mod((self.0 + o.0) % M)
    }
}

impl<const M: u64> Neg for Mod<M> {
    type Output = Self;
    fn neg(self) -> Self {
        Mod((M - self.0) % M)
    }
}

impl<const M: u64> Sub for Mod<M> {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + -o
    }
}

impl<const M: u64> Mul for Mod<M> {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Mod((self.0 as u128 * o.0 as u128 % M as u128) as u64)
    }
}

impl<const M: u64> Div for Mod<M> {
    type Output = Option<Self>;
    fn div(self, o: Self) -> Option<Self> {
        o.inverse().map(|i| self * i)
    }
}

impl<const M: u64> fmt::Display for Mod<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (mod {M})", self.0)
    }
}

type Big = Mod<1_000_000_007>;

fn binomial(n: i64, k: i64) -> Big {
    (1..=k).fold(Big::new(1), |acc, i| {
        (acc * Big::new(n - k + i) / Big::new(i)).expect("the modulus is prime")
    })
}

fn main() {
    let (a, b) = (Mod::<12>::new(7), Mod::<12>::new(-4));
    println!("{} {} {} {}", a + b, a - b, a * b, -a);
    println!("{:?} {:?}", a.inverse(), b.inverse());
    println!(
        "{:?}",
        (1..12)
            .filter_map(|n| Mod::<12>::new(n).inverse().map(|i| (n, i.0)))
            .collect::<Vec<_>>()
    );
    println!(
        "{} {}",
        Big::new(2).pow(1_000_000),
        Big::new(3) * (Big::new(1) / Big::new(3)).unwrap()
    );
    println!("{} {}", binomial(10, 3), binomial(1000, 500));
    let catalan = |n: i64| (binomial(2 * n, n) / Big::new(n + 1)).unwrap().0;
    println!("{:?}", (0..16).map(catalan).collect::<Vec<_>>());
    let generators: Vec<i64> = (2..23)
        .filter(|&g| [2, 11].iter().all(|&q| Mod::<23>::new(g).pow(22 / q).0 != 1))
        .collect();
    println!("generators of 23: {generators:?}");
    let roots: Vec<i64> = (0..41).filter(|&x| Mod::<41>::new(x).pow(2).0 == 10).collect();
    println!("square roots of 10 mod 41: {roots:?}");
    let x = (0..).find(|x| x % 3 == 2 && x % 5 == 3 && x % 7 == 2);
    println!("{x:?} {}", Mod::<97>::new(5).pow(96));
}
