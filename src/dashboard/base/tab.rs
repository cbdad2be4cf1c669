//! The tabs of a detail, and how the text of a tab can be shown.

use crate::dashboard::base::{Pane, ScanPart};

/// A tab of a detail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tab {
    #[default]
    Overview,
    Evidence,
    /// Of a review card: its findings.
    Where,
    References,
    History,
    Summary,
    Tests,
    Output,
    Raw,
    Request,
    Headers,
    Body,
    /// Of a capture: beside another one.
    Compare,
}

impl Tab {
    /// The tabs of a pane's detail, the first one shown first.
    pub fn of(pane: Pane) -> &'static [Tab] {
        match pane {
            Pane::Findings | Pane::Board => &[Tab::Overview, Tab::Evidence, Tab::References, Tab::History],
            Pane::Scans => &[Tab::Summary, Tab::Tests, Tab::Output, Tab::Raw],
            Pane::Captures => &[Tab::Request, Tab::Headers, Tab::Body, Tab::Compare],
            _ => &[Tab::Overview],
        }
    }

    /// Its head.
    pub fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Evidence => "Evidence",
            Self::Where => "Affected",
            Self::References => "Refs",
            Self::History => "History",
            Self::Summary => "Summary",
            Self::Tests => "Tests",
            Self::Output => "Output",
            Self::Raw => "Raw log",
            Self::Request => "Request",
            Self::Headers => "Headers",
            Self::Body => "Body",
            Self::Compare => "Compare",
        }
    }

    /// The part of a scan that the tab shows.
    pub fn scan_part(self) -> Option<ScanPart> {
        match self {
            Self::Tests => Some(ScanPart::Tests),
            Self::Output => Some(ScanPart::Output),
            Self::Raw => Some(ScanPart::Raw),
            _ => None,
        }
    }

    /// The modes in which its text can be shown, the first one at the start.
    pub fn modes(self) -> &'static [TextMode] {
        match self {
            Self::Body => &[TextMode::Decoded, TextMode::Raw, TextMode::Hex],
            _ => &[TextMode::Wrapped, TextMode::Long],
        }
    }
}

/// How a text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextMode {
    /// Long lines are wrapped.
    Wrapped,
    /// Long lines run out of sight; `H` and `L` move sideways.
    Long,
    /// JSON set out, other text as it is.
    Decoded,
    /// As it came.
    Raw,
    /// Bytes.
    Hex,
}

impl TextMode {
    /// One word.
    pub fn title(self) -> &'static str {
        match self {
            Self::Wrapped => "wrapped",
            Self::Long => "long lines",
            Self::Decoded => "decoded",
            Self::Raw => "raw",
            Self::Hex => "hex",
        }
    }
}
