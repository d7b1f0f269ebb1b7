//! Checks a list of checksums and reports failures through the exit code.
use std::process::ExitCode;

fn luhn(number: &str) -> Option<bool> {
    let digits: Option<Vec<u32>> = number
        .chars()
        .filter(|c| *c != ' ')
        .map(|c| c.to_digit(10))
        .collect();
    let sum: u32 = digits?
        .iter()
        .rev()
        .enumerate()
        .map(|(i, &d)| match (i % 2, d * 2) {
            (0, _) => d,
            (_, doubled) if doubled > 9 => doubled - 9,
            (_, doubled) => doubled,
        })
        .sum();
    Some(sum % 10 == 0)
}

fn main() -> ExitCode {
    let mut failures = 0;
    for number in [
        "4539 3195 0343 6467",
        "8273 1232 7352 0569",
        "0000",
        "1234 5678",
        "12x4",
    ] {
        let verdict = match luhn(number) {
            Some(true) => "valid",
            Some(false) => {
                failures += 1;
                "INVALID"
            }
            None => {
                failures += 1;
                eprintln!("unreadable: {number}");
                "UNREADABLE"
            }
        };
        println!("{number:<20} {verdict}");
    }
    println!("{failures} failures");
    ExitCode::from(40 + failures)
}
