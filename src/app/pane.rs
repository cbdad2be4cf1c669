//! The panes, and where among them the keys go.

use super::plan::Noun;
use crate::input::Context;

/// The panes and full views, in the order of their keys 1 to 7. Captures and Loggers share key 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
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

/// Where the keys go: a pane, and in it the list or the detail of the selected row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focus {
    /// The pane.
    pub pane: Pane,
    /// The detail has the keys, not the list.
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

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Workspaces => "Workspaces",
            Self::Targets => "Targets",
            Self::Findings => "Findings",
            Self::Scans => "Scans",
            Self::Captures => "Captures",
            Self::Loggers => "Loggers",
            Self::Reports => "Reports",
            Self::Wordlists => "Word lists",
            Self::Board => "Board",
            Self::Payloads => "Payloads",
        }
    }

    /// Its section of the key table.
    pub fn context(self) -> Context {
        match self {
            Self::Workspaces => Context::Workspaces,
            Self::Targets => Context::Targets,
            Self::Findings => Context::Findings,
            Self::Scans => Context::Scans,
            Self::Captures => Context::Captures,
            Self::Loggers => Context::Loggers,
            Self::Reports => Context::Reports,
            Self::Wordlists => Context::Wordlists,
            Self::Board => Context::Board,
            Self::Payloads => Context::Payloads,
        }
    }

    /// The list of the service it shows.
    pub fn noun(self) -> Noun {
        match self {
            Self::Workspaces => Noun::Workspaces,
            Self::Targets => Noun::Targets,
            Self::Findings | Self::Board => Noun::Findings,
            Self::Scans => Noun::Scans,
            Self::Captures => Noun::Captures,
            // The book is kept here; what they bring in, the loggers tell.
            Self::Loggers | Self::Payloads => Noun::Loggers,
            Self::Reports => Noun::Reports,
            Self::Wordlists => Noun::Wordlists,
        }
    }

    /// It takes the whole screen, beside no other pane.
    pub fn is_full_view(self) -> bool {
        matches!(self, Self::Reports | Self::Wordlists | Self::Board | Self::Payloads)
    }
}
