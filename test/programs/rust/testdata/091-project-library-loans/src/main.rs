//! A lending library in modules; ends with the number of refusals.
mod catalogue;
mod desk;

use catalogue::{Book, Catalogue};
use desk::Desk;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut catalogue = Catalogue::default();
    for (title, copies) in [("Héllo World", 2), ("你好 for Crabs 🦀", 1), ("Empty", 0)] {
        catalogue.add(Book::new(title), copies);
    }
    let mut desk = Desk::new(catalogue, 2);
    let requests = [
        ("ann", 1),
        ("bo", 1),
        ("ann", 2),
        ("cy", 1),
        ("ann", 3),
        ("bo", 9),
        ("bo", 3),
    ];
    let mut refused = 0;
    for (who, id) in requests {
        match desk.lend(who, id) {
            Ok(book) => println!("{who} takes {book}"),
            Err(e) => {
                refused += 1;
                println!("{who} refused: {e}");
            }
        }
    }
    println!("{:?} {:?}", desk.give_back("ann", 2), desk.give_back("ann", 2));
    print!("{}", desk.report());
    ExitCode::from(refused)
}
