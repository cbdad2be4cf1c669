//! The tabs of a detail, and how the text of a tab can be shown.

use crate::base::ScanPart;
use std::fmt::Display;
use strum::IntoStaticStr;

/// A tab of a detail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
pub enum Tab {
    #[default]
    Overview,
    Evidence,
    /// Of a review card: its findings.
    #[strum(serialize = "Affected")]
    Where,
    #[strum(serialize = "Refs")]
    References,
    History,
    Summary,
    Tests,
    Output,
    #[strum(serialize = "Raw log")]
    Raw,
    Request,
    Headers,
    Body,
    /// Of a capture: beside another one.
    Compare,
}

impl Tab {
    /// Its head.
    pub fn title(self) -> &'static str {
        self.into()
    }

    /// Its head with the number of what it shows.
    pub fn counted(self, number: impl Display) -> String {
        format!("{} {number}", self.title())
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum TextMode {
    /// Long lines are wrapped.
    Wrapped,
    /// Long lines run out of sight; `H` and `L` move sideways.
    #[strum(serialize = "unwrapped")]
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
        self.into()
    }
}
