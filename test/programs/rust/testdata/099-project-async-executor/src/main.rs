//! async and await over an executor written here, with virtual time.
mod channel;
mod executor;

use executor::{Executor, Handle};
use std::cell::RefCell;
use std::rc::Rc;

async fn clock(h: Handle, name: &'static str, period: u64, ticks: u32, log: Rc<RefCell<Vec<String>>>) {
    for n in 1..=ticks {
        h.sleep(period).await;
        log.borrow_mut().push(format!("{:>3} {name} {n}", h.now()));
    }
}

async fn fibonacci(h: Handle, n: u32) -> u64 {
    let (mut a, mut b) = (0u64, 1u64);
    for _ in 0..n {
        h.sleep(1).await;
        (a, b) = (b, a + b);
    }
    a
}

fn main() {
    let ex = Executor::default();
    let log = Rc::new(RefCell::new(Vec::new()));
    for (name, period, ticks) in [("héllo", 7, 3), ("你好", 5, 4), ("🦀", 11, 2)] {
        ex.spawn(clock(ex.handle(), name, period, ticks, Rc::clone(&log)));
    }
    let (tx, rx) = channel::channel();
    let producer = ex.handle();
    ex.spawn(async move {
        for n in 1..=4u32 {
            producer.sleep(3).await;
            tx.send(n * n);
        }
    });
    let (consumer_log, h) = (Rc::clone(&log), ex.handle());
    ex.spawn(async move {
        let mut sum = 0;
        while let Some(v) = rx.recv().await {
            sum += v;
            consumer_log
                .borrow_mut()
                .push(format!("{:>3} received {v}, sum {sum}", h.now()));
        }
        consumer_log
            .borrow_mut()
            .push(format!("{:>3} channel closed", h.now()));
    });
    let (fib_log, h) = (Rc::clone(&log), ex.handle());
    ex.spawn(async move {
        let doubled = async |n| 2 * fibonacci(h.clone(), n).await;
        let v = doubled(30).await;
        fib_log
            .borrow_mut()
            .push(format!("{:>3} 2 · fib(30) = {v}", h.now()));
    });
    let polls = ex.run();
    for line in log.borrow().iter() {
        println!("{line}");
    }
    println!("{polls} polls, virtual time {}", ex.handle().now());
}
