//! Counts and short names that are derived from several lists: computed when a list changes, read
//! in each frame.

use scandeck_domain::table::Table;
use scandeck_domain::triage::{FindingFacts, ListedFinding, ScanChanges};
use scandeck_wire::contract::{Scan, ScanStatus, Stamp, Target, TargetId};
use scandeck_wire::text;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The scans of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetFacts {
    pub scans: usize,
    /// Position of the active scan that started first.
    pub active: Option<usize>,
    /// Position and end of the scan that ended last.
    pub last: Option<(usize, Option<Stamp>)>,
}

/// Counts of scans by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetScans {
    pub running: usize,
    pub waiting: usize,
    pub failed: usize,
    pub total: usize,
}

/// Facts about the list of targets. Kept apart, because scans are replaced every second and targets
/// seldom.
#[derive(Debug, Default)]
pub struct TargetListFacts {
    /// The domain that all targets share, with its leading dot; empty if there is none.
    pub suffix: String,
    /// Names for lists: without scheme and shared domain, where that is unambiguous.
    short: HashMap<TargetId, String>,
}

/// Facts about the list of scans. Kept apart, because findings are replaced much more often while
/// many scans are read.
#[derive(Debug, Default)]
pub struct ScanListFacts {
    pub counts: TargetScans,
    by_target: HashMap<TargetId, TargetFacts>,
    /// Targets and tools with several ended scans.
    repeated: HashSet<(TargetId, i64)>,
}

#[derive(Debug, Default)]
pub struct PaneFacts {
    pub findings: Arc<FindingFacts>,
    pub targets: Arc<TargetListFacts>,
    pub scans: Arc<ScanListFacts>,
    /// Numbers of findings from critical down to info.
    pub risks: [i64; 5],
}

impl TargetListFacts {
    pub fn new(targets: &Table<Target>) -> Self {
        let mut facts = Self {
            suffix: common_suffix(targets),
            short: HashMap::new(),
        };
        facts.shorten(targets);
        facts
    }

    fn shorten(&mut self, targets: &Table<Target>) {
        let mut uses: HashMap<String, usize> = HashMap::new();
        let short =
            |target: &Target| short_name(&text::clean(&target.name), &self.suffix).to_owned();
        for target in targets.items() {
            *uses.entry(short(target)).or_default() += 1;
        }
        let unambiguous = |target: &Target| match short(target) {
            name if uses.get(&name) == Some(&1) => name,
            _ => text::clean(&target.name).into_owned(),
        };
        self.short = targets
            .items()
            .iter()
            .map(|target| (target.id, unambiguous(target)))
            .collect();
    }
}

impl PaneFacts {
    pub fn target(&self, id: TargetId) -> TargetFacts {
        self.scans.by_target.get(&id).copied().unwrap_or_default()
    }

    /// The findings that a scan changed; none for the first scan of a target with its tool, whose
    /// findings are all new.
    pub fn changes(&self, scan: &Scan) -> Option<ScanChanges> {
        let is_repeated = |_: &ScanChanges| {
            self.scans
                .repeated
                .contains(&(scan.target_id, scan.tool_id))
        };
        self.findings.changes(scan.id).filter(is_repeated)
    }

    pub fn short_name(&self, id: TargetId) -> Option<&str> {
        self.targets.short.get(&id).map(String::as_str)
    }
}

impl ScanListFacts {
    pub fn new(scans: &Table<Scan>) -> Self {
        let mut facts = Self::default();
        facts.count_scans(scans);
        facts
    }

    fn count_scans(&mut self, scans: &Table<Scan>) {
        self.counts.total = scans.len();
        let mut ended = HashSet::new();
        for scan in scans.items().iter().filter(|scan| scan.has_ended()) {
            let series = (scan.target_id, scan.tool_id);
            if !ended.insert(series) {
                self.repeated.insert(series);
            }
        }
        for (at, scan) in scans.items().iter().enumerate() {
            match &scan.status_name {
                ScanStatus::Running => self.counts.running += 1,
                ScanStatus::Waiting => self.counts.waiting += 1,
                status if status.is_failure() => self.counts.failed += 1,
                _ => {}
            }
            let target = self.by_target.entry(scan.target_id).or_default();
            target.scans += 1;
            if scan.is_active() {
                let started = |at: usize| {
                    (
                        scans.items()[at].start_time.is_none(),
                        scans.items()[at].start_time,
                    )
                };
                if target
                    .active
                    .is_none_or(|other| started(at) < started(other))
                {
                    target.active = Some(at);
                }
            } else if target.last.is_none_or(|(_, end)| end <= scan.end_time) {
                target.last = Some((at, scan.end_time));
            }
        }
    }
}

/// The target of a finding: as reported, else the target of its scan.
pub fn target_of(finding: &ListedFinding, scans: Option<&Table<Scan>>) -> Option<TargetId> {
    finding
        .target_id()
        .or_else(|| scans?.get(finding.task_id()?).map(|scan| scan.target_id))
}

