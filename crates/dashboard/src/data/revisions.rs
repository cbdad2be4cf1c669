//! Revisions: which parts of the state changed since rows, counts and the board were computed from
//! them.
//!
//! ```text
//!   table replaced, counter raised ─► Revisions differ ─► Model::refresh ─► rows, board, counts
//! ```

/// A part of the state that other state is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    Workspaces,
    Targets,
    Scans,
    /// How many scans are stalled, which changes without news from the service.
    Stalled,
    Findings,
    /// Verdicts, notes and tags of single findings.
    Decisions,
    /// The rows of the retest board.
    Board,
    Loggers,
    Captures,
    Reports,
    Wordlists,
    Payloads,
    Calls,
    /// Saved queries, and the time of the last visit.
    Settings,
}

const SEGMENTS: usize = Segment::Settings as usize + 1;

/// A number per segment: the revision of its table, or a counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revisions([u64; SEGMENTS]);

impl Revisions {
    pub fn set(&mut self, segment: Segment, revision: u64) {
        self.0[segment as usize] = revision;
    }

    /// Whether one of these segments differs.
    pub fn differ(&self, other: &Self, segments: &[Segment]) -> bool {
        segments
            .iter()
            .any(|&segment| self.0[segment as usize] != other.0[segment as usize])
    }
}
