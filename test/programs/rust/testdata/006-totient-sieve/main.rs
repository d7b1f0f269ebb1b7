//! A linear sieve that also yields Euler's totient and the Möbius function.

struct Sieve {
    primes: Vec<usize>,
    phi: Vec<usize>,
    mobius: Vec<i8>,
}

impl Sieve {
    fn new(limit: usize) -> Self {
        let mut s = Sieve {
            primes: vec![],
            phi: vec![0; limit + 1],
            mobius: vec![0; limit + 1],
        };
        let mut composite = vec![false; limit + 1];
        s.phi[1] = 1;
        s.mobius[1] = 1;
        for n in 2..=limit {
            if !composite[n] {
                s.primes.push(n);
                s.phi[n] = n - 1;
                s.mobius[n] = -1;
            }
            for &p in &s.primes {
                if n * p > limit {
                    break;
                }
                composite[n * p] = true;
                if n % p == 0 {
                    s.phi[n * p] = s.phi[n] * p;
                    break;
                }
                s.phi[n * p] = s.phi[n] * (p - 1);
                s.mobius[n * p] = -s.mobius[n];
            }
        }
        s
    }
}

fn main() {
    const LIMIT: usize = 200_000;
    let s = Sieve::new(LIMIT);
    println!(
        "{} primes up to {LIMIT}, last {}",
        s.primes.len(),
        s.primes[s.primes.len() - 1]
    );
    println!("phi: {:?}", &s.phi[1..=20]);
    println!("mu:  {:?}", &s.mobius[1..=20]);
    println!(
        "reduced fractions with denominator <= {LIMIT}: {}",
        s.phi[2..].iter().sum::<usize>()
    );
    println!("Mertens: {}", s.mobius.iter().map(|&m| m as i64).sum::<i64>());
    let squarefree = s.mobius.iter().filter(|&&m| m != 0).count();
    println!(
        "squarefree numbers: {squarefree} ({:.4})",
        squarefree as f64 / LIMIT as f64
    );
    let most = (1..=LIMIT)
        .filter(|&n| n * 100 / s.phi[n] > 480)
        .collect::<Vec<_>>();
    println!("n/phi(n) above 4.8: {:?}", &most[..most.len().min(6)]);
}
