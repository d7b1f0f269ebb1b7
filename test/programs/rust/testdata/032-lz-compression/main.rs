//! A sliding-window compressor: literals and back references in bytes.
use std::collections::HashMap;

const WINDOW: usize = 4096;
const MIN: usize = 4;
const MAX: usize = 4 + 127;

fn compress(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut seen: HashMap<[u8; MIN], Vec<usize>> = HashMap::new();
    let mut literals: Vec<u8> = Vec::new();
    let flush = |literals: &mut Vec<u8>, out: &mut Vec<u8>| {
        for run in literals.chunks(128) {
            out.push(run.len() as u8 - 1);
            out.extend(run);
        }
        literals.clear();
    };
    let mut i = 0;
    while i < data.len() {
        let mut best = (0, 0);
        if let Some(key) = data.get(i..i + MIN) {
            for &at in seen.get(key).into_iter().flatten().rev().take(16) {
                if i - at > WINDOW {
                    break;
                }
                let len = data[at..]
                    .iter()
                    .zip(&data[i..])
                    .take(MAX)
                    .take_while(|(a, b)| a == b)
                    .count();
                if len > best.0 {
                    best = (len, i - at);
                }
            }
        }
        let step = if best.0 >= MIN {
            flush(&mut literals, &mut out);
            out.push(0x80 | (best.0 - MIN) as u8);
            out.extend((best.1 as u16).to_le_bytes());
            best.0
        } else {
            literals.push(data[i]);
            1
        };
        for k in i..i + step {
            if let Some(key) = data.get(k..k + MIN) {
                seen.entry(key.try_into().unwrap()).or_default().push(k);
            }
        }
        i += step;
    }
    flush(&mut literals, &mut out);
    out
}

fn expand(mut packed: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some((&tag, rest)) = packed.split_first() {
        if tag & 0x80 == 0 {
            let n = tag as usize + 1;
            out.extend(&rest[..n]);
            packed = &rest[n..];
        } else {
            let distance = u16::from_le_bytes([rest[0], rest[1]]) as usize;
            for _ in 0..(tag & 0x7f) as usize + MIN {
                out.push(out[out.len() - distance]);
            }
            packed = &rest[2..];
        }
    }
    out
}

fn main() {
    let prose = "the quick brown crab 🦀 and the slow brown crab 你好 met the quick héllo crab. ".repeat(40);
    let noise: Vec<u8> = (0..2000u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    for (name, data) in [
        ("prose", prose.as_bytes()),
        ("zeros", &[0; 10_000]),
        ("noise", &noise),
        ("tiny", b"abc"),
        ("empty", b""),
    ] {
        let packed = compress(data);
        println!(
            "{name:<6} {:>6} -> {:>6} restored {}",
            data.len(),
            packed.len(),
            expand(&packed) == data
        );
    }
    println!("{:?}", compress(b"abcabcabcabcabcX"));
}
