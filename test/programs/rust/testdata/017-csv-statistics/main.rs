//! Reads quoted CSV from standard input and groups it.
use std::collections::BTreeMap;
use std::io::{self, Read};

fn parse(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (vec![], vec![], String::new());
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quoted) {
            ('"', true) if chars.next_if_eq(&'"').is_some() => field.push('"'),
            ('"', _) => quoted = !quoted,
            (',', false) => row.push(std::mem::take(&mut field)),
            ('\n', false) => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            (c, _) => field.push(c),
        }
    }
    if !field.is_empty() || !row.is_empty() {
        row.push(field);
        rows.push(row);
    }
    rows
}

#[derive(Default)]
struct Group {
    prices: Vec<f64>,
    names: Vec<String>,
}

fn main() {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).expect("UTF-8 input");
    let rows = parse(&text);
    let (header, body) = rows.split_first().expect("a header");
    println!("{header:?}, {} rows", body.len());
    let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
    for (n, row) in body.iter().enumerate() {
        match (row.len(), row.get(2).map(|p| p.parse::<f64>())) {
            (3, Some(Ok(price))) => {
                let g = groups.entry(&row[1]).or_default();
                g.prices.push(price);
                g.names.push(row[0].clone());
            }
            (3, Some(Err(e))) => println!("row {}: {e}: {:?}", n + 1, row[2]),
            (len, _) => println!("row {}: {len} fields", n + 1),
        }
    }
    for (kind, g) in &mut groups {
        let sum: f64 = g.prices.iter().sum();
        g.prices.sort_by(f64::total_cmp);
        println!(
            "{kind:<7} n={} sum={sum:.2} mean={:.3} median={:.2}",
            g.prices.len(),
            sum / g.prices.len() as f64,
            g.prices[g.prices.len() / 2]
        );
        println!("        {:?}", g.names);
    }
}
