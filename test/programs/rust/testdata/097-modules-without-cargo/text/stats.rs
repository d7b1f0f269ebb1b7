//! Counting words.
use std::collections::BTreeMap;

pub fn summary(s: &str) -> String {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    s.split_whitespace()
        .for_each(|w| *counts.entry(w).or_default() += 1);
    counts
        .iter()
        .map(|(w, n)| format!("{w}:{n}"))
        .collect::<Vec<_>>()
        .join(",")
}
