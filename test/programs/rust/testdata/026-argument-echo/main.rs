//! Echoes its arguments in several ways; they hold spaces, quotes and scripts.
use std::env;

fn shell_quote(s: &str) -> String {
    if !s.is_empty() && s.chars().all(|c| c.is_alphanumeric() || "-_./=".contains(c)) {
        s.to_string()
    } else {
        format!("'{}'", s.replace('\'', r"'\''"))
    }
}

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    for (i, a) in args.iter().enumerate() {
        println!(
            "{i}: {a:<12} {:>3} bytes {:>2} chars {a:?}",
            a.len(),
            a.chars().count()
        );
    }
    println!(
        "{}",
        args.iter().map(|a| shell_quote(a)).collect::<Vec<_>>().join(" ")
    );
    let numbers: Vec<i64> = args.iter().filter_map(|a| a.parse().ok()).collect();
    println!("numbers {numbers:?} sum {}", numbers.iter().sum::<i64>());
    let longest = args.iter().max_by_key(|a| a.chars().count());
    println!("longest {longest:?}");
    println!("sorted {:?}", {
        let mut s = args.clone();
        s.sort();
        s
    });
}
