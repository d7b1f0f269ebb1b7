// with: {"files": {"text.txt": "included", "other.rs": "pub fn f() -> &'static str { file!() }"}}
mod other;
const TEXT: &str = include_str!("text.txt");
fn main() { println!("{TEXT} {}", other::f()); }
