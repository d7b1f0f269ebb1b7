//! The eight puzzle by breadth-first search from both ends.
use std::collections::{HashMap, VecDeque};

type State = [u8; 9];

fn moves(s: &State) -> impl Iterator<Item = (char, State)> + '_ {
    let hole = s.iter().position(|&t| t == 0).unwrap();
    [
        ('U', hole >= 3, -3i32),
        ('D', hole < 6, 3),
        ('L', hole % 3 > 0, -1),
        ('R', hole % 3 < 2, 1),
    ]
    .into_iter()
    .filter(|m| m.1)
    .map(move |(name, _, by)| {
        let mut next = *s;
        next.swap(hole, (hole as i32 + by) as usize);
        (name, next)
    })
}

fn inverse(m: char) -> char {
    match m {
        'U' => 'D',
        'D' => 'U',
        'L' => 'R',
        _ => 'L',
    }
}

fn solvable(s: &State) -> bool {
    let tiles: Vec<u8> = s.iter().copied().filter(|&t| t != 0).collect();
    let inversions = (0..8)
        .flat_map(|i| (i + 1..8).map(move |j| (i, j)))
        .filter(|&(i, j)| tiles[i] > tiles[j])
        .count();
    inversions % 2 == 0
}

fn solve(start: State, goal: State) -> Option<(String, usize)> {
    if start == goal {
        return Some((String::new(), 0));
    }
    if solvable(&start) != solvable(&goal) {
        return None;
    }
    let mut sides = [
        HashMap::from([(start, None)]),
        HashMap::from([(goal, None::<(char, State)>)]),
    ];
    let mut queues = [VecDeque::from([start]), VecDeque::from([goal])];
    let trace = |side: &HashMap<State, Option<(char, State)>>, mut at: State| {
        let mut out = Vec::new();
        while let Some((m, before)) = side[&at] {
            out.push(m);
            at = before;
        }
        out
    };
    loop {
        for side in 0..2 {
            for _ in 0..queues[side].len() {
                let state = queues[side].pop_front()?;
                for (m, next) in moves(&state) {
                    if sides[side].contains_key(&next) {
                        continue;
                    }
                    sides[side].insert(next, Some((m, state)));
                    if sides[1 - side].contains_key(&next) {
                        let mut path = trace(&sides[0], next);
                        path.reverse();
                        path.extend(trace(&sides[1], next).into_iter().map(inverse));
                        return Some((path.into_iter().collect(), sides[0].len() + sides[1].len()));
                    }
                    queues[side].push_back(next);
                }
            }
        }
    }
}

fn main() {
    let goal = [1, 2, 3, 4, 5, 6, 7, 8, 0];
    for start in [
        goal,
        [1, 2, 3, 4, 5, 6, 0, 7, 8],
        [8, 1, 3, 4, 0, 2, 7, 6, 5],
        [2, 1, 3, 4, 5, 6, 7, 8, 0],
        [0, 8, 7, 6, 5, 4, 3, 2, 1],
    ] {
        match solve(start, goal) {
            Some((path, seen)) => {
                let end = path
                    .chars()
                    .fold(start, |s, m| moves(&s).find(|(name, _)| *name == m).unwrap().1);
                println!(
                    "{start:?}: {} moves {path} ({seen} states, reaches the goal: {})",
                    path.len(),
                    end == goal
                );
            }
            None => println!("{start:?}: impossible"),
        }
    }
}
