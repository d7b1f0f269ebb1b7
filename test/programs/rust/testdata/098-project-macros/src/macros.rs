//! The macros.

macro_rules! map {
    ($($key:expr => $value:expr),* $(,)?) => {{
        #[allow(unused_mut)]
        let mut m = ::std::collections::BTreeMap::new();
        $(m.insert($key, $value);)*
        m
    }};
}

macro_rules! largest {
    ($x:expr) => { $x };
    ($x:expr, $($rest:expr),+) => {{
        let (a, b) = ($x, largest!($($rest),+));
        if a > b { a } else { b }
    }};
}

macro_rules! named_enum {
    ($(#[$meta:meta])* $name:ident { $($variant:ident),* $(,)? }) => {
        $(#[$meta])*
        pub enum $name { $($variant),* }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $($name::$variant => stringify!($variant)),* }
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = String;
            fn from_str(s: &str) -> Result<Self, String> {
                match s {
                    $(stringify!($variant) => Ok($name::$variant),)*
                    _ => Err(format!("{s:?} is not one of {:?}", Self::ALL)),
                }
            }
        }
    };
}

macro_rules! builder {
    ($name:ident { $($setter:ident => $field:ident: $ty:ty),* $(,)? }) => {
        #[derive(Debug, Default, Clone)]
        pub struct $name { $(pub $field: $ty),* }

        #[allow(dead_code)]
        impl $name {
            $(pub fn $setter(mut self, value: impl Into<$ty>) -> Self {
                self.$field = value.into();
                self
            })*
        }
    };
}

macro_rules! polynomial {
    ($x:expr; $($c:expr),+) => { [$($c),+].iter().fold(0, |acc, c| acc * $x + c) };
}

macro_rules! count {
    () => { 0 };
    ($head:tt $($tail:tt)*) => { 1 + count!($($tail)*) };
}

macro_rules! check {
    ($e:expr) => {
        println!("{}: {}", stringify!($e), if $e { "holds" } else { "fails" })
    };
}

macro_rules! repeat_str {
    ($s:literal * $n:literal + $end:literal) => {
        format!("{}{}", $s.repeat($n), $end)
    };
}
