//! Retests: scans of findings are started again and compared with the previous result.
//!
//! ```text
//!   findings ─► one scan for all that share one ─► requested ─► its new scan is known ─► its status, from scans and rows
//! ```
//!
//! A retest is stored as a setting of its workspace, so that its board survives a restart and is
//! exported. Its status is never stored.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::compare::{Outcome, incomplete, occurrences, outcome, seen_by};
use super::coverage::{self, RetestedClass};
use super::presence::{ReadTimes, is_read};
use super::settings::StoredSettings;
use super::{FindingKey, Issue, IssueId};
use crate::table::Table;
use scandeck_wire::contract::{Risk, Scan, ScanId, ScanStatus, Shared, Stamp, TargetId};

/// Name of the setting that stores the retest.
pub const RETEST_SETTING: &str = "retest";

/// The findings of one retest and the scans that were started for them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Retest {
    /// Time of the request.
    pub at: Option<Stamp>,
    /// Findings under retest.
    pub findings: Vec<RetestFinding>,
    /// Scans, each once.
    pub scans: Vec<RetestScan>,
}

/// A finding under retest, as it was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RetestFinding {
    pub key: FindingKey,
    pub name: Shared,
    pub risk: Risk,
    pub target: Option<TargetId>,
    pub target_name: Shared,
    /// Last scan that found it, which is started again.
    pub scan: ScanId,
    /// Verdict at that time, in one word.
    pub before: Shared,
    /// True if it was absent at that time.
    pub was_absent: bool,
}

/// A scan that is started again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RetestScan {
    /// The scan that is started again.
    pub of: ScanId,
    /// Greatest scan id at that time: the new scan has a greater one, if the service does not
    /// return its id.
    pub newest: ScanId,
    /// Target and tool.
    pub place: (TargetId, i64),
    /// True if the service accepted the scan.
    pub started: bool,
    /// Id of the new scan, if the service returned it.
    pub scan: Option<ScanId>,
    /// Reason why it was not started.
    pub refused: Option<String>,
}

/// Status of a finding under retest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RetestStatus {
    /// Outcome of the comparison.
    Is(Outcome),
    /// The scan is running.
    Running(ScanId),
    /// The scan has ended and its findings are being fetched.
    Reading,
    /// The scan is waiting or not listed yet.
    Waiting,
    /// The scan failed.
    Failed,
    /// The scan was not started.
    Refused,
}

/// Result of the last retest of a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct RetestResult {
    /// Time of the request.
    pub at: Option<Stamp>,
    /// Verdict at that time, in one word.
    pub before: Shared,
    /// Present status.
    pub now: RetestStatus,
    /// The new scan.
    pub scan: Option<ScanId>,
}

/// Results of the stored retests by finding: the latest of this workspace, or of all. `settings` by
/// name and workspace.
pub fn retest_results(
    settings: &StoredSettings,
    workspace: &str,
    (issues, scans): (&Table<Issue>, &Table<Scan>),
    read: &ReadTimes,
) -> HashMap<FindingKey, RetestResult> {
    let concerns = |of: &str| of.is_empty() || workspace.is_empty() || of == workspace;
    let stored = settings
        .iter()
        .filter(|((name, of), _)| name == RETEST_SETTING && concerns(of));
    // Unreadable settings are ignored.
    let mut stored: Vec<Retest> = stored
        .filter_map(|(_, json)| serde_json::from_str(json).ok())
        .collect();
    stored.sort_by_key(|retest| retest.at);
    let each = |retest: &Retest| -> Vec<(FindingKey, RetestResult)> {
        let scan = |retested: &RetestFinding| retest.again(retested.scan)?.scan_in(scans);
        let one = |(retested, now): (&RetestFinding, RetestStatus)| {
            let (at, before, scan) = (retest.at, retested.before.clone(), scan(retested));
            (
                retested.key,
                RetestResult {
                    at,
                    before,
                    now,
                    scan,
                },
            )
        };
        retest
            .findings
            .iter()
            .zip(retest.now(issues, scans, read))
            .map(one)
            .collect()
    };
    stored.iter().flat_map(each).collect()
}

