//! std::time::Duration: arithmetic, parsing, formatting, checked operations.
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn parse(s: &str) -> Result<Duration, String> {
    let mut total = Duration::ZERO;
    let mut rest = s;
    while !rest.is_empty() {
        let split = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or(format!("{s}: no unit"))?;
        let (number, tail) = rest.split_at(split);
        let end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(end);
        let scale = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86400.0,
            _ => return Err(format!("{s}: unknown unit {unit:?}")),
        };
        let n: f64 = number.parse().map_err(|e| format!("{s}: {e}"))?;
        total += Duration::try_from_secs_f64(n * scale).map_err(|e| e.to_string())?;
        rest = tail;
    }
    Ok(total)
}

fn clock(d: Duration) -> String {
    let s = d.as_secs();
    format!(
        "{}:{:02}:{:02}.{:03}",
        s / 3600,
        s / 60 % 60,
        s % 60,
        d.subsec_millis()
    )
}

fn main() {
    for s in [
        "1h30m",
        "2.5s250ms",
        "1d",
        "90",
        "3x",
        "",
        "0.0005s",
        "99999999999999999999d",
    ] {
        match parse(s) {
            Ok(d) => println!("{s:>10} = {} = {d:?} = {} ns", clock(d), d.as_nanos()),
            Err(e) => println!("error: {e}"),
        }
    }
    let (a, b) = (Duration::from_millis(1500), Duration::from_secs(4));
    println!("{:?} {:?} {:?} {:?}", a + b, b - a, a * 3, b / 3);
    println!(
        "{:?} {:?} {}",
        a.checked_sub(b),
        a.saturating_sub(b),
        b.as_secs_f64() / a.as_secs_f64()
    );
    println!(
        "{:?} {:.1?} {:?}",
        Duration::from_nanos(1_500),
        Duration::from_micros(123_456),
        Duration::MAX
    );
    let total: Duration = [a, b, Duration::from_micros(7)].iter().sum();
    println!("{total:?} {}", total > b);
    let moment = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    println!("{:?}", moment.duration_since(UNIX_EPOCH));
    println!(
        "{:?}",
        UNIX_EPOCH.duration_since(moment).map_err(|e| e.duration())
    );
    println!(
        "the clock is past 2020: {}",
        SystemTime::now() > UNIX_EPOCH + Duration::from_secs(1_577_836_800)
    );
}
