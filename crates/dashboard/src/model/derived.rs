//! Derived state: the contexts of the keys, the shown detail, ETAs, and why an action is off.

use crate::base::{Layout, Pane, RowRef, ScanPart, Tab};
use crate::input::{Action, Context, ItemAction};
use crate::model::{MenuChoice, Modal, Model};
use crate::text::DetailSubject;
use jiff::Timestamp;
use scandeck_wire::contract::{ScanId, Shared, Stamp, TargetId, Workspace};
use std::time::Duration;

impl Model {
    pub fn layout(&self) -> Layout {
        Layout::of(self.screen.size)
    }

    /// The row whose detail is on the screen: its pane, the row and the tab.
    pub fn shown_detail(&self) -> Option<(Pane, DetailSubject, Tab)> {
        let pane = self.navigation.focus.pane;
        let beside = self.layout().shows_detail() && !self.navigation.focus.zoomed;
        if !self.navigation.focus.in_detail && !beside {
            return None;
        }
        let subject = match self.reviewing() {
            Some(review) if review.card().is_none() => DetailSubject::ReviewSummary,
            _ => DetailSubject::Row(self.selected_row(pane)?),
        };
        let tab = self
            .reviewing()
            .map_or_else(|| self.detail.tab(pane), |review| review.tab);
        Some((pane, subject, tab))
    }

    /// Whether the detail of the selected row is on the screen: not while a list is zoomed, or
    /// walked.
    pub(crate) fn shows_current_detail(&self) -> bool {
        (self.shown_detail().is_some() || self.reviewing().is_some())
            && !self.screen.detail.is_behind()
    }

    /// The id of a pane's selected item; in a review that of the card.
    pub fn selected_id(&self, pane: Pane) -> Option<i64> {
        match (pane, self.reviewing()) {
            (Pane::Findings, Some(review)) => review.row().and_then(RowRef::item),
            _ => self.lists.selected_id(pane),
        }
    }

    /// The selected row of a pane: an item or a group header.
    pub fn selected_row(&self, pane: Pane) -> Option<RowRef> {
        match (pane, self.reviewing()) {
            (Pane::Findings, Some(review)) => review.row(),
            _ => self.lists.selected_row(pane),
        }
    }

    /// The part of a scan that the open detail needs read, if any.
    pub fn scan_part(&self) -> Option<(ScanId, ScanPart)> {
        match self
            .shown_detail()
            .filter(|_| !self.screen.detail.is_behind())?
        {
            (Pane::Scans, DetailSubject::Row(RowRef::Item(id)), tab) => {
                Some((ScanId(id), tab.scan_part()?))
            }
            _ => None,
        }
    }

    /// The contexts in which a key is looked up, the innermost first: derived from the modals and
    /// the focus.
    pub fn contexts(&self) -> Vec<Context> {
        self.contexts_under(self.overlay.modals.last())
    }

    /// The contexts that the help shows first: those below it.
    pub fn help_contexts(&self) -> Vec<Context> {
        self.contexts_under(
            self.overlay
                .modals
                .iter()
                .rev()
                .find(|modal| !matches!(modal, Modal::Help(_))),
        )
    }

    fn contexts_under(&self, modal: Option<&Modal>) -> Vec<Context> {
        match modal {
            Some(Modal::Prompt(prompt)) => vec![prompt.context()],
            Some(Modal::Form(_)) => vec![Context::Form],
            Some(Modal::Rules(rules)) => vec![if rules.edit.is_some() {
                Context::Line
            } else {
                Context::Rules
            }],
            Some(Modal::Alerts(_)) => vec![Context::Alerts],
            Some(Modal::Decide(menu)) => {
                vec![match menu.entry.as_ref().map(|entry| entry.choice) {
                    None => Context::Decide,
                    Some(MenuChoice::Note) => Context::Form,
                    Some(_) => Context::Line,
                }]
            }
            Some(Modal::Line(_) | Modal::Help(_) | Modal::Command(_)) => vec![Context::Line],
            Some(Modal::Text(_)) => vec![Context::Text, Context::Everywhere],
            Some(Modal::Plot(_)) => vec![Context::Plot],
            Some(Modal::Why(_)) => vec![Context::Why],
            Some(Modal::Chain(_)) => vec![Context::Chain],
            Some(Modal::Setup(_)) => vec![Context::Setup],
            None => self.pane_contexts(),
        }
    }

