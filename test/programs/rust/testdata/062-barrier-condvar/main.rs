//! Phases with a barrier and a ping-pong with a condition variable.
use std::collections::VecDeque;
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread;

/// Heat spreads along a rod; each thread owns a part, phases keep in step.
fn heat(threads: usize, cells: usize, rounds: usize) -> Vec<i64> {
    let start: Vec<i64> = (0..cells)
        .map(|i| if i == cells / 2 { 1 << 20 } else { 0 })
        .collect();
    let buffers = [Mutex::new(start.clone()), Mutex::new(start)];
    let barrier = Barrier::new(threads);
    thread::scope(|s| {
        for t in 0..threads {
            let (buffers, barrier) = (&buffers, &barrier);
            s.spawn(move || {
                let range = t * cells / threads..(t + 1) * cells / threads;
                for round in 0..rounds {
                    let old = buffers[round % 2].lock().unwrap().clone();
                    let part: Vec<i64> = range
                        .clone()
                        .map(|i| (old[i.saturating_sub(1)] + 2 * old[i] + old[(i + 1).min(cells - 1)]) / 4)
                        .collect();
                    buffers[(round + 1) % 2].lock().unwrap()[range.clone()].copy_from_slice(&part);
                    barrier.wait();
                }
            });
        }
    });
    let [a, b] = buffers;
    if rounds % 2 == 0 {
        a.into_inner().unwrap()
    } else {
        b.into_inner().unwrap()
    }
}

struct Turns {
    state: Mutex<(usize, VecDeque<String>)>,
    changed: Condvar,
}

fn main() {
    let one = heat(1, 24, 30);
    println!("{one:?}");
    println!(
        "same with 2, 3, 5 threads: {}",
        [2, 3, 5].iter().all(|&t| heat(t, 24, 30) == one)
    );

    let turns = Arc::new(Turns {
        state: Mutex::new((0, VecDeque::new())),
        changed: Condvar::new(),
    });
    let handles: Vec<_> = ["ping", "pong", "🦀"]
        .into_iter()
        .enumerate()
        .map(|(id, word)| {
            let turns = Arc::clone(&turns);
            thread::spawn(move || {
                for n in 0..4 {
                    let guard = turns.state.lock().unwrap();
                    let mut guard = turns.changed.wait_while(guard, |s| s.0 % 3 != id).unwrap();
                    guard.0 += 1;
                    guard.1.push_back(format!("{word}{n}"));
                    turns.changed.notify_all();
                }
            })
        })
        .collect();
    for h in handles {
        h.join().unwrap();
    }
    let state = turns.state.lock().unwrap();
    println!(
        "{} turns: {}",
        state.0,
        state.1.iter().cloned().collect::<Vec<_>>().join(" ")
    );
}
