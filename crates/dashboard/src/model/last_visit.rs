//! Changes in the workspace since this person last viewed it: one line at the start, until esc
//! dismisses it.
//!
//! ```text
//!   setting `looked` ─► store opened, or another workspace ─► LastVisit::last ─► rows, scans ─► VisitChanges ─► the line
//!   leaving, another workspace, something seen or decided ─► Effect::Remember(`looked`)
//! ```
//!
//! All times are those of the service's clock.

use crate::base::{CaptureRow, Effect, Pane, Scope};
use crate::data::{LastVisit, SOON, VISITED_AT, VisitChanges};
use crate::model::{Model, navigation};
use scandeck_domain::oob::Token;
use scandeck_domain::query::value::When;
use scandeck_domain::query::{Column, Field, Values};
use scandeck_domain::table::{Remote, Table};
use scandeck_wire::contract::{Scan, ScanStatus, Shared, Stamp};
use std::collections::BTreeSet;

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

    /// Ends the count when the service has reported the scans and findings, and the rows were made
    /// of them: the line is about the time before this visit.
    pub(crate) fn end_count_since(&mut self) {
        let is_current = matches!(self.data.scans, Remote::Fresh { .. })
            && matches!(self.data.findings, Remote::Fresh { .. });
        let is_whole = !self.data.unread_scans.is_reading && !self.findings.triage.is_correlating;
        self.settings.last_visit.is_counted |= is_current && is_whole;
    }

    /// Counts the changes since the last view.
    pub(crate) fn count_since(&mut self) {
        let Some(last) = self.settings.last_visit.last else {
            return;
        };
        if self.settings.last_visit.is_counted {
            return self.count_captured_since();
        }
        let mut changes = VisitChanges::default();
        let (today, soon) = (
            self.today(),
            self.today().saturating_add(jiff::Span::new().days(SOON)),
        );
        let scans = self.data.scans.value().cloned().unwrap_or_default();
        (changes.captures, changes.payloads) = self.captured_since(last);
        let periods = ended_since(last, &scans);
        changes.risks = self.found_in(&periods);
        self.settings.last_visit.found = (changes.risks != [0; 5]).then(|| query(&periods));
        for assessment in self.findings.triage.assessments.iter() {
            let ends = assessment
                .until
                .is_some_and(|until| today <= until && until <= soon);
            changes.expiring += usize::from(ends && !assessment.is_undecided());
        }
        for scan in scans
            .items()
            .iter()
            .filter(|scan| scan.has_ended() && scan.end_time.is_some_and(|end| end > last))
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
        let Some(last) = self.settings.last_visit.last else {
            return;
        };
        (
            self.settings.last_visit.changes.captures,
            self.settings.last_visit.changes.payloads,
        ) = self.captured_since(last);
    }

    fn captured_since(&self, last: Stamp) -> (usize, usize) {
        let known = |captured: &CaptureRow| captured.known().map(|mention| mention.token);
        let visited = self.now.mono.saturating_sub(self.settings.last_visit.begun);
        let begun = self
            .service_now()
            .checked_sub(visited)
            .map(Stamp)
            .unwrap_or(last);
        let before = |captured: &&CaptureRow| {
            captured
                .capture
                .request_date
                .is_none_or(|date| date <= begun)
        };
        let missed = || self.data.captures.since(last).filter(before);
        let payloads: BTreeSet<Token> = missed().filter_map(known).collect();
        (missed().count(), payloads.len())
    }

    /// Findings by risk that a scan of these periods was the first to find.
    fn found_in(&self, periods: &[(Stamp, Stamp)]) -> [u32; 5] {
        let mut risks = [0; 5];
        let Some(table) = self.data.findings.value().filter(|_| !periods.is_empty()) else {
            return risks;
        };
        let Some(Column {
            values: Values::Numbers(times),
            cells,
        }) = table.column(Field::First)
        else {
            return risks;
        };
        let second = |stamp: Stamp| stamp.as_second() as f64;
        let is_in = |time: f64| {
            periods
                .iter()
                .any(|&(first, last)| (second(first)..=second(last)).contains(&time))
        };
        for (row, issue) in table.items().iter().enumerate() {
            if cells.row(row).any(|number| is_in(times[number])) && issue.manual().is_none() {
                risks[4 - issue.risk().level() as usize] += 1;
            }
        }
        risks
    }

    /// Shows the findings that the line counts, those of the whole workspace. False if it has none,
    /// or has shown them.
    pub(crate) fn show_found_since(&mut self) -> bool {
        let found = Some(&mut self.settings.last_visit).filter(|visit| visit.is_shown());
        let Some(query) = found.and_then(|visit| visit.found.take()) else {
            return false;
        };
        navigation::set_scope(
            self,
            Scope {
                target: None,
                scan: None,
                ..self.navigation.scope.clone()
            },
        );
        self.set_query(Pane::Findings, &query).is_ok()
    }

    /// Saves the time of the last view when the dashboard quits or the workspace (`before`) is
    /// left, and after a finding was seen or decided, in case the dashboard is killed.
    pub(crate) fn remember_looked(&mut self, before: Option<Shared>, effects: &mut Vec<Effect>) {
        let is_view = |effect: &Effect| {
            matches!(
                effect,
                Effect::Quit | Effect::MarkSeen { .. } | Effect::Record(_)
            )
        };
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
            self.remember(
                VISITED_AT,
                &workspace,
                &Stamp(self.service_now()),
                &mut first,
            );
            // Before `Quit`: nothing is saved after it.
            effects.splice(0..0, first);
        }
    }
}

/// Start times of scans that still ran after `then`, joined into periods in which no other scan
/// started. Findings that they reported before `then` are counted again rather than missed.
fn ended_since(then: Stamp, scans: &Table<Scan>) -> Vec<(Stamp, Stamp)> {
    let was_running = |scan: &Scan| {
        let ended = scan
            .end_time
            .or_else(|| scan.start_time.filter(|_| scan.has_ended()));
        ended.is_none_or(|end| end > then)
    };
    let begun = scans
        .items()
        .iter()
        .filter(|scan| scan.status_name != ScanStatus::Waiting);
    let mut starts: Vec<(Stamp, bool)> = begun
        .filter_map(|scan| Some((scan.start_time?, was_running(scan))))
        .collect();
    starts.sort();
    let runs = starts.chunk_by(|(_, one), (_, other)| one == other);
    runs.filter(|run| run[0].1)
        .map(|run| (run[0].0, run[run.len() - 1].0))
        .collect()
}

/// The query of the findings that a scan of these periods was the first to find.
fn query(periods: &[(Stamp, Stamp)]) -> String {
    let second = |stamp: Stamp| When::At(stamp).to_string();
    let period = |&(first, last): &(Stamp, Stamp)| match first == last {
        true => format!("first={}", second(first)),
        false => format!("first>={} first<={}", second(first), second(last)),
    };
    let periods = match periods {
        [one] => period(one),
        several => {
            format!(
                "({})",
                several
                    .iter()
                    .map(|one| format!("({})", period(one)))
                    .collect::<Vec<_>>()
                    .join(" or ")
            )
        }
    };
    format!("{periods} -is:own")
}
