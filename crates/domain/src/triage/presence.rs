//! Presence of findings: comparison with an earlier scan of the same target and tool, or with the
//! baseline.
//!
//! ```text
//!   scans of one target and tool, newest first:
//!     running, not read yet, of other single tests ─► skipped
//!     finished, covers what the last that saw it did ─► absent
//!     failed, stopped, other parameters, fewer tests, incomplete tests ─► not retested, with the reason
//!     saw it ─► against the finished one before with the same parameters: new, unchanged, changed, reappeared
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::change_detection;
use super::correlate::CorrelationInput;
use super::coverage::{self, RetestedClass};
use super::event::Baseline;
use super::imported::is_imported;
use super::issue::AbsenceProof;
use super::matching::MatchedFinding;
use super::scan_index::{IndexedScan, ScanIndex, SeriesKey};
use crate::finding::{Presence, PresenceReason, RetestGap};
use scandeck_wire::contract::{Scan, ScanId, ScanStatus, Stamp};

/// The scans by target and tool, with the baseline.
pub(super) struct Presences<'a> {
    input: &'a CorrelationInput,
    index: &'a ScanIndex,
    /// Position of the baseline in a series. `None`: no scan had ended on its day.
    pinned: HashMap<SeriesKey, Option<usize>>,
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

/// Why an issue has its presence, the scans that were compared, and the last scan that proved its
/// absence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PresenceResult {
    pub reason: PresenceReason,
    pub absent_in: Option<AbsenceProof>,
    pub compared: ComparedScans,
}

/// The scans that a presence follows from. Positions are those of the table of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ComparedScans {
    /// The last scan that found the issue.
    pub found_by: Option<ScanId>,
    /// The scan that it is compared with: an earlier one; of an issue that is absent or not
    /// retested, the later one.
    pub with: Option<ScanId>,
    /// Position of the finding of the last scan.
    pub now: Option<usize>,
    /// Position of an earlier finding, if there is one.
    pub then: Option<usize>,
}

/// A scan that found an issue.
#[derive(Clone, Copy)]
struct SeriesSighting {
    series: SeriesKey,
    /// Position of the scan in its series.
    number: usize,
    /// Position of the occurrence.
    finding: usize,
}

impl<'a> Presences<'a> {
    /// For the rows of all scans.
    pub fn new(input: &'a CorrelationInput, index: &'a ScanIndex) -> Self {
        Self::of_series(input, index, index.series.keys().copied())
    }

    /// For rows whose scans are of these targets and tools.
    pub fn of_series(
        input: &'a CorrelationInput,
        index: &'a ScanIndex,
        keys: impl Iterator<Item = SeriesKey>,
    ) -> Self {
        let mut pinned = HashMap::new();
        if let Some(baseline) = input.state.baseline(&input.workspace) {
            let pin = |key: SeriesKey| {
                let scans = index.series.get(&key)?;
                Some((key, pinned_by(scans, baseline)?))
            };
            pinned.extend(keys.filter_map(pin));
        }
        Self {
            input,
            index,
            pinned,
        }
    }

    /// The presence of a row.
    pub fn of(&self, row: &MatchedFinding) -> PresenceResult {
        if row.lost {
            let now = row.seen.last().copied();
            let found_by = now.and_then(|at| self.input.findings.items()[at].task_id());
            return PresenceResult {
                reason: PresenceReason::NotRetested(RetestGap::Ambiguous),
                absent_in: None,
                compared: ComparedScans {
                    found_by,
                    now,
                    ..ComparedScans::default()
                },
            };
        }
        // Own occurrences come after the stand-ins and win within the same scan.
        let mut all: Vec<SeriesSighting> = row
            .stand_ins
            .iter()
            .chain(&row.seen)
            .filter_map(|&at| self.sighting(at))
            .collect();
        all.sort_by_key(|seen| (seen.series, seen.number));
        let by_series: Vec<_> = all
            .chunk_by(|a, b| a.series == b.series)
            .filter_map(|seen| self.in_series(seen))
            .collect();
        self.joined(row, &by_series)
    }

