//! Needleman and Wunsch: the best global alignment of two sequences.

const MATCH: i32 = 2;
const MISMATCH: i32 = -1;
const GAP: i32 = -2;

fn align(a: &str, b: &str) -> (i32, String, String, String) {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut score = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 1..=a.len() {
        score[i][0] = i as i32 * GAP;
    }
    for j in 1..=b.len() {
        score[0][j] = j as i32 * GAP;
    }
    let pair = |x: char, y: char| if x == y { MATCH } else { MISMATCH };
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            score[i][j] = (score[i - 1][j - 1] + pair(a[i - 1], b[j - 1]))
                .max(score[i - 1][j] + GAP)
                .max(score[i][j - 1] + GAP);
        }
    }
    let (mut i, mut j) = (a.len(), b.len());
    let mut columns = Vec::new();
    while i > 0 || j > 0 {
        if i > 0 && j > 0 && score[i][j] == score[i - 1][j - 1] + pair(a[i - 1], b[j - 1]) {
            i -= 1;
            j -= 1;
            columns.push((a[i], if a[i] == b[j] { '|' } else { '.' }, b[j]));
        } else if i > 0 && score[i][j] == score[i - 1][j] + GAP {
            i -= 1;
            columns.push((a[i], ' ', '-'));
        } else {
            j -= 1;
            columns.push(('-', ' ', b[j]));
        }
    }
    columns.reverse();
    (
        score[a.len()][b.len()],
        columns.iter().map(|c| c.0).collect(),
        columns.iter().map(|c| c.1).collect(),
        columns.iter().map(|c| c.2).collect(),
    )
}

fn main() {
    for (a, b) in [
        ("GATTACA", "GCATGCA"),
        ("ACGTACGTGACCT", "ACTACGGACT"),
        ("héllo 你好 🦀", "hello 您好"),
        ("", "ABC"),
    ] {
        let (score, top, middle, bottom) = align(a, b);
        println!("score {score}\n  {top}\n  {middle}\n  {bottom}");
    }
}
