//! One file while it is read: passes entries to the sink, counts them, and collects what the file
//! says about its scan.

use std::collections::{BTreeMap, BTreeSet};

use scandeck_wire::contract::Stamp;
use serde::Serialize;

use crate::ImportSink;
use crate::coverage::ImportCoverage;
use crate::entry::ImportEntry;
use crate::formats::ImportFormat;
use crate::input::ReadFault;
use crate::target::ImportTarget;

/// Different reasons that are listed.
const MAX_REASONS: usize = 50;
/// Targets that are listed.
const MAX_TARGETS: usize = 100_000;
/// Classes of incomplete tests that are listed.
const MAX_UNCOMPLETED: usize = 500;
const OTHER_REASONS: &str = "other reasons";

/// The result of reading a file.
#[derive(Clone, Debug, Default)]
pub struct ImportSummary {
    /// Name in a zip archive.
    pub member: Option<String>,
    /// None for a file of an archive whose format is unknown.
    pub format: Option<&'static ImportFormat>,
    /// The tool that wrote the results.
    pub tool: String,
    /// May be empty.
    pub version: String,
    pub started: Option<Stamp>,
    pub ended: Option<Stamp>,
    pub entries: u64,
    /// Entries of each risk, from info to critical.
    pub by_risk: [u64; 5],
    /// Targets by name; entries without a target are not counted.
    pub targets: BTreeMap<String, FoundTarget>,
    pub coverage: Vec<ImportCoverage>,
    pub skipped: Vec<SkippedEntries>,
    /// Beginnings of classes whose tests the tool did not complete, where the file names them.
    pub uncompleted: BTreeSet<String>,
    /// Why the file was not read to its end, or ends before its scan did; the coverage is empty then.
    pub damage: Option<String>,
    /// The sink ended the import.
    pub is_stopped: bool,
}

/// A target in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTarget {
    pub target: ImportTarget,
    pub entries: u64,
}

/// Entries that were skipped for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedEntries {
    pub reason: String,
    pub count: u64,
}

impl ImportSummary {
    pub(crate) fn unrecognised(member: Option<String>) -> Self {
        Self {
            member,
            ..Self::default()
        }
    }

    /// Whether a whole file was read in which nothing was found.
    pub(crate) fn is_bare(&self) -> bool {
        let has_result = self.entries > 0 || !self.targets.is_empty() || !self.skipped.is_empty();
        self.damage.is_none() && !self.is_stopped && !has_result && self.coverage.is_empty()
    }

    /// All skipped entries.
    pub fn skipped_count(&self) -> u64 {
        self.skipped.iter().map(|skipped| skipped.count).sum()
    }
}

/// The state of a file that is read.
pub struct ImportRun<'a> {
    pub summary: ImportSummary,
    most_entries: u64,
    sink: &'a mut dyn ImportSink,
}

impl<'a> ImportRun<'a> {
    pub fn new(
        format: &'static ImportFormat,
        member: Option<String>,
        most_entries: u64,
        sink: &'a mut dyn ImportSink,
    ) -> Self {
        let summary = ImportSummary {
            member,
            format: Some(format),
            tool: format.tool.to_owned(),
            ..ImportSummary::default()
        };
        Self {
            summary,
            most_entries,
            sink,
        }
    }

    /// Passes an entry on.
    pub fn add(&mut self, mut entry: ImportEntry) -> Result<(), ReadFault> {
        if self.summary.entries >= self.most_entries {
            return Err(ReadFault::Limit("the file has too many entries".to_owned()));
        }
        entry.bound();
        self.summary.entries += 1;
        self.summary.by_risk[entry.risk as usize] += 1;
        self.add_target(entry.target.as_ref(), 1);
        match self.sink.entry(entry).is_break() {
            true => Err(ReadFault::Stopped),
            false => Ok(()),
        }
    }

    /// A target of the scan, also without a result.
    pub fn target(&mut self, target: &ImportTarget) {
        self.add_target(Some(target), 0);
    }

    fn add_target(&mut self, target: Option<&ImportTarget>, entries: u64) {
        let Some(target) = target else {
            return;
        };
        let targets = &mut self.summary.targets;
        if let Some(found) = targets.get_mut(&target.name) {
            found.entries += entries;
        } else if targets.len() < MAX_TARGETS {
            let target = target.clone();
            targets.insert(target.name.clone(), FoundTarget { target, entries });
        }
    }

    /// Counts an entry that is not imported.
    pub fn skip(&mut self, reason: &str) {
        let skipped = &mut self.summary.skipped;
        let reason = match skipped.len() < MAX_REASONS {
            true => reason,
            false if skipped.iter().any(|known| known.reason == reason) => reason,
            false => OTHER_REASONS,
        };
        match skipped.iter_mut().find(|known| known.reason == reason) {
            Some(known) => known.count += 1,
            None => skipped.push(SkippedEntries {
                reason: reason.to_owned(),
                count: 1,
            }),
        }
    }

    /// Names a class whose test the tool did not complete.
    pub fn uncompleted(&mut self, class: String) {
        let named = &mut self.summary.uncompleted;
        if named.len() < MAX_UNCOMPLETED {
            named.insert(class);
        }
    }

    /// Passes an entry on, or counts why there is none.
    pub fn add_or_skip(&mut self, entry: Result<ImportEntry, &str>) -> Result<(), ReadFault> {
        match entry {
            Ok(entry) => self.add(entry),
            Err(reason) => {
                self.skip(reason);
                Ok(())
            }
        }
    }

    /// Widens the time of the scan by a time of an entry.
    pub fn extend_time(&mut self, at: Option<Stamp>) {
        let Some(at) = at else {
            return;
        };
        let summary = &mut self.summary;
        summary.started = Some(summary.started.map_or(at, |started| started.min(at)));
        summary.ended = Some(summary.ended.map_or(at, |ended| ended.max(at)));
    }

    pub fn finish(mut self, fault: Option<ReadFault>) -> ImportSummary {
        match fault {
            None => {}
            Some(ReadFault::Stopped) => self.summary.is_stopped = true,
            Some(ReadFault::Io(error)) => {
                self.summary.damage = Some(format!("reading failed: {error}"));
            }
            Some(ReadFault::Damaged(damage) | ReadFault::Limit(damage)) => {
                self.summary.damage = Some(damage);
            }
        }
        if self.summary.damage.is_some() || self.summary.is_stopped {
            // A part of a file does not say what the whole scan tested.
            self.summary.coverage.clear();
        }
        self.summary
    }
}