    /// The presence over all series: a series that found it wins over those that did not, and a
    /// series that did not test for it over those that prove its absence.
    fn joined(
        &self,
        row: &MatchedFinding,
        by_series: &[(SeriesPlace, PresenceResult)],
    ) -> PresenceResult {
        let is_present = |result: &PresenceResult| {
            !matches!(
                result.reason.presence(),
                Presence::Absent | Presence::NotRetested
            )
        };
        let present = by_series.iter().filter(|(_, result)| is_present(result));
        if let Some((place, result)) = present.max_by_key(|(place, _)| *place) {
            let earlier = (result.reason.presence() == Presence::New && by_series.len() > 1)
                .then(|| self.found_elsewhere(row, *place))
                .flatten();
            return match earlier {
                // Another tool found it before, so it is not new.
                Some(then) => PresenceResult {
                    reason: PresenceReason::FoundByOtherTool,
                    compared: ComparedScans {
                        with: self.input.findings.items()[then].task_id(),
                        then: Some(then),
                        ..result.compared
                    },
                    ..result.clone()
                },
                None => result.clone(),
            };
        }
        let mut results = by_series.iter().map(|(_, result)| result);
        if let Some(untested) = results.find(|result| result.reason.gap().is_some()) {
            return untested.clone();
        }
        let proved = |result: &&PresenceResult| {
            let proof = result.absent_in;
            proof.map(|proof| (proof.at.get(), proof.scan))
        };
        let absent = by_series.iter().map(|(_, result)| result);
        match absent.max_by_key(proved) {
            Some(absent) => absent.clone(),
            None => {
                let now = row.seen.last().copied();
                let found_by = now.and_then(|at| self.input.findings.items()[at].task_id());
                PresenceResult {
                    compared: ComparedScans {
                        found_by,
                        now,
                        ..ComparedScans::default()
                    },
                    ..PresenceResult::default()
                }
            }
        }
    }

    fn sighting(&self, finding: usize) -> Option<SeriesSighting> {
        let scan = self.input.findings.items()[finding].task_id()?;
        let (series, number) = self.index.place(scan)?;
        Some(SeriesSighting {
            series,
            number,
            finding,
        })
    }

    /// The last finding of another target or tool before a scan.
    fn found_elsewhere(&self, row: &MatchedFinding, (start, id): SeriesPlace) -> Option<usize> {
        let here = self.index.place(id).map(|(key, _)| key);
        let elsewhere = |at: &&usize| {
            let scan = self.input.findings.items()[**at]
                .task_id()
                .and_then(|scan| self.input.scans.get(scan));
            scan.is_some_and(|scan| {
                Some((scan.target_id, scan.tool_id)) != here && scan.start_time < start
            })
        };
        row.seen.iter().rev().find(elsewhere).copied()
    }

    /// The presence in one series, with the start of the last scan that found it. `seen`: the scans
    /// that found it. The last scan that did not test for it gives the reason.
    fn in_series(&self, seen: &[SeriesSighting]) -> Option<(SeriesPlace, PresenceResult)> {
        let &latest = seen.last()?;
        let scans = self.index.series.get(&latest.series)?;
        let last = &scans.get(latest.number)?.scan;
        let (mut absent_in, mut first, mut untested) = (None, None, None);
        let class = RetestedClass::of(&self.input.findings.items()[latest.finding]);
        let later = scans[latest.number + 1..].iter();
        let later = later.filter(|after| !coverage::leaves_out(&after.scan, class));
        for after in later.filter(|after| after.is_over) {
            match coverage::gap(&after.scan, last, class, &self.index.tests) {
                None => {
                    absent_in = Some(&after.scan);
                    first = first.or(absent_in);
                }
                Some(gap) => untested = Some((gap, after.scan.id)),
            }
        }
        let since = first.and_then(|scan| scan.start_time).into();
        let absent_in = absent_in.map(|scan| AbsenceProof {
            scan: scan.id,
            at: scan.start_time.into(),
            since,
        });
        let (reason, with, then) = match (absent_in, untested) {
            (Some(proof), _) => (PresenceReason::NotFoundAgain, Some(proof.scan), None),
            (None, Some((gap, scan))) => (PresenceReason::NotRetested(gap), Some(scan), None),
            (None, None) => {
                let against = self.against(scans, seen, latest);
                (against.reason, against.with, against.then)
            }
        };
        let compared = ComparedScans {
            found_by: Some(last.id),
            with,
            now: Some(latest.finding),
            then,
        };
        Some((
            (last.start_time, last.id),
            PresenceResult {
                reason,
                absent_in,
                compared,
            },
        ))
    }

