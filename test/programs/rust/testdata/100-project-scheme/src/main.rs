//! A small Scheme: a prelude from a file, forms from standard input.
mod eval;
mod read;
mod value;

use eval::{Env, eval};
use std::io::Read;
use std::process::exit;

fn main() {
    let env = Env::global();
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| {
            eprintln!("{file}: {e}");
            exit(66)
        });
        let forms = read::forms(&text);
        println!("{file}: {} definitions", forms.len());
        for form in forms {
            if let Err(e) = form.and_then(|f| eval(&f, &env)) {
                println!("{file}: {e}");
            }
        }
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .expect("UTF-8 on standard input");
    let mut errors = 0;
    for form in read::forms(&text) {
        match form.and_then(|f| eval(&f, &env)) {
            Ok(v) => println!("{v}"),
            Err(e) => {
                errors += 1;
                println!("error: {e}");
            }
        }
    }
    exit(errors)
}
