//! Traits with associated types and constants, default methods, trait objects.
use std::collections::BTreeMap;
use std::fmt::{Debug, Display};

trait Unit {
    const SYMBOL: &'static str;
    const FACTOR: f64;
}

#[derive(Debug, Clone, Copy)]
struct Quantity<U> {
    value: f64,
    unit: std::marker::PhantomData<U>,
}

#[derive(Debug, Clone, Copy)]
struct Metre;
#[derive(Debug, Clone, Copy)]
struct Mile;

impl Unit for Metre {
    const SYMBOL: &'static str = "m";
    const FACTOR: f64 = 1.0;
}

impl Unit for Mile {
    const SYMBOL: &'static str = "mi";
    const FACTOR: f64 = 1609.344;
}

impl<U: Unit> Quantity<U> {
    fn new(value: f64) -> Self {
        Quantity {
            value,
            unit: std::marker::PhantomData,
        }
    }

    fn to<V: Unit>(self) -> Quantity<V> {
        Quantity::new(self.value * U::FACTOR / V::FACTOR)
    }
}

impl<U: Unit> Display for Quantity<U> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.*} {}", f.precision().unwrap_or(1), self.value, U::SYMBOL)
    }
}

trait Storage {
    type Key: Ord + Clone + Debug;
    type Value: Debug;
    fn read(&self, key: &Self::Key) -> Option<&Self::Value>;
    fn keys(&self) -> Vec<Self::Key>;

    fn dump(&self) -> String {
        self.keys()
            .iter()
            .map(|k| format!("{k:?}={:?}", self.read(k).unwrap()))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

impl<K: Ord + Clone + Debug, V: Debug> Storage for BTreeMap<K, V> {
    type Key = K;
    type Value = V;
    fn read(&self, key: &K) -> Option<&V> {
        self.get(key)
    }
    fn keys(&self) -> Vec<K> {
        BTreeMap::keys(self).cloned().collect()
    }
}

impl<V: Debug> Storage for Vec<V> {
    type Key = usize;
    type Value = V;
    fn read(&self, key: &usize) -> Option<&V> {
        self.get(*key)
    }
    fn keys(&self) -> Vec<usize> {
        (0..self.len()).collect()
    }
}

trait Animal {
    fn name(&self) -> String;
    fn legs(&self) -> u32 {
        4
    }
    fn describe(&self) -> String {
        format!("{} on {} legs", self.name(), self.legs())
    }
}

struct Cat;
struct Crab(u32);

impl Animal for Cat {
    fn name(&self) -> String {
        "猫".into()
    }
}

impl Animal for Crab {
    fn name(&self) -> String {
        format!("🦀 no. {}", self.0)
    }
    fn legs(&self) -> u32 {
        10
    }
}

fn largest<T: PartialOrd + Copy, I: IntoIterator<Item = T>>(items: I) -> Option<T> {
    items.into_iter().fold(None, |best, x| match best {
        Some(b) if b >= x => Some(b),
        _ => Some(x),
    })
}

fn main() {
    let run = Quantity::<Mile>::new(26.2);
    println!(
        "{run} = {:.0} = {:.3}",
        run.to::<Metre>(),
        run.to::<Metre>().to::<Mile>()
    );
    println!("{}", vec!["a", "é"].dump());
    println!("{}", BTreeMap::from([("你", 1), ("好", 2)]).dump());
    let zoo: Vec<Box<dyn Animal>> = vec![Box::new(Cat), Box::new(Crab(7)), Box::new(Crab(8))];
    zoo.iter().for_each(|a| println!("{}", a.describe()));
    println!("legs: {}", zoo.iter().map(|a| a.legs()).sum::<u32>());
    println!(
        "{:?} {:?} {:?}",
        largest([1.5, 0.2, 9.0]),
        largest("héllo".chars()),
        largest(Vec::<u8>::new())
    );
}
