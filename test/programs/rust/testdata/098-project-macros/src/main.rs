//! Declarative macros in a module of their own, and what they generate.
#[macro_use]
mod macros;
mod model;

use model::{Colour, Planet};
use std::collections::BTreeMap;

fn main() {
    let m = map! { "héllo" => 1, "你好" => 2, "🦀" => 3, };
    println!("{m:?} {:?}", map! {} as BTreeMap<u8, u8>);
    println!("{} {} {}", largest!(3), largest!(3, 9, 4), largest!("b", "abc"));
    println!("{:?} {:?}", Colour::ALL, Colour::Green.name());
    println!("{:?} {:?}", "Blue".parse::<Colour>(), "Mauve".parse::<Colour>());
    let p = Planet::default().with_name("Kerbin").with_moons(2u32);
    println!("{p:?} heavy={}", p.mass > 1.0);
    println!("{}", polynomial!(2; 1, 0, 3));
    println!("{}", count!(a b c d e));
    check!(1 + 1 == 2);
    check!(p.moons == 3);
    println!("{}", repeat_str!("ab" * 3 + "!"));
}
