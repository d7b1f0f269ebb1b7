//! One state, many threads: Mutex, RwLock, atomics, OnceLock, thread locals.
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::thread;

static TABLE: OnceLock<Vec<u32>> = OnceLock::new();
static BUILT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static LOCAL: Cell<u32> = const { Cell::new(0) };
}

fn table() -> &'static [u32] {
    TABLE.get_or_init(|| {
        BUILT.fetch_add(1, Ordering::SeqCst);
        (0..100).map(|i| i * i % 37).collect()
    })
}

fn main() {
    let counts = Arc::new(Mutex::new(BTreeMap::new()));
    let total = Arc::new(AtomicI64::new(0));
    let handles: Vec<_> = (0..8u32)
        .map(|id| {
            let (counts, total) = (Arc::clone(&counts), Arc::clone(&total));
            thread::spawn(move || {
                for i in 0..500 {
                    let value = table()[(id as usize * 31 + i) % 100];
                    *counts.lock().unwrap().entry(value % 5).or_insert(0) += 1;
                    total.fetch_add(value as i64 - 18, Ordering::Relaxed);
                    LOCAL.with(|l| l.set(l.get() + 1));
                }
                LOCAL.with(Cell::get)
            })
        })
        .collect();
    let locals: Vec<u32> = handles.into_iter().map(|h| h.join().unwrap()).collect();
    println!(
        "{:?} total {}",
        counts.lock().unwrap(),
        total.load(Ordering::SeqCst)
    );
    println!(
        "locals {locals:?}, own {}, table built {} time(s)",
        LOCAL.with(Cell::get),
        BUILT.load(Ordering::SeqCst)
    );

    let settings = RwLock::new(vec!["héllo".to_string()]);
    thread::scope(|s| {
        for n in 0..4 {
            let settings = &settings;
            s.spawn(move || {
                let seen = settings.read().unwrap().len();
                assert!(seen >= 1);
                settings.write().unwrap().push(format!("你好 {n}"));
            });
        }
    });
    let mut all = settings.into_inner().unwrap();
    all.sort();
    println!("{all:?}");

    let highest = AtomicUsize::new(0);
    thread::scope(|s| {
        for n in 0..10 {
            let highest = &highest;
            s.spawn(move || highest.fetch_max(n * 7 % 11, Ordering::SeqCst));
        }
    });
    println!(
        "highest {}, references left {}",
        highest.into_inner(),
        Arc::strong_count(&counts)
    );
}
