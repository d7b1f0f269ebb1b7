//! A UUID type over sixteen bytes: parsing, formatting, fields, ordering.
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Uuid([u8; 16]);

#[derive(Debug, PartialEq)]
enum UuidError {
    Length(usize),
    Digit(char),
}

impl Uuid {
    const NIL: Uuid = Uuid([0; 16]);

    fn custom(mut bytes: [u8; 16], version: u8) -> Uuid {
        bytes[6] = bytes[6] & 0x0f | version << 4;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Uuid(bytes)
    }

    fn version(self) -> u8 {
        self.0[6] >> 4
    }

    fn variant(self) -> &'static str {
        match self.0[8] >> 5 {
            0..=3 => "ncs",
            4 | 5 => "rfc",
            6 => "microsoft",
            _ => "future",
        }
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, b) in self.0.iter().enumerate() {
            if matches!(i, 4 | 6 | 8 | 10) && !f.alternate() {
                f.write_str("-")?;
            }
            write!(f, "{b:02x}")?;
        }
        Ok(())
    }
}

impl FromStr for Uuid {
    type Err = UuidError;
    fn from_str(s: &str) -> Result<Self, UuidError> {
        let s = s
            .trim_start_matches("urn:uuid:")
            .trim_matches(|c| c == '{' || c == '}');
        let digits = s
            .chars()
            .filter(|&c| c != '-')
            .map(|c| c.to_digit(16).ok_or(UuidError::Digit(c)));
        let digits: Vec<u32> = digits.collect::<Result<_, _>>()?;
        if digits.len() != 32 {
            return Err(UuidError::Length(digits.len()));
        }
        let mut bytes = [0; 16];
        for (b, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            *b = (pair[0] << 4 | pair[1]) as u8;
        }
        Ok(Uuid(bytes))
    }
}

fn main() {
    for text in [
        "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        "{00112233-4455-6677-8899-AABBCCDDEEFF}",
        "urn:uuid:f81d4fae7dec11d0a76500a0c91e6bf6",
        "1234",
        "zzzzzzzz-9dad-11d1-80b4-00c04fd430c8",
        "🦀",
    ] {
        match text.parse::<Uuid>() {
            Ok(u) => println!("{u} {u:#} v{} {}", u.version(), u.variant()),
            Err(e) => println!("{text}: {e:?}"),
        }
    }
    let mut made: Vec<Uuid> = ["héllo", "你好", "🦀", ""]
        .iter()
        .map(|name| {
            let mut bytes = [0x5au8; 16];
            for (i, b) in name.bytes().enumerate() {
                bytes[i % 16] = bytes[(i + 5) % 16].rotate_left(3) ^ b;
            }
            Uuid::custom(bytes, 8)
        })
        .collect();
    made.sort();
    made.iter().for_each(|u| println!("{u} v{}", u.version()));
    println!("{} {}", Uuid::NIL, Uuid::NIL < made[0]);
    println!(
        "{}",
        u128::from_be_bytes(made[0].0) == u128::from_str_radix(&format!("{:#}", made[0]), 16).unwrap()
    );
}
