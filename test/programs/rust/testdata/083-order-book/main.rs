//! Matches buy and sell orders from standard input by price, then time.
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufRead};

#[derive(Debug)]
struct Order {
    id: u32,
    quantity: u32,
}

#[derive(Default)]
struct Book {
    bids: BTreeMap<u32, VecDeque<Order>>,
    asks: BTreeMap<u32, VecDeque<Order>>,
    trades: Vec<(u32, u32, u32, u32)>,
}

impl Book {
    fn place(&mut self, id: u32, buy: bool, mut quantity: u32, limit: u32) {
        while quantity > 0 {
            let side = if buy { &mut self.asks } else { &mut self.bids };
            let best = if buy {
                side.keys().next()
            } else {
                side.keys().next_back()
            };
            let Some(&price) = best.filter(|&&p| if buy { p <= limit } else { p >= limit }) else {
                break;
            };
            let queue = side.get_mut(&price).expect("the price is there");
            let resting = queue.front_mut().expect("no queue is empty");
            let traded = quantity.min(resting.quantity);
            resting.quantity -= traded;
            quantity -= traded;
            self.trades.push((id, resting.id, traded, price));
            if resting.quantity == 0 {
                queue.pop_front();
                if queue.is_empty() {
                    side.remove(&price);
                }
            }
        }
        if quantity > 0 {
            let side = if buy { &mut self.bids } else { &mut self.asks };
            side.entry(limit).or_default().push_back(Order { id, quantity });
        }
    }

    fn cancel(&mut self, id: u32) -> bool {
        for side in [&mut self.bids, &mut self.asks] {
            for queue in side.values_mut() {
                if let Some(i) = queue.iter().position(|o| o.id == id) {
                    queue.remove(i);
                    side.retain(|_, q| !q.is_empty());
                    return true;
                }
            }
        }
        false
    }

    fn print(&self) {
        let level = |q: &VecDeque<Order>| {
            q.iter()
                .map(|o| format!("{}×{}", o.id, o.quantity))
                .collect::<Vec<_>>()
                .join(" ")
        };
        self.asks
            .iter()
            .rev()
            .for_each(|(p, q)| println!("        {p:>5} | {}", level(q)));
        println!("        ----- +");
        self.bids
            .iter()
            .rev()
            .for_each(|(p, q)| println!("        {p:>5} | {}", level(q)));
    }
}

fn main() {
    let mut book = Book::default();
    for (n, line) in io::stdin().lock().lines().map_while(Result::ok).enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |i: usize| words.get(i).and_then(|w| w.parse::<u32>().ok());
        match (words.first(), number(1), number(2)) {
            (Some(&side @ ("buy" | "sell")), Some(quantity), Some(price)) if quantity > 0 => {
                let before = book.trades.len();
                book.place(n as u32 + 1, side == "buy", quantity, price);
                println!("{line}: {:?}", &book.trades[before..]);
            }
            (Some(&"cancel"), Some(id), _) => println!("{line}: {}", book.cancel(id)),
            (Some(&"show"), ..) => book.print(),
            _ => println!("{line}: not understood"),
        }
    }
    book.print();
    let volume: u32 = book.trades.iter().map(|t| t.2).sum();
    let value: u32 = book.trades.iter().map(|t| t.2 * t.3).sum();
    println!(
        "{} trades, volume {volume}, average price {:.2}",
        book.trades.len(),
        value as f64 / volume as f64
    );
}
