//! Text helpers.
pub mod stats;

pub fn caesar(s: &str, k: i32) -> String {
    s.chars()
        .map(|c| {
            let base = if c.is_ascii_lowercase() { b'a' } else { b'A' };
            if c.is_ascii_alphabetic() {
                (base + (c as i32 - base as i32 + k).rem_euclid(26) as u8) as char
            } else {
                c
            }
        })
        .collect()
}

pub fn frame(s: &str) -> String {
    let body: String = s.lines().map(|l| format!("| {l} |\n")).collect();
    let rule = "=".repeat(s.lines().map(|l| l.chars().count()).max().unwrap_or(0) + 4);
    format!("{rule}\n{body}{rule}\n")
}
