//! Intervals: merging, gaps, most meetings, fewest rooms, weighted choice.
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Meeting {
    from: u32,
    to: u32,
    worth: u32,
}

fn clock(t: u32) -> String {
    format!("{:02}:{:02}", t / 60, t % 60)
}

fn parse(text: &str) -> Option<Meeting> {
    let (times, worth) = text.split_once('*').unwrap_or((text, "1"));
    let minutes = |s: &str| -> Option<u32> {
        let (h, m) = s.split_once(':')?;
        Some(h.parse::<u32>().ok()? * 60 + m.parse::<u32>().ok()?)
    };
    let (from, to) = times.split_once('-')?;
    Some(Meeting {
        from: minutes(from)?,
        to: minutes(to)?,
        worth: worth.parse().ok()?,
    })
    .filter(|m| m.from < m.to)
}

fn merged(sorted: &[Meeting]) -> Vec<(u32, u32)> {
    let mut out: Vec<(u32, u32)> = Vec::new();
    for m in sorted {
        match out.last_mut() {
            Some(last) if m.from <= last.1 => last.1 = last.1.max(m.to),
            _ => out.push((m.from, m.to)),
        }
    }
    out
}

fn rooms(sorted: &[Meeting]) -> usize {
    let mut ends: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
    for m in sorted {
        if ends.peek().map_or(false, |&Reverse(end)| end <= m.from) {
            ends.pop();
        }
        ends.push(Reverse(m.to));
    }
    ends.len()
}

fn most(meetings: &[Meeting]) -> Vec<Meeting> {
    let mut by_end = meetings.to_vec();
    by_end.sort_by_key(|m| m.to);
    by_end
        .into_iter()
        .fold(Vec::new(), |mut chosen: Vec<Meeting>, m| {
            if chosen.last().map_or(true, |last| last.to <= m.from) {
                chosen.push(m);
            }
            chosen
        })
}

fn worthiest(meetings: &[Meeting]) -> u32 {
    let mut by_end = meetings.to_vec();
    by_end.sort_by_key(|m| m.to);
    let mut best = vec![0];
    for (i, m) in by_end.iter().enumerate() {
        let compatible = by_end[..i].partition_point(|o| o.to <= m.from);
        best.push(best[i].max(best[compatible] + m.worth));
    }
    best[by_end.len()]
}

fn main() {
    let text = "9:00-10:30 9:30-11:00*5 10:30-11:15 11:00-12:00*2 12:30-13:00 12:45-14:00*4 13:00-13:30*3 15:00-16:00 15:15-15:45*2 15:45-17:00 8:00-8:00 bad 17:30-17:00";
    let (good, bad): (Vec<_>, Vec<_>) = text
        .split(' ')
        .map(|t| (t, parse(t)))
        .partition(|(_, m)| m.is_some());
    let mut meetings: Vec<Meeting> = good.into_iter().filter_map(|(_, m)| m).collect();
    println!(
        "{} meetings, refused: {:?}",
        meetings.len(),
        bad.iter().map(|(t, _)| t).collect::<Vec<_>>()
    );
    meetings.sort_by_key(|m| (m.from, m.to));
    let busy = merged(&meetings);
    busy.iter()
        .for_each(|&(a, b)| println!("busy {}–{}", clock(a), clock(b)));
    busy.windows(2).for_each(|w| {
        println!(
            "free {}–{} ({} min)",
            clock(w[0].1),
            clock(w[1].0),
            w[1].0 - w[0].1
        )
    });
    println!("rooms needed: {}", rooms(&meetings));
    println!(
        "most for one person: {}",
        most(&meetings)
            .iter()
            .map(|m| clock(m.from))
            .collect::<Vec<_>>()
            .join(" ")
    );
    println!("greatest worth: {}", worthiest(&meetings));
}
