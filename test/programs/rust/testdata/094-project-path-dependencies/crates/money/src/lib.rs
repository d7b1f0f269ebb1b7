//! Exact amounts in two currencies.
use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Currency {
    Eur,
    Cny,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Money {
    pub cents: i64,
    pub currency: Currency,
}

impl Money {
    pub const fn new(cents: i64, currency: Currency) -> Self {
        Money { cents, currency }
    }

    pub fn checked_add(self, other: Money) -> Option<Money> {
        (self.currency == other.currency).then(|| Money {
            cents: self.cents + other.cents,
            ..self
        })
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.cents < 0 {
            "-"
        } else if f.sign_plus() {
            "+"
        } else {
            ""
        };
        let symbol = if self.currency == Currency::Eur {
            '€'
        } else {
            '¥'
        };
        write!(
            f,
            "{sign}{symbol}{}.{:02}",
            self.cents.abs() / 100,
            self.cents.abs() % 100
        )
    }
}

impl FromStr for Money {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        let (currency, rest) = match s.chars().next() {
            Some('€') => (Currency::Eur, &s['€'.len_utf8()..]),
            Some('¥') => (Currency::Cny, &s['¥'.len_utf8()..]),
            _ => return Err(format!("{s:?} has no currency")),
        };
        let amount: f64 = rest.trim().parse().map_err(|e| format!("{s:?}: {e}"))?;
        Ok(Money::new((amount * 100.0).round() as i64, currency))
    }
}
