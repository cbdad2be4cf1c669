//! The panes, the focus and the scope.

use crate::contract::{LoggerId, ScanId, TargetId, WorkspaceId};
use crate::dashboard::base::ListKind;
use crate::dashboard::input::Context;
use crate::query::QueryKind;

/// The panes and full views, in the order of their keys 1 to 7. Captures and Loggers share key 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pane {
    Workspaces,
    Targets,
    Findings,
    Scans,
    Captures,
    Loggers,
    Reports,
    Wordlists,
    /// A retest, or two scans compared.
    Board,
    /// The payload book.
    Payloads,
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
    /// All, in the order of their keys.
    pub const ALL: [Pane; 10] = [
        Pane::Workspaces,
        Pane::Targets,
        Pane::Findings,
        Pane::Scans,
        Pane::Captures,
        Pane::Loggers,
        Pane::Reports,
        Pane::Wordlists,
        Pane::Board,
        Pane::Payloads,
    ];

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

    /// Its section of the key table.
    pub fn context(self) -> Context {
        self.spec().context
    }

    /// The list of the service it shows.
    pub fn list_kind(self) -> ListKind {
        self.spec().list_kind
    }

    /// The kind of the queries that filter it.
    pub fn kind(self) -> QueryKind {
        self.spec().kind
    }

    /// The pane that shows a list of the service.
    pub fn of_list(list: ListKind) -> Self {
        Self::ALL.into_iter().find(|pane| pane.list_kind() == list).unwrap_or(Self::Findings)
    }

    /// Whether it is never shown beside other panes.
    pub fn is_full_view(self) -> bool {
        self.spec().is_full_view
    }
}

/// The constants of a pane.
struct PaneSpec {
    title: &'static str,
    /// Captures and Loggers share key 5; the board and the book have keys of their own.
    number: Option<u8>,
    context: Context,
    list_kind: ListKind,
    kind: QueryKind,
    is_full_view: bool,
}

const fn pane(title: &'static str, number: u8, context: Context, list_kind: ListKind, kind: QueryKind) -> PaneSpec {
    PaneSpec { title, number: Some(number), context, list_kind, kind, is_full_view: false }
}

const fn full_view(
    title: &'static str,
    number: Option<u8>,
    context: Context,
    list_kind: ListKind,
    kind: QueryKind,
) -> PaneSpec {
    PaneSpec { title, number, context, list_kind, kind, is_full_view: true }
}

/// One row per pane, in the order of [`Pane`].
static PANES: [PaneSpec; Pane::ALL.len()] = [
    pane("Workspaces", 1, Context::Workspaces, ListKind::Workspaces, QueryKind::Workspaces),
    pane("Targets", 2, Context::Targets, ListKind::Targets, QueryKind::Targets),
    pane("Findings", 3, Context::Findings, ListKind::Findings, QueryKind::Findings),
    pane("Scans", 4, Context::Scans, ListKind::Scans, QueryKind::Scans),
    pane("Captures", 5, Context::Captures, ListKind::Captures, QueryKind::Captures),
    pane("Loggers", 5, Context::Loggers, ListKind::Loggers, QueryKind::Loggers),
    full_view("Reports", Some(6), Context::Reports, ListKind::Reports, QueryKind::Reports),
    full_view("Wordlists", Some(7), Context::Wordlists, ListKind::Wordlists, QueryKind::Wordlists),
    full_view("Board", None, Context::Board, ListKind::Findings, QueryKind::Findings),
    // The book is stored on this machine; the loggers report the hits of its payloads.
    full_view("Payloads", None, Context::Payloads, ListKind::Loggers, QueryKind::Payloads),
];

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
    fn pane_has_its_row_of_the_table() {
        for (row, pane) in Pane::ALL.into_iter().enumerate() {
            assert_eq!(pane as usize, row);
            assert!(pane.context().title().starts_with(pane.title()));
        }
    }
}
