//! Turns words.txt into a Rust table at compile time.
use std::fmt::Write;
use std::{env, fs, path::Path};

fn main() {
    println!("cargo:rerun-if-changed=words.txt");
    let words = fs::read_to_string("words.txt").expect("words.txt");
    let mut rows: Vec<(&str, &str)> = words.lines().filter_map(|l| l.split_once(" = ")).collect();
    rows.sort();
    let mut code = String::from("pub const WORDS: &[(&str, &str)] = &[\n");
    for (key, value) in &rows {
        writeln!(code, "    ({key:?}, {value:?}),").expect("writing to a String");
    }
    code.push_str("];\n");
    let primes: Vec<u32> = (2..100).filter(|n| (2..*n).all(|d| n % d != 0)).collect();
    writeln!(code, "pub const PRIMES: [u32; {}] = {primes:?};", primes.len()).expect("writing to a String");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("tables.rs"), code).expect("the table is written");
    println!("cargo:rustc-env=WORD_COUNT={}", rows.len());
}
