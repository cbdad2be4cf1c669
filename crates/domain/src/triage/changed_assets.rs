//! The assets whose issues have to be made again after findings, scans or decisions changed.
//!
//! ```text
//!   findings that are not the same ──┬─► their assets ─────────────────────────────────────┐
//!                                    └─► their scans ─┐                                     ├─► assets
//!   scans that differ, or end as read ────────────────┴─► scans of that target and tool ───┤
//!   decisions that differ ─► their identities, keys and findings ───────────────────────────┘
//! ```
//!
//! Findings of one asset are matched with each other and with decisions on that asset only
//! (`matching.rs`), and their presence depends on the scans that found them (`presence.rs`). So the
//! issues of all other assets remain as they are.

use std::collections::HashSet;
use std::sync::Arc;

use super::correlate::{CorrelationInput, EarlierCorrelation};
use super::issue::IssueId;
use super::matching::Assets;
use scandeck_wire::contract::{Scan, ScanId, Shared, TargetId};

/// The assets to compute again; `None` for all, because something changed that concerns all.
pub(super) fn changed_assets(
    earlier: &EarlierCorrelation,
    input: &CorrelationInput,
) -> Option<HashSet<Shared>> {
    let before = &earlier.input;
    let is_comparable = Arc::ptr_eq(&before.targets, &input.targets)
        && (&before.workspace, &before.alias, before.today)
            == (&input.workspace, &input.alias, input.today)
        && before.state.baseline(&before.workspace) == input.state.baseline(&input.workspace);
    if !is_comparable {
        return None;
    }
    let mut changed = Changed {
        assets: HashSet::new(),
        scans: HashSet::new(),
        series: HashSet::new(),
    };
    changed.compare_scans(before, input);
    changed.compare_findings(before, input);
    changed.compare_decisions(earlier, input);
    changed.add_findings_of_scans(input);
    Some(changed.assets)
}

struct Changed {
    assets: HashSet<Shared>,
    scans: HashSet<ScanId>,
    /// Target and tool of changed scans.
    series: HashSet<(TargetId, i64)>,
}

impl Changed {
    fn add_scan(&mut self, scan: &Scan) {
        self.scans.insert(scan.id);
        self.series.insert((scan.target_id, scan.tool_id));
    }

    fn compare_scans(&mut self, before: &CorrelationInput, input: &CorrelationInput) {
        for scan in input.scans.items() {
            let was = before.scans.get(scan.id);
            let is_same = |was: &&Arc<Scan>| {
                before.read.is_after_end(was) == input.read.is_after_end(scan)
                    && before.unread.contains(&scan.id) == input.unread.contains(&scan.id)
                    && counts_as_same(was, scan)
            };
            if was.filter(is_same).is_none() {
                was.into_iter()
                    .chain([scan])
                    .for_each(|scan| self.add_scan(scan));
            }
        }
        let removed = before
            .scans
            .items()
            .iter()
            .filter(|scan| input.scans.get(scan.id).is_none());
        removed.for_each(|scan| self.add_scan(scan));
    }

    fn compare_findings(&mut self, before: &CorrelationInput, input: &CorrelationInput) {
        if Arc::ptr_eq(&before.findings, &input.findings) {
            return;
        }
        for (one, other) in [(before, input), (input, before)] {
            let mut assets = Assets::new(one);
            for finding in one.findings.items() {
                if other
                    .findings
                    .get(finding.id)
                    .is_some_and(|same| Arc::ptr_eq(same, finding))
                {
                    continue;
                }
                self.assets.insert(assets.of(finding));
                if let Some(scan) = finding.task_id().and_then(|scan| input.scans.get(scan)) {
                    self.add_scan(scan);
                }
            }
        }
    }

    fn compare_decisions(&mut self, earlier: &EarlierCorrelation, input: &CorrelationInput) {
        let mut assets = Assets::new(input);
        for state in input.state.changed_since(&earlier.input.state) {
            self.assets.extend(
                state
                    .identities
                    .iter()
                    .chain([&state.identity])
                    .map(|one| one.asset.clone()),
            );
            let issues = state
                .keys
                .iter()
                .filter_map(|&key| earlier.issues.get(IssueId::from(key)));
            self.assets
                .extend(issues.map(|issue| issue.identity.asset.clone()));
            let seen = state
                .seen
                .iter()
                .filter_map(|(_, id)| input.findings.get(*id));
            self.assets.extend(seen.map(|finding| assets.of(finding)));
        }
    }

    /// The presence of the findings of a scan depends on the other scans of its target and tool.
    fn add_findings_of_scans(&mut self, input: &CorrelationInput) {
        let of_series = |scan: &&Arc<Scan>| self.series.contains(&(scan.target_id, scan.tool_id));
        let scans: Vec<ScanId> = input
            .scans
            .items()
            .iter()
            .filter(of_series)
            .map(|scan| scan.id)
            .collect();
        self.scans.extend(scans);
        if self.scans.is_empty() {
            return;
        }
        let mut assets = Assets::new(input);
        let is_concerned = |scan: ScanId| self.scans.contains(&scan);
        let findings = input
            .findings
            .items()
            .iter()
            .filter(|finding| finding.task_id().is_some_and(is_concerned));
        self.assets
            .extend(findings.map(|finding| assets.of(finding)));
    }
}

/// Whether two states of a scan are the same for presence.
fn counts_as_same(a: &Scan, b: &Scan) -> bool {
    let facts = |scan: &Scan| {
        let results = scan.has_ended().then(|| scan.result_summary.by_risk());
        (
            scan.target_id,
            scan.tool_id,
            scan.start_time,
            scan.end_time,
            scan.num_finished_tests,
            results,
        )
    };
    facts(a) == facts(b)
        && a.status_name == b.status_name
        && a.scan_original_url == b.scan_original_url
        && a.tool_params == b.tool_params
}
