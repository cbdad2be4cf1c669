//! Ports ranked by frequency, with their usual services.
//!
//! The ranking of about 1500 TCP ports is in `assets/engine/ports.txt`, that of UDP ports in
//! `assets/engine/udp_ports.txt`. Longer lists continue with the remaining ports in ascending
//! order, because default ports are mostly low.

use std::sync::LazyLock;

/// Port and usual service, the most common first.
static RANKED: LazyLock<Vec<(u16, &str)>> =
    LazyLock::new(|| parse(include_str!("../../../assets/engine/ports.txt")).collect());

static UDP_RANKED: LazyLock<Vec<(u16, &str)>> =
    LazyLock::new(|| parse(include_str!("../../../assets/engine/udp_ports.txt")).collect());

/// Lines such as `443 https` and `6660-6669 irc`.
fn parse(text: &'static str) -> impl Iterator<Item = (u16, &'static str)> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| {
            let (ports, name) = line.split_once(' ').unwrap_or_default();
            let (first, last) = ports.split_once('-').unwrap_or((ports, ports));
            let row = first
                .parse::<u16>()
                .ok()
                .zip(last.parse().ok())
                .map(|(first, last)| first..=last);
            row.into_iter().flatten().map(move |port| (port, name))
        })
}

/// The `n` most common TCP ports, the most common first.
pub fn ranked(n: usize) -> Vec<u16> {
    continued(&RANKED, n)
}

/// The `n` most common UDP ports, the most common first.
pub fn udp_ranked(n: usize) -> Vec<u16> {
    continued(&UDP_RANKED, n)
}

fn continued(ranking: &[(u16, &str)], n: usize) -> Vec<u16> {
    let mut seen = vec![false; 1 << 16];
    ranking
        .iter()
        .map(|(port, _)| *port)
        .chain(1..=u16::MAX)
        .filter(|port| !std::mem::replace(&mut seen[usize::from(*port)], true))
        .take(n)
        .collect()
}

/// The usual service of a TCP port.
pub fn usual_service(port: u16) -> Option<&'static str> {
    RANKED
        .iter()
        .find(|(known, _)| *known == port)
        .map(|(_, service)| *service)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranked_returns_distinct_ports_with_common_ones_first() {
        for n in [10, 100, 1000, 5000] {
            for ports in [ranked(n), udp_ranked(n)] {
                assert_eq!(ports.len(), n);
                assert_eq!(
                    ports.iter().collect::<std::collections::HashSet<_>>().len(),
                    n
                );
            }
        }
        assert_eq!(udp_ranked(3), [53, 161, 123]);
        assert_eq!(ranked(3), [80, 443, 22]);
        assert!(ranked(1000).contains(&9418) && ranked(5000).contains(&4000));
    }

    #[test]
    fn rows_of_ports_are_ranked_and_named() {
        let (rows, ports) = (
            parse("# 1 comment\n80 http\n\n6660-6662 irc\n"),
            [(80, "http"), (6660, "irc")],
        );
        assert_eq!(
            rows.collect::<Vec<_>>(),
            [&ports[..], &[(6661, "irc"), (6662, "irc")]].concat()
        );
        assert_eq!(
            (usual_service(49_160), usual_service(60_001)),
            (Some("rpc-dynamic"), None)
        );
        assert!(ranked(1000).contains(&49_160));
    }

    #[test]
    fn top_100_ports_contain_100_ports() {
        let written = RANKED.iter().position(|(port, _)| *port == 8291).unwrap();
        assert_eq!(written, 100);
    }
}
