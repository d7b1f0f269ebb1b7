//! Four classic dynamic programs over one dimension.

fn rod(prices: &[u32], length: usize) -> (u32, Vec<usize>) {
    let mut best = vec![(0, 0); length + 1];
    for n in 1..=length {
        best[n] = (1..=n.min(prices.len()))
            .map(|cut| (prices[cut - 1] + best[n - cut].0, cut))
            .max_by_key(|&(p, cut)| (p, std::cmp::Reverse(cut)))
            .unwrap();
    }
    let mut pieces = Vec::new();
    let mut rest = length;
    while rest > 0 {
        pieces.push(best[rest].1);
        rest -= best[rest].1;
    }
    (best[length].0, pieces)
}

fn stairs(n: usize, steps: &[usize]) -> u128 {
    let mut ways = vec![0u128; n + 1];
    ways[0] = 1;
    for i in 1..=n {
        ways[i] = steps.iter().filter(|&&s| s <= i).map(|&s| ways[i - s]).sum();
    }
    ways[n]
}

fn word_breaks(text: &str, words: &[&str]) -> Vec<String> {
    let mut found: Vec<Vec<String>> = vec![Vec::new(); text.len() + 1];
    found[text.len()].push(String::new());
    for i in (0..text.len()).rev().filter(|&i| text.is_char_boundary(i)) {
        for w in words.iter().filter(|w| text[i..].starts_with(**w)) {
            let tails = found[i + w.len()].clone();
            found[i].extend(tails.iter().map(|t| {
                if t.is_empty() {
                    w.to_string()
                } else {
                    format!("{w} {t}")
                }
            }));
        }
    }
    found.swap_remove(0)
}

fn house_robber(money: &[u32]) -> u32 {
    money
        .iter()
        .fold((0, 0), |(skip, take), &m| (skip.max(take), skip + m))
        .into_max()
}

trait IntoMax {
    fn into_max(self) -> u32;
}

impl IntoMax for (u32, u32) {
    fn into_max(self) -> u32 {
        self.0.max(self.1)
    }
}

fn main() {
    let prices = [1, 5, 8, 9, 10, 17, 17, 20, 24, 30];
    for n in [4, 7, 9, 23] {
        println!("rod of {n}: {:?}", rod(&prices, n));
    }
    println!(
        "stairs: {} {} {}",
        stairs(10, &[1, 2]),
        stairs(30, &[1, 3, 5]),
        stairs(140, &[1, 2, 3])
    );
    println!(
        "{:?}",
        word_breaks("catsanddogs", &["cat", "cats", "and", "sand", "dogs", "dog", "s"])
    );
    println!(
        "{:?}",
        word_breaks("你好世界你好", &["你好", "你", "好世界", "世界", "好"])
    );
    println!("{:?}", word_breaks("nope", &["no", "on"]));
    println!(
        "{} {}",
        house_robber(&[2, 7, 9, 3, 1]),
        house_robber(&[6, 7, 1, 30, 8, 2, 4])
    );
    let board = |n: usize| (0..n).fold((1u64, 0u64), |(a, b), _| (a + b, a)).0;
    println!(
        "binary strings without 11: {:?}",
        (1..=10).map(board).collect::<Vec<_>>()
    );
}
