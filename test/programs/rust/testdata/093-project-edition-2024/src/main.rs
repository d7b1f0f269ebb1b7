//! Edition 2024: captured lifetimes, boxed slices by value, let-else.
mod stats;

use stats::{Sample, Window};
use std::collections::BTreeMap;

/// In this edition the returned iterator borrows from both arguments.
fn above<'a>(samples: &'a [Sample], limit: &f64) -> impl Iterator<Item = &'a Sample> {
    samples.iter().filter(move |s| s.value > *limit)
}

fn parse(line: &str) -> Option<Sample> {
    let (sensor, value) = line.split_once('=')?;
    let Ok(value) = value.trim().parse::<f64>() else {
        return None;
    };
    Some(Sample {
        sensor: sensor.trim().to_string(),
        value,
    })
}

fn main() {
    let text =
        "roof=21.5\nkeller=9.0\nroof=22.5\nbroken\n屋顶=-3.25\nroof=abc\nkeller=11.0\n🦀=99.5\nroof=23.0";
    let samples: Vec<Sample> = text.lines().filter_map(parse).collect();
    let mut windows: BTreeMap<&str, Window> = BTreeMap::new();
    for s in &samples {
        windows
            .entry(&s.sensor)
            .or_insert_with(|| Window::new(2))
            .push(s.value);
    }
    for (sensor, window) in &windows {
        println!(
            "{sensor:<7} last {:?} mean {:.3} range {:?}",
            window.values(),
            window.mean(),
            window.range()
        );
    }
    let limit = 20.0;
    let hot: Vec<String> = above(&samples, &limit)
        .map(|s| format!("{}:{}", s.sensor, s.value))
        .collect();
    println!("above {limit}: {}", hot.join(", "));
    let boxed: Box<[i32]> = (1..=4).collect();
    println!("{:?}", boxed.into_iter().map(|n: i32| n * n).collect::<Vec<_>>());
    println!("{} of {} lines read", samples.len(), text.lines().count());
}
