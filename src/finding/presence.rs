//! Whether a scan saw a finding that the scan before it saw.

/// Against the previous comparable scan, or the pinned baseline (`triage.md`, Two axes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Presence {
    New,
    #[default]
    Unchanged,
    Updated,
    Reappeared,
    NotRetested,
    Absent,
}

impl Presence {
    /// All.
    pub const ALL: [Presence; 6] = [
        Presence::New,
        Presence::Unchanged,
        Presence::Updated,
        Presence::Reappeared,
        Presence::NotRetested,
        Presence::Absent,
    ];

    /// Its name in queries and exports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Unchanged => "unchanged",
            Self::Updated => "updated",
            Self::Reappeared => "reappeared",
            Self::NotRetested => "not_retested",
            Self::Absent => "absent",
        }
    }

    /// One word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Unchanged => "same",
            Self::Updated => "changed",
            Self::Reappeared => "back",
            Self::NotRetested => "not retested",
            Self::Absent => "gone",
        }
    }

    /// Its sign in the column `Δ`.
    pub fn sign(self) -> &'static str {
        match self {
            Self::New => "+",
            Self::Unchanged => " ",
            Self::Updated => "~",
            Self::Reappeared => "↺",
            Self::NotRetested => "?",
            Self::Absent => "-",
        }
    }
}
