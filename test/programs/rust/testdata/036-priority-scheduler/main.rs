//! Preemptive scheduling of tasks with a heap, simulated tick by tick.
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

#[derive(Debug, PartialEq, Eq)]
struct Task {
    name: &'static str,
    priority: u8,
    arrival: u32,
    remaining: u32,
}

impl Ord for Task {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.priority, Reverse(self.arrival), Reverse(self.name)).cmp(&(
            other.priority,
            Reverse(other.arrival),
            Reverse(other.name),
        ))
    }
}

impl PartialOrd for Task {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn main() {
    let mut incoming: Vec<Task> = [
        ("cook", 1, 0, 6),
        ("phone", 5, 2, 2),
        ("write", 3, 1, 4),
        ("read", 3, 1, 3),
        ("alarm", 9, 7, 1),
        ("sweep", 0, 3, 2),
    ]
    .into_iter()
    .map(|(name, priority, arrival, remaining)| Task {
        name,
        priority,
        arrival,
        remaining,
    })
    .collect();
    incoming.sort_by_key(|t| Reverse(t.arrival));
    let mut ready = BinaryHeap::new();
    let mut chart = String::new();
    let mut finished: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    let mut clock = 0;
    while !(incoming.is_empty() && ready.is_empty()) {
        while incoming.last().map_or(false, |t| t.arrival <= clock) {
            ready.extend(incoming.pop());
        }
        clock += 1;
        let Some(mut task) = ready.pop() else {
            chart.push('.');
            continue;
        };
        chart.push(task.name.chars().next().unwrap());
        task.remaining -= 1;
        if task.remaining == 0 {
            finished.insert(task.name, (clock, clock - task.arrival));
        } else {
            ready.push(task);
        }
    }
    println!("{chart}");
    for (name, (at, turnaround)) in &finished {
        println!("{name:<6} finished at {at:2} after {turnaround:2}");
    }
    let mut heap: BinaryHeap<Reverse<(u32, &str)>> = [(3, "c"), (1, "a"), (2, "b"), (1, "A")]
        .into_iter()
        .map(Reverse)
        .collect();
    heap.push(Reverse((0, "first")));
    println!("{:?} {:?}", heap.peek(), heap.len());
    println!(
        "{:?}",
        std::iter::from_fn(|| heap.pop().map(|Reverse((_, s))| s)).collect::<Vec<_>>()
    );
}
