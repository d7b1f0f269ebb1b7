//! Texts and bytes compiled in from files with and without ASCII names.
mod table;

use table::Row;

static POEM: &str = include_str!("../data/诗.txt");
static RAW: &[u8] = include_bytes!("../data/table.csv");

fn main() {
    for (i, line) in POEM.lines().enumerate() {
        let backwards: String = line.chars().rev().collect();
        println!("{}. {line} ({} bytes) {backwards}", i + 1, line.len());
    }
    let columns: Vec<String> = (0..5)
        .map(|c| POEM.lines().filter_map(|l| l.chars().nth(c)).collect())
        .collect();
    println!("{}", columns.join(" "));
    let repeated: Vec<char> = POEM
        .chars()
        .filter(|c| c.is_alphabetic() && POEM.matches(*c).count() > 1)
        .collect();
    println!("{}", repeated.iter().collect::<String>());

    let text = std::str::from_utf8(RAW).expect("the table is UTF-8");
    let rows: Vec<Row> = table::parse(text).expect("the table is well formed");
    let legs: u32 = rows.iter().map(|r| r.legs).sum();
    println!(
        "{rows:?}\n{legs} legs, {} in the sea",
        rows.iter().filter(|r| r.sea).count()
    );
    println!("{:?}", table::parse("name;legs;sea\ncrab;ten;yes"));
    println!("{:?}", table::parse("name;legs;sea\ncrab"));
}
