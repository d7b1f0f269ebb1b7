//! Carves a maze with a seeded generator and draws the way out.
use std::collections::VecDeque;

const W: usize = 24;
const H: usize = 10;

fn random(state: &mut u32) -> u32 {
    *state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = ((*state >> ((*state >> 28) + 4)) ^ *state).wrapping_mul(277_803_737);
    word >> 22 ^ word
}

struct Maze {
    /// One bit for each open side: right, down, left, up.
    open: Vec<u8>,
}

fn neighbour(cell: usize, side: usize) -> Option<usize> {
    let (r, c) = (cell / W, cell % W);
    match side {
        0 if c + 1 < W => Some(cell + 1),
        1 if r + 1 < H => Some(cell + W),
        2 if c > 0 => Some(cell - 1),
        3 if r > 0 => Some(cell - W),
        _ => None,
    }
}

impl Maze {
    fn carve(seed: u32) -> Maze {
        let mut open = vec![0u8; W * H];
        let mut state = seed;
        let mut stack = vec![0];
        while let Some(&cell) = stack.last() {
            let sides: Vec<(usize, usize)> = (0..4)
                .filter_map(|s| neighbour(cell, s).filter(|&n| open[n] == 0).map(|n| (s, n)))
                .collect();
            if sides.is_empty() {
                stack.pop();
                continue;
            }
            let (side, next) = sides[random(&mut state) as usize % sides.len()];
            open[cell] |= 1 << side;
            open[next] |= 1 << ((side + 2) % 4);
            stack.push(next);
        }
        Maze { open }
    }

    fn solve(&self) -> Vec<usize> {
        let mut from = vec![None; W * H];
        let mut queue = VecDeque::from([0]);
        while let Some(cell) = queue.pop_front() {
            for side in (0..4).filter(|s| self.open[cell] >> s & 1 == 1) {
                let next = neighbour(cell, side).expect("open sides lead somewhere");
                if next != 0 && from[next].is_none() {
                    from[next] = Some(cell);
                    queue.push_back(next);
                }
            }
        }
        std::iter::successors(Some(W * H - 1), |&c| from[c]).collect()
    }
}

fn main() {
    let maze = Maze::carve(7);
    let path = maze.solve();
    println!("┌{}┐", "───┬".repeat(W - 1) + "───");
    for r in 0..H {
        let (mut line, mut below) = (String::from("│"), String::from("├"));
        for cell in r * W..(r + 1) * W {
            line += if path.contains(&cell) { " • " } else { "   " };
            line.push(if maze.open[cell] & 1 != 0 { ' ' } else { '│' });
            below += if maze.open[cell] & 2 != 0 {
                "   "
            } else {
                "───"
            };
            below.push('┼');
        }
        println!("{line}\n{below}");
    }
    let dead_ends = maze.open.iter().filter(|o| o.count_ones() == 1).count();
    println!("way out: {} cells, dead ends: {dead_ends}", path.len());
}
