//! Derived data, computed again at the end of an update: rows of the lists, the board, counts.
//!
//! ```text
//!   tables, settings ─► Revisions ─► differ from those of the last update? ─► rows, board, counts
//!   findings, decisions, queries ─► ViewKey ─► findings_view.rs
//!   ten seconds                ─► filters whose result changes with time ─► rows
//! ```
//!
//! A message changes data and no more; here is the only place that knows what depends on it. Keys
//! that change filter, order, scope or groups show the rows of their list at once (`show_rows`),
//! because they go on with the new cursor.

use crate::base::{Pane, Scope, Tone};
use crate::data::{Revisions, Segment};
use crate::list::needs_bodies;
use crate::model::mask::MASKED_SEGMENTS;
use crate::model::{Model, navigation};
use scandeck_domain::query::query_of;
use scandeck_domain::table::{Item, Remote, Table};
use std::sync::Arc;
use std::time::Duration;

/// Ages are shown in minutes after the first one, so an update every ten seconds is enough.
pub(crate) const AGES_CHANGE: Duration = Duration::from_secs(10);

impl Model {
    /// Computes again what depends on the segments that changed since the last call.
    pub(crate) fn refresh(&mut self) {
        self.follow_time();
        let now = self.revisions();
        let before = std::mem::replace(&mut self.lists.shown_revisions, now);
        if now == before {
            return self.follow_view();
        }
        let changed = |segments: &[Segment]| now.differ(&before, segments);
        if changed(&[Segment::Items(Pane::Targets)]) {
            self.learn_hosts();
        }
        if changed(&[
            Segment::Items(Pane::Targets),
            Segment::Items(Pane::Scans),
            Segment::Items(Pane::Loggers),
        ]) {
            self.drop_lost_scope();
        }
        if changed(&[Segment::Items(Pane::Loggers)]) {
            self.find_next_expiry();
        }
        if changed(MASKED_SEGMENTS) {
            self.learn_names();
        }
        for pane in Pane::ALL {
            if needs_rows(pane, changed) {
                self.show_rows(pane);
            }
        }
        if changed(&[
            Segment::Items(Pane::Findings),
            Segment::Items(Pane::Scans),
            Segment::Items(Pane::Board),
        ]) {
            self.make_board();
            self.report_retest();
        }
        if changed(&[
            Segment::Items(Pane::Findings),
            Segment::Items(Pane::Scans),
            Segment::Settings,
        ]) {
            self.count_since();
        } else if changed(&[Segment::Items(Pane::Captures)]) {
            self.count_captured_since();
        }
        self.follow_view();
    }

    /// Applies the filters on the screen again whose result changes with time, such as `age<1h`. A
    /// row that is being read stays, and bodies of captures are not read from their files again for
    /// each step of time.
    fn follow_time(&mut self) {
        if self.now.mono < self.lists.followed_time + AGES_CHANGE {
            return;
        }
        self.lists.followed_time = self.now.mono;
        for pane in self.on_screen() {
            let focus = self.navigation.focus;
            let query = query_of(&self.cursor(pane).filter().0.clone(), pane.kind());
            let is_running = self.lists.captures.pending() > 0 || needs_bodies(&query);
            let stays =
                focus.pane == pane && focus.in_detail || pane == Pane::Captures && is_running;
            if query.depends_on_now() && !stays {
                self.findings.view.time_steps += 1;
                self.show_rows(pane);
            }
        }
    }

    fn revisions(&self) -> Revisions {
        let mut revisions = Revisions::default();
        for pane in Pane::ALL {
            let revision = match pane {
                Pane::Board => self.findings.board_revision,
                pane => self.data.revision(pane),
            };
            revisions.set(Segment::Items(pane), revision);
        }
        for (segment, revision) in [
            (Segment::Stalled, self.scans.tally.stalled as u64),
            (Segment::Decisions, self.findings.triage.revision),
            (Segment::Settings, self.settings.revision),
        ] {
            revisions.set(segment, revision);
        }
        revisions
    }

    /// Counts the scans by state, as of now: a scan stalls when nothing is reported about it.
    pub(crate) fn tally_scans(&mut self) {
        if let Some(scans) = self.data.scans.value() {
            self.scans.tally = self.scans.progress.tally(self.now.mono, scans);
        }
    }

    /// Removes targets, scans and loggers that no longer exist from the scope: they would hide all
    /// rows.
    pub(crate) fn drop_lost_scope(&mut self) {
        fn is_lost<T: Item>(id: Option<T::Id>, remote: &Remote<Arc<Table<T>>>) -> bool {
            id.zip(remote.value())
                .is_some_and(|(id, table)| table.get(id).is_none())
        }
        let (data, scope) = (&self.data, &self.navigation.scope);
        let lost_target = is_lost(scope.target, &data.targets);
        let lost_scan = is_lost(scope.scan, &data.scans);
        let lost_logger = is_lost(scope.logger, &data.loggers);
        let scope = Scope {
            workspace: scope.workspace,
            target: scope.target.filter(|_| !lost_target),
            scan: scope.scan.filter(|_| !lost_scan),
            logger: scope.logger.filter(|_| !lost_logger),
        };
        for (noun, is_lost) in [
            ("target", lost_target),
            ("scan", lost_scan),
            ("logger", lost_logger),
        ] {
            if is_lost {
                self.notify(
                    Tone::Plain,
                    format!("{noun} deleted; its scope was removed"),
                );
            }
        }
        navigation::set_scope(self, scope);
    }
}

/// Whether the rows of a pane are computed from a changed segment. The findings have a view with a
/// key, the board and the captures have functions of their own.
fn needs_rows(pane: Pane, changed: impl Fn(&[Segment]) -> bool) -> bool {
    match pane {
        Pane::Findings | Pane::Board | Pane::Captures => false,
        Pane::Targets => changed(&[Segment::Items(pane), Segment::Items(Pane::Findings)]),
        Pane::Scans => changed(&[Segment::Items(pane), Segment::Stalled]),
        pane => changed(&[Segment::Items(pane)]),
    }
}
