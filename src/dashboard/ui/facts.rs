//! What the panes show about targets and scans that no single answer of the service tells: counted once when a table
//! changes, looked up while drawing.

use crate::contract::{Finding, Scan, ScanStatus, Stamp, Target, TargetId};
use crate::dashboard::data::Data;
use crate::table::Table;
use crate::text;
use crate::triage::Case;
use std::collections::HashMap;
use std::sync::Arc;

/// What is known about a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetFacts {
    /// How many scans it has.
    pub scans: usize,
    /// Position of the active scan that began first.
    pub active: Option<usize>,
    /// Position and end of the scan that ended last.
    pub last: Option<(usize, Option<Stamp>)>,
}

/// Counts of scans for the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetScans {
    pub running: usize,
    pub waiting: usize,
    pub failed: usize,
    pub total: usize,
}

/// The derived numbers, and the tables they were counted from.
#[derive(Debug, Default)]
pub struct PaneFacts {
    by_target: HashMap<TargetId, TargetFacts>,
    counts: TargetScans,
    risks: [i64; 5],
    suffix: String,
    /// Names for lists: without scheme and shared domain, as long as they stay apart.
    short: HashMap<TargetId, String>,
    targets: Option<Arc<Table<Target>>>,
    scans: Option<Arc<Table<Scan>>>,
    findings: Option<Arc<Table<Case>>>,
}

impl PaneFacts {
    /// Whether the tables are still those these facts were counted from.
    pub fn is_of(&self, data: &Data) -> bool {
        same(self.targets.as_ref(), data.targets.value())
            && same(self.scans.as_ref(), data.scans.value())
            && same(self.findings.as_ref(), data.findings.value())
    }

    /// Counts anew.
    pub fn count(data: &Data) -> Self {
        let mut facts = Self {
            targets: data.targets.value().cloned(),
            scans: data.scans.value().cloned(),
            findings: data.findings.value().cloned(),
            ..Self::default()
        };
        facts.suffix = facts.targets.as_ref().map(|targets| common_suffix(targets)).unwrap_or_default();
        facts.shorten_names();
        let scans = facts.scans.clone().unwrap_or_default();
        facts.count_scans(&scans);
        facts.risks = facts.findings.as_ref().map(|findings| findings.risks().map(i64::from)).unwrap_or_default();
        facts
    }

    /// What is known about a target.
    pub fn target(&self, id: TargetId) -> TargetFacts {
        self.by_target.get(&id).copied().unwrap_or_default()
    }

    /// Scans by state.
    pub fn scans(&self) -> TargetScans {
        self.counts
    }

    /// All findings from critical down to info.
    pub fn risks(&self) -> [i64; 5] {
        self.risks
    }

    /// The domain that all targets share, with its dot; empty when there is none.
    pub fn suffix(&self) -> &str {
        &self.suffix
    }

    /// A target's name for lists, where it is known.
    pub fn short_name(&self, id: TargetId) -> Option<&str> {
        self.short.get(&id).map(String::as_str)
    }

    fn shorten_names(&mut self) {
        let Some(targets) = &self.targets else { return };
        let mut taken: HashMap<String, usize> = HashMap::new();
        let short = |target: &Target| short_name(&text::clean(&target.name), &self.suffix).to_owned();
        for target in targets.items() {
            *taken.entry(short(target)).or_default() += 1;
        }
        let own = |target: &Target| match short(target) {
            name if taken.get(&name) == Some(&1) => name,
            _ => text::clean(&target.name).into_owned(),
        };
        self.short = targets.items().iter().map(|target| (target.id, own(target))).collect();
    }

    fn count_scans(&mut self, scans: &Table<Scan>) {
        self.counts.total = scans.len();
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
                let started = |at: usize| (scans.items()[at].start_time.is_none(), scans.items()[at].start_time);
                if target.active.is_none_or(|other| started(at) < started(other)) {
                    target.active = Some(at);
                }
            } else if target.last.is_none_or(|(_, end)| end <= scan.end_time) {
                target.last = Some((at, scan.end_time));
            }
        }
    }
}

