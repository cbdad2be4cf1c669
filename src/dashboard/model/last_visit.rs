//! Changes in the workspace since this person last viewed it: one line at the start, until esc dismisses it.
//!
//! ```text
//!   setting `looked` ─► store opened, or another workspace ─► LastVisit::last ─► rows, scans ─► VisitChanges ─► the line
//!   leaving, another workspace, something seen or decided ─► Effect::Remember(`looked`)
//! ```
//!
//! All times are those of the service's clock.

use crate::contract::{Scan, ScanStatus, Shared, Stamp};
use crate::dashboard::base::{CaptureRow, Effect};
use crate::dashboard::data::{LastVisit, SOON, VISITED_AT, VisitChanges};
use crate::dashboard::model::Model;
use crate::oob::Token;
use crate::query::{Column, Field, Values};
use crate::table::{Remote, Table};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Model {
    /// Loads the last view of the current workspace.
    pub(crate) fn load_since(&mut self) {
        let workspace = self.workspace_name();
        let visit = &self.settings.last_visit;
        self.settings.last_visit = LastVisit {
            last: self.setting(VISITED_AT, &workspace),
            begun: self.now.mono,
            opened: visit.opened,
            ..LastVisit::default()
        };
    }

    /// Ends the count when the service has reported the scans and findings, and the rows were made of them: the line is about
    /// the time before this visit.
    pub(crate) fn end_count_since(&mut self) {
        let is_current =
            matches!(self.data.scans, Remote::Fresh { .. }) && matches!(self.data.findings, Remote::Fresh { .. });
        let is_whole = !self.data.unread_scans.is_reading && !self.findings.triage.arranging;
        self.settings.last_visit.is_counted |= is_current && is_whole;
    }

    /// Counts the changes since the last view.
    pub(crate) fn count_since(&mut self) {
        let Some(last) = self.settings.last_visit.last else { return };
        if self.settings.last_visit.is_counted {
            return self.count_captured_since();
        }
        let mut changes = VisitChanges::default();
        let (today, soon) = (self.today(), self.today().saturating_add(jiff::Span::new().days(SOON)));
        let scans = self.data.scans.value().cloned().unwrap_or_default();
        (changes.captures, changes.payloads) = self.captured_since(last);
        changes.risks = self.found_since(last, &scans);
        for assessment in self.findings.triage.assessments.iter() {
            let ends = assessment.until.is_some_and(|until| today <= until && until <= soon);
            changes.expiring += usize::from(ends && !assessment.is_undecided());
        }
        for scan in scans.items().iter().filter(|scan| scan.has_ended() && scan.end_time.is_some_and(|end| end > last))
        {
            match scan.status_name.is_failure() {
                true => changes.failed += 1,
                false => changes.done += 1,
            }
        }
        self.settings.last_visit.changes = changes;
    }

    /// Counts the captures between the last view and this one. The other counts do not change.
    pub(crate) fn count_captured_since(&mut self) {
        let Some(last) = self.settings.last_visit.last else { return };
        (self.settings.last_visit.changes.captures, self.settings.last_visit.changes.payloads) =
            self.captured_since(last);
    }

    fn captured_since(&self, last: Stamp) -> (usize, usize) {
        let known = |captured: &CaptureRow| captured.known().map(|mention| mention.token);
        let visited = self.now.mono.saturating_sub(self.settings.last_visit.begun);
        let begun = self.service_now().checked_sub(visited).map(Stamp).unwrap_or(last);
        let before = |captured: &&CaptureRow| captured.capture.request_date.is_none_or(|date| date <= begun);
        let missed = || self.data.captures.since(last).filter(before);
        let payloads: BTreeSet<Token> = missed().filter_map(known).collect();
        (missed().count(), payloads.len())
    }

    /// Findings that no scan before the last view had seen. Findings first seen before the relevant scans started are
    /// skipped by their column, because this runs every second.
    fn found_since(&self, last: Stamp, scans: &Table<Scan>) -> [u32; 5] {
        let mut risks = [0; 5];
        let Some(table) = self.data.findings.value() else { return risks };
        let has_begun = |scan: &&Arc<Scan>| scan.status_name != ScanStatus::Waiting && was_running(scan, last);
        let running = scans.items().iter().filter(has_begun);
        let Some(begun) = running.map(|scan| scan.start_time).min() else { return risks };
        let begun = begun.map_or(f64::NEG_INFINITY, |begun| begun.as_second() as f64);
        let Some(Column { values: Values::Numbers(times), cells }) = table.column(Field::First) else { return risks };
        for (row, issue) in table.items().iter().enumerate() {
            if cells.row(row).any(|number| times[number] < begun) {
                continue;
            }
            let first = issue.earlier.last().map_or(&issue.finding, |seen| &seen.finding);
            if first.task_id.and_then(|id| scans.get(id)).is_some_and(|scan| was_running(scan, last)) {
                let own = self.findings.triage.assessments.get(row).and_then(|assessment| assessment.severity);
                risks[4 - own.unwrap_or(issue.risk_level).level() as usize] += 1;
            }
        }
        risks
    }

    /// Saves the time of the last view when the dashboard quits or the workspace (`before`) is left, and after a finding
    /// was seen or decided, in case the dashboard is killed.
    pub(crate) fn remember_looked(&mut self, before: Option<Shared>, effects: &mut Vec<Effect>) {
        let is_view = |effect: &Effect| matches!(effect, Effect::Quit | Effect::MarkSeen { .. } | Effect::Record(_));
        let workspace = self.workspace().map(|workspace| workspace.name.clone());
        let left = before.filter(|before| Some(before) != workspace.as_ref());
        let here = workspace.filter(|_| effects.iter().any(is_view));
        if !self.settings.last_visit.opened {
            return;
        }
        if here.is_some() {
            let mut first = Vec::new();
            self.remember_view(&mut first);
            effects.splice(0..0, first);
        }
        for workspace in left.into_iter().chain(here) {
            let mut first = Vec::new();
            self.remember(VISITED_AT, &workspace, &Stamp(self.service_now()), &mut first);
            // Before `Quit`: nothing is saved after it.
            effects.splice(0..0, first);
        }
    }
}

/// Whether a scan was running after a time. Findings that it reported before are counted again rather than missed.
fn was_running(scan: &Scan, then: Stamp) -> bool {
    let ended = scan.end_time.or_else(|| scan.start_time.filter(|_| scan.has_ended()));
    ended.is_none_or(|end| end > then)
}
