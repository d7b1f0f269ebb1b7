//! Wolfram's elementary automata drawn as text.

fn step(cells: &[bool], rule: u8) -> Vec<bool> {
    let n = cells.len();
    (0..n)
        .map(|i| {
            let (l, c, r) = (cells[(i + n - 1) % n], cells[i], cells[(i + 1) % n]);
            let index = (l as u8) << 2 | (c as u8) << 1 | r as u8;
            rule >> index & 1 == 1
        })
        .collect()
}

fn draw(cells: &[bool]) -> String {
    cells
        .iter()
        .map(|&c| if c { '█' } else { ' ' })
        .collect::<String>()
        .trim_end()
        .to_string()
}

fn main() {
    for rule in [30u8, 90, 110, 184] {
        println!("rule {rule} ({rule:08b})");
        let mut cells = vec![false; 63];
        if rule == 184 {
            cells.iter_mut().enumerate().for_each(|(i, c)| *c = i * i % 7 < 3);
        } else {
            cells[31] = true;
        }
        for _ in 0..16 {
            println!("{}", draw(&cells));
            cells = step(&cells, rule);
        }
        let mut total = 0;
        for _ in 0..500 {
            cells = step(&cells, rule);
            total += cells.iter().filter(|&&c| c).count();
        }
        println!("mean density later: {:.4}", total as f64 / 500.0 / 63.0);
    }
    let mut cells = vec![false; 257];
    cells[128] = true;
    let bits: u64 = (0..64).fold(0, |acc, _| {
        let bit = cells[128] as u64;
        cells = step(&cells, 30);
        acc << 1 | bit
    });
    println!("centre column of rule 30: {bits:016x}");
}
