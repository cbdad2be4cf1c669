//! The scope of a report: what was tested when and by which tool, and what could not be judged.

use std::collections::{BTreeMap, BTreeSet};

use super::{RiskCounts, counted, day, line, stamp};
use crate::words::Words;
use crate::{Document, ReportScan};
use scandeck_wire::contract::{Scan, Tool};

/// Targets without a scan that have a line each.
const UNTESTED: usize = 6;

/// A target, and how it was tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeRow {
    pub target: String,
    pub tools: String,
    /// From the first to the last scan.
    pub tested: String,
    pub findings: String,
}

/// A scan without a complete result, or targets without a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeGap {
    pub target: String,
    pub tool: String,
    pub at: String,
    pub cause: String,
}

/// The targets with their scans, and the gaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportScope {
    pub targets: Vec<ScopeRow>,
    pub gaps: Vec<ScopeGap>,
}

/// The scans of one target.
#[derive(Default)]
struct TestedTarget<'a> {
    tools: BTreeSet<String>,
    days: BTreeSet<String>,
    /// The latest scan of each tool.
    latest: BTreeMap<i64, &'a Scan>,
}

pub(super) fn scope(
    document: &Document<'_>,
    counts: &BTreeMap<String, RiskCounts>,
    words: &Words,
) -> ReportScope {
    let tested = tested(&document.scans);
    let mut scope = ReportScope::default();
    let mut untested = Vec::new();
    for name in &document.scope {
        let found = counts.get(name).copied().unwrap_or_default();
        let target = line(name);
        let scans = tested.get(name.as_str());
        let findings = match found.iter().sum::<usize>() {
            0 => words.get("text.none").to_owned(),
            _ => present(&found, words),
        };
        scope.targets.push(ScopeRow {
            target: target.clone(),
            tools: scans.map(TestedTarget::tools).unwrap_or_default(),
            tested: scans.map_or_else(String::new, TestedTarget::period),
            findings,
        });
        // Without any scan in the data, nothing is known about the tests.
        if document.scans.is_empty() {
            continue;
        }
        match scans {
            Some(scans) => scope.gaps.extend(scans.gaps(&target, words)),
            None => untested.push(target),
        }
    }
    // They have the same cause, so they share a row.
    if !untested.is_empty() {
        let target = match untested.len() {
            ..UNTESTED => untested.join("\n"),
            count => {
                let count = words.count(count, "noun.target");
                words.filled("text.targets", &[&count, &untested.join(", ")])
            }
        };
        let cause = words.get("text.not_tested").to_owned();
        scope.gaps.push(ScopeGap {
            target,
            cause,
            ..ScopeGap::default()
        });
    }
    scope
}

fn tested(scans: &[ReportScan]) -> BTreeMap<&str, TestedTarget<'_>> {
    let mut tested = BTreeMap::<&str, TestedTarget<'_>>::new();
    for ReportScan { scan, target } in scans {
        let of_target = tested.entry(target.as_str()).or_default();
        of_target.tools.insert(Tool(scan.tool_id).full_name());
        of_target.days.extend(scan.start_time.map(day));
        let latest = of_target.latest.entry(scan.tool_id).or_insert(scan);
        if (scan.start_time, scan.id) > (latest.start_time, latest.id) {
            *latest = scan;
        }
    }
    tested
}

/// `2 high, 1 low`
pub fn present(counts: &RiskCounts, words: &Words) -> String {
    let some = counts.iter().filter(|count| **count > 0).count();
    match some {
        0 => String::new(),
        _ => {
            let all = counted(counts, words);
            let is_some = |part: &&str| !part.starts_with("0 ");
            all.split(", ")
                .filter(is_some)
                .collect::<Vec<_>>()
                .join(", ")
        }
    }
}

