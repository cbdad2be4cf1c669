//! The presence of a finding in the last scan.

named_enum! {
    /// The result of comparing the last scan with the previous comparable scan or the pinned
    /// baseline.
    #[derive(Default)]
    Presence {
        New "new",
        #[default]
        Unchanged "unchanged",
        Updated "updated",
        Reappeared "reappeared",
        NotRetested "not_retested",
        Absent "absent",
    }
}

impl Presence {
    /// Its name for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Unchanged => "unchanged",
            Self::Updated => "changed",
            Self::Reappeared => "reappeared",
            Self::NotRetested => "not retested",
            Self::Absent => "absent",
        }
    }

    /// Its name in data formats, which queries accept too.
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
