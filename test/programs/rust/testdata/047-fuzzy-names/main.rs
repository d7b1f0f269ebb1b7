//! Soundex, Jaro–Winkler and n-gram similarity of names.
use std::collections::HashSet;

fn soundex(name: &str) -> String {
    let code = |c: char| match c {
        'B' | 'F' | 'P' | 'V' => '1',
        'C' | 'G' | 'J' | 'K' | 'Q' | 'S' | 'X' | 'Z' => '2',
        'D' | 'T' => '3',
        'L' => '4',
        'M' | 'N' => '5',
        'R' => '6',
        'H' | 'W' => '-',
        _ => '0',
    };
    let letters: Vec<char> = name
        .to_uppercase()
        .chars()
        .filter(char::is_ascii_alphabetic)
        .collect();
    let Some(&first) = letters.first() else {
        return "????".into();
    };
    let mut out = String::from(first);
    let mut last = code(first);
    for &c in &letters[1..] {
        let digit = code(c);
        if digit.is_ascii_digit() {
            if digit != '0' && digit != last {
                out.push(digit);
            }
            last = digit;
        }
    }
    format!("{out:0<4}").chars().take(4).collect()
}

fn jaro_winkler(a: &str, b: &str) -> f64 {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let reach = (a.len().max(b.len()) / 2).saturating_sub(1);
    let mut taken = vec![false; b.len()];
    let mut matched = Vec::new();
    for (i, c) in a.iter().enumerate() {
        let hit = (i.saturating_sub(reach)..b.len().min(i + reach + 1)).find(|&j| !taken[j] && b[j] == *c);
        if let Some(j) = hit {
            taken[j] = true;
            matched.push(*c);
        }
    }
    if matched.is_empty() {
        return 0.0;
    }
    let other = b.iter().zip(&taken).filter(|(_, t)| **t).map(|(c, _)| c);
    let swaps = matched.iter().zip(other).filter(|(x, y)| x != y).count() / 2;
    let m = matched.len() as f64;
    let jaro = (m / a.len() as f64 + m / b.len() as f64 + (m - swaps as f64) / m) / 3.0;
    let prefix = a.iter().zip(&b).take(4).take_while(|(x, y)| x == y).count() as f64;
    jaro + prefix * 0.1 * (1.0 - jaro)
}

fn bigrams(s: &str) -> HashSet<(char, char)> {
    s.chars().zip(s.chars().skip(1)).collect()
}

fn dice(a: &str, b: &str) -> f64 {
    let (x, y) = (bigrams(a), bigrams(b));
    2.0 * x.intersection(&y).count() as f64 / (x.len() + y.len()).max(1) as f64
}

fn main() {
    for name in [
        "Robert", "Rupert", "Tymczak", "Pfister", "Honeyman", "Ashcraft", "Élan", "你好",
    ] {
        println!("{name:<9} {}", soundex(name));
    }
    for (a, b) in [
        ("martha", "marhta"),
        ("dwayne", "duane"),
        ("dixon", "dicksonx"),
        ("héllo", "hello"),
        ("你好🦀", "你好🦞"),
        ("abc", "xyz"),
        ("same", "same"),
    ] {
        println!(
            "{a:<8} {b:<8} jaro-winkler {:.4} dice {:.4}",
            jaro_winkler(a, b),
            dice(a, b)
        );
    }
    let names = ["jonathan", "johnathan", "jonas", "nathan", "johanna"];
    let best = names
        .iter()
        .max_by(|a, b| jaro_winkler(a, "jonathon").total_cmp(&jaro_winkler(b, "jonathon")));
    println!("closest to jonathon: {best:?}");
}
