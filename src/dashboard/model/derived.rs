//! What follows from the model's state and is never stored: who has the keys, what the detail shows, how long a scan
//! has left, why an action is off.

use crate::contract::{ScanId, Shared, Stamp, TargetId, Workspace};
use crate::dashboard::base::{Layout, Pane, ScanPart, Tab};
use crate::dashboard::input::action::{Action, ItemAction};
use crate::dashboard::input::{Context, Prefix};
use crate::dashboard::model::{MenuChoice, Modal, Model};
use jiff::Timestamp;
use std::time::Duration;

impl Model {
    /// The layout at the present size.
    pub fn layout(&self) -> Layout {
        Layout::of(self.screen.size)
    }

    /// The pane whose selected row the detail shows: the focused one, as long as its rows have a detail; beside the
    /// workspaces it is that of the findings.
    pub fn detail_pane(&self) -> Pane {
        match self.navigation.focus.pane {
            Pane::Workspaces => Pane::Findings,
            pane => pane,
        }
    }

    /// The row whose detail is on the screen: its pane, its id and the tab.
    pub fn shown_detail(&self) -> Option<(Pane, i64, Tab)> {
        let pane = self.detail_pane();
        let beside = self.layout().shows_detail() && !self.navigation.focus.zoomed;
        if !self.navigation.focus.in_detail && !beside {
            return None;
        }
        let id = self.selected_id(pane)?;
        let tab = self.reviewing().map_or_else(|| self.detail.tab(pane), |review| review.tab);
        Some((pane, id, tab))
    }

    /// The id of a pane's selected row, as a number; of the findings under review that of the card.
    pub fn selected_id(&self, pane: Pane) -> Option<i64> {
        if let (Pane::Findings, Some(review)) = (pane, self.reviewing()) {
            return Some(review.row_id());
        }
        match pane {
            Pane::Board => self.board_case().map(i64::from),
            pane => self.lists.selected_id(pane),
        }
    }

    /// The row under the cursor of a pane, also where it is a head that has no detail.
    pub fn row_id(&self, pane: Pane) -> Option<i64> {
        match pane {
            Pane::Board => self.lists.board.selected.map(i64::from),
            pane => self.selected_id(pane),
        }
    }

    /// The part of a scan that the open detail needs read, if any.
    pub fn scan_part(&self) -> Option<(ScanId, ScanPart)> {
        match self.shown_detail()? {
            (Pane::Scans, id, tab) => Some((ScanId(id), tab.scan_part()?)),
            _ => None,
        }
    }

    /// The places where a key is looked up now, the innermost first: derived from what lies over the panes and from
    /// the focus.
    pub fn contexts(&self) -> Vec<Context> {
        self.contexts_under(self.overlay.modals.last())
    }

    /// The places whose keys the help tells first: those of what it lies over.
    pub fn help_contexts(&self) -> Vec<Context> {
        self.contexts_under(self.overlay.modals.iter().rev().find(|modal| !matches!(modal, Modal::Help(_))))
    }

    fn contexts_under(&self, modal: Option<&Modal>) -> Vec<Context> {
        match modal {
            Some(Modal::Prompt(_)) => vec![Context::Prompt],
            Some(Modal::Form(_)) => vec![Context::Form],
            Some(Modal::Rules(rules)) => vec![if rules.edit.is_some() { Context::Line } else { Context::Rules }],
            Some(Modal::Alerts(_)) => vec![Context::Alerts],
            Some(Modal::Decide(menu)) => vec![match menu.entry.as_ref().map(|entry| entry.choice) {
                None => Context::Decide,
                Some(MenuChoice::Note) => Context::Form,
                Some(_) => Context::Line,
            }],
            Some(Modal::Line(_) | Modal::Help(_) | Modal::Command(_)) => vec![Context::Line],
            Some(Modal::Text(_)) => vec![Context::Text, Context::Everywhere],
            Some(Modal::Setup(_)) => vec![Context::Setup],
            None => self.pane_contexts(),
        }
    }

    /// Where the key after the first one of a sequence is looked up.
    pub fn context_after(&self, prefix: Prefix) -> Context {
        match (prefix, self.navigation.focus.pane) {
            (Prefix::Group, Pane::Captures) => Context::CaptureGroup,
            (prefix, _) => prefix.context(),
        }
    }

    /// The same as if nothing lay over the panes.
    pub(crate) fn pane_contexts(&self) -> Vec<Context> {
        if let Some(prefix) = self.keyboard.pending {
            return vec![self.context_after(prefix)];
        }
        let pane = if self.reviewing().is_some() { Context::Review } else { self.navigation.focus.pane.context() };
        match (self.navigation.focus.in_detail, &self.detail.search) {
            (true, Some(_)) => vec![Context::Search, pane, Context::Text, Context::Everywhere],
            (true, None) => vec![pane, Context::Text, Context::Everywhere],
            (false, _) => vec![pane, Context::Lists, Context::Everywhere],
        }
    }

    /// The workspace worked in.
    pub fn workspace(&self) -> Option<&Workspace> {
        self.data.workspaces.value()?.get(self.navigation.scope.workspace?).map(|workspace| &**workspace)
    }

    /// The name of the workspace worked in; empty while there is none.
    pub fn workspace_name(&self) -> Shared {
        self.workspace().map(|workspace| workspace.name.clone()).unwrap_or_default()
    }

    /// The name of a target, where it is known.
    pub fn target_name(&self, target: TargetId) -> Option<&Shared> {
        self.data.targets.value()?.get(target).map(|target| &target.name)
    }

    /// Time until a running scan ends, at the speed it has; nothing while that is not known.
    pub fn time_left(&self, scan: ScanId) -> Option<Duration> {
        self.scans.watch.time_left(self.now.mono, scan)
    }

    /// How long a running scan has not moved, once that is 40 s.
    pub fn stalled_for(&self, scan: ScanId) -> Option<Duration> {
        self.scans.watch.stalled_for(self.now.mono, scan)
    }

    /// Findings of a target by risk, from critical down to info; nothing while they are not known.
    pub fn risks_of(&self, target: TargetId) -> Option<[u32; 5]> {
        let findings = self.data.findings.value()?;
        Some(findings.of_target(target).map(|of| of.risks).unwrap_or_default())
    }

    /// The service's time now, by its own clock where that is known.
    pub fn service_now(&self) -> Timestamp {
        self.by_the_service(Stamp(self.now.wall)).0
    }

    /// A time of this machine's clock by that of the service.
    pub(crate) fn by_the_service(&self, at: Stamp) -> Stamp {
        let offset = jiff::SignedDuration::from_secs(self.connection.clock_offset.unwrap_or(0));
        Stamp(at.0.checked_add(offset).unwrap_or(at.0))
    }

    /// Why an action is off just now; nothing when it is not.
    pub fn off(&self, action: Action) -> Option<String> {
        // A finding of one's own never leaves this machine.
        let local = match self.navigation.focus.pane {
            Pane::Findings => matches!(action, Action::Item(ItemAction::New) | Action::Item(ItemAction::Delete)),
            Pane::Captures => action == Action::Item(ItemAction::New),
            _ => false,
        };
        (self.session.read_only && action.changes() && !local).then(|| "off: this session is read only".to_owned())
    }
}
