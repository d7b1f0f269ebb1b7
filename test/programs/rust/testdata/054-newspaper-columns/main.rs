//! Sets a text in columns, with optimal line breaks by least squares.

fn break_lines(words: &[&str], width: usize) -> Vec<String> {
    let len: Vec<usize> = words.iter().map(|w| w.chars().count()).collect();
    let mut best = vec![(usize::MAX, 0); words.len() + 1];
    best[words.len()] = (0, 0);
    for i in (0..words.len()).rev() {
        let mut used = 0;
        for j in i..words.len() {
            used += len[j] + (j > i) as usize;
            if used > width && j > i {
                break;
            }
            let slack = width.saturating_sub(used);
            let penalty = if j + 1 == words.len() { 0 } else { slack * slack };
            let cost = best[j + 1].0.saturating_add(penalty);
            if cost < best[i].0 {
                best[i] = (cost, j + 1);
            }
        }
    }
    let mut lines = Vec::new();
    let mut i = 0;
    while i < words.len() {
        let j = best[i].1;
        lines.push(words[i..j].join(" "));
        i = j;
    }
    lines
}

fn columns(lines: &[String], count: usize, width: usize) {
    let height = lines.len().div_ceil(count);
    for row in 0..height {
        let cells: Vec<String> = (0..count)
            .map(|c| {
                let text = lines.get(c * height + row).map_or("", String::as_str);
                format!("{text:<width$}")
            })
            .collect();
        println!("{}", cells.join(" │ ").trim_end());
    }
}

fn main() {
    let text = "Early one morning the harbour master found a crab on his chart table. \
        It had walked, he supposed, through the open door — naïve of him to leave it so — and now it sat \
        upon the very shoal it came from. «Bonjour,» said the master, who had been to Brest. The crab, \
        héllo written all over its shell in barnacles, said nothing; but it moved, slowly, two miles to the east.";
    let words: Vec<&str> = text.split_whitespace().collect();
    for (count, width) in [(3, 22), (2, 34)] {
        columns(&break_lines(&words, width), count, width);
        println!("{}", "═".repeat(count * (width + 3) - 3));
    }
    let narrow = break_lines(&words, 10);
    println!(
        "{} lines at width 10, longest word {:?}",
        narrow.len(),
        words.iter().max_by_key(|w| w.chars().count()).unwrap()
    );
}
