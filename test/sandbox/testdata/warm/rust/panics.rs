struct Last;
impl Drop for Last { fn drop(&mut self) { println!("dropped"); } }
fn main() {
    let _last = Last;
    let caught = std::panic::catch_unwind(|| { let v: Vec<i32> = Vec::new(); v[std::env::args().count()] });
    println!("{}", caught.is_err());
    std::thread::spawn(|| panic!("in a thread")).join().unwrap_err();
    std::fs::read_to_string("nothing").unwrap();
}
