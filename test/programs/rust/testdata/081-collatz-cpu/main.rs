//! Longest Collatz chains with memory: a loop that keeps the CPU busy.

fn main() {
    const LIMIT: usize = 300_000;
    let mut length = vec![0u16; LIMIT];
    length[1] = 1;
    let mut best = (1, 1u16);
    let mut peak = (0u64, 0usize);
    for start in 2..LIMIT {
        let (mut n, mut steps) = (start as u64, 0);
        while n >= start as u64 {
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
            if n > peak.0 {
                peak = (n, start);
            }
        }
        length[start] = steps + length[n as usize];
        if length[start] > best.1 {
            best = (start, length[start]);
            if start > 1000 {
                println!("{start:>7}: {}", length[start]);
            }
        }
    }
    println!("longest chain below {LIMIT}: {} with {} terms", best.0, best.1);
    println!("highest value {} from {}", peak.0, peak.1);
    let mut histogram = [0usize; 10];
    length[1..]
        .iter()
        .for_each(|&l| histogram[(l as usize / 50).min(9)] += 1);
    for (i, n) in histogram.iter().enumerate() {
        println!("{:>3}+ {n:>7} {}", i * 50, "■".repeat(n / 2500));
    }
    let total: u64 = length.iter().map(|&l| l as u64).sum();
    println!("average {:.3}", total as f64 / (LIMIT - 1) as f64);
}
