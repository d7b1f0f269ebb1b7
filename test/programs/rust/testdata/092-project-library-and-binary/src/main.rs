//! Draws the walks that come on standard input, by the package's library.
use geometry::Vector;
use geometry::path::follow;
use std::io::{self, BufRead};

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        match follow(&line) {
            Err(e) => println!("{line}: {e}"),
            Ok(walk) => {
                println!(
                    "{line}: ends at ({}, {}), {} away, {} crossings",
                    walk.end.x,
                    walk.end.y,
                    walk.end.distance(),
                    walk.crossings
                );
                let xs = walk.visited.iter().map(|v| v.x);
                let ys = walk.visited.iter().map(|v| v.y);
                let (left, right) = (xs.clone().min().unwrap(), xs.max().unwrap());
                let (low, high) = (ys.clone().min().unwrap(), ys.max().unwrap());
                for y in (low..=high).rev() {
                    let row = (left..=right).map(|x| match (Vector { x, y }) {
                        v if v == Vector::default() => "🏠",
                        v if v == walk.end => "🦀",
                        v if walk.visited.contains(&v) => "██",
                        _ => "··",
                    });
                    println!("  {}", row.collect::<String>());
                }
            }
        }
    }
    Ok(())
}