impl RetestStatus {
    /// Its name on the retest board and in texts.
    pub fn label(self) -> &'static str {
        match self {
            Self::Is(Outcome::Absent) => "absent",
            Self::Is(Outcome::Same) => "still found",
            Self::Is(Outcome::CoveredLess) => "not retested",
            other => other.word(),
        }
    }

    /// Its name where two scans are compared, which need not be a retest.
    pub fn compared_label(self) -> &'static str {
        match self {
            Self::Is(Outcome::New) => "new",
            Self::Is(Outcome::Same) => "unchanged",
            other => other.label(),
        }
    }

    /// Its name in exports, which replace spaces by `_`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Is(Outcome::New) => "found again",
            Self::Is(Outcome::Absent) => "not seen",
            Self::Is(Outcome::Same) => "still there",
            Self::Is(Outcome::Changed) => "changed",
            Self::Is(Outcome::CoveredLess) => "covered less",
            Self::Running(_) => "running",
            Self::Reading => "reading",
            Self::Waiting => "waiting",
            Self::Failed => "scan failed",
            Self::Refused => "not started",
        }
    }

    /// Rank in lists and groups; all running scans have the same.
    pub fn rank(self) -> i64 {
        match self {
            Self::Is(Outcome::New) => 0,
            Self::Is(Outcome::Absent) => 1,
            Self::Is(Outcome::Same) => 2,
            Self::Is(Outcome::Changed) => 3,
            Self::Running(_) => 4,
            Self::Reading => 5,
            Self::Waiting => 6,
            Self::Is(Outcome::CoveredLess) => 7,
            Self::Failed => 8,
            Self::Refused => 9,
        }
    }
}

impl Retest {
    /// The retest scan of a scan.
    pub fn again(&self, of: ScanId) -> Option<&RetestScan> {
        self.scans.iter().find(|again| again.of == of)
    }

    /// Status of each finding in order.
    pub fn now(
        &self,
        issues: &Table<Issue>,
        scans: &Table<Scan>,
        read: &ReadTimes,
    ) -> Vec<RetestStatus> {
        let started: HashMap<ScanId, ScanId> = self
            .scans
            .iter()
            .filter_map(|again| Some((again.of, again.scan_in(scans)?)))
            .collect();
        let mut counts: HashMap<ScanId, i64> = started.values().map(|&scan| (scan, 0)).collect();
        for finding in issues.items().iter().flat_map(|issue| occurrences(issue)) {
            if let Some(count) = finding.task_id().and_then(|scan| counts.get_mut(&scan)) {
                *count += 1;
            }
        }
        let all_read = |scan: &Scan| {
            counts
                .get(&scan.id)
                .is_some_and(|&count| is_read(scan, count, read))
        };
        let tests = incomplete(issues);
        let of = |retested: &RetestFinding| {
            let Some(again) = self.again(retested.scan) else {
                return RetestStatus::Refused;
            };
            let new = started
                .get(&retested.scan)
                .and_then(|&scan| scans.get(scan));
            match new {
                Some(new) => {
                    let covers = |issue: Option<&Issue>| {
                        let class = issue.map(|issue| RetestedClass::of(issue));
                        let class = class.unwrap_or_default();
                        let old = scans.get(retested.scan);
                        old.is_some_and(|old| coverage::gap(new, old, class, &tests).is_none())
                    };
                    let issue = issues.get(retested.key.into()).map(|issue| &**issue);
                    retested.now(issue, new, covers(issue), all_read(new))
                }
                None if again.refused.is_some() => RetestStatus::Refused,
                None => RetestStatus::Waiting,
            }
        };
        self.findings.iter().map(of).collect()
    }

