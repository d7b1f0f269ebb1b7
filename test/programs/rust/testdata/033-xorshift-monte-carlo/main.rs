//! A seeded generator, and what can be estimated with it.

struct XorShift(u64);

impl XorShift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: u64) -> u64 {
        ((self.next() as u128 * n as u128) >> 64) as u64
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

fn main() {
    let mut rng = XorShift(2024);
    let inside = (0..200_000)
        .filter(|_| rng.unit().powi(2) + rng.unit().powi(2) < 1.0)
        .count();
    println!("pi is about {:.3}", inside as f64 / 50_000.0);

    let mut rolls = [0; 11];
    for _ in 0..36_000 {
        rolls[(rng.below(6) + rng.below(6)) as usize] += 1;
    }
    for (i, n) in rolls.iter().enumerate() {
        println!("{:2} {n:5} {}", i + 2, "█".repeat(n / 150));
    }
    let shared = (0..2000)
        .filter(|_| {
            let mut days = [false; 365];
            (0..23).any(|_| std::mem::replace(&mut days[rng.below(365) as usize], true))
        })
        .count();
    println!("birthday shared among 23: {:.2}", shared as f64 / 2000.0);

    let switch_wins = (0..10_000).filter(|_| rng.below(3) != rng.below(3)).count();
    println!("switching the door wins {:.2}", switch_wins as f64 / 10_000.0);
    let mut suits: Vec<char> = "♠♥♦♣★☆☀☂🦀".chars().collect();
    rng.shuffle(&mut suits);
    println!("{}", suits.iter().collect::<String>());
    let mut walk = 0i64;
    let far = (0..5_000)
        .map(|_| {
            walk += 1 - 2 * rng.below(2) as i64;
            walk.abs()
        })
        .max()
        .unwrap();
    println!("walk ended at {walk}, farthest {far}");
}
