//! The presence of a finding in the last scan.

use super::named_enum;

named_enum! {
    /// The result of comparing the last scan with the previous comparable scan or the pinned
    /// baseline.
    #[derive(Default)]
    Presence {
        New "new",
        #[default]
        Unchanged "unchanged",
        Changed "changed",
        Reappeared "reappeared",
        NotRetested "not_retested",
        Absent "absent",
    }
}

impl Presence {
    /// Its name in texts for people: the same word as in queries and exports.
    pub fn label(self) -> &'static str {
        match self {
            Self::NotRetested => "not retested",
            other => other.as_str(),
        }
    }

    /// Its sign in the column `Δ`.
    pub fn sign(self) -> &'static str {
        match self {
            Self::New => "+",
            Self::Unchanged => " ",
            Self::Changed => "~",
            Self::Reappeared => "↺",
            Self::NotRetested => "?",
            Self::Absent => "-",
        }
    }
}
