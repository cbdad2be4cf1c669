//! The circles of a graph: for each edge on a circle a shortest one, each circle once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Each circle begins with its smallest node; short circles come first.
pub fn circles<'a>(edges: &[(&'a str, &'a str)]) -> Vec<Vec<&'a str>> {
    let mut after: BTreeMap<&str, Vec<&'a str>> = BTreeMap::new();
    for (from, to) in edges {
        after.entry(from).or_default().push(to);
    }
    let found: BTreeSet<Vec<&str>> =
        edges.iter().filter_map(|(from, to)| shortest(&after, to, from)).map(rotated).collect();
    let mut all: Vec<_> = found.into_iter().collect();
    all.sort_by_key(Vec::len);
    all
}

/// The shortest way from one node to another, both included.
fn shortest<'a>(after: &BTreeMap<&str, Vec<&'a str>>, from: &'a str, to: &str) -> Option<Vec<&'a str>> {
    let mut before: BTreeMap<&str, &'a str> = BTreeMap::from([(from, from)]);
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        if node == to {
            let mut way = vec![node];
            while way[way.len() - 1] != from {
                way.push(before[way[way.len() - 1]]);
            }
            way.reverse();
            return Some(way);
        }
        for next in after.get(node).into_iter().flatten() {
            if !before.contains_key(next) {
                before.insert(next, node);
                queue.push_back(next);
            }
        }
    }
    None
}

fn rotated(mut circle: Vec<&str>) -> Vec<&str> {
    let smallest = (0..circle.len()).min_by_key(|&place| circle[place]).unwrap_or(0);
    circle.rotate_left(smallest);
    circle
}
