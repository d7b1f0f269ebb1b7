//! Lines of standard input as bytes, scalar values and UTF-16 units.
use std::io::{self, BufRead};

fn describe(c: char) -> &'static str {
    match c {
        c if c.is_ascii_punctuation() => "punctuation",
        '\u{4e00}'..='\u{9fff}' => "han",
        '\u{1f300}'..='\u{1faff}' => "emoji",
        '\u{300}'..='\u{36f}' => "mark",
        c if c.is_whitespace() => "space",
        c if c.is_numeric() => "number",
        c if c.is_uppercase() => "upper",
        c if c.is_lowercase() => "lower",
        c if c.is_alphabetic() => "letter",
        _ => "other",
    }
}

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        println!(
            "{line:?}: {} bytes, {} chars, {} units, reversed {:?}",
            line.len(),
            line.chars().count(),
            line.encode_utf16().count(),
            line.chars().rev().collect::<String>()
        );
        for (i, c) in line.char_indices().filter(|(_, c)| !c.is_ascii_lowercase()) {
            let mut buf = [0; 4];
            println!(
                "  {i:2} U+{:04X} {:x?} {} {}",
                c as u32,
                c.encode_utf8(&mut buf).as_bytes(),
                describe(c),
                c.escape_unicode()
            );
        }
    }
    println!(
        "{} {} {:?}",
        "straße".to_uppercase(),
        "ὈΔΥΣΣΕΎΣ".to_lowercase(),
        'ǆ'.to_uppercase().collect::<Vec<_>>()
    );
    println!("{:?}", String::from_utf8_lossy(b"ok \xf0\x9f\xa6 \xff end"));
    println!(
        "{:?}",
        std::str::from_utf8(&[b'a', b'b', 0xc3, b'('][..]).map_err(|e| (e.valid_up_to(), e.error_len()))
    );
    println!("{:?} {:?}", char::from_u32(0xd800), "你好🦀".is_char_boundary(4));
    Ok(())
}
