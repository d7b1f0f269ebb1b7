//! A fraction type with overloaded operators, ordering, parsing and summing.
use std::cmp::Ordering;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frac {
    num: i128,
    den: i128,
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

impl Frac {
    fn new(num: i128, den: i128) -> Frac {
        assert!(den != 0, "zero denominator");
        let g = gcd(num, den) * den.signum();
        Frac {
            num: num / g,
            den: den / g,
        }
    }
}

impl Add for Frac {
    type Output = Frac;
    fn add(self, o: Frac) -> Frac {
        Frac::new(self.num * o.den + o.num * self.den, self.den * o.den)
    }
}

impl Neg for Frac {
    type Output = Frac;
    fn neg(self) -> Frac {
        Frac {
            num: -self.num,
            ..self
        }
    }
}

impl Sub for Frac {
    type Output = Frac;
    fn sub(self, o: Frac) -> Frac {
        self + -o
    }
}

impl Mul for Frac {
    type Output = Frac;
    fn mul(self, o: Frac) -> Frac {
        Frac::new(self.num * o.num, self.den * o.den)
    }
}

impl Div for Frac {
    type Output = Frac;
    fn div(self, o: Frac) -> Frac {
        Frac::new(self.num * o.den, self.den * o.num)
    }
}

impl PartialOrd for Frac {
    fn partial_cmp(&self, o: &Frac) -> Option<Ordering> {
        Some(self.cmp(o))
    }
}

impl Ord for Frac {
    fn cmp(&self, o: &Frac) -> Ordering {
        (self.num * o.den).cmp(&(o.num * self.den))
    }
}

impl Sum for Frac {
    fn sum<I: Iterator<Item = Frac>>(iter: I) -> Frac {
        iter.fold(Frac::new(0, 1), Add::add)
    }
}

impl FromStr for Frac {
    type Err = String;
    fn from_str(s: &str) -> Result<Frac, String> {
        let (n, d) = s.split_once('/').unwrap_or((s, "1"));
        let parse = |p: &str| p.trim().parse::<i128>().map_err(|e| format!("{p:?}: {e}"));
        match (parse(n)?, parse(d)?) {
            (_, 0) => Err(format!("{s:?}: zero denominator")),
            (n, d) => Ok(Frac::new(n, d)),
        }
    }
}

impl fmt::Display for Frac {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.den == 1 {
            write!(f, "{}", self.num)
        } else {
            write!(f, "{}/{}", self.num, self.den)
        }
    }
}

fn main() {
    let (a, b) = (Frac::new(3, 4), Frac::new(-5, 6));
    println!("{} {} {} {} {}", a + b, a - b, a * b, a / b, -a);
    println!("{:?} {} {:?}", a.cmp(&b), a > b, Frac::new(2, -4));
    println!("H(30) = {}", (1..=30).map(|n| Frac::new(1, n)).sum::<Frac>());
    for s in ["6/8", " -7 / 21", "5", "1/0", "x/2", "1/2/3"] {
        println!(
            "{s:?} -> {}",
            s.parse::<Frac>().map_or_else(|e| e, |f| f.to_string())
        );
    }
    let mut x = Frac::new(1, 1);
    for _ in 0..5 {
        x = (x + Frac::new(2, 1) / x) / Frac::new(2, 1);
    }
    println!("sqrt 2 is about {x}");
    let mut farey: Vec<Frac> = (1..=6)
        .flat_map(|d| (0..=d).map(move |n| Frac::new(n, d)))
        .collect();
    farey.sort();
    farey.dedup();
    println!(
        "{}",
        farey.iter().map(Frac::to_string).collect::<Vec<_>>().join(" ")
    );
}
