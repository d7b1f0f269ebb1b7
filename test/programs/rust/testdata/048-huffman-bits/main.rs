//! Canonical Huffman codes and real bit packing.
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

fn lengths(data: &[u8]) -> BTreeMap<u8, u8> {
    let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
    data.iter().for_each(|&b| *counts.entry(b).or_default() += 1);
    let mut heap: BinaryHeap<Reverse<(usize, usize, Vec<u8>)>> = counts
        .iter()
        .enumerate()
        .map(|(i, (&b, &n))| Reverse((n, i, vec![b])))
        .collect();
    let mut out: BTreeMap<u8, u8> = counts.keys().map(|&b| (b, (counts.len() == 1) as u8)).collect();
    let mut serial = counts.len();
    while heap.len() > 1 {
        let (Some(Reverse(a)), Some(Reverse(b))) = (heap.pop(), heap.pop()) else {
            unreachable!()
        };
        let merged = [a.2, b.2].concat();
        merged.iter().for_each(|s| *out.get_mut(s).unwrap() += 1);
        heap.push(Reverse((a.0 + b.0, serial, merged)));
        serial += 1;
    }
    out
}

fn canonical(lengths: &BTreeMap<u8, u8>) -> BTreeMap<u8, (u32, u8)> {
    let mut order: Vec<(u8, u8)> = lengths.iter().map(|(&s, &l)| (l, s)).collect();
    order.sort();
    let (mut code, mut last) = (0u32, 0);
    order
        .into_iter()
        .map(|(len, symbol)| {
            code <<= len - last;
            last = len;
            code += 1;
            (symbol, (code - 1, len))
        })
        .collect()
}

fn pack(data: &[u8], codes: &BTreeMap<u8, (u32, u8)>) -> (Vec<u8>, usize) {
    let (mut out, mut bits) = (Vec::new(), 0);
    for b in data {
        let (code, len) = codes[b];
        for i in (0..len).rev() {
            if bits % 8 == 0 {
                out.push(0);
            }
            *out.last_mut().unwrap() |= ((code >> i & 1) as u8) << (7 - bits % 8);
            bits += 1;
        }
    }
    (out, bits)
}

fn unpack(packed: &[u8], bits: usize, codes: &BTreeMap<u8, (u32, u8)>) -> Vec<u8> {
    let symbols: BTreeMap<(u32, u8), u8> = codes.iter().map(|(&s, &c)| (c, s)).collect();
    let (mut code, mut len, mut out) = (0u32, 0u8, Vec::new());
    for i in 0..bits {
        code = code << 1 | (packed[i / 8] >> (7 - i % 8) & 1) as u32;
        len += 1;
        if let Some(&s) = symbols.get(&(code, len)) {
            out.push(s);
            (code, len) = (0, 0);
        }
    }
    out
}

fn main() {
    for text in [
        "abracadabra",
        "zzzz",
        "héllo 你好 🦀, héllo 你好 🦀!",
        &"the crab sells sea shells by the sea shore, 你好; ".repeat(60),
    ] {
        let codes = canonical(&lengths(text.as_bytes()));
        let (packed, bits) = pack(text.as_bytes(), &codes);
        let back = unpack(&packed, bits, &codes);
        let shortest = codes.iter().min_by_key(|(s, (_, len))| (*len, **s)).unwrap();
        println!(
            "{} symbols, {} -> {} bytes, restored {}, shortest {:?} has {} bits",
            codes.len(),
            text.len(),
            packed.len(),
            back == text.as_bytes(),
            *shortest.0 as char,
            shortest.1 .1
        );
        if codes.len() < 8 {
            for (s, (code, len)) in &codes {
                println!("  {:?} {code:0width$b}", *s as char, width = *len as usize);
            }
            println!("  {packed:02x?}");
        }
    }
}
