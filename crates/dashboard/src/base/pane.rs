//! The panes, the focus and the scope.

use crate::base::{ListKind, Tab};
use crate::input::{Context, ViewAction};
use scandeck_domain::query::QueryKind;
use scandeck_wire::contract::{LoggerId, ScanId, TargetId, WorkspaceId};

macro_rules! panes {
    ($(
        $(#[$doc:meta])*
        $pane:ident($number:expr, $shown_by:expr, $list:expr, $kind:ident, $is_full_view:literal, $parent:expr, $tabs:expr);
    )+) => {
        /// The panes and full views, in the order of their keys 1 to 9. Captures and Loggers share
        /// key 5.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Pane { $($(#[$doc])* $pane,)+ }

        impl Pane {
            /// All, in the order of their keys.
            pub const ALL: [Pane; [$($is_full_view),+].len()] = [$(Pane::$pane),+];
        }

        /// One row per pane, in the order of [`Pane`].
        static PANES: [PaneSpec; Pane::ALL.len()] = [$(PaneSpec {
            title: stringify!($pane),
            number: $number,
            shown_by: $shown_by,
            context: Context::$pane,
            list_kind: $list,
            kind: QueryKind::$kind,
            is_full_view: $is_full_view,
            parent: $parent,
            tabs: $tabs,
        },)+];
    };
}

/// The constants of a pane.
struct PaneSpec {
    title: &'static str,
    /// Captures and Loggers share key 5; the board and the book have keys of their own.
    number: Option<u8>,
    /// The action of its key.
    shown_by: Option<ViewAction>,
    context: Context,
    /// None for what this program records itself.
    list_kind: Option<ListKind>,
    kind: QueryKind,
    is_full_view: bool,
    parent: Option<Pane>,
    tabs: &'static [Tab],
}

/// The tabs of a detail without others.
const ONE_TAB: &[Tab] = &[Tab::Overview];
const FINDING_TABS: &[Tab] = &[Tab::Overview, Tab::Evidence, Tab::References, Tab::History];
const SCAN_TABS: &[Tab] = &[Tab::Summary, Tab::Tests, Tab::Output, Tab::Raw];
const CAPTURE_TABS: &[Tab] = &[Tab::Request, Tab::Headers, Tab::Body, Tab::Compare];

// Number and action of the key, list of the service, kind of query, full view, parent, tabs of the
// detail.
panes! {
    Workspaces(Some(1), Some(ViewAction::Workspaces), Some(ListKind::Workspaces), Workspaces, false, None, ONE_TAB);
    Targets(Some(2), Some(ViewAction::Targets), Some(ListKind::Targets), Targets, false, Some(Pane::Workspaces), ONE_TAB);
    Findings(Some(3), Some(ViewAction::Findings), Some(ListKind::Findings), Findings, false, Some(Pane::Targets), FINDING_TABS);
    Scans(Some(4), Some(ViewAction::Scans), Some(ListKind::Scans), Scans, false, Some(Pane::Targets), SCAN_TABS);
    Captures(Some(5), Some(ViewAction::Captures), Some(ListKind::Captures), Captures, false, Some(Pane::Loggers), CAPTURE_TABS);
    Loggers(Some(5), None, Some(ListKind::Loggers), Loggers, false, None, ONE_TAB);
    Reports(Some(6), Some(ViewAction::Reports), Some(ListKind::Reports), Reports, true, Some(Pane::Findings), ONE_TAB);
    Wordlists(Some(7), Some(ViewAction::Wordlists), Some(ListKind::Wordlists), Wordlists, true, Some(Pane::Findings), ONE_TAB);
    /// A retest, or two scans compared.
    Board(None, None, Some(ListKind::Findings), Findings, true, Some(Pane::Findings), FINDING_TABS);
    /// The payload book, stored on this machine; the loggers report the hits of its payloads.
    Payloads(None, None, Some(ListKind::Loggers), Payloads, true, Some(Pane::Captures), ONE_TAB);
    /// The calls of this dashboard.
    Activity(Some(8), Some(ViewAction::Activity), None, Activity, true, Some(Pane::Findings), ONE_TAB);
    Schedules(Some(9), Some(ViewAction::Schedules), Some(ListKind::Schedules), Schedules, true, Some(Pane::Scans), ONE_TAB);
}

/// The focus: a pane, and in it the list or the detail of the selected row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focus {
    pub pane: Pane,
    /// The detail has the focus, not the list.
    pub in_detail: bool,
    /// The focused pane (or detail) has the whole screen.
    pub zoomed: bool,
}

impl Pane {
    fn spec(self) -> &'static PaneSpec {
        &PANES[self as usize]
    }

    pub fn title(self) -> &'static str {
        self.spec().title
    }

    /// The number of the key that goes to it, where it has one.
    pub fn number(self) -> Option<u8> {
        self.spec().number
    }

    /// The pane that an action of a key shows.
    pub fn shown_by(action: ViewAction) -> Option<Self> {
        let is_shown = |pane: &Self| pane.spec().shown_by == Some(action);
        Self::ALL.into_iter().find(is_shown)
    }

    /// Its section of the key table.
    pub fn context(self) -> Context {
        self.spec().context
    }

    /// The list of the service it shows, or that its rows depend on most.
    pub fn list_kind(self) -> Option<ListKind> {
        self.spec().list_kind
    }

    /// The kind of the queries that filter it.
    pub fn kind(self) -> QueryKind {
        self.spec().kind
    }

    /// The pane that shows a list of the service.
    pub fn of_list(list: ListKind) -> Self {
        Self::ALL
            .into_iter()
            .find(|pane| pane.list_kind() == Some(list))
            .unwrap_or(Self::Findings)
    }

    /// Whether another workspace has other rows.
    pub fn is_of_workspace(self) -> bool {
        self.list_kind().is_some_and(ListKind::is_of_workspace)
    }

    /// Whether it is never shown beside other panes.
    pub fn is_full_view(self) -> bool {
        self.spec().is_full_view
    }

    /// The pane that `out` goes to.
    pub fn parent(self) -> Option<Pane> {
        self.spec().parent
    }

    /// The tabs of its detail.
    pub fn tabs(self) -> &'static [Tab] {
        self.spec().tabs
    }
}

/// The workspace, target, scan and logger that the lists are limited to.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The chosen workspace.
    pub workspace: Option<WorkspaceId>,
    /// Only this target's findings and scans.
    pub target: Option<TargetId>,
    /// Only this scan's findings.
    pub scan: Option<ScanId>,
    /// Only this logger's captures.
    pub logger: Option<LoggerId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pane_table_has_one_row_per_pane_in_order() {
        for (row, pane) in Pane::ALL.into_iter().enumerate() {
            assert_eq!(pane as usize, row);
            assert!(pane.context().title().starts_with(pane.title()));
        }
    }
}
