use std::collections::HashMap;
fn unused() {}
fn main() { let x = 3; println!("warned"); }
