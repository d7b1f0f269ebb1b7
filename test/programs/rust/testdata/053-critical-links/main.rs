//! Bridges and articulation points of a network in one depth-first search.
use std::collections::{BTreeMap, BTreeSet};

struct Search<'a> {
    graph: &'a BTreeMap<&'a str, BTreeSet<&'a str>>,
    order: BTreeMap<&'a str, usize>,
    low: BTreeMap<&'a str, usize>,
    bridges: Vec<(&'a str, &'a str)>,
    cut_points: BTreeSet<&'a str>,
}

impl<'a> Search<'a> {
    fn visit(&mut self, node: &'a str, parent: Option<&'a str>) {
        let number = self.order.len();
        self.order.insert(node, number);
        self.low.insert(node, number);
        let mut children = 0;
        for &next in &self.graph[node] {
            if Some(next) == parent {
                continue;
            }
            if let Some(&seen) = self.order.get(next) {
                let low = self.low[node].min(seen);
                self.low.insert(node, low);
                continue;
            }
            children += 1;
            self.visit(next, Some(node));
            let below = self.low[next];
            if below > number {
                self.bridges.push((node, next));
            }
            if parent.is_some() && below >= number {
                self.cut_points.insert(node);
            }
            let low = self.low[node].min(below);
            self.low.insert(node, low);
        }
        if parent.is_none() && children > 1 {
            self.cut_points.insert(node);
        }
    }
}

fn main() {
    let links = "oslo-bergen oslo-malmö malmö-oslo malmö-københavn københavn-kiel kiel-malmö kiel-berlin berlin-praha praha-wien wien-berlin wien-graz łódź-gdańsk 北京-上海 上海-香港 香港-北京 香港-澳门";
    let mut graph: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (a, b) in links.split(' ').filter_map(|l| l.split_once('-')) {
        graph.entry(a).or_default().insert(b);
        graph.entry(b).or_default().insert(a);
    }
    let mut s = Search {
        graph: &graph,
        order: BTreeMap::new(),
        low: BTreeMap::new(),
        bridges: vec![],
        cut_points: BTreeSet::new(),
    };
    let mut parts = 0;
    for &node in graph.keys() {
        if !s.order.contains_key(node) {
            parts += 1;
            s.visit(node, None);
        }
    }
    println!(
        "{} nodes, {} links, {parts} parts",
        graph.len(),
        graph.values().map(BTreeSet::len).sum::<usize>() / 2
    );
    s.bridges.sort();
    for (a, b) in &s.bridges {
        println!("bridge {a} – {b}");
    }
    println!("cut points: {:?}", s.cut_points);
}
