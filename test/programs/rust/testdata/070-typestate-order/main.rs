//! An order whose states are types, driven by a machine of enums from stdin.
use std::io::{self, BufRead};
use std::process::ExitCode;

struct Draft;
struct Paid {
    receipt: u32,
}

struct Order<S> {
    lines: Vec<(String, u32)>,
    state: S,
}

impl Order<Draft> {
    fn new() -> Self {
        Order {
            lines: vec![],
            state: Draft,
        }
    }

    fn total(&self) -> u32 {
        self.lines.iter().map(|(_, price)| price).sum()
    }

    fn pay(self, amount: u32) -> Result<Order<Paid>, (Self, String)> {
        match self.total() {
            0 => Err((self, "there is nothing to pay".into())),
            total if amount < total => Err((self, format!("{amount} is less than {total}"))),
            total => Ok(Order {
                state: Paid {
                    receipt: total * 7 + self.lines.len() as u32,
                },
                lines: self.lines,
            }),
        }
    }
}

impl Order<Paid> {
    fn ship(self) -> String {
        let names: Vec<_> = self.lines.into_iter().map(|(n, _)| n).collect();
        format!("receipt {}: {}", self.state.receipt, names.join(" + "))
    }
}

enum Shop {
    Open(Order<Draft>),
    Waiting(Order<Paid>),
    Done,
}

impl Shop {
    fn handle(self, line: &str) -> (Shop, String) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (self, words.as_slice()) {
            (Shop::Open(mut o), ["add", name, price]) => match price.parse() {
                Ok(p) => {
                    o.lines.push((name.to_string(), p));
                    let text = format!("{} lines, total {}", o.lines.len(), o.total());
                    (Shop::Open(o), text)
                }
                Err(e) => (Shop::Open(o), format!("{price}: {e}")),
            },
            (Shop::Open(o), ["pay", amount]) => match o.pay(amount.parse().unwrap_or(0)) {
                Ok(paid) => (Shop::Waiting(paid), "paid".into()),
                Err((o, why)) => (Shop::Open(o), why),
            },
            (Shop::Waiting(o), ["ship"]) => {
                let text = o.ship();
                (Shop::Done, text)
            }
            (state, _) => (state, format!("{line:?} is not possible now")),
        }
    }
}

fn main() -> ExitCode {
    let mut shop = Shop::Open(Order::new());
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let (next, answer) = shop.handle(&line);
        println!("{line} -> {answer}");
        shop = next;
    }
    match shop {
        Shop::Done => ExitCode::SUCCESS,
        Shop::Open(_) => ExitCode::from(1),
        Shop::Waiting(_) => ExitCode::from(2),
    }
}
