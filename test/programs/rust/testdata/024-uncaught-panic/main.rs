//! Ends with an uncaught panic after useful output: exit status 101.

#[derive(Debug)]
struct Tank {
    level: u32,
    capacity: u32,
}

impl Tank {
    fn fill(&mut self, litres: u32) {
        let after = self.level + litres;
        assert!(
            after <= self.capacity,
            "overflow: {after} litres in a tank of {}",
            self.capacity
        );
        self.level = after;
    }
}

impl Drop for Tank {
    fn drop(&mut self) {
        println!("emptied {} litres while unwinding", self.level);
    }
}

fn main() {
    let mut tank = Tank {
        level: 0,
        capacity: 100,
    };
    for litres in [40, 35, 20, 5, 1] {
        tank.fill(litres);
        println!("{tank:?}");
    }
    println!("never reached");
}
