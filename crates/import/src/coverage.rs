//! What a file states about the tests of its scan.
//!
//! A later scan makes a finding absent only where it states that it tested the class of the
//! finding on the target, and on the port if it names ports. Most files list results alone, and
//! state nothing.

use std::collections::BTreeSet;

use crate::target::ImportTarget;

/// Tests that were completed on some targets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportCoverage {
    pub targets: Vec<ImportTarget>,
    /// Ports that were tested; empty if the file does not name them.
    pub ports: Vec<TestedPorts>,
    /// The `vuln_id`s whose tests were completed.
    pub checks: BTreeSet<String>,
    /// Beginnings of `vuln_id`s whose tests were all completed.
    pub prefixes: Vec<&'static str>,
    /// Findings with one of these tags were not tested.
    pub without_tags: Vec<&'static str>,
}

/// A range of tested ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestedPorts {
    /// `tcp`, `udp` or `sctp`.
    pub protocol: String,
    pub first: u16,
    pub last: u16,
}

impl ImportCoverage {
    /// Whether a finding of this class on this port would have been found again.
    pub fn includes(
        &self,
        vuln_id: &str,
        protocol: &str,
        port: Option<u16>,
        tags: &[String],
    ) -> bool {
        let is_tested = |range: &TestedPorts| {
            let is_protocol = protocol.is_empty() || range.protocol == protocol;
            is_protocol && port.is_some_and(|port| (range.first..=range.last).contains(&port))
        };
        let has_port = self.ports.is_empty() || self.ports.iter().any(is_tested);
        let is_excluded = |tag: &String| self.without_tags.contains(&tag.as_str());
        let has_check = self.checks.contains(vuln_id)
            || self
                .prefixes
                .iter()
                .any(|prefix| vuln_id.starts_with(prefix));
        has_port && has_check && !tags.iter().any(is_excluded)
    }
}

/// `1,3-4,80` as ranges; parts that are no ports are left out.
pub fn port_ranges(protocol: &str, list: &str) -> Vec<TestedPorts> {
    let range = |part: &str| {
        let part = part.trim();
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(TestedPorts {
            protocol: protocol.to_owned(),
            first: first.parse().ok()?,
            last: last.parse().ok()?,
        })
    };
    list.split(',').filter_map(range).collect()
}
