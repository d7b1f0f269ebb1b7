//! Two classical ciphers: the rail fence and Playfair.

fn rails(n: usize, len: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    let period = 2 * (n - 1).max(1);
    order.sort_by_key(|&i| ((i % period).min(period - i % period), i));
    order
}

fn fence_encode(text: &str, n: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    rails(n, chars.len()).into_iter().map(|i| chars[i]).collect()
}

fn fence_decode(text: &str, n: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = vec![' '; chars.len()];
    rails(n, chars.len())
        .into_iter()
        .zip(&chars)
        .for_each(|(i, &c)| out[i] = c);
    out.into_iter().collect()
}

struct Playfair {
    square: Vec<char>,
}

impl Playfair {
    fn new(key: &str) -> Self {
        let mut square: Vec<char> = Vec::new();
        for c in key
            .to_lowercase()
            .chars()
            .chain('a'..='z')
            .filter(char::is_ascii_lowercase)
        {
            let c = if c == 'j' { 'i' } else { c };
            if !square.contains(&c) {
                square.push(c);
            }
        }
        Playfair { square }
    }

    fn pairs(text: &str) -> Vec<(char, char)> {
        let mut letters = text
            .to_lowercase()
            .replace('j', "i")
            .chars()
            .filter(char::is_ascii_lowercase)
            .collect::<Vec<_>>()
            .into_iter()
            .peekable();
        let mut out = Vec::new();
        while let Some(a) = letters.next() {
            out.push((a, letters.next_if(|&b| b != a).unwrap_or('x')));
        }
        out
    }

    fn apply(&self, pairs: &[(char, char)], step: usize) -> String {
        let at = |c: char| self.square.iter().position(|&s| s == c).unwrap();
        pairs
            .iter()
            .flat_map(|&(a, b)| {
                let ((ra, ca), (rb, cb)) = ((at(a) / 5, at(a) % 5), (at(b) / 5, at(b) % 5));
                if ra == rb {
                    [
                        self.square[ra * 5 + (ca + step) % 5],
                        self.square[rb * 5 + (cb + step) % 5],
                    ]
                } else if ca == cb {
                    [
                        self.square[(ra + step) % 5 * 5 + ca],
                        self.square[(rb + step) % 5 * 5 + cb],
                    ]
                } else {
                    [self.square[ra * 5 + cb], self.square[rb * 5 + ca]]
                }
            })
            .collect()
    }
}

fn main() {
    for (text, n) in [
        ("we are discovered, flee at once", 3),
        ("héllo 你好 🦀 crabs", 4),
        ("ab", 5),
    ] {
        let secret = fence_encode(text, n);
        println!("{secret:?} -> {:?}", fence_decode(&secret, n));
    }
    let cipher = Playfair::new("harbour master");
    for row in cipher.square.chunks(5) {
        println!("{}", row.iter().map(|c| format!("{c} ")).collect::<String>());
    }
    let pairs = Playfair::pairs("Meet the jolly crabs at noon!");
    let secret = cipher.apply(&pairs, 1);
    println!("{secret} -> {}", cipher.apply(&Playfair::pairs(&secret), 4));
}
