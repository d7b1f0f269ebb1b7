//! Roman numerals as a type: parsing, printing, arithmetic, ordering.
use std::fmt;
use std::ops::{Add, Mul, Sub};
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Roman(u16);

const PARTS: [(u16, &str); 13] = [
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
];

impl fmt::Display for Roman {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        let mut text = String::new();
        for (value, letters) in PARTS {
            while rest >= value {
                text += letters;
                rest -= value;
            }
        }
        f.pad(&text)
    }
}

#[derive(Debug, PartialEq)]
enum RomanError {
    Empty,
    Letter(char),
    NotCanonical { given: String, expected: String },
}

impl FromStr for Roman {
    type Err = RomanError;
    fn from_str(s: &str) -> Result<Self, RomanError> {
        let values: Vec<u16> = s
            .chars()
            .map(|c| {
                PARTS
                    .iter()
                    .find(|(_, l)| l.len() == 1 && l.starts_with(c))
                    .map(|(v, _)| *v)
                    .ok_or(RomanError::Letter(c))
            })
            .collect::<Result<_, _>>()?;
        if values.is_empty() {
            return Err(RomanError::Empty);
        }
        let mut total = 0i32;
        for (i, &v) in values.iter().enumerate() {
            let smaller = values.get(i + 1).map_or(false, |&next| v < next);
            total += if smaller { -(v as i32) } else { v as i32 };
        }
        let roman = Roman(total.max(0) as u16);
        let expected = roman.to_string();
        if expected == s {
            Ok(roman)
        } else {
            Err(RomanError::NotCanonical {
                given: s.into(),
                expected,
            })
        }
    }
}

impl Add for Roman {
    type Output = Roman;
    fn add(self, o: Roman) -> Roman {
        Roman(self.0 + o.0)
    }
}

impl Sub for Roman {
    type Output = Option<Roman>;
    fn sub(self, o: Roman) -> Option<Roman> {
        self.0.checked_sub(o.0).filter(|&v| v > 0).map(Roman)
    }
}

impl Mul<u16> for Roman {
    type Output = Roman;
    fn mul(self, k: u16) -> Roman {
        Roman(self.0 * k)
    }
}

fn main() {
    for n in [1, 4, 9, 14, 44, 99, 444, 1987, 2024, 3999] {
        println!("{n:4} {:>12}|{:<12}|", Roman(n), Roman(n));
    }
    println!(
        "all round trips: {}",
        (1..4000).all(|n| Roman(n).to_string().parse() == Ok(Roman(n)))
    );
    for s in ["MCMXC", "IIII", "IC", "", "ABC", "xiv", "Ⅻ"] {
        println!("{s:?} {:?}", s.parse::<Roman>());
    }
    let (a, b) = (Roman(1066), Roman(918));
    println!(
        "{a} + {b} = {}, {a} - {b} = {:?}, {b} - {a} = {:?}, {b} * 3 = {}",
        a + b,
        a - b,
        b - a,
        b * 3
    );
    println!("{:?}", (1..=20).map(Roman).max_by_key(|r| r.to_string().len()));
}
