//! Manacher's algorithm, counting palindromes and the fewest parts.

fn radii(chars: &[char]) -> Vec<usize> {
    let spaced: Vec<Option<char>> = std::iter::once(None)
        .chain(chars.iter().flat_map(|&c| [Some(c), None]))
        .collect();
    let mut r = vec![0usize; spaced.len()];
    let (mut centre, mut right) = (0, 0);
    for i in 0..spaced.len() {
        if i < right {
            r[i] = r[2 * centre - i].min(right - i);
        }
        while i > r[i] && i + r[i] + 1 < spaced.len() && spaced[i - r[i] - 1] == spaced[i + r[i] + 1] {
            r[i] += 1;
        }
        if i + r[i] > right {
            (centre, right) = (i, i + r[i]);
        }
    }
    r
}

fn longest(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let r = radii(&chars);
    let centre = (0..r.len())
        .max_by_key(|&i| (r[i], std::cmp::Reverse(i)))
        .unwrap();
    let start = (centre - r[centre]) / 2;
    chars[start..start + r[centre]].iter().collect()
}

fn count(text: &str) -> usize {
    radii(&text.chars().collect::<Vec<_>>())
        .iter()
        .map(|r| (r + 1) / 2)
        .sum()
}

fn fewest_parts(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut best: Vec<Vec<String>> = vec![Vec::new()];
    for end in 1..=chars.len() {
        let options = (0..end).filter(|&start| chars[start..end].iter().eq(chars[start..end].iter().rev()));
        let start = options
            .min_by_key(|&start| best[start].len())
            .expect("one letter is a palindrome");
        let part = chars[start..end].iter().collect();
        best.push([best[start].clone(), vec![part]].concat());
    }
    best.pop().unwrap()
}

fn main() {
    for text in [
        "babad",
        "forgeeksskeegfor",
        "abacdfgdcaba",
        "你好好你 🦀",
        "été",
        "a",
        "aaaaaa",
    ] {
        println!(
            "{text:?}: longest {:?}, {} in all, parts {:?}",
            longest(text),
            count(text),
            fewest_parts(text)
        );
    }
    let phrase = "A man, a plan, a canal: Panama!";
    let letters: String = phrase
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric())
        .collect();
    println!("{phrase:?} {}", longest(&letters) == letters);
    let thue: String = (0u32..4096)
        .map(|n| if n.count_ones() % 2 == 0 { 'a' } else { 'b' })
        .collect();
    println!(
        "Thue–Morse: longest {}, {} palindromes",
        longest(&thue).len(),
        count(&thue)
    );
    let numbers: Vec<u64> = (1..200u64)
        .filter(|&n| {
            let s = (n * n * n).to_string();
            s == s.chars().rev().collect::<String>()
        })
        .collect();
    println!("cubes that are palindromes: {numbers:?}");
}
