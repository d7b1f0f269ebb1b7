//! Uses tables that the build script generated.
mod tables {
    include!(concat!(env!("OUT_DIR"), "/tables.rs"));
}

use tables::{PRIMES, WORDS};

fn translate(word: &str) -> Option<&'static str> {
    WORDS
        .binary_search_by_key(&word, |(k, _)| k)
        .ok()
        .map(|i| WORDS[i].1)
}

const fn sum(values: &[u32]) -> u32 {
    let mut total = 0;
    let mut i = 0;
    while i < values.len() {
        total += values[i];
        i += 1;
    }
    total
}

const PRIME_SUM: u32 = sum(&PRIMES);

fn main() {
    println!(
        "{} words, counted at build time: {}",
        WORDS.len(),
        env!("WORD_COUNT")
    );
    for word in "hello crab of the sea ant zebra".split(' ') {
        print!("{} ", translate(word).unwrap_or(word));
    }
    println!();
    println!(
        "{} primes, sum {PRIME_SUM}, last {}",
        PRIMES.len(),
        PRIMES[PRIMES.len() - 1]
    );
    println!("package {} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
}
