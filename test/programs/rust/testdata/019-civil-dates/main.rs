//! Calendar arithmetic without a library: day numbers, weekdays, ISO weeks.
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Date {
    year: i64,
    month: i64,
    day: i64,
}

fn leap(y: i64) -> bool {
    y % 4 == 0 && (y % 100 != 0 || y % 400 == 0)
}

fn month_days(y: i64, m: i64) -> i64 {
    [31, 28 + leap(y) as i64, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][m as usize - 1]
}

impl Date {
    /// Days since 1970-01-01, counted in years that begin in March.
    fn number(self) -> i64 {
        let y = if self.month <= 2 { self.year - 1 } else { self.year };
        let m = (self.month + 9) % 12;
        365 * y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + (m * 306 + 5) / 10 + self.day
            - 1
            - 719_468
    }

    fn plus(self, days: i64) -> Date {
        let target = self.number() + days;
        let mut d = Date {
            year: 1970 + target.div_euclid(366),
            month: 1,
            day: 1,
        };
        while (Date {
            year: d.year + 1,
            ..d
        })
        .number()
            <= target
        {
            d.year += 1;
        }
        while d.month < 12
            && (Date {
                month: d.month + 1,
                ..d
            })
            .number()
                <= target
        {
            d.month += 1;
        }
        d.day += target - d.number();
        d
    }

    fn weekday(self) -> i64 {
        (self.number() + 3).rem_euclid(7) + 1
    }

    fn iso_week(self) -> (i64, i64) {
        let thursday = self.plus(4 - self.weekday());
        let first = Date {
            year: thursday.year,
            month: 1,
            day: 1,
        };
        (thursday.year, (thursday.number() - first.number()) / 7 + 1)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl FromStr for Date {
    type Err = String;
    fn from_str(s: &str) -> Result<Date, String> {
        let parts: Result<Vec<i64>, _> = s.split('-').map(str::parse).collect();
        match parts.map_err(|e| format!("{s}: {e}"))?[..] {
            [year, month, day]
                if (1..=12).contains(&month) && (1..=month_days(year, month)).contains(&day) =>
            {
                Ok(Date { year, month, day })
            }
            [_, _, _] => Err(format!("{s}: no such day")),
            _ => Err(format!("{s}: want year-month-day")),
        }
    }
}

fn main() {
    let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    for s in [
        "1970-01-01",
        "2000-02-29",
        "1900-02-29",
        "2021-01-03",
        "2020-12-31",
        "1969-07-20",
        "2024-13-01",
        "today",
        "2024-1",
    ] {
        match s.parse::<Date>() {
            Ok(d) => println!(
                "{d} {} day {} week {:?} +100 {} -1000 {}",
                names[d.weekday() as usize - 1],
                d.number(),
                d.iso_week(),
                d.plus(100),
                d.plus(-1000)
            ),
            Err(e) => println!("error: {e}"),
        }
    }
    let start: Date = "2024-01-01".parse().unwrap();
    let unlucky: Vec<String> = (0..366 * 3)
        .map(|n| start.plus(n))
        .filter(|d| d.day == 13 && d.weekday() == 5)
        .map(|d| d.to_string())
        .collect();
    println!("Fridays the 13th: {}", unlucky.join(" "));
    let ok = (-200_000..200_000).step_by(37).all(|n| {
        Date {
            year: 1970,
            month: 1,
            day: 1,
        }
        .plus(n)
        .number()
            == n
    });
    println!("round trips: {ok}");
}
