//! The Hungarian method for the cheapest assignment, checked by brute force.

fn assign(cost: &[Vec<i64>]) -> (i64, Vec<usize>) {
    let n = cost.len();
    let (mut u, mut v) = (vec![0; n + 1], vec![0; n + 1]);
    let mut row_of = vec![0; n + 1];
    for row in 1..=n {
        row_of[0] = row;
        let (mut min, mut used, mut way) = (vec![i64::MAX; n + 1], vec![false; n + 1], vec![0; n + 1]);
        let mut col = 0;
        while row_of[col] != 0 {
            used[col] = true;
            let (r, mut delta, mut next) = (row_of[col], i64::MAX, 0);
            for j in (1..=n).filter(|&j| !used[j]) {
                let reduced = cost[r - 1][j - 1] - u[r] - v[j];
                if reduced < min[j] {
                    (min[j], way[j]) = (reduced, col);
                }
                if min[j] < delta {
                    (delta, next) = (min[j], j);
                }
            }
            for j in 0..=n {
                if used[j] {
                    u[row_of[j]] += delta;
                    v[j] -= delta;
                } else if min[j] < i64::MAX {
                    min[j] -= delta;
                }
            }
            col = next;
        }
        while col != 0 {
            row_of[col] = row_of[way[col]];
            col = way[col];
        }
    }
    let mut choice = vec![0; n];
    (1..=n).for_each(|j| choice[row_of[j] - 1] = j - 1);
    (choice.iter().enumerate().map(|(r, &c)| cost[r][c]).sum(), choice)
}

fn brute(cost: &[Vec<i64>], row: usize, used: u32) -> i64 {
    if row == cost.len() {
        return 0;
    }
    (0..cost.len())
        .filter(|c| used >> c & 1 == 0)
        .map(|c| cost[row][c] + brute(cost, row + 1, used | 1 << c))
        .min()
        .unwrap()
}

fn main() {
    let cooks = ["Ann", "Bo", "Çelik", "迪"];
    let dishes = ["soup", "bread", "crab 🦀", "tea"];
    let minutes = vec![
        vec![20, 35, 30, 5],
        vec![25, 30, 45, 8],
        vec![15, 50, 25, 6],
        vec![40, 28, 38, 4],
    ];
    let (total, choice) = assign(&minutes);
    for (cook, &dish) in cooks.iter().zip(&choice) {
        println!("{cook} makes {}", dishes[dish]);
    }
    println!("total {total} minutes");
    for n in 1..=7usize {
        let cost: Vec<Vec<i64>> = (0..n)
            .map(|i| {
                (0..n)
                    .map(|j| ((i * 31 + j * 17 + i * j * 7) % 43) as i64 - 9)
                    .collect()
            })
            .collect();
        let (total, choice) = assign(&cost);
        println!("n={n} {total} {choice:?} agrees {}", brute(&cost, 0, 0) == total);
    }
}
