// with: {"args": ["ä b", ""], "stdin": "in\nput", "env": {"A": "b"}}
use std::io::Read;
fn main() {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).unwrap();
    println!("{:?} {:?} {:?}", std::env::args().collect::<Vec<_>>(), input, std::env::var("A"));
    println!("{} {} {} {}", file!(), line!(), module_path!(), std::any::type_name::<Vec<u8>>());
    println!("{:?}", std::env::current_dir());
    println!("{}", std::panic::Location::caller());
}
