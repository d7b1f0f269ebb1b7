//! Alpha–beta search on a small connect-three board.
use std::collections::HashMap;

const W: usize = 5;
const H: usize = 4;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Board {
    cells: [u8; W * H],
    turn: u8,
}

impl Board {
    fn at(&self, c: i32, r: i32) -> Option<u8> {
        let inside = (0..W as i32).contains(&c) && (0..H as i32).contains(&r);
        inside.then(|| self.cells[r as usize * W + c as usize])
    }

    fn drop_in(&self, c: usize) -> Option<(Board, bool)> {
        let r = (0..H).find(|&r| self.cells[r * W + c] == 0)?;
        let mut next = self.clone();
        next.cells[r * W + c] = self.turn;
        next.turn = 3 - self.turn;
        let won = [(1, 0), (0, 1), (1, 1), (1, -1)].iter().any(|&(dc, dr)| {
            let run = |sign: i32| {
                (1..3)
                    .take_while(|k| {
                        next.at(c as i32 + sign * k * dc, r as i32 + sign * k * dr) == Some(self.turn)
                    })
                    .count()
            };
            run(1) + run(-1) >= 2
        });
        Some((next, won))
    }

    fn draw(&self) {
        for r in (0..H).rev() {
            println!(
                "|{}|",
                (0..W)
                    .map(|c| [" · ", " ○ ", " ● "][self.cells[r * W + c] as usize])
                    .collect::<String>()
            );
        }
        println!("+{}+", "---".repeat(W));
    }
}

struct Search {
    known: HashMap<Board, i32>,
    nodes: usize,
}

impl Search {
    /// The score for the side to move: wins earlier are worth more.
    fn value(&mut self, b: &Board, depth: i32, mut alpha: i32, beta: i32) -> i32 {
        if depth == 0 || b.cells.iter().all(|&c| c != 0) {
            return 0;
        }
        self.nodes += 1;
        let mut best = -100;
        for c in [2, 1, 3, 0, 4] {
            let Some((next, won)) = b.drop_in(c) else { continue };
            let v = if won {
                50 + depth
            } else {
                -self.value(&next, depth - 1, -beta, -alpha)
            };
            best = best.max(v);
            alpha = alpha.max(v);
            if alpha >= beta {
                break;
            }
        }
        best
    }

    fn best(&mut self, b: &Board) -> Option<(usize, i32)> {
        let mut choice = None;
        for c in [2, 1, 3, 0, 4] {
            let Some((next, won)) = b.drop_in(c) else { continue };
            let v = if won { 99 } else { -self.value(&next, 7, -100, 100) };
            self.known.insert(next, v);
            if choice.map_or(true, |(_, old)| v > old) {
                choice = Some((c, v));
            }
        }
        choice
    }
}

fn main() {
    let mut board = Board {
        cells: [0; W * H],
        turn: 1,
    };
    let mut search = Search {
        known: HashMap::new(),
        nodes: 0,
    };
    for c in [0, 4] {
        board = board.drop_in(c).unwrap().0;
    }
    loop {
        let Some((c, value)) = search.best(&board) else {
            println!("a draw");
            break;
        };
        let (next, won) = board.drop_in(c).unwrap();
        println!(
            "{} plays column {c}, value {value}",
            ["", "○", "●"][board.turn as usize]
        );
        board = next;
        if won {
            println!("and wins");
            break;
        }
    }
    board.draw();
    println!(
        "{} positions remembered, {} nodes",
        search.known.len(),
        search.nodes
    );
}
