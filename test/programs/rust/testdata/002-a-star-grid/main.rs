//! A* over a weighted grid read from standard input.
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::{self, BufRead};

type Pos = (usize, usize);

fn find(grid: &[Vec<char>], what: char) -> Option<Pos> {
    grid.iter()
        .enumerate()
        .find_map(|(r, row)| row.iter().position(|&c| c == what).map(|c| (r, c)))
}

fn cost(c: char) -> Option<u32> {
    match c {
        '#' => None,
        '~' => Some(5),
        '^' => Some(9),
        _ => Some(1),
    }
}

fn search(grid: &[Vec<char>], start: Pos, goal: Pos) -> Option<(u32, Vec<Pos>, usize)> {
    let estimate = |p: Pos| (p.0.abs_diff(goal.0) + p.1.abs_diff(goal.1)) as u32;
    let mut best = HashMap::from([(start, 0)]);
    let mut from: HashMap<Pos, Pos> = HashMap::new();
    let mut open = BinaryHeap::from([Reverse((estimate(start), start))]);
    let mut expanded = 0;
    while let Some(Reverse((_, here))) = open.pop() {
        expanded += 1;
        if here == goal {
            let mut path = vec![goal];
            while let Some(&p) = from.get(&path[path.len() - 1]) {
                path.push(p);
            }
            return Some((best[&goal], path, expanded));
        }
        let (r, c) = here;
        for next in [
            (r.wrapping_sub(1), c),
            (r + 1, c),
            (r, c.wrapping_sub(1)),
            (r, c + 1),
        ] {
            let Some(step) = grid
                .get(next.0)
                .and_then(|row| row.get(next.1))
                .and_then(|&ch| cost(ch))
            else {
                continue;
            };
            let total = best[&here] + step;
            if best.get(&next).map_or(true, |&old| total < old) {
                best.insert(next, total);
                from.insert(next, here);
                open.push(Reverse((total + estimate(next), next)));
            }
        }
    }
    None
}

fn main() {
    let mut grid: Vec<Vec<char>> = io::stdin()
        .lock()
        .lines()
        .map(|l| l.unwrap().chars().collect())
        .collect();
    let start = find(&grid, 'S').expect("a start");
    let goal = find(&grid, 'G').expect("a goal");
    let (total, path, expanded) = search(&grid, start, goal).expect("a way");
    for &(r, c) in &path[1..path.len() - 1] {
        grid[r][c] = '•';
    }
    for row in &grid {
        println!("{}", row.iter().collect::<String>());
    }
    println!("cost {total}, {} steps, expanded {expanded}", path.len() - 1);
}