    /// Number of scans that are done; waiting or running; not started or failed.
    pub fn progress(&self, scans: &Table<Scan>) -> [usize; 3] {
        let mut counts = [0; 3];
        for again in &self.scans {
            let scan = again.scan_in(scans).and_then(|id| scans.get(id));
            let at = match scan {
                _ if again.refused.is_some() => 2,
                Some(scan) if scan.status_name == ScanStatus::Finished => 0,
                Some(scan) if scan.has_ended() => 2,
                _ => 1,
            };
            counts[at] += 1;
        }
        counts
    }

    /// True if a scan runs, waits, or was started and is not listed yet.
    pub fn runs(&self, scans: &Table<Scan>) -> bool {
        let newest = scans.items().iter().map(|scan| scan.id).max();
        let runs = |again: &RetestScan| match again.scan_in(scans) {
            Some(id) => scans
                .get(id)
                .map_or(Some(id) > newest, |scan| !scan.has_ended()),
            None => again.started,
        };
        self.scans.iter().any(runs)
    }

    /// Merges another retest: its findings and scans replace those of the same key.
    pub fn take(&mut self, other: Retest) {
        self.at = other.at;
        self.scans.retain(|again| other.again(again.of).is_none());
        self.scans.extend(other.scans);
        for retested in other.findings {
            match self
                .findings
                .iter_mut()
                .find(|known| known.key == retested.key)
            {
                Some(known) => *known = retested,
                None => self.findings.push(retested),
            }
        }
        let findings = &self.findings;
        self.scans
            .retain(|again| findings.iter().any(|retested| retested.scan == again.of));
    }
}

impl RetestFinding {
    /// A finding in its present state.
    pub fn new(issue: &Issue, before: &str, target: Shared) -> Option<Self> {
        Some(Self {
            key: issue.key(),
            name: issue.name.clone(),
            risk: issue.risk(),
            target: issue.target_id(),
            target_name: target,
            scan: issue.task_id()?,
            before: before.into(),
            was_absent: !issue.is_present(),
        })
    }

    /// Id of its issue.
    pub fn id(&self) -> IssueId {
        self.key.into()
    }

    fn now(&self, issue: Option<&Issue>, new: &Scan, covers: bool, all_read: bool) -> RetestStatus {
        if new.status_name == ScanStatus::Waiting {
            return RetestStatus::Waiting;
        }
        if !new.has_ended() {
            return RetestStatus::Running(new.id);
        }
        let before = issue.and_then(|issue| seen_by(issue, self.scan));
        let after = issue.and_then(|issue| seen_by(issue, new.id));
        match after {
            // A found finding counts even if the scan failed.
            Some(_) if self.was_absent => RetestStatus::Is(Outcome::New),
            Some(after) => outcome(Some(before.unwrap_or(after)), Some(after), covers)
                .map_or(RetestStatus::Reading, RetestStatus::Is),
            None if !all_read => RetestStatus::Reading,
            None if new.status_name != ScanStatus::Finished => RetestStatus::Failed,
            // A later scan found it.
            None if covers
                && issue
                    .is_some_and(|issue| issue.is_present() && issue.task_id() > Some(new.id)) =>
            {
                RetestStatus::Is(Outcome::New)
            }
            None if covers => RetestStatus::Is(Outcome::Absent),
            None => RetestStatus::Is(Outcome::CoveredLess),
        }
    }
}

impl RetestScan {
    /// The new scan: as returned by the service, otherwise the first later scan of the same target
    /// and tool.
    pub fn scan_in(&self, scans: &Table<Scan>) -> Option<ScanId> {
        let alike = |scan: &&std::sync::Arc<Scan>| {
            scan.id > self.newest && (scan.target_id, scan.tool_id) == self.place
        };
        let first = || scans.items().iter().filter(alike).map(|scan| scan.id).min();
        self.scan
            .or_else(|| if self.started { first() } else { None })
    }
}
