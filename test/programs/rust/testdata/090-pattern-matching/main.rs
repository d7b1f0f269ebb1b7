//! Patterns: slices, ranges, bindings, guards, nested enums, let-else.

#[derive(Debug, Clone)]
enum Shape {
    Circle { r: f64 },
    Rect { w: f64, h: f64 },
    Group(Vec<Shape>),
    Empty,
}

fn area(s: &Shape) -> f64 {
    match s {
        Shape::Circle { r } if *r < 0.0 => f64::NAN,
        Shape::Circle { r } => std::f64::consts::PI * r * r,
        Shape::Rect { w, h: 0.0 } | Shape::Rect { w: 0.0, h: w } => w * 0.0,
        Shape::Rect { w, h } => w * h,
        Shape::Group(items) => items.iter().map(area).sum(),
        Shape::Empty => 0.0,
    }
}

fn describe(items: &[i32]) -> String {
    match items {
        [] => "nothing".into(),
        [x] => format!("only {x}"),
        [a, b] if a == b => format!("twice {a}"),
        [first, .., last] if first == last => format!("{first} at both ends"),
        [1, rest @ ..] => format!("one, then {} more", rest.len()),
        [.., before, 0] => format!("{before} before a final zero"),
        [a, b, rest @ ..] => format!("{a}, {b} and {}", describe(rest)),
    }
}

fn classify(c: char) -> &'static str {
    match c {
        '0'..='9' => "digit",
        'a' | 'e' | 'i' | 'o' | 'u' => "vowel",
        'a'..='z' => "consonant",
        '\u{4e00}'..='\u{9fff}' => "han",
        '🦀' | '🦞' => "crustacean",
        _ if c.is_alphabetic() => "letter",
        _ => "other",
    }
}

fn fizz(n: u32) -> String {
    match (n % 3, n % 5) {
        (0, 0) => "FizzBuzz".into(),
        (0, _) => "Fizz".into(),
        (_, 0) => "Buzz".into(),
        _ => n.to_string(),
    }
}

fn version(text: &str) -> Result<(u32, u32), String> {
    let Some((major, minor)) = text.strip_prefix('v').and_then(|t| t.split_once('.')) else {
        return Err(format!("{text:?} is not like v1.2"));
    };
    let (Ok(major), Ok(minor @ 0..=99)) = (major.parse(), minor.parse()) else {
        return Err(format!("{text:?} has bad numbers"));
    };
    Ok((major, minor))
}

fn main() {
    let shapes = [
        Shape::Circle { r: 2.0 },
        Shape::Rect { w: 3.0, h: 4.5 },
        Shape::Rect { w: 0.0, h: 9.0 },
        Shape::Group(vec![
            Shape::Circle { r: 1.0 },
            Shape::Empty,
            Shape::Group(vec![Shape::Rect { w: 1.0, h: 1.0 }]),
        ]),
        Shape::Circle { r: -1.0 },
    ];
    println!("{:?}", shapes.iter().map(area).collect::<Vec<_>>());
    for items in [
        &[][..],
        &[7],
        &[4, 4],
        &[5, 1, 5],
        &[1, 2, 3],
        &[9, 8, 0],
        &[2, 3, 4],
        &[6, 7, 8, 8],
    ] {
        println!("{items:?}: {}", describe(items));
    }
    println!("{:?}", "7eb你🦀é!".chars().map(classify).collect::<Vec<_>>());
    println!("{}", (1..=15).map(fizz).collect::<Vec<_>>().join(" "));
    for text in ["v1.2", "v10.100", "1.2", "vx.1"] {
        println!("{:?}", version(text));
    }
    let mut stack = vec![Some(3), None, Some(1)];
    while let Some(top) = stack.pop() {
        if let Some(n @ 1..=2) = top {
            print!("small {n}; ");
        } else if let Some(n) = top {
            print!("large {n}; ");
        } else {
            print!("hole; ");
        }
    }
    let ((a, _), [b, .., c], ref d) = ((1, "skip"), [2, 3, 4], String::from("héllo"));
    println!(
        "{a} {b} {c} {d} {}",
        matches!(shapes[0], Shape::Circle { r } if r > 1.0)
    );
}
