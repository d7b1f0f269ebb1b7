//! Fish and sharks on a torus: Wa-Tor with a seeded generator.
use std::collections::BTreeMap;

const W: usize = 40;
const H: usize = 14;

#[derive(Clone, Copy, PartialEq)]
enum Cell {
    Sea,
    Fish { age: u8 },
    Shark { age: u8, hunger: u8 },
}

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

fn neighbours(at: usize) -> [usize; 4] {
    let (r, c) = (at / W, at % W);
    [
        (r + H - 1) % H * W + c,
        (r + 1) % H * W + c,
        r * W + (c + W - 1) % W,
        r * W + (c + 1) % W,
    ]
}

fn step(grid: &mut [Cell], rng: &mut Rng) {
    let mut moved = vec![false; W * H];
    for at in 0..W * H {
        if moved[at] || grid[at] == Cell::Sea {
            continue;
        }
        let around = neighbours(at);
        let free: Vec<usize> = around.into_iter().filter(|&n| grid[n] == Cell::Sea).collect();
        let prey: Vec<usize> = around
            .into_iter()
            .filter(|&n| matches!(grid[n], Cell::Fish { .. }))
            .collect();
        let targets = if matches!(grid[at], Cell::Shark { .. }) && !prey.is_empty() {
            &prey
        } else {
            &free
        };
        let target = if targets.is_empty() {
            at
        } else {
            targets[rng.below(targets.len())]
        };
        let (adult, child) = match grid[at] {
            Cell::Fish { age } if age >= 4 && target != at => (Cell::Fish { age: 0 }, Cell::Fish { age: 0 }),
            Cell::Fish { age } => (
                Cell::Fish {
                    age: age + (age < 200) as u8,
                },
                Cell::Sea,
            ),
            Cell::Shark { hunger, .. } if hunger >= 5 && prey.is_empty() => (Cell::Sea, Cell::Sea),
            Cell::Shark { age, hunger } => {
                let hunger = if prey.is_empty() { hunger + 1 } else { 0 };
                if age >= 9 && target != at {
                    (Cell::Shark { age: 0, hunger }, Cell::Shark { age: 0, hunger: 0 })
                } else {
                    (
                        Cell::Shark {
                            age: age + (age < 200) as u8,
                            hunger,
                        },
                        Cell::Sea,
                    )
                }
            }
            Cell::Sea => unreachable!(),
        };
        grid[at] = child;
        grid[target] = adult;
        moved[target] = true;
        moved[at] = true;
    }
}

fn main() {
    let mut rng = Rng(99);
    let mut grid = vec![Cell::Sea; W * H];
    for cell in grid.iter_mut() {
        *cell = match rng.below(20) {
            0..=5 => Cell::Fish {
                age: rng.below(5) as u8,
            },
            6 => Cell::Shark {
                age: rng.below(9) as u8,
                hunger: 0,
            },
            _ => Cell::Sea,
        };
    }
    let count = |g: &[Cell]| {
        (
            g.iter().filter(|c| matches!(c, Cell::Fish { .. })).count(),
            g.iter().filter(|c| matches!(c, Cell::Shark { .. })).count(),
        )
    };
    let mut history = BTreeMap::new();
    for t in 0..=200 {
        history.insert(t, count(&grid));
        step(&mut grid, &mut rng);
    }
    for (t, (fish, sharks)) in history.iter().filter(|(t, _)| *t % 20 == 0) {
        println!(
            "{t:3} fish {fish:3} sharks {sharks:3} {}{}",
            "·".repeat(fish / 16),
            "▲".repeat(sharks / 8)
        );
    }
    for row in grid.chunks(W) {
        println!(
            "{}",
            row.iter()
                .map(|c| match c {
                    Cell::Sea => ' ',
                    Cell::Fish { .. } => '°',
                    Cell::Shark { .. } => '▲',
                })
                .collect::<String>()
                .trim_end()
        );
    }
}
