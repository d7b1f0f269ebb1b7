//! Numbers in English words, and back again.

const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 10] = [
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];
const SCALES: [(u64, &str); 6] = [
    (1_000_000_000_000_000_000, "quintillion"),
    (1_000_000_000_000_000, "quadrillion"),
    (1_000_000_000_000, "trillion"),
    (1_000_000_000, "billion"),
    (1_000_000, "million"),
    (1_000, "thousand"),
];

fn words(n: u64) -> String {
    for (scale, name) in SCALES {
        if n >= scale {
            let rest = if n % scale == 0 {
                String::new()
            } else {
                format!(" {}", words(n % scale))
            };
            return format!("{} {name}{rest}", words(n / scale));
        }
    }
    match n {
        0..=19 => SMALL[n as usize].to_string(),
        20..=99 if n % 10 == 0 => TENS[n as usize / 10].to_string(),
        20..=99 => format!("{}-{}", TENS[n as usize / 10], SMALL[n as usize % 10]),
        _ if n % 100 == 0 => format!("{} hundred", words(n / 100)),
        _ => format!("{} hundred {}", words(n / 100), words(n % 100)),
    }
}

fn parse(text: &str) -> Result<u64, String> {
    let (mut total, mut group) = (0u64, 0u64);
    for word in text.split([' ', '-']) {
        if let Some(n) = SMALL.iter().position(|w| *w == word) {
            group += n as u64;
        } else if let Some(n) = TENS.iter().position(|w| *w == word && !w.is_empty()) {
            group += 10 * n as u64;
        } else if word == "hundred" {
            group *= 100;
        } else if let Some((scale, _)) = SCALES.iter().find(|(_, name)| *name == word) {
            total += std::mem::take(&mut group) * scale;
        } else {
            return Err(format!("{word:?} is not part of a number"));
        }
    }
    Ok(total + group)
}

fn main() {
    for n in [
        0,
        7,
        13,
        20,
        42,
        100,
        115,
        999,
        1000,
        1_000_001,
        12_345_678,
        u64::MAX,
    ] {
        let text = words(n);
        println!("{n} = {text} ({})", parse(&text) == Ok(n));
    }
    println!("{:?} {:?}", parse("two hundred crabs"), parse("九"));
    let letters: usize = (1..=1000)
        .map(|n| words(n).chars().filter(|c| c.is_alphabetic()).count())
        .sum();
    println!("letters in 1..=1000: {letters}");
    let mut sorted: Vec<u64> = (1..=20).collect();
    sorted.sort_by_key(|&n| words(n));
    println!("alphabetically: {sorted:?}");
    let mut n = 100;
    print!("{n}");
    while n != 4 {
        n = words(n).chars().filter(|c| c.is_alphabetic()).count() as u64;
        print!(" → {n}");
    }
    println!();
}
