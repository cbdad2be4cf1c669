//! The orders a list can have. Those that need more than the items themselves (what needs a person first, the risks of
//! a target) are refined in `rows`; here stands what holds without that.

use std::cmp::{Ordering, Reverse};

use crate::contract::{Capture, Logger, Report, Scan, Target, Wordlist, Workspace};
use crate::oob::Payload;
use crate::triage::Case;

/// One order of a list.
pub struct Sort<T: 'static> {
    /// Its name, for the pane's head.
    pub name: &'static str,
    /// The order.
    pub compare: fn(&T, &T) -> Ordering,
}

/// `need` of the scans and `risk` of the targets depend on more than the item.
pub const BY_NEED: &str = "what needs you first";
/// The same for the targets' worst findings.
pub const BY_RISK: &str = "risk";

/// Orders of the workspaces.
pub const WORKSPACES: &[Sort<Workspace>] = &[
    Sort { name: "name", compare: |a, b| natural(&a.name, &b.name).then(a.id.cmp(&b.id)) },
    Sort { name: "newest", compare: |a, b| b.id.cmp(&a.id) },
];

/// Orders of the targets.
pub const TARGETS: &[Sort<Target>] = &[
    Sort { name: BY_RISK, compare: by_target_name },
    Sort { name: "name", compare: by_target_name },
    Sort { name: "newest", compare: |a, b| b.id.cmp(&a.id) },
];

/// Orders of the scans.
pub const SCANS: &[Sort<Scan>] = &[
    Sort { name: BY_NEED, compare: |a, b| b.id.cmp(&a.id) },
    Sort { name: "newest", compare: |a, b| b.id.cmp(&a.id) },
    Sort { name: "tool", compare: |a, b| a.tool_id.cmp(&b.tool_id).then(b.id.cmp(&a.id)) },
    Sort { name: "target", compare: |a, b| a.target_id.cmp(&b.target_id).then(b.id.cmp(&a.id)) },
];

/// Orders of the findings.
pub const FINDINGS: &[Sort<Case>] = &[
    Sort { name: "risk", compare: by_risk },
    Sort { name: "newest", compare: |a, b| b.finding.id.cmp(&a.finding.id) },
    Sort { name: "target", compare: |a, b| (&a.target_name, a.target_id).cmp(&(&b.target_name, b.target_id)) },
    Sort { name: "name", compare: |a, b| a.name.cmp(&b.name) },
    Sort { name: "port", compare: |a, b| a.port.cmp(&b.port) },
];

/// Orders of the loggers.
pub const LOGGERS: &[Sort<Logger>] = &[
    Sort { name: "label", compare: |a, b| natural(&a.label, &b.label).then(a.id.cmp(&b.id)) },
    Sort { name: "requests", compare: |a, b| b.num_requests.cmp(&a.num_requests).then(a.id.cmp(&b.id)) },
    Sort { name: "newest", compare: |a, b| b.id.cmp(&a.id) },
];

/// Orders of the reports.
pub const REPORTS: &[Sort<Report>] = &[
    Sort { name: "newest", compare: |a, b| b.id.cmp(&a.id) },
    Sort { name: "name", compare: |a, b| natural(&a.download_name, &b.download_name).then(b.id.cmp(&a.id)) },
    Sort { name: "format", compare: |a, b| a.format.cmp(&b.format).then(b.id.cmp(&a.id)) },
];

/// The hits of a payload are not its own.
pub const BY_HITS: &str = "hits";

/// Orders of the payloads. The lines of a batch were made at one time: they stay in their order.
pub const PAYLOADS: &[Sort<Payload>] = &[
    Sort { name: "newest", compare: by_made },
    Sort { name: BY_HITS, compare: by_made },
    Sort { name: "place", compare: |a, b| natural(&a.place(), &b.place()).then_with(|| by_made(a, b)) },
    Sort { name: "target", compare: |a, b| natural(&a.target, &b.target).then_with(|| by_made(a, b)) },
    Sort { name: "logger", compare: |a, b| natural(&a.label, &b.label).then_with(|| by_made(a, b)) },
];

/// Orders of the word lists.
pub const WORDLISTS: &[Sort<Wordlist>] = &[
    Sort { name: "name", compare: |a, b| natural(&a.name, &b.name).then(a.id.cmp(&b.id)) },
    Sort { name: "words", compare: |a, b| b.num_words.cmp(&a.num_words).then(a.id.cmp(&b.id)) },
];

/// The captures have one order, that of their stream.
pub const CAPTURES: &[Sort<Capture>] = &[Sort { name: "time", compare: |a, b| a.id.cmp(&b.id) }];

fn by_made(a: &Payload, b: &Payload) -> Ordering {
    (Reverse(a.at), a.number, a.token).cmp(&(Reverse(b.at), b.number, b.token))
}

fn by_target_name(a: &Target, b: &Target) -> Ordering {
    natural(&a.name, &b.name).then(a.id.cmp(&b.id))
}

fn by_risk(a: &Case, b: &Case) -> Ordering {
    (Reverse(a.risk_level), Reverse(a.finding.id)).cmp(&(Reverse(b.risk_level), Reverse(b.finding.id)))
}

/// Compares texts with the numbers in them as numbers: `127.0.0.9` comes before `127.0.0.10`.
pub fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let (plain_a, rest_a) = split(a, |byte| !byte.is_ascii_digit());
        let (plain_b, rest_b) = split(b, |byte| !byte.is_ascii_digit());
        let (number_a, rest_a) = split(rest_a, |byte| byte.is_ascii_digit());
        let (number_b, rest_b) = split(rest_b, |byte| byte.is_ascii_digit());
        let value = |digits: &str| {
            let digits = digits.trim_start_matches('0');
            (digits.len(), digits.to_owned())
        };
        let order = plain_a.to_lowercase().cmp(&plain_b.to_lowercase());
        let order = order.then_with(|| value(number_a).cmp(&value(number_b)));
        if order != Ordering::Equal || (rest_a.is_empty() && rest_b.is_empty()) {
            return order.then_with(|| a.cmp(b));
        }
        (a, b) = (rest_a, rest_b);
    }
}

fn split(text: &str, belongs: impl Fn(u8) -> bool) -> (&str, &str) {
    let end = text.bytes().position(|byte| !belongs(byte)).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_as_numbers() {
        let mut names = vec!["127.0.0.10", "127.0.0.9", "b", "B2", "a10", "a9", "", "é1"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["", "127.0.0.9", "127.0.0.10", "a9", "a10", "b", "B2", "é1"]);
    }
}
