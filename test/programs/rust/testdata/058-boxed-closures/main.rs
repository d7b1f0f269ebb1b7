//! Closures by value, by reference and boxed: counters, memo, pipelines.
use std::collections::HashMap;

fn counter(step: i32) -> impl FnMut() -> i32 {
    let mut n = 0;
    move || {
        n += step;
        n
    }
}

fn compose<A, B, C>(f: impl Fn(A) -> B, g: impl Fn(B) -> C) -> impl Fn(A) -> C {
    move |x| g(f(x))
}

fn curry(a: i32) -> impl Fn(i32) -> Box<dyn Fn(i32) -> i32> {
    move |b| Box::new(move |c| a * 100 + b * 10 + c)
}

#[derive(Default)]
struct Button<'a> {
    handlers: Vec<Box<dyn FnMut(&str) -> bool + 'a>>,
}

impl<'a> Button<'a> {
    fn on(&mut self, f: impl FnMut(&str) -> bool + 'a) {
        self.handlers.push(Box::new(f));
    }

    /// Handlers that return false are removed.
    fn press(&mut self, event: &str) -> usize {
        self.handlers.retain_mut(|h| h(event));
        self.handlers.len()
    }
}

fn main() {
    let (mut a, mut b) = (counter(1), counter(10));
    println!("{} {} {} {}", a(), a(), b(), a());
    println!(
        "{}",
        compose(|s: &str| s.chars().count(), |n| format!("{n} chars"))("héllo 🦀")
    );
    println!("{}", curry(1)(2)(3));

    fn steps(m: &mut HashMap<u64, u64>, n: u64) -> u64 {
        if n == 1 {
            return 0;
        }
        if let Some(&v) = m.get(&n) {
            return v;
        }
        let v = 1 + steps(m, if n % 2 == 0 { n / 2 } else { 3 * n + 1 });
        m.insert(n, v);
        v
    }
    let mut cache = HashMap::new();
    let longest = (1..3000).max_by_key(|&n| (steps(&mut cache, n), n)).unwrap();
    println!(
        "{longest} takes {} steps, {} cached",
        steps(&mut cache, longest),
        cache.len()
    );

    let mut log = Vec::new();
    let mut presses = 0;
    {
        let mut button = Button::default();
        button.on(|e| {
            log.push(e.to_uppercase());
            true
        });
        button.on(|_| {
            presses += 1;
            presses < 2
        });
        println!(
            "{} {} {}",
            button.press("click"),
            button.press("double"),
            button.press("你好")
        );
    }
    println!("{log:?} {presses}");
    let stages: Vec<(&str, Box<dyn Fn(f64) -> f64>)> = vec![
        ("double", Box::new(|x| x * 2.0)),
        ("root", Box::new(f64::sqrt)),
        ("less", Box::new(|x| x - 0.5)),
    ];
    println!(
        "{}",
        stages.iter().fold(8.0, |x, (name, f)| {
            let y = f(x);
            print!("{name} {y}; ");
            y
        })
    );
    let mut names = vec!["ccc", "a", "bb"];
    let by: fn(&&str) -> usize = |s| s.len();
    names.sort_by_key(by);
    println!("{names:?}");
}
