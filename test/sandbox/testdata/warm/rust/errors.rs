// Größe
fn main() {
    let x: i32 = "ü";
    undefined(x)
}