    /// The comparison of the last scan that found it with the one before, or with the baseline.
    fn against(
        &self,
        scans: &[IndexedScan],
        seen: &[SeriesSighting],
        latest: SeriesSighting,
    ) -> EarlierComparison {
        let last = latest.number;
        let class = RetestedClass::of(&self.input.findings.items()[latest.finding]);
        let pinned = self.pinned.get(&latest.series).copied();
        let before = match pinned {
            Some(Some(pinned)) if pinned >= last => {
                return EarlierComparison {
                    reason: PresenceReason::InBaseline,
                    with: Some(scans[pinned].scan.id),
                    then: None,
                };
            }
            Some(pinned) => pinned,
            None => comparable_before(scans, last, class),
        };
        let compared = |earlier: SeriesSighting| EarlierComparison {
            reason: self.evidence_reason(&scans[last].scan, earlier.finding, latest.finding),
            with: Some(scans[earlier.number].scan.id),
            then: Some(earlier.finding),
        };
        let Some(before) = before else {
            let earlier = seen
                .iter()
                .rev()
                .find(|seen| seen.number < last && pinned.is_none());
            let reason = match pinned {
                Some(_) => PresenceReason::NoScanInBaseline,
                None => PresenceReason::FirstScan,
            };
            return earlier.map_or(EarlierComparison::without(reason), |seen| compared(*seen));
        };
        if let Some(same) = seen.iter().rev().find(|seen| seen.number == before) {
            return compared(*same);
        }
        let earlier = seen.iter().rev().find(|seen| seen.number < before);
        if let Some(&found) = earlier
            && !self.has_missed(
                scans,
                found.number + 1..=before,
                [found.number, last],
                class,
            )
        {
            return compared(found);
        }
        let reason = match (earlier, pinned) {
            (Some(_), _) => PresenceReason::FoundAgain,
            (None, Some(_)) => PresenceReason::NotInBaseline,
            (None, None) => PresenceReason::NotFoundBefore,
        };
        EarlierComparison {
            reason,
            with: Some(scans[before].scan.id),
            then: earlier.map(|seen| seen.finding),
        }
    }

    /// Whether one of these scans, which did not find it, would have, as one of those that found it
    /// before and after. A scan that ran fewer tests than both, or not this one, would not.
    fn has_missed(
        &self,
        scans: &[IndexedScan],
        mut between: RangeInclusive<usize>,
        found_by: [usize; 2],
        class: RetestedClass<'_>,
    ) -> bool {
        between.any(|at| {
            let IndexedScan { scan, is_over } = &scans[at];
            let retests = |found: usize| {
                coverage::gap(scan, &scans[found].scan, class, &self.index.tests).is_none()
            };
            *is_over && found_by.into_iter().any(retests)
        })
    }

    /// Whether the evidence of a finding changed. A scan that did not finish knows less about its
    /// findings.
    fn evidence_reason(&self, last: &Scan, before: usize, now: usize) -> PresenceReason {
        let findings = self.input.findings.items();
        if last.status_name != ScanStatus::Finished {
            PresenceReason::IncompleteEvidence
        } else if change_detection::is_changed(&findings[before], &findings[now]) {
            PresenceReason::OtherEvidence
        } else {
            PresenceReason::SameEvidence
        }
    }
}

/// The comparison of a scan with an earlier one.
struct EarlierComparison {
    reason: PresenceReason,
    with: Option<ScanId>,
    /// Position of the earlier finding.
    then: Option<usize>,
}

impl EarlierComparison {
    fn without(reason: PresenceReason) -> Self {
        Self {
            reason,
            with: None,
            then: None,
        }
    }
}

/// The last finished scan before this one with the same parameters, that tested for this class.
fn comparable_before(
    scans: &[IndexedScan],
    number: usize,
    class: RetestedClass<'_>,
) -> Option<usize> {
    let now = &scans[number].scan;
    (0..number)
        .rev()
        .filter(|&at| scans[at].is_over && scans[at].scan.status_name == ScanStatus::Finished)
        .filter(|&at| !coverage::leaves_out(&scans[at].scan, class))
        .find(|&at| coverage::params_gap(&scans[at].scan, now).is_none())
}

/// The position of the baseline. A baseline of scans does not affect other targets and tools.
fn pinned_by(series: &[IndexedScan], baseline: &Baseline) -> Option<Option<usize>> {
    match baseline {
        Baseline::Scans(scans) => {
            let scans: BTreeSet<&ScanId> = scans.iter().collect();
            series
                .iter()
                .rposition(|indexed| scans.contains(&indexed.scan.id))
                .map(Some)
        }
        Baseline::Day(day) => Some(
            series
                .iter()
                .rposition(|indexed| ended_by(&indexed.scan, *day)),
        ),
    }
}

fn ended_by(scan: &Scan, day: Date) -> bool {
    let ended = scan
        .end_time
        .map(|end| end.0.to_zoned(TimeZone::UTC).date());
    scan.status_name == ScanStatus::Finished && ended.is_some_and(|ended| ended <= day)
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