impl TestedTarget<'_> {
    fn tools(&self) -> String {
        let tools: Vec<&str> = self.tools.iter().map(String::as_str).collect();
        tools.join(", ")
    }

    fn period(&self) -> String {
        match (self.days.first(), self.days.last()) {
            (Some(first), Some(last)) if first != last => format!("{first} – {last}"),
            (Some(first), _) => first.clone(),
            _ => String::new(),
        }
    }

    /// The tools whose latest scan has no complete result.
    fn gaps(&self, target: &str, words: &Words) -> Vec<ScopeGap> {
        let has_gap = |scan: &&&Scan| !scan.has_ended() || scan.shown_status() != "finished";
        let gap = |scan: &&Scan| ScopeGap {
            target: target.to_owned(),
            tool: Tool(scan.tool_id).full_name(),
            at: stamp(scan.start_time),
            cause: cause(scan, words),
        };
        self.latest.values().filter(has_gap).map(gap).collect()
    }
}

/// `incomplete, 31 of 45 tests: HTTP 403 of the target`
fn cause(scan: &Scan, words: &Words) -> String {
    let mut cause = scan.shown_status().to_owned();
    if (1..scan.num_tests).contains(&scan.num_finished_tests) {
        let [done, all] = [scan.num_finished_tests, scan.num_tests].map(|count| count.to_string());
        cause += &words.filled("text.tests_done", &[&done, &all]);
    }
    let note = scan
        .info_text_lines
        .iter()
        .find(|note| note.contains("incomplete"));
    let message = match scan.status_message.trim() {
        "" => note.map(|note| note.trim()).unwrap_or_default(),
        message => message,
    };
    if !message.is_empty() && message != scan.shown_status() {
        cause += &format!(": {message}");
    }
    line(&cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::ChapterKind;
    use crate::tests::data;
    use crate::view::View;
    use scandeck_wire::contract::{ScanId, ScanStatus, Stamp};

    #[test]
    fn scope_names_tests_of_targets_and_what_was_not_judged() {
        let mut input = data(ChapterKind::Class);
        let finished = input.scans[0].clone();
        let later = |id, status_name, message: &str, start: &str| {
            let mut scan = finished.clone();
            scan.scan.id = ScanId(id);
            scan.scan.status_name = status_name;
            scan.scan.status_message = message.into();
            scan.scan.start_time = Stamp::parse(start);
            scan
        };
        let at = "2026-11-22 08:00:00";
        let failed = ScanStatus::ConnectionError;
        input.scans.push(later(8, failed, "no TCP connection", at));
        let document = Document::new(&input).unwrap();
        let scope = View::new(&document).unwrap().scope;
        let targets: Vec<[&str; 3]> = scope
            .targets
            .iter()
            .map(|row| [&*row.target, &*row.tools, &*row.findings])
            .collect();
        let expected = [
            ["api.test", "", "1 info"],
            ["quiet.test", "", "none"],
            ["shop.test", "Website Scanner", "1 critical, 1 info"],
        ];
        assert_eq!(targets, expected);
        let gaps: Vec<[&str; 2]> = scope
            .gaps
            .iter()
            .map(|gap| [&*gap.target, &*gap.cause])
            .collect();
        assert_eq!(
            gaps,
            [
                ["shop.test", "connection error: no TCP connection"],
                ["api.test\nquiet.test", "not tested"],
            ]
        );
        let again = later(9, ScanStatus::Finished, "", "2026-11-23 08:00:00");
        input.scans.push(again);
        let document = Document::new(&input).unwrap();
        let scope = View::new(&document).unwrap().scope;
        assert_eq!(scope.gaps.len(), 1, "a later scan closed the gap");
        assert!(scope.targets[2].tested.ends_with("2026-11-23"));
        let hosts = (0..9).map(|number| format!("h{number}.test"));
        input.targets.extend(hosts);
        let document = Document::new(&input).unwrap();
        let scope = View::new(&document).unwrap().scope;
        let target = &scope.gaps[0].target;
        assert!(
            scope.gaps.len() == 1 && target.starts_with("11 targets: api.test, h0.test, h1.test"),
            "{target}"
        );
    }
}
