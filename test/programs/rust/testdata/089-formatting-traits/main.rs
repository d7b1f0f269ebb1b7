//! Every formatting trait by hand, and the flags that they see.
use std::fmt::{self, Binary, Debug, Display, Formatter, LowerExp, LowerHex, Octal, UpperHex, Write};

#[derive(Clone, Copy)]
struct Colour(u8, u8, u8);

impl Display for Colour {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = format!("rgb({}, {}, {})", self.0, self.1, self.2);
        if f.sign_plus() {
            write!(f, "colour ")?;
        }
        f.pad(&text)
    }
}

impl LowerHex for Colour {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            f.write_char('#')?;
        }
        write!(f, "{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

impl UpperHex for Colour {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:#x}").to_uppercase())
    }
}

impl Binary for Colour {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries([self.0, self.1, self.2].map(|v| format!("{v:08b}")))
            .finish()
    }
}

impl Debug for Colour {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Colour")
            .field("red", &self.0)
            .field("hidden", &format_args!("…"))
            .finish_non_exhaustive()
    }
}

struct Metres(f64);

impl Display for Metres {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match f.precision() {
            Some(p) => write!(f, "{:.*} m", p, self.0),
            None if self.0 >= 1000.0 => write!(f, "{} km", self.0 / 1000.0),
            None => write!(f, "{} m", self.0),
        }
    }
}

#[derive(Debug, Default, Clone)]
#[allow(dead_code)]
enum Shape {
    #[default]
    Unit,
    Tuple(i32, Option<&'static str>),
    Named {
        colour: Option<Colour>,
        path: Vec<(f32, f32)>,
    },
}

fn show(label: &str, items: &[&dyn Display]) -> String {
    items.iter().fold(label.to_string(), |mut out, item| {
        write!(out, " [{item:>10}]").unwrap();
        out
    })
}

fn main() {
    let c = Colour(255, 128, 7);
    println!("{c} | {c:+} | {c:>20} | {c:*^22} | {c:.6}");
    println!("{c:x} | {c:#x} | {c:X} | {c:b} | {c:?}");
    println!("{c:#?}");
    println!("{} {:.2} {:.0}", Metres(999.5), Metres(1234.5678), Metres(2.5));
    println!(
        "{:?} {:?}",
        Shape::default(),
        Shape::Tuple(-1, Some("héllo\t\"你好\""))
    );
    println!(
        "{:#?}",
        Shape::Named {
            colour: Some(c),
            path: vec![(0.5, 1.0)]
        }
    );
    println!("{}", show("row", &[&1, &"🦀", &2.5, &'é', &true]));
    let (w, p) = (9, 3);
    println!(
        "{:w$.p$}|{:<w$}|{:^+w$}|{:#010x}|{:#b}|{:o}",
        3.14159265, "ab", 42, 255, 5, 64
    );
    println!("{0}-{0:?}-{name}-{1:02}", "x", 7, name = "named");
    println!(
        "{:e} {:E} {:?} {} {:?}",
        1234.5f64,
        0.00012f32,
        1e21f64,
        1e15f64,
        0.1f32 + 0.2f32
    );
    println!("{:?} {:?} {:5}|{:<5}|{:^5}|", f64::NAN, -0.0f64, true, 'x', "é");
    let octal: &dyn Octal = &511;
    let exp: &dyn LowerExp = &0.05;
    println!("{octal:#o} {exp:.1e} {{}} {:?}", "tab\tnul\0 \u{7f} \u{200b} 🦀");
}
