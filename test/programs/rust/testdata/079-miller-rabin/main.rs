//! Primality and factors of 64-bit numbers with 128-bit arithmetic.

fn mul(a: u64, b: u64, m: u64) -> u64 {
    (a as u128 * b as u128 % m as u128) as u64
}

fn pow(mut b: u64, mut e: u64, m: u64) -> u64 {
    let mut r = 1;
    b %= m;
    while e > 0 {
        if e & 1 == 1 {
            r = mul(r, b, m);
        }
        b = mul(b, b, m);
        e >>= 1;
    }
    r
}

fn is_prime(n: u64) -> bool {
    const WITNESSES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if n < 2 {
        return false;
    }
    if let Some(p) = WITNESSES.iter().find(|&&p| n % p == 0) {
        return n == *p;
    }
    let twos = (n - 1).trailing_zeros();
    WITNESSES.iter().all(|&a| {
        let mut x = pow(a, (n - 1) >> twos, n);
        x == 1
            || x == n - 1
            || (1..twos).any(|_| {
                x = mul(x, x, n);
                x == n - 1
            })
    })
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn factor(n: u64, out: &mut Vec<u64>) {
    if n == 1 {
        return;
    }
    if is_prime(n) {
        return out.push(n);
    }
    let d = if n % 2 == 0 {
        2
    } else {
        (1..)
            .find_map(|c| {
                let f = |x: u64| (mul(x, x, n) as u128 + c as u128) as u64 % n;
                let (mut slow, mut fast) = (f(2), f(f(2)));
                loop {
                    match gcd(slow.abs_diff(fast), n) {
                        1 => (slow, fast) = (f(slow), f(f(fast))),
                        d => break (d != n).then_some(d),
                    }
                }
            })
            .expect("a composite number has a factor")
    };
    factor(d, out);
    factor(n / d, out);
}

fn main() {
    for n in [
        2,
        561,
        1_000_000_007,
        3_215_031_751,
        600_851_475_143,
        18_446_744_073_709_551_557,
        1 << 50,
        999_999_000_001,
        1_000_730_021,
    ] {
        let mut f = Vec::new();
        factor(n, &mut f);
        f.sort_unstable();
        let text: Vec<String> = f.iter().map(u64::to_string).collect();
        println!(
            "{n} = {}{}",
            text.join(" · "),
            if f.len() == 1 { " (prime)" } else { "" }
        );
    }
    let next = (1_000_000_000_000u64..).find(|&n| is_prime(n)).unwrap();
    println!("first prime above a trillion: {next}");
    println!(
        "primes below 20000: {}",
        (0..20_000).filter(|&n| is_prime(n)).count()
    );
    println!(
        "Carmichael numbers below 9000: {:?}",
        (3..9000u64)
            .filter(|&n| !is_prime(n)
                && n % 2 == 1
                && (2..20).filter(|&a| gcd(a, n) == 1).all(|a| pow(a, n - 1, n) == 1))
            .collect::<Vec<_>>()
    );
}
