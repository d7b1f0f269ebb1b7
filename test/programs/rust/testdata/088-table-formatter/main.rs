//! Aligned tables with box drawing: width, precision, fill and alignment.
use std::io::{self, BufRead};

#[derive(Clone, Copy)]
enum Align {
    Left,
    Right,
    Centre,
}

/// Columns on a terminal: two for wide characters, none for combining marks.
fn width(s: &str) -> usize {
    s.chars()
        .map(|c| match c as u32 {
            0x300..=0x36f => 0,
            0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xff00..=0xff60 | 0x1f300..=0x1faff => 2,
            _ => 1,
        })
        .sum()
}

fn pad(s: &str, to: usize, align: Align) -> String {
    let space = to - width(s);
    let (left, right) = match align {
        Align::Left => (0, space),
        Align::Right => (space, 0),
        Align::Centre => (space / 2, space - space / 2),
    };
    format!("{}{s}{}", " ".repeat(left), " ".repeat(right))
}

fn main() {
    let rows: Vec<Vec<String>> = io::stdin()
        .lock()
        .lines()
        .map_while(Result::ok)
        .map(|l| l.split('|').map(|c| c.trim().to_string()).collect())
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|c| {
            rows.iter()
                .filter_map(|r| r.get(c))
                .map(|s| width(s))
                .max()
                .unwrap_or(0)
        })
        .collect();
    let numeric: Vec<bool> = (0..columns)
        .map(|c| {
            rows[1..]
                .iter()
                .filter_map(|r| r.get(c))
                .all(|s| s.parse::<f64>().is_ok())
        })
        .collect();
    let rule = |l: &str, m: &str, r: &str| {
        println!(
            "{l}{}{r}",
            widths
                .iter()
                .map(|w| "─".repeat(w + 2))
                .collect::<Vec<_>>()
                .join(m)
        )
    };
    rule("┌", "┬", "┐");
    for (i, row) in rows.iter().enumerate() {
        let cells: Vec<String> = (0..columns)
            .map(|c| {
                let align = if i == 0 {
                    Align::Centre
                } else if numeric[c] {
                    Align::Right
                } else {
                    Align::Left
                };
                pad(row.get(c).map_or("", String::as_str), widths[c], align)
            })
            .collect();
        println!("│ {} │", cells.join(" │ "));
        if i == 0 {
            rule("├", "┼", "┤");
        }
    }
    rule("└", "┴", "┘");
    for (c, name) in rows[0].iter().enumerate().filter(|(c, _)| numeric[*c]) {
        let values: Vec<f64> = rows[1..].iter().filter_map(|r| r.get(c)?.parse().ok()).collect();
        let sum: f64 = values.iter().sum();
        println!(
            "{name:·<12}{sum:·>10.2} {:+08.3} {:e}",
            sum / values.len() as f64,
            values[0]
        );
    }
}
