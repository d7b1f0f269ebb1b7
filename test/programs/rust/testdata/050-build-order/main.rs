//! Kahn's algorithm in waves over dependencies read from standard input.
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead};
use std::process::exit;

fn main() {
    let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut cost: BTreeMap<String, u32> = BTreeMap::new();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let Some((head, deps)) = line.split_once(':') else {
            continue;
        };
        let (name, minutes) = head.trim().split_once(' ').unwrap_or((head.trim(), "1"));
        cost.insert(name.to_string(), minutes.parse().unwrap_or(1));
        let entry = needs.entry(name.to_string()).or_default();
        entry.extend(deps.split_whitespace().map(String::from));
        for d in deps.split_whitespace() {
            needs.entry(d.to_string()).or_default();
        }
    }
    let mut ready_at: BTreeMap<String, u32> = BTreeMap::new();
    for wave in 1.. {
        let ready: Vec<String> = needs
            .iter()
            .filter(|(_, deps)| deps.is_empty())
            .map(|(n, _)| n.clone())
            .collect();
        if ready.is_empty() {
            break;
        }
        println!("wave {wave}: {}", ready.join(", "));
        for name in ready {
            needs.remove(&name);
            let start = ready_at.get(&name).copied().unwrap_or(0);
            let end = start + cost.get(&name).copied().unwrap_or(1);
            ready_at.insert(name.clone(), end);
            for (other, deps) in &mut needs {
                if deps.remove(&name) {
                    let at = ready_at.entry(other.clone()).or_default();
                    *at = (*at).max(end);
                }
            }
        }
    }
    if let Some((last, minutes)) = ready_at
        .iter()
        .filter(|(n, _)| !needs.contains_key(*n))
        .max_by_key(|(_, m)| **m)
    {
        println!("finished with {last} after {minutes} minutes");
    }
    if !needs.is_empty() {
        for (name, deps) in &needs {
            println!("stuck: {name} waits for {deps:?}");
        }
        exit(9);
    }
}
