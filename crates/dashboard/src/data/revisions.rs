//! Revisions: which parts of the state changed since rows, counts and the board were computed from
//! them.
//!
//! ```text
//!   table replaced, counter raised ─► Revisions differ ─► Model::refresh ─► rows, board, counts
//! ```

use crate::base::Pane;

/// A part of the state that other state is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// The items of a pane; of the board what it shows, from which its rows are made.
    Items(Pane),
    /// How many scans are stalled, which changes without news from the service.
    Stalled,
    /// Verdicts, notes and tags of single findings.
    Decisions,
    /// Saved queries, and the time of the last visit.
    Settings,
}

impl Segment {
    fn index(self) -> usize {
        match self {
            Self::Items(pane) => pane as usize,
            Self::Stalled => Pane::ALL.len(),
            Self::Decisions => Pane::ALL.len() + 1,
            Self::Settings => Pane::ALL.len() + 2,
        }
    }
}

const SEGMENTS: usize = Pane::ALL.len() + 3;

/// A number per segment: the revision of its table, or a counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revisions([u64; SEGMENTS]);

impl Revisions {
    pub fn set(&mut self, segment: Segment, revision: u64) {
        self.0[segment.index()] = revision;
    }

    /// Whether one of these segments differs.
    pub fn differ(&self, other: &Self, segments: &[Segment]) -> bool {
        segments
            .iter()
            .any(|segment| self.0[segment.index()] != other.0[segment.index()])
    }
}
