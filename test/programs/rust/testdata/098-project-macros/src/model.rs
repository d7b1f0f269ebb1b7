//! Types that the macros write.

named_enum! {
    #[derive(Debug, Clone, Copy, PartialEq)]
    Colour { Red, Green, Blue }
}

builder! {
    Planet {
        with_name => name: String,
        with_mass => mass: f64,
        with_moons => moons: u32,
    }
}
