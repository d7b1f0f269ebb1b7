//! Panics caught at a boundary, drops during unwinding, a poisoned mutex.
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;

struct Guard<'a>(&'a str, &'a Mutex<Vec<String>>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.1
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .push(format!("drop {}", self.0));
    }
}

fn message(payload: Box<dyn std::any::Any + Send>) -> String {
    if let Some(s) = payload.downcast_ref::<&str>() {
        s.to_string()
    } else if let Some(s) = payload.downcast_ref::<String>() {
        s.clone()
    } else {
        "something else".to_string()
    }
}

fn main() {
    panic::set_hook(Box::new(|info| {
        println!("[hook] line known: {}", info.location().is_some());
    }));
    let empty: Vec<i32> = Vec::new();
    let zero = empty.len() as i32;
    let cases: Vec<(&str, Box<dyn Fn() -> i32 + '_>)> = vec![
        ("index", Box::new(|| empty[zero as usize + 3])),
        ("division", Box::new(|| 10 / zero)),
        ("unwrap", Box::new(|| empty.first().copied().unwrap())),
        ("expect", Box::new(|| "12a".parse::<i32>().expect("a number"))),
        ("own", Box::new(|| panic!("own words: {}", "你好 🦀"))),
        ("payload", Box::new(|| panic::panic_any(42u8))),
        ("fine", Box::new(|| 7)),
    ];
    for (name, f) in &cases {
        match panic::catch_unwind(AssertUnwindSafe(f)) {
            Ok(v) => println!("{name}: returned {v}"),
            Err(p) => println!("{name}: {}", message(p)),
        }
    }

    let log = Mutex::new(Vec::new());
    let shared = Mutex::new(1);
    let result = panic::catch_unwind(AssertUnwindSafe(|| {
        let _a = Guard("a", &log);
        let _b = Guard("b", &log);
        let mut value = shared.lock().unwrap();
        *value += 1;
        assert_eq!(*value, 3, "the value is wrong");
    }));
    println!("failed: {}, log: {:?}", result.is_err(), log.lock().unwrap());
    println!("poisoned: {}", shared.is_poisoned());
    let value = shared.lock().unwrap_or_else(|e| e.into_inner());
    println!("value still readable: {value}");
}
