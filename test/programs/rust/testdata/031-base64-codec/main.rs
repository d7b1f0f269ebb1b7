//! Base64 and base58 encoders and decoders with exact error positions.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE58: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

fn encode(data: &[u8]) -> String {
    data.chunks(3)
        .flat_map(|chunk| {
            let bits = chunk.iter().fold(0u32, |acc, &b| acc << 8 | b as u32) << (8 * (3 - chunk.len()));
            (0..4).map(move |i| {
                if i <= chunk.len() {
                    ALPHABET[(bits >> (18 - 6 * i) & 63) as usize] as char
                } else {
                    '='
                }
            })
        })
        .collect()
}

#[derive(Debug, PartialEq)]
enum DecodeError {
    Length(usize),
    Symbol(usize, char),
}

fn decode(text: &str) -> Result<Vec<u8>, DecodeError> {
    let body = text.trim_end_matches('=');
    if text.len() % 4 != 0 || text.len() - body.len() > 2 {
        return Err(DecodeError::Length(text.len()));
    }
    let (mut out, mut bits, mut have) = (Vec::new(), 0u32, 0);
    for (i, c) in body.char_indices() {
        let v = ALPHABET
            .iter()
            .position(|&a| a as char == c)
            .ok_or(DecodeError::Symbol(i, c))?;
        bits = bits << 6 | v as u32;
        have += 6;
        if have >= 8 {
            have -= 8;
            out.push((bits >> have) as u8);
            bits &= (1 << have) - 1;
        }
    }
    Ok(out)
}

fn base58(data: &[u8]) -> String {
    let mut digits: Vec<u8> = Vec::new();
    for &byte in data {
        let mut carry = byte as u32;
        for d in digits.iter_mut() {
            carry += (*d as u32) << 8;
            *d = (carry % 58) as u8;
            carry /= 58;
        }
        while carry > 0 {
            digits.push((carry % 58) as u8);
            carry /= 58;
        }
    }
    let zeros = data.iter().take_while(|&&b| b == 0).count();
    std::iter::repeat('1')
        .take(zeros)
        .chain(digits.iter().rev().map(|&d| BASE58[d as usize] as char))
        .collect()
}

fn main() {
    for text in ["", "f", "fo", "foo", "foob", "héllo 你好 🦀"] {
        let e = encode(text.as_bytes());
        let back = decode(&e).map(|b| String::from_utf8(b).unwrap());
        println!("{text:?} {e} {back:?} {}", base58(text.as_bytes()));
    }
    let all: Vec<u8> = (0..=255).collect();
    println!(
        "{} {}",
        encode(&all).len(),
        decode(&encode(&all)).as_deref() == Ok(&all[..])
    );
    for bad in ["abc", "ab=d", "a===", "Zm9v!A==", "你好=="] {
        println!("{bad}: {:?}", decode(bad));
    }
    println!("{}", base58(&[0, 0, 1, 2, 255]));
}
