//! Writes a table of about 300 KB through a locked, buffered stdout.
use std::io::{self, BufWriter, Write};

fn digit_sum(mut n: u64) -> u64 {
    let mut sum = 0;
    while n > 0 {
        sum += n % 10;
        n /= 10;
    }
    sum
}

fn main() -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 15, io::stdout().lock());
    let mut written = 0;
    let mut checksum = 0u64;
    for n in 1..=6000u64 {
        let cube = n * n * n;
        let line = format!(
            "{n:>5} {:>9} {cube:>12} {:>3} {:#018b} {}\n",
            n * n,
            digit_sum(cube),
            n,
            "▒".repeat((n % 5) as usize)
        );
        checksum = line.bytes().fold(checksum, |h, b| h.rotate_left(5) ^ b as u64);
        written += line.len();
        out.write_all(line.as_bytes())?;
    }
    writeln!(out, "{written} bytes, checksum {checksum:016x}")?;
    out.flush()
}