    /// The contexts without modals.
    pub(crate) fn pane_contexts(&self) -> Vec<Context> {
        if let Some(sequence) = self.keyboard.pending {
            return vec![sequence];
        }
        let pane = if self.reviewing().is_some() {
            Context::Review
        } else {
            self.navigation.focus.pane.context()
        };
        match (self.navigation.focus.in_detail, &self.detail.search) {
            (true, Some(_)) => vec![Context::Search, pane, Context::Text, Context::Everywhere],
            (true, None) => vec![pane, Context::Text, Context::Everywhere],
            (false, _) => vec![pane, Context::Lists, Context::Everywhere],
        }
    }

    pub fn workspace(&self) -> Option<&Workspace> {
        self.data
            .workspaces
            .value()?
            .get(self.navigation.scope.workspace?)
            .map(|workspace| &**workspace)
    }

    /// The name of the current workspace; empty without one.
    pub fn workspace_name(&self) -> Shared {
        self.workspace()
            .map(|workspace| workspace.name.clone())
            .unwrap_or_default()
    }

    pub fn target_name(&self, target: TargetId) -> Option<&Shared> {
        self.data
            .targets
            .value()?
            .get(target)
            .map(|target| &target.name)
    }

    /// The ETA of a running scan; none before its speed is known.
    pub fn time_left(&self, scan: ScanId) -> Option<Duration> {
        let left = self.scans.progress.time_left(self.now.mono, scan)?;
        Some(
            self.time_to_limit(scan)
                .map_or(left, |limit| left.min(limit)),
        )
    }

    /// Until the service ends a running scan because of its time limit; at least a second.
    fn time_to_limit(&self, scan: ScanId) -> Option<Duration> {
        let scan = self.data.scans.value()?.get(scan)?;
        let limit = scan
            .max_scan_time
            .filter(|minutes| *minutes > 0)?
            .checked_mul(60)?;
        let end = scan.start_time?.0.as_second().checked_add(limit)?;
        Some(Duration::from_secs(
            u64::try_from(end - self.service_now().as_second())
                .unwrap_or(0)
                .max(1),
        ))
    }

    /// How long a running scan has been stalled.
    pub fn stalled_for(&self, scan: ScanId) -> Option<Duration> {
        self.scans.progress.stalled_for(self.now.mono, scan)
    }

    /// Findings of a target by risk, from critical down to info.
    pub fn risks_of(&self, target: TargetId) -> Option<[u32; 5]> {
        let findings = self.data.findings.value()?;
        Some(
            findings
                .of_target(target)
                .map(|of| of.risks)
                .unwrap_or_default(),
        )
    }

    /// The current time by the service's clock, if the offset is known.
    pub fn service_now(&self) -> Timestamp {
        self.by_the_service(Stamp(self.now.wall)).0
    }

    /// Converts a time of the local clock to the service's clock.
    pub(crate) fn by_the_service(&self, at: Stamp) -> Stamp {
        let offset = jiff::SignedDuration::from_secs(self.connection.clock_offset.unwrap_or(0));
        Stamp(at.0.checked_add(offset).unwrap_or(at.0))
    }

    /// Why an action is not available now.
    pub fn off(&self, action: Action) -> Option<String> {
        self.off_in(self.navigation.focus.pane, action)
    }

    /// Why an action is not available in a pane.
    pub(crate) fn off_in(&self, pane: Pane, action: Action) -> Option<String> {
        // Manual findings are local.
        let local = match pane {
            Pane::Findings => {
                matches!(
                    action,
                    Action::Item(ItemAction::New | ItemAction::Edit | ItemAction::Delete)
                )
            }
            Pane::Captures => action == Action::Item(ItemAction::New),
            _ => false,
        };
        (self.session.read_only && action.changes() && !local)
            .then(|| "off in a read-only session".to_owned())
    }
}
