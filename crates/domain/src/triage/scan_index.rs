//! All scans by target and tool, for presence and timelines.
//!
//! ```text
//!   scans, findings, read times ─► ScanIndex: series, oldest first ─┬─► presence.rs
//!                                  and incomplete tests             └─► timeline.rs
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use super::correlate::CorrelationInput;
use super::coverage::IncompleteTests;
use super::presence::is_read;
use scandeck_wire::contract::{Scan, ScanId, Stamp, TargetId};

/// Target and tool of scans.
pub(super) type SeriesKey = (TargetId, i64);

/// All scans by target and tool, oldest first.
#[derive(Debug, Default)]
pub(super) struct ScanIndex {
    pub series: HashMap<SeriesKey, Vec<IndexedScan>>,
    pub tests: IncompleteTests,
    /// Series and position of each scan.
    places: HashMap<ScanId, (SeriesKey, usize)>,
}

#[derive(Debug)]
pub(super) struct IndexedScan {
    pub scan: Arc<Scan>,
    /// True for an ended scan whose findings were fetched.
    pub is_over: bool,
}

impl ScanIndex {
    pub fn new(input: &CorrelationInput) -> Self {
        let counts = finding_counts(input);
        let mut series: HashMap<SeriesKey, Vec<IndexedScan>> = HashMap::new();
        for scan in input.scans.items() {
            let key = (scan.target_id, scan.tool_id);
            series.entry(key).or_default().push(IndexedScan {
                scan: Arc::clone(scan),
                is_over: is_over(scan, &counts, input),
            });
        }
        let mut places = HashMap::new();
        for (key, scans) in &mut series {
            scans.sort_by_key(|indexed| chronological(&indexed.scan));
            let numbered = scans.iter().enumerate();
            places.extend(numbered.map(|(number, indexed)| (indexed.scan.id, (*key, number))));
        }
        let tests = IncompleteTests::new(input.findings.items().iter().map(|finding| &**finding));
        Self {
            series,
            tests,
            places,
        }
    }

    /// Series and position of a scan.
    pub fn place(&self, scan: ScanId) -> Option<(SeriesKey, usize)> {
        self.places.get(&scan).copied()
    }

    pub fn scan(&self, id: ScanId) -> Option<&Arc<Scan>> {
        let (key, number) = self.place(id)?;
        Some(&self.series.get(&key)?.get(number)?.scan)
    }
}

/// Order of scans in time; those that did not start are last.
fn chronological(scan: &Scan) -> (bool, Option<Stamp>, ScanId) {
    (scan.start_time.is_none(), scan.start_time, scan.id)
}

/// Known findings of each scan.
fn finding_counts(input: &CorrelationInput) -> HashMap<ScanId, i64> {
    let mut counts: HashMap<ScanId, i64> = HashMap::new();
    for scan in input
        .findings
        .items()
        .iter()
        .filter_map(|finding| finding.task_id())
    {
        *counts.entry(scan).or_default() += 1;
    }
    counts
}

/// True for ended scans whose findings were fetched.
fn is_over(scan: &Scan, counts: &HashMap<ScanId, i64>, input: &CorrelationInput) -> bool {
    let count = counts.get(&scan.id).copied().unwrap_or(0);
    scan.has_ended() && !input.unread.contains(&scan.id) && is_read(scan, count, &input.read)
}
