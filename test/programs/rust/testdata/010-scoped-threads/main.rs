//! Threads that borrow: a parallel sum, a parallel map and a histogram.
use std::thread;

fn parallel_sum(data: &[u64], parts: usize) -> u64 {
    let chunk = data.len().div_ceil(parts);
    thread::scope(|s| {
        let handles: Vec<_> = data
            .chunks(chunk)
            .map(|c| s.spawn(move || c.iter().sum::<u64>()))
            .collect();
        handles.into_iter().map(|h| h.join().unwrap()).sum()
    })
}

fn parallel_map<T: Sync, U: Send + Default + Clone>(data: &[T], f: impl Fn(&T) -> U + Sync) -> Vec<U> {
    let mut out = vec![U::default(); data.len()];
    thread::scope(|s| {
        for (xs, ys) in data.chunks(16).zip(out.chunks_mut(16)) {
            let f = &f;
            s.spawn(move || {
                for (x, y) in xs.iter().zip(ys) {
                    *y = f(x);
                }
            });
        }
    });
    out
}

fn main() {
    let data: Vec<u64> = (1..=100_000).collect();
    for parts in [1, 3, 8] {
        println!("{parts} threads: {}", parallel_sum(&data, parts));
    }
    let words: Vec<String> = (0..50)
        .map(|i| "héllo 你好 🦀".chars().cycle().skip(i).take(5).collect())
        .collect();
    let upper = parallel_map(&words, |w| w.to_uppercase());
    println!("{:?}", &upper[..4]);
    println!("{}", parallel_map(&words, |w| w.len()).iter().sum::<usize>());

    let text = include_str!("main.rs");
    let counts = thread::scope(|s| {
        let handles: Vec<_> = text
            .as_bytes()
            .chunks(text.len() / 4 + 1)
            .map(|c| {
                s.spawn(move || {
                    let mut counts = [0usize; 26];
                    c.iter()
                        .filter(|b| b.is_ascii_lowercase())
                        .for_each(|b| counts[(b - b'a') as usize] += 1);
                    counts
                })
            })
            .collect();
        handles
            .into_iter()
            .map(|h| h.join().unwrap())
            .fold([0; 26], |mut acc, part| {
                acc.iter_mut().zip(part).for_each(|(a, p)| *a += p);
                acc
            })
    });
    let most = (0..26).max_by_key(|&i| (counts[i], 26 - i)).unwrap();
    println!(
        "most frequent letter of this source: {}",
        (b'a' + most as u8) as char
    );
    let caught = thread::spawn(|| -> u32 { panic!("a thread gave up") }).join();
    println!("joined: {:?}", caught.unwrap_err().downcast_ref::<&str>());
}