/// A name without scheme, trailing slash and shared domain.
fn short_name<'a>(name: &'a str, suffix: &str) -> &'a str {
    let plain = name
        .strip_prefix("https://")
        .or_else(|| name.strip_prefix("http://"))
        .unwrap_or(name);
    let plain = plain.strip_suffix('/').unwrap_or(plain);
    match plain.strip_suffix(suffix) {
        Some(short) if !suffix.is_empty() && !short.is_empty() => short,
        _ => plain,
    }
}

/// The longest domain of at least two labels in which all host names end, if there are at least
/// three targets.
fn common_suffix(targets: &Table<Target>) -> String {
    let names: Vec<&str> = targets
        .items()
        .iter()
        .map(|target| target.name.as_str())
        .collect();
    let is_host =
        |name: &&str| name.contains('.') && name.ends_with(|c: char| c.is_ascii_alphabetic());
    if names.len() < 3
        || !names
            .iter()
            .all(|name| is_host(name) && !name.contains('/'))
    {
        return String::new();
    }
    let mut suffix = names[0].split_once('.').map_or("", |(_, rest)| rest);
    while !suffix.is_empty() {
        let dotted = |name: &str| {
            name.strip_suffix(suffix)
                .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
        };
        if names.iter().all(|name| dotted(name)) {
            return if suffix.contains('.') {
                format!(".{suffix}")
            } else {
                String::new()
            };
        }
        suffix = suffix.split_once('.').map_or("", |(_, rest)| rest);
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Data;
    use crate::ui::ViewCache;
    use scandeck_domain::triage;
    use scandeck_wire::contract::Finding;
    use std::sync::Arc;

    fn targets(names: &[&str]) -> Table<Target> {
        Table::new(names.iter().enumerate().map(|(i, &name)| Target {
            id: TargetId(i as i64 + 1),
            name: name.into(),
            ..Target::default()
        }))
    }

    fn counted(data: &Data) -> Arc<PaneFacts> {
        let findings = data
            .findings
            .value()
            .map(|findings| FindingFacts::count(findings))
            .unwrap_or_default();
        ViewCache::default().facts_of(data, &Arc::new(findings))
    }

    #[test]
    fn targets_with_shared_domain_have_common_suffix() {
        assert_eq!(
            common_suffix(&targets(&[
                "shop.acme.test",
                "api.acme.test",
                "a.b.acme.test"
            ])),
            ".acme.test"
        );
        assert_eq!(
            common_suffix(&targets(&["shop.acme.test", "acme.test", "api.acme.test"])),
            ""
        );
        assert_eq!(
            common_suffix(&targets(&["127.0.0.1", "127.0.0.2", "127.0.0.3"])),
            ""
        );
        assert_eq!(common_suffix(&targets(&["a.test", "b.test", "c.test"])), "");
    }

    #[test]
    fn short_names_that_are_ambiguous_keep_scheme() {
        let mut data = Data::default();
        let at = Stamp::parse("2026-11-21 10:00:00").unwrap();
        let names = [
            "https://shop.test:8443/",
            "http://api.test/",
            "https://api.test/",
        ];
        data.targets.succeed(Arc::new(targets(&names)), at);
        let facts = counted(&data);
        let short = |id: i64| facts.short_name(TargetId(id)).unwrap().to_owned();
        assert_eq!(
            [short(1), short(2), short(3)],
            ["shop.test:8443", "http://api.test/", "https://api.test/"]
        );
    }

    #[test]
    fn facts_count_findings_and_scans_of_target() {
        let mut data = Data::default();
        let at = Stamp::parse("2026-11-21 10:00:00").unwrap();
        let scan = |id: i64, status: ScanStatus| Scan {
            id: id.into(),
            target_id: TargetId(1),
            status_name: status,
            ..Scan::default()
        };
        data.scans.succeed(
            Arc::new(Table::new([
                scan(1, ScanStatus::Finished),
                scan(2, ScanStatus::Running),
                scan(3, ScanStatus::Aborted),
            ])),
            at,
        );
        let finding = Finding {
            id: 1.into(),
            task_id: Some(1.into()),
            risk_level: 4.into(),
            ..Finding::default()
        };
        let input = triage::CorrelationInput {
            findings: Arc::new(Table::new([finding])),
            ..triage::CorrelationInput::default()
        };
        data.findings.succeed(triage::correlate(&input).issues, at);
        let facts = counted(&data);
        let target = facts.target(TargetId(1));
        assert_eq!(
            (facts.risks, target.scans, target.active),
            ([1, 0, 0, 0, 0], 3, Some(1))
        );
        assert_eq!(
            (
                facts.scans.counts.running,
                facts.scans.counts.failed,
                facts.scans.counts.total
            ),
            (1, 1, 3)
        );
        assert!(facts.findings.has_no_flag());
        assert!(!facts.findings.is_one_port(), "one finding is no series");
    }
}
