//! A market over two crates of its own folder; one has a feature switched on.
use ledger::Ledger;
use money::{Currency, Money};

fn main() {
    let mut ledger = Ledger::default();
    let eur = |cents| Money::new(cents, Currency::Eur);
    let steps = [
        ("ann", eur(12_50)),
        ("bo", eur(3_05)),
        ("ann", eur(-20_00)),
        ("çelik 🦀", Money::new(990, Currency::Cny)),
        ("ann", eur(-12_50)),
        ("bo", Money::new(1, Currency::Cny)),
    ];
    for (who, amount) in steps {
        match ledger.post(who, amount) {
            Ok(balance) => println!("{who}: {amount:+} -> {balance}"),
            Err(e) => println!("{who}: {amount:+} refused: {e}"),
        }
    }
    for line in ledger.journal() {
        println!("journal: {line}");
    }
    println!(
        "{:?}",
        "€ 12.34, ¥7, 5.6.7, €-0.05"
            .split(", ")
            .map(str::parse::<Money>)
            .collect::<Vec<_>>()
    );
}
