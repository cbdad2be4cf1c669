//! Ports ranked by frequency, with their usual services.
//!
//! The ranking of about 250 ports is in `assets/engine/ports.txt`. Longer lists continue with the remaining ports in
//! ascending order, because default ports are mostly low.

use std::sync::LazyLock;

/// Port and usual service, the most common first.
static RANKED: LazyLock<Vec<(u16, &str)>> = LazyLock::new(|| {
    let lines = include_str!("../../../../assets/engine/ports.txt").lines();
    let read = lines.filter_map(|line| line.split_once(' ').and_then(|(port, name)| Some((port.parse().ok()?, name))));
    read.collect()
});

/// The `n` most common ports, the most common first.
pub fn ranked(n: usize) -> Vec<u16> {
    let mut seen = vec![false; 1 << 16];
    RANKED
        .iter()
        .map(|(port, _)| *port)
        .chain(1..=u16::MAX)
        .filter(|port| !std::mem::replace(&mut seen[usize::from(*port)], true))
        .take(n)
        .collect()
}

pub fn usual_service(port: u16) -> Option<&'static str> {
    RANKED.iter().find(|(known, _)| *known == port).map(|(_, service)| *service)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranked_returns_distinct_ports_with_common_ones_first() {
        for n in [10, 100, 1000, 5000] {
            let ports = ranked(n);
            assert_eq!(ports.len(), n);
            assert_eq!(ports.iter().collect::<std::collections::HashSet<_>>().len(), n);
        }
        assert_eq!(ranked(3), [80, 443, 22]);
        assert!(ranked(1000).contains(&9418) && ranked(5000).contains(&4000));
    }

    #[test]
    fn top_100_ports_contain_100_ports() {
        let written = RANKED.iter().position(|(port, _)| *port == 8291).unwrap();
        assert_eq!(written, 100);
    }
}
