//! Several files and no package: the compiler follows the modules.
mod matrix;
mod text;

use matrix::Grid;
use text::{caesar, frame};

fn main() {
    let mut grid = Grid::new(6, 4, '.');
    for i in 0..4 {
        grid.set(i, i, '#');
        grid.set(5 - i, i, '🦀');
    }
    print!("{}", frame(&grid.to_string()));
    print!("{}", frame(&grid.transposed().to_string()));
    println!("{:?} {:?}", grid.get(2, 2), grid.get(99, 0));
    let secret = caesar("Héllo, Crab! 你好", 3);
    println!("{secret} {}", caesar(&secret, -3));
    println!("{}", text::stats::summary("one two three two one two"));
}
