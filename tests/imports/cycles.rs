//! The cycles of a graph: a shortest cycle for each edge that is on one, without duplicates.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Each cycle begins with its smallest node. Short cycles come first.
pub fn cycles<'a>(edges: &[(&'a str, &'a str)]) -> Vec<Vec<&'a str>> {
    let mut after: BTreeMap<&str, Vec<&'a str>> = BTreeMap::new();
    for (from, to) in edges {
        after.entry(from).or_default().push(to);
    }
    let found: BTreeSet<Vec<&str>> = edges
        .iter()
        .filter_map(|(from, to)| shortest(&after, to, from))
        .map(rotated)
        .collect();
    let mut all: Vec<_> = found.into_iter().collect();
    all.sort_by_key(Vec::len);
    all
}

/// The shortest path between two nodes, which it includes.
fn shortest<'a>(
    after: &BTreeMap<&str, Vec<&'a str>>,
    from: &'a str,
    to: &str,
) -> Option<Vec<&'a str>> {
    let mut before: BTreeMap<&str, &'a str> = BTreeMap::from([(from, from)]);
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        if node == to {
            let mut path = vec![node];
            while path[path.len() - 1] != from {
                path.push(before[path[path.len() - 1]]);
            }
            path.reverse();
            return Some(path);
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

fn rotated(mut cycle: Vec<&str>) -> Vec<&str> {
    let smallest = (0..cycle.len())
        .min_by_key(|&place| cycle[place])
        .unwrap_or(0);
    cycle.rotate_left(smallest);
    cycle
}
