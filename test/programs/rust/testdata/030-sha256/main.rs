//! SHA-256, CRC-32 and FNV-1a from their definitions.

fn fractional_bits(n: u64, root: f64) -> u32 {
    // Refined with integers, for a float has too few bits for the cube roots.
    let power = |x: u128| if root == 2.0 { x * x } else { x * x * x };
    let target = (n as u128) << if root == 2.0 { 64 } else { 96 };
    let (mut low, mut high) = (0u128, 1u128 << 40);
    while low + 1 < high {
        let mid = (low + high) / 2;
        if power(mid) <= target {
            low = mid
        } else {
            high = mid
        }
    }
    low as u32
}

fn sha256(data: &[u8]) -> [u8; 32] {
    let primes: Vec<u64> = (2..).filter(|n| (2..*n).all(|d| n % d != 0)).take(64).collect();
    let mut h: Vec<u32> = primes[..8].iter().map(|&p| fractional_bits(p, 2.0)).collect();
    let k: Vec<u32> = primes.iter().map(|&p| fractional_bits(p, 3.0)).collect();
    let mut message = data.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend((data.len() as u64 * 8).to_be_bytes());
    for block in message.chunks(64) {
        let mut w: Vec<u32> = block
            .chunks(4)
            .map(|b| u32::from_be_bytes(b.try_into().unwrap()))
            .collect();
        for i in 16..64 {
            let s0 = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ (w[i - 15] >> 3);
            let s1 = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ (w[i - 2] >> 10);
            w.push(w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1));
        }
        let mut v = h.clone();
        for i in 0..64 {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let t1 = [s1, choice, k[i], w[i]]
                .iter()
                .fold(v[7], |a, &b| a.wrapping_add(b));
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(t1);
            v[0] = t1.wrapping_add(s0).wrapping_add(majority);
        }
        h.iter_mut().zip(&v).for_each(|(a, b)| *a = a.wrapping_add(*b));
    }
    let mut out = [0; 32];
    out.chunks_mut(4)
        .zip(&h)
        .for_each(|(o, x)| o.copy_from_slice(&x.to_be_bytes()));
    out
}

fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(!0u32, |crc, &b| {
        (0..8).fold(crc ^ b as u32, |c, _| {
            if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 }
        })
    })
}

fn fnv1a(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| {
        (h ^ b as u64).wrapping_mul(0x100_0000_01b3)
    })
}

fn main() {
    for text in ["", "abc", "héllo 你好 🦀", &"a".repeat(1000)] {
        let hex: String = sha256(text.as_bytes())
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        let short: String = text.chars().take(12).collect();
        println!(
            "{short:?}\n  sha256 {hex}\n  crc32  {:08x}\n  fnv1a  {:016x}",
            crc32(text.as_bytes()),
            fnv1a(text.as_bytes())
        );
    }
}
