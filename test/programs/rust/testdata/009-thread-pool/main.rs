//! A thread pool with boxed jobs; results are put back into order.
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

type Job = Box<dyn FnOnce() + Send>;

struct Pool {
    jobs: Option<Sender<Job>>,
    workers: Vec<JoinHandle<()>>,
}

impl Pool {
    fn new(size: usize) -> Self {
        let (tx, rx) = mpsc::channel::<Job>();
        let rx = Arc::new(Mutex::new(rx));
        let workers = (0..size)
            .map(|_| {
                let rx = Arc::clone(&rx);
                thread::spawn(move || {
                    loop {
                        let job = rx.lock().unwrap().recv();
                        match job {
                            Ok(job) => job(),
                            Err(_) => return,
                        }
                    }
                })
            })
            .collect();
        Pool {
            jobs: Some(tx),
            workers,
        }
    }

    fn run(&self, job: impl FnOnce() + Send + 'static) {
        self.jobs.as_ref().unwrap().send(Box::new(job)).unwrap();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        drop(self.jobs.take());
        for w in self.workers.drain(..) {
            w.join().unwrap();
        }
    }
}

fn digits_of_square_root(n: u64, count: usize) -> String {
    // Schoolbook: one decimal digit at a time.
    let (mut root, mut rest) = (0u128, n as u128);
    let mut out = String::new();
    for _ in 0..count {
        let digit = (0..=9).rev().find(|d| (20 * root + d) * d <= rest).unwrap();
        rest = (rest - (20 * root + digit) * digit) * 100;
        root = root * 10 + digit;
        out.push_str(&digit.to_string());
    }
    out
}

fn main() {
    let (tx, rx) = mpsc::channel();
    let pool = Pool::new(4);
    for n in (2..40).filter(|n| [4, 9, 16, 25, 36].iter().all(|s| s != n)) {
        let tx = tx.clone();
        pool.run(move || tx.send((n, digits_of_square_root(n, 16))).unwrap());
    }
    drop(tx);
    let mut results: Vec<(u64, String)> = rx.iter().collect();
    drop(pool);
    results.sort();
    for (n, digits) in &results {
        println!("sqrt({n:2}) = {}.{}", &digits[..1], &digits[1..]);
    }
    println!("{} results", results.len());
}