/// The target a finding is on: as told, or that of its scan.
pub fn target_of(finding: &Finding, scans: &Table<Scan>) -> Option<TargetId> {
    finding.target_id.or_else(|| scans.get(finding.task_id?).map(|scan| scan.target_id))
}

/// Without the scheme, the slash at the end and the domain that all share.
fn short_name<'a>(name: &'a str, suffix: &str) -> &'a str {
    let plain = name.strip_prefix("https://").or_else(|| name.strip_prefix("http://")).unwrap_or(name);
    let plain = plain.strip_suffix('/').unwrap_or(plain);
    match plain.strip_suffix(suffix) {
        Some(short) if !suffix.is_empty() && !short.is_empty() => short,
        _ => plain,
    }
}

fn same<T>(held: Option<&Arc<T>>, now: Option<&Arc<T>>) -> bool {
    match (held, now) {
        (Some(held), Some(now)) => Arc::ptr_eq(held, now),
        (None, None) => true,
        _ => false,
    }
}

/// The longest domain of two labels or more that all host names end in, when there are at least three of them.
fn common_suffix(targets: &Table<Target>) -> String {
    let names: Vec<&str> = targets.items().iter().map(|target| target.name.as_str()).collect();
    let is_host = |name: &&str| name.contains('.') && name.ends_with(|c: char| c.is_ascii_alphabetic());
    if names.len() < 3 || !names.iter().all(|name| is_host(name) && !name.contains('/')) {
        return String::new();
    }
    let mut suffix = names[0].split_once('.').map_or("", |(_, rest)| rest);
    while !suffix.is_empty() {
        let dotted = |name: &str| name.strip_suffix(suffix).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'));
        if names.iter().all(|name| dotted(name)) {
            return if suffix.contains('.') { format!(".{suffix}") } else { String::new() };
        }
        suffix = suffix.split_once('.').map_or("", |(_, rest)| rest);
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::triage;

    fn targets(names: &[&str]) -> Table<Target> {
        Table::new(names.iter().enumerate().map(|(i, &name)| Target {
            id: TargetId(i as i64 + 1),
            name: name.into(),
            ..Target::default()
        }))
    }

    #[test]
    fn a_domain_shared_by_all_targets_is_found() {
        assert_eq!(common_suffix(&targets(&["shop.acme.test", "api.acme.test", "a.b.acme.test"])), ".acme.test");
        assert_eq!(common_suffix(&targets(&["shop.acme.test", "acme.test", "api.acme.test"])), "");
        assert_eq!(common_suffix(&targets(&["127.0.0.1", "127.0.0.2", "127.0.0.3"])), "");
        assert_eq!(common_suffix(&targets(&["a.test", "b.test", "c.test"])), "");
    }

    #[test]
    fn names_in_lists_are_short_as_long_as_they_stay_apart() {
        let mut data = Data::default();
        let at = Stamp::parse("2026-11-21 10:00:00").unwrap();
        let names = ["https://shop.test:8443/", "http://api.test/", "https://api.test/"];
        data.targets.succeed(Arc::new(targets(&names)), at);
        let facts = PaneFacts::count(&data);
        let short = |id: i64| facts.short_name(TargetId(id)).unwrap().to_owned();
        assert_eq!([short(1), short(2), short(3)], ["shop.test:8443", "http://api.test/", "https://api.test/"]);
    }

    #[test]
    fn findings_are_counted_and_scans_for_their_target() {
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
        let finding = Finding { id: 1.into(), task_id: Some(1.into()), risk_level: 4.into(), ..Finding::default() };
        let input = triage::CorrelationInput {
            findings: Arc::new(Table::new([finding])),
            ..triage::CorrelationInput::default()
        };
        data.findings.succeed(triage::correlate(&input).cases, at);
        let facts = PaneFacts::count(&data);
        let target = facts.target(TargetId(1));
        assert_eq!((facts.risks(), target.scans, target.active), ([1, 0, 0, 0, 0], 3, Some(1)));
        assert_eq!((facts.scans().running, facts.scans().failed, facts.scans().total), (1, 1, 3));
        assert!(facts.is_of(&data));
    }
}
