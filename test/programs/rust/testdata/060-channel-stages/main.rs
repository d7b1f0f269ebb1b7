//! A pipeline of threads over bounded channels, with back pressure and errors.
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};

fn stage<A: Send + 'static, B: Send + 'static>(
    input: Receiver<A>,
    f: impl Fn(A) -> Option<B> + Send + 'static,
) -> (Receiver<B>, JoinHandle<usize>) {
    let (tx, rx): (SyncSender<B>, _) = mpsc::sync_channel(2);
    let handle = thread::spawn(move || {
        let mut dropped = 0;
        for item in input {
            match f(item) {
                Some(out) => {
                    if tx.send(out).is_err() {
                        break;
                    }
                }
                None => dropped += 1,
            }
        }
        dropped
    });
    (rx, handle)
}

fn main() {
    let (tx, source) = mpsc::sync_channel(1);
    let producer = thread::spawn(move || {
        for n in 1..=200u64 {
            if tx.send(n).is_err() {
                return n;
            }
        }
        200
    });
    let (squares, a) = stage(source, |n| Some((n, n * n)));
    let (palindromes, b) = stage(squares, |(n, sq)| {
        let text = sq.to_string();
        text.chars().eq(text.chars().rev()).then_some((n, text))
    });
    let (lines, c) = stage(palindromes, |(n, text)| Some(format!("{n}² = {text}")));
    for line in &lines {
        println!("{line}");
    }
    println!(
        "dropped: {} {} {}, produced {}",
        a.join().unwrap(),
        b.join().unwrap(),
        c.join().unwrap(),
        producer.join().unwrap()
    );

    let (tx, rx) = mpsc::sync_channel(2);
    for n in 0..4 {
        match tx.try_send(n) {
            Ok(()) => println!("queued {n}"),
            Err(TrySendError::Full(n)) => println!("full, {n} refused"),
            Err(TrySendError::Disconnected(_)) => println!("gone"),
        }
    }
    println!("{:?}", rx.try_iter().collect::<Vec<i32>>());
    println!("{:?}", rx.try_recv());
    drop(tx);
    println!("{:?} {:?}", rx.recv(), rx.try_recv());
}
