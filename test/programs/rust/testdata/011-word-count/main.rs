//! Word counts of standard input, by frequency and by first letter.
use std::collections::BTreeMap;
use std::io::{self, Read};

fn main() -> io::Result<()> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
    {
        *counts.entry(word.to_lowercase()).or_insert(0) += 1;
    }
    println!(
        "{} lines, {} chars, {} bytes",
        text.lines().count(),
        text.chars().count(),
        text.len()
    );
    let mut ranked: Vec<_> = counts.iter().collect();
    ranked.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    for (word, n) in ranked.iter().take(8) {
        println!("{n:3} {word:<8} {}", "▪".repeat(**n));
    }
    let mut by_letter: BTreeMap<char, Vec<&str>> = BTreeMap::new();
    for word in counts.keys() {
        by_letter
            .entry(word.chars().next().unwrap())
            .or_default()
            .push(word);
    }
    for (letter, words) in &by_letter {
        println!("{letter}: {}", words.join(", "));
    }
    let longest = counts.keys().max_by_key(|w| w.chars().count()).unwrap();
    println!("longest: {longest}");
    Ok(())
}
