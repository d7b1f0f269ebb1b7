//! A suffix array with the longest common prefixes, used for searching.
use std::cmp::Ordering;

struct Index<'a> {
    text: &'a str,
    suffixes: Vec<usize>,
}

impl<'a> Index<'a> {
    fn new(text: &'a str) -> Self {
        let mut suffixes: Vec<usize> = text.char_indices().map(|(i, _)| i).collect();
        suffixes.sort_by(|&a, &b| text[a..].cmp(&text[b..]));
        Index { text, suffixes }
    }

    fn find(&self, pattern: &str) -> Vec<usize> {
        let compare = |&at: &usize| -> Ordering {
            let suffix = &self.text[at..];
            if suffix.starts_with(pattern) {
                Ordering::Equal
            } else {
                suffix.cmp(pattern)
            }
        };
        let from = self.suffixes.partition_point(|s| compare(s) == Ordering::Less);
        let to = self.suffixes.partition_point(|s| compare(s) != Ordering::Greater);
        let mut hits = self.suffixes[from..to].to_vec();
        hits.sort_unstable();
        hits
    }

    fn longest_repeat(&self) -> &'a str {
        let text = self.text;
        self.suffixes
            .windows(2)
            .map(|w| {
                let common = text[w[0]..]
                    .chars()
                    .zip(text[w[1]..].chars())
                    .take_while(|(a, b)| a == b);
                let bytes: usize = common.map(|(a, _)| a.len_utf8()).sum();
                &text[w[0]..w[0] + bytes]
            })
            .fold("", |best, s| if s.len() > best.len() { s } else { best })
    }
}

fn main() {
    let index = Index::new("banana bandana");
    for &at in &index.suffixes {
        println!("{at:2} {}", &index.text[at..]);
    }
    println!(
        "{:?} {:?} {:?}",
        index.find("ana"),
        index.find("ban"),
        index.find("x")
    );
    println!("repeat: {:?}", index.longest_repeat());

    let other = Index::new("héllo 你好 🦀, héllo 你好 🦞");
    println!("{:?} {:?}", other.find("你好"), other.longest_repeat());
    let long: String = (0..3000u32)
        .map(|i| (b'a' + (i * i / 7 % 5) as u8) as char)
        .collect();
    let big = Index::new(&long);
    println!(
        "{} hits of \"abc\", longest repeat has {} bytes",
        big.find("abc").len(),
        big.longest_repeat().len()
    );
}
