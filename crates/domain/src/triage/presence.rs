//! Presence of findings: comparison with an earlier scan of the same target and tool, or with the
//! baseline.
//!
//! ```text
//!   scans of one target and tool, newest first:
//!     running, or not read yet ─► skipped         finished, covers what the last that saw it did ─► absent
//!     failed, stopped, other parameters, fewer tests, incomplete tests ─► not retested, with the reason
//!     saw it ─► against the finished one before with the same parameters: new, unchanged, updated, reappeared
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::change_detection;
use super::correlate::CorrelationInput;
use super::coverage::{self, IncompleteTests, RetestedClass};
use super::event::Baseline;
use super::imported::is_imported;
use super::issue::AbsenceProof;
use super::matching::MatchedFinding;
use crate::finding::{Presence, RetestGap};
use scandeck_wire::contract::{Scan, ScanId, ScanStatus, Stamp, TargetId};

/// Scans of one target and tool, oldest first.
#[derive(Default)]
struct Series<'a> {
    scans: Vec<&'a Scan>,
    /// True for ended scans whose findings were fetched.
    is_over: Vec<bool>,
    /// Position of the baseline. `Some(None)`: no scan had ended on its day.
    pinned: Option<Option<usize>>,
}

/// All scans by target and tool.
pub(super) struct Presences<'a> {
    input: &'a CorrelationInput,
    series: HashMap<(TargetId, i64), Series<'a>>,
    tests: IncompleteTests,
    /// Series and position of each scan.
    at: HashMap<ScanId, ((TargetId, i64), usize)>,
}

/// When findings were fetched, by the clock of this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadTimes {
    /// The last fetch of all findings.
    pub all: Option<Stamp>,
    /// Later fetches of the findings of single scans.
    pub scans: Arc<BTreeMap<ScanId, Stamp>>,
    /// The clock of the service minus that of this machine, minus the time in which a service still
    /// adds findings to an ended scan, in seconds. Set when findings are correlated; the poller
    /// sends 0.
    pub offset: i64,
}

/// When a scan started, and its id.
type SeriesPlace = (Option<Stamp>, ScanId);
/// The presence of an issue, with the reason if it was not retested, and the last scan that proved
/// its absence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PresenceResult {
    pub presence: Presence,
    pub gap: Option<RetestGap>,
    pub absent_in: Option<AbsenceProof>,
}

/// A scan that found an issue (series and position), and the position of the occurrence.
type SeriesSighting = ((TargetId, i64), usize, usize);

impl<'a> Presences<'a> {
    pub fn new(input: &'a CorrelationInput) -> Self {
        let mut series: HashMap<(TargetId, i64), Series> = HashMap::new();
        for scan in input.scans.items() {
            series
                .entry((scan.target_id, scan.tool_id))
                .or_default()
                .scans
                .push(scan);
        }
        let mut at = HashMap::new();
        let counts = finding_counts(input);
        for (key, series) in &mut series {
            series.scans.sort_by_key(|scan| chronological(scan));
            series.is_over = series
                .scans
                .iter()
                .map(|scan| is_over(scan, &counts, input))
                .collect();
            at.extend(
                series
                    .scans
                    .iter()
                    .enumerate()
                    .map(|(number, scan)| (scan.id, (*key, number))),
            );
            series.pinned = input
                .state
                .baseline(&input.workspace)
                .and_then(|baseline| series.pinned_by(baseline));
        }
        let tests = IncompleteTests::new(input.findings.items().iter().map(|finding| &**finding));
        Self {
            input,
            series,
            tests,
            at,
        }
    }

    /// The presence of a row.
    pub fn of(&self, row: &MatchedFinding) -> PresenceResult {
        if row.lost {
            let (presence, gap) = (Presence::NotRetested, Some(RetestGap::Ambiguous));
            return PresenceResult {
                presence,
                gap,
                absent_in: None,
            };
        }
        let sighting = |&at: &usize| {
            let scan = self.input.findings.items()[at].task_id()?;
            self.at
                .get(&scan)
                .map(|&(series, number)| (series, number, at))
        };
        // Own occurrences come after the stand-ins and win within the same scan.
        let mut all: Vec<_> = row
            .stand_ins
            .iter()
            .chain(&row.seen)
            .filter_map(sighting)
            .collect();
        all.sort_by_key(|&(series, number, _)| (series, number));
        let by_series: Vec<_> = all
            .chunk_by(|a, b| a.0 == b.0)
            .filter_map(|seen| self.in_series(seen))
            .collect();
        let gap = by_series.iter().find_map(|(_, result)| result.gap);
        let present = by_series
            .iter()
            .map(|(place, result)| (place, result.presence))
            .filter(|(_, presence)| !matches!(presence, Presence::Absent | Presence::NotRetested));
        let presence = match present.max_by_key(|(place, _)| *place) {
            // Another tool found it before, so it is not new.
            Some((place, Presence::New)) if self.was_seen_before(row, *place, by_series.len()) => {
                Presence::Unchanged
            }
            Some((_, presence)) => presence,
            None if gap.is_some() => Presence::NotRetested,
            None if by_series.is_empty() => Presence::Unchanged,
            None => Presence::Absent,
        };
        let proofs = by_series.iter().filter_map(|(_, result)| result.absent_in);
        let absent_in = proofs
            .max_by_key(|proof| (proof.at.get(), proof.scan))
            .filter(|_| presence == Presence::Absent);
        PresenceResult {
            presence,
            gap: gap.filter(|_| presence == Presence::NotRetested),
            absent_in,
        }
    }

