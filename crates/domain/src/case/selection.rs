//! The part of a workspace that belongs to some of its findings.
//!
//! ```text
//!   findings ─┬─► occurrences, scans of the same targets by the same tools
//!             ├─► decisions, notes and proofs about them, rules that decide them, links, baselines
//!             └─► payloads made for them ─► captures with their tokens
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::chain::ChainObject;
use crate::finding::FindingKey;
use crate::oob::{Payload, Token};
use crate::triage::{Assessment, Bundle, Change, Event, EventId, Issue, Subject, VerdictSource};
use scandeck_wire::contract::{CaptureId, FindingId, LoggerId, ScanId, TargetId};

/// The findings of a case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseSelection {
    keys: BTreeSet<FindingKey>,
    /// Of all occurrences.
    ids: BTreeSet<FindingId>,
    manual: BTreeSet<EventId>,
    /// The rules that decide them.
    rules: BTreeSet<EventId>,
}

impl CaseSelection {
    /// Adds a finding.
    pub fn add(&mut self, issue: &Issue, assessment: &Assessment) {
        self.keys.insert(issue.key());
        self.ids.extend(issue.finding_ids());
        self.manual.extend(issue.manual());
        if let VerdictSource::Rule(rule) = assessment.source {
            self.rules.insert(rule);
        }
    }

    /// The number of findings.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The part of a bundle that belongs to these findings.
    #[must_use]
    pub fn of(&self, mut bundle: Bundle) -> Bundle {
        bundle.findings.retain(|one| self.ids.contains(&one.id));
        let found_by = bundle.findings.iter().filter_map(|one| one.task_id);
        let found_by: BTreeSet<ScanId> = found_by.collect();
        let of_these = bundle.scans.iter().filter(|one| found_by.contains(&one.id));
        let series: BTreeSet<(TargetId, i64)> =
            of_these.map(|one| (one.target_id, one.tool_id)).collect();
        bundle
            .scans
            .retain(|one| series.contains(&(one.target_id, one.tool_id)));
        self.retain_events(&mut bundle);
        self.retain_requests(&mut bundle);
        bundle
    }

    /// Keeps the events about the findings, and those that undo them.
    fn retain_events(&self, bundle: &mut Bundle) {
        let keys = self.with_reused(&bundle.events);
        let events = bundle.events.iter();
        let own = events.filter(|event| self.is_about(event, &keys));
        let batches: BTreeSet<EventId> = own.map(|event| event.batch).collect();
        bundle.events.retain(|event| match event.subject {
            Subject::Batch(batch) => batches.contains(&batch),
            _ => self.is_about(event, &keys),
        });
    }

    /// The findings with those whose decisions they reuse.
    fn with_reused(&self, events: &[Arc<Event>]) -> BTreeSet<FindingKey> {
        let mut reused: BTreeMap<FindingKey, Vec<FindingKey>> = BTreeMap::new();
        for event in events {
            if let (Subject::Finding(identity), Change::Inherit(from)) =
                (&event.subject, &event.change)
            {
                reused.entry(identity.key).or_default().push(*from);
            }
        }
        let mut keys = self.keys.clone();
        let mut open: Vec<FindingKey> = keys.iter().copied().collect();
        while let Some(key) = open.pop() {
            let from = reused.remove(&key).unwrap_or_default();
            open.extend(from.into_iter().filter(|other| keys.insert(*other)));
        }
        keys
    }

    fn is_about(&self, event: &Event, keys: &BTreeSet<FindingKey>) -> bool {
        match &event.subject {
            Subject::Finding(identity) => keys.contains(&identity.key),
            Subject::Manual(id) => self.manual.contains(id),
            Subject::Rule(id) => self.rules.contains(id),
            Subject::Batch(_) => false,
            Subject::Workspace => match &event.change {
                Change::Baseline(_) => true,
                Change::Link(link) => [&link.from, &link.to].iter().any(|end| self.names(end)),
                _ => false,
            },
        }
    }

    /// Whether this is the name of one of the findings in a link.
    fn names(&self, end: &str) -> bool {
        match end.parse() {
            Ok(ChainObject::Finding(key)) => self.keys.contains(&key),
            _ => false,
        }
    }

    /// The tokens of the payloads that were made for the findings.
    pub fn tokens(&self, payloads: &[Arc<Payload>]) -> BTreeSet<Token> {
        let is_own = |key: FindingKey| self.keys.contains(&key);
        let all = payloads.iter();
        let own = all.filter(|payload| payload.finding.is_some_and(is_own));
        own.map(|payload| payload.token).collect()
    }

    fn retain_requests(&self, bundle: &mut Bundle) {
        let tokens = self.tokens(&bundle.payloads);
        let is_own = |payload: &Arc<Payload>| tokens.contains(&payload.token);
        bundle.payloads.retain(is_own);
        bundle.hits.retain(|hit| tokens.contains(&hit.token));
        let hits = bundle.hits.iter();
        let captured: BTreeSet<(LoggerId, CaptureId)> =
            hits.map(|hit| (hit.logger, hit.id)).collect();
        bundle
            .captures
            .retain(|one| captured.contains(&(one.logger, one.capture.id)));
    }
}
