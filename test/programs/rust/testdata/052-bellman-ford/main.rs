//! Shortest paths with negative weights, and negative cycles found.

#[derive(Debug)]
struct NegativeCycle(Vec<usize>);

fn bellman_ford(
    n: usize,
    edges: &[(usize, usize, i64)],
    start: usize,
) -> Result<Vec<Option<(i64, usize)>>, NegativeCycle> {
    let mut best: Vec<Option<(i64, usize)>> = vec![None; n];
    best[start] = Some((0, start));
    let mut changed = None;
    for _ in 0..n {
        changed = None;
        for &(u, v, w) in edges {
            if let Some((d, _)) = best[u] {
                if best[v].map_or(true, |(old, _)| d + w < old) {
                    best[v] = Some((d + w, u));
                    changed = Some(v);
                }
            }
        }
        if changed.is_none() {
            return Ok(best);
        }
    }
    let parent = |v: usize| best[v].expect("reached").1;
    let inside = (0..n).fold(changed.expect("changed in the last round"), |v, _| parent(v));
    let mut cycle = vec![inside];
    loop {
        let next = parent(cycle[cycle.len() - 1]);
        cycle.push(next);
        if next == inside {
            cycle.reverse();
            return Err(NegativeCycle(cycle));
        }
    }
}

fn main() {
    let mut edges = vec![
        (0, 1, 6),
        (0, 3, 7),
        (1, 2, 5),
        (1, 3, 8),
        (1, 4, -4),
        (2, 1, -2),
        (3, 2, -3),
        (3, 4, 9),
        (4, 0, 2),
        (4, 2, 7),
    ];
    match bellman_ford(6, &edges, 0) {
        Ok(best) => {
            for (v, entry) in best.iter().enumerate() {
                match entry {
                    Some((d, _)) => {
                        let mut path = vec![v];
                        while path[path.len() - 1] != 0 {
                            path.push(best[path[path.len() - 1]].unwrap().1);
                        }
                        path.reverse();
                        println!("{v}: distance {d:3} by {path:?}");
                    }
                    None => println!("{v}: unreachable"),
                }
            }
        }
        Err(e) => println!("{e:?}"),
    }
    edges.push((2, 3, 1));
    edges.push((4, 5, 1));
    println!("{:?}", bellman_ford(6, &edges, 0).map(|_| ()));

    let rates = [[1.0, 0.9, 0.8], [1.12, 1.0, 0.88], [1.27, 1.15, 1.0]];
    let logs: Vec<(usize, usize, i64)> = (0..3)
        .flat_map(|i| (0..3).map(move |j| (i, j)))
        .filter(|(i, j)| i != j)
        .map(|(i, j)| (i, j, (-f64::ln(rates[i][j]) * 1e6).round() as i64))
        .collect();
    if let Err(NegativeCycle(c)) = bellman_ford(3, &logs, 0) {
        let gain: f64 = c.windows(2).map(|w| rates[w[0]][w[1]]).product();
        println!(
            "arbitrage of {} trades gains {:.2} %",
            c.len() - 1,
            (gain - 1.0) * 100.0
        );
    }
}