    fn was_seen_before(
        &self,
        row: &MatchedFinding,
        (start, id): SeriesPlace,
        series: usize,
    ) -> bool {
        let here = self.at.get(&id).map(|(key, _)| *key);
        let elsewhere = |at: &usize| {
            let scan = self.input.findings.items()[*at]
                .task_id()
                .and_then(|scan| self.input.scans.get(scan));
            scan.is_some_and(|scan| {
                Some((scan.target_id, scan.tool_id)) != here && scan.start_time < start
            })
        };
        series > 1 && row.seen.iter().any(elsewhere)
    }

    /// The presence in one series, with the start of the last scan that found it. `seen`: the scans
    /// that found it. The last scan that did not test for it gives the reason.
    fn in_series(&self, seen: &[SeriesSighting]) -> Option<(SeriesPlace, PresenceResult)> {
        let &(key, last, now) = seen.last()?;
        let series = self.series.get(&key)?;
        let (mut absent_in, mut first, mut untested) = (None, None, None);
        let class = RetestedClass::of(&self.input.findings.items()[now]);
        for later in (last + 1..series.scans.len()).filter(|&at| series.is_over[at]) {
            match coverage::gap(series.scans[later], series.scans[last], class, &self.tests) {
                None => {
                    absent_in = Some(series.scans[later]);
                    first = first.or(absent_in);
                }
                gap => untested = gap,
            }
        }
        let since = first.and_then(|scan| scan.start_time).into();
        let absent_in = absent_in.map(|scan| AbsenceProof {
            scan: scan.id,
            at: scan.start_time.into(),
            since,
        });
        let (presence, gap) = match (absent_in, untested) {
            (Some(_), _) => (Presence::Absent, None),
            (None, Some(gap)) => (Presence::NotRetested, Some(gap)),
            (None, None) => (self.against(series, seen, last, now), None),
        };
        let place = (series.scans[last].start_time, series.scans[last].id);
        Some((
            place,
            PresenceResult {
                presence,
                gap,
                absent_in,
            },
        ))
    }

    fn against(
        &self,
        series: &Series,
        seen: &[SeriesSighting],
        last: usize,
        now: usize,
    ) -> Presence {
        let findings = self.input.findings.items();
        // A scan that did not finish knows less about its findings.
        let is_complete = series.scans[last].status_name == ScanStatus::Finished;
        let compared = |before: usize| match is_complete
            && change_detection::is_changed(&findings[before], &findings[now])
        {
            true => Presence::Changed,
            false => Presence::Unchanged,
        };
        let before = match series.pinned {
            Some(Some(pinned)) if pinned >= last => return Presence::Unchanged,
            Some(pinned) => pinned,
            None => series.before(last),
        };
        let Some(before) = before else {
            let earlier = seen
                .iter()
                .rev()
                .find(|seen| seen.1 < last && series.pinned.is_none());
            return earlier.map_or(Presence::New, |seen| compared(seen.2));
        };
        match (
            seen.iter().rev().find(|seen| seen.1 == before),
            seen[0].1 < before,
        ) {
            (Some(seen), _) => compared(seen.2),
            (None, true) => Presence::Reappeared,
            (None, false) => Presence::New,
        }
    }
}

impl Series<'_> {
    /// The last finished scan before this one with the same parameters.
    fn before(&self, number: usize) -> Option<usize> {
        let now = self.scans[number];
        (0..number)
            .rev()
            .filter(|&at| self.is_over[at] && self.scans[at].status_name == ScanStatus::Finished)
            .find(|&at| coverage::params_gap(self.scans[at], now).is_none())
    }

    /// A baseline of scans does not affect other targets and tools.
    fn pinned_by(&self, baseline: &Baseline) -> Option<Option<usize>> {
        match baseline {
            Baseline::Scans(scans) => {
                let scans: BTreeSet<&ScanId> = scans.iter().collect();
                self.scans
                    .iter()
                    .rposition(|scan| scans.contains(&scan.id))
                    .map(Some)
            }
            Baseline::Day(day) => Some(self.scans.iter().rposition(|scan| ended_by(scan, *day))),
        }
    }
}

fn ended_by(scan: &Scan, day: Date) -> bool {
    let ended = scan
        .end_time
        .map(|end| end.0.to_zoned(TimeZone::UTC).date());
    scan.status_name == ScanStatus::Finished && ended.is_some_and(|ended| ended <= day)
}

/// Order of scans in time; those that did not start are last.
pub(super) fn chronological(scan: &Scan) -> (bool, Option<Stamp>, ScanId) {
    (scan.start_time.is_none(), scan.start_time, scan.id)
}

/// Known findings of each scan.
pub(super) fn finding_counts(input: &CorrelationInput) -> HashMap<ScanId, i64> {
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
pub(super) fn is_over(
    scan: &Scan,
    counts: &HashMap<ScanId, i64>,
    input: &CorrelationInput,
) -> bool {
    let count = counts.get(&scan.id).copied().unwrap_or(0);
    scan.has_ended() && !input.unread.contains(&scan.id) && is_read(scan, count, &input.read)
}

/// True if all findings of an ended scan were fetched: as many as it reports, or fetched after its
/// end. `count`: its known findings. The end of an imported scan was long before its import.
pub fn is_read(scan: &Scan, count: i64, read: &ReadTimes) -> bool {
    let reported: Option<i64> = scan.result_summary.by_risk().into_iter().sum();
    reported.is_some_and(|reported| count >= reported)
        || (!is_imported(scan) && read.is_after_end(scan))
}

impl ReadTimes {
    /// True if the findings of an ended scan were fetched after its end.
    pub fn is_after_end(&self, scan: &Scan) -> bool {
        let read = self.scans.get(&scan.id).copied().max(self.all);
        let seconds = |at: Stamp| at.0.as_second();
        read.is_some_and(|read| {
            scan.end_time
                .is_none_or(|end| seconds(read) + self.offset > seconds(end))
        })
    }
}
