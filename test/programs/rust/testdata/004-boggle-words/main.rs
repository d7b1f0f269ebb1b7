//! Finds the words of a list on a letter board by backtracking over a trie.
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
struct Trie {
    next: BTreeMap<char, Trie>,
    word: bool,
}

impl Trie {
    fn insert(&mut self, word: &str) {
        let mut node = self;
        for c in word.chars() {
            node = node.next.entry(c).or_default();
        }
        node.word = true;
    }
}

struct Search<'a> {
    board: &'a [Vec<char>],
    used: Vec<Vec<bool>>,
    found: BTreeSet<String>,
    steps: usize,
}

impl Search<'_> {
    fn explore(&mut self, r: usize, c: usize, node: &Trie, prefix: &mut String) {
        let letter = self.board[r][c];
        let Some(child) = node.next.get(&letter) else {
            return;
        };
        self.steps += 1;
        prefix.push(letter);
        self.used[r][c] = true;
        if child.word {
            self.found.insert(prefix.clone());
        }
        for nr in r.saturating_sub(1)..=(r + 1).min(self.board.len() - 1) {
            for nc in c.saturating_sub(1)..=(c + 1).min(self.board[0].len() - 1) {
                if !self.used[nr][nc] {
                    self.explore(nr, nc, child, prefix);
                }
            }
        }
        self.used[r][c] = false;
        prefix.pop();
    }
}

fn main() {
    let board: Vec<Vec<char>> = ["tesla", "ricno", "ahgem", "pésod"]
        .iter()
        .map(|r| r.chars().collect())
        .collect();
    let words = "trice chase chime genome mode domes rich pair lance single teslas tires hosed épage osé cosine mood gems cancel ocean";
    let mut trie = Trie::default();
    words.split(' ').for_each(|w| trie.insert(w));
    let mut search = Search {
        board: &board,
        used: vec![vec![false; 5]; 4],
        found: BTreeSet::new(),
        steps: 0,
    };
    for r in 0..4 {
        for c in 0..5 {
            search.explore(r, c, &trie, &mut String::new());
        }
    }
    println!(
        "{} of {} words in {} steps",
        search.found.len(),
        words.split(' ').count(),
        search.steps
    );
    println!("{:?}", search.found);
}
