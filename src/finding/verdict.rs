//! What a person says about a finding, and why.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A person's verdict (`triage.md`, Two axes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    #[default]
    Open,
    InReview,
    Confirmed,
    FalsePositive,
    RiskAccepted,
    NotApplicable,
    Fixed,
    Duplicate,
}

impl Verdict {
    /// All, in the order of menus.
    pub const ALL: [Verdict; 8] = [
        Verdict::Open,
        Verdict::InReview,
        Verdict::Confirmed,
        Verdict::FalsePositive,
        Verdict::RiskAccepted,
        Verdict::NotApplicable,
        Verdict::Fixed,
        Verdict::Duplicate,
    ];

    /// Its name in queries, exchange files and the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::InReview => "in_review",
            Self::Confirmed => "confirmed",
            Self::FalsePositive => "false_positive",
            Self::RiskAccepted => "risk_accepted",
            Self::NotApplicable => "not_applicable",
            Self::Fixed => "fixed",
            Self::Duplicate => "duplicate",
        }
    }

    /// Its name for people, short enough for a column of 9.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::InReview => "review",
            Self::Confirmed => "confirmed",
            Self::FalsePositive => "false pos",
            Self::RiskAccepted => "accepted",
            Self::NotApplicable => "not appl",
            Self::Fixed => "fixed",
            Self::Duplicate => "duplicate",
        }
    }

    /// Its name for people, in sentences.
    pub fn phrase(self) -> String {
        self.as_str().replace('_', " ")
    }

    /// The verdict of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.as_str() == name)
    }

    /// The reasons that can be given for it, if any.
    pub fn reasons(self) -> &'static [Reason] {
        use Reason::*;
        match self {
            Self::FalsePositive => &[NotReproducible, VersionBackported, WrongProduct, TestArtifact, Other],
            Self::NotApplicable => &[OutOfScope, TestSystem, ByDesign, Informational, Other],
            Self::RiskAccepted => &[WillNotFix, NoFixAvailable, CompensatingControl, Deferred, Other],
            _ => &[],
        }
    }

    /// It settles the finding: open and in review do not.
    pub fn settles(self) -> bool {
        !matches!(self, Self::Open | Self::InReview)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why, as a code that hand-overs and exports carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    NotReproducible,
    VersionBackported,
    WrongProduct,
    TestArtifact,
    OutOfScope,
    TestSystem,
    ByDesign,
    Informational,
    WillNotFix,
    NoFixAvailable,
    CompensatingControl,
    Deferred,
    Other,
}

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 13] = [
        Reason::NotReproducible,
        Reason::VersionBackported,
        Reason::WrongProduct,
        Reason::TestArtifact,
        Reason::OutOfScope,
        Reason::TestSystem,
        Reason::ByDesign,
        Reason::Informational,
        Reason::WillNotFix,
        Reason::NoFixAvailable,
        Reason::CompensatingControl,
        Reason::Deferred,
        Reason::Other,
    ];

    /// Its name in queries, exchange files and the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotReproducible => "not_reproducible",
            Self::VersionBackported => "version_backported",
            Self::WrongProduct => "wrong_product",
            Self::TestArtifact => "test_artifact",
            Self::OutOfScope => "out_of_scope",
            Self::TestSystem => "test_system",
            Self::ByDesign => "by_design",
            Self::Informational => "informational",
            Self::WillNotFix => "will_not_fix",
            Self::NoFixAvailable => "no_fix_available",
            Self::CompensatingControl => "compensating_control",
            Self::Deferred => "deferred",
            Self::Other => "other",
        }
    }

    /// Its name for people, in sentences.
    pub fn phrase(self) -> String {
        self.as_str().replace('_', " ")
    }

    /// The reason of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == name)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_are_those_of_the_exchange_format() {
        for verdict in Verdict::ALL {
            assert_eq!(Verdict::named(verdict.as_str()), Some(verdict));
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.as_str());
            assert!(verdict.word().len() <= 9);
        }
        for reason in Reason::ALL {
            assert_eq!(Reason::named(reason.as_str()), Some(reason));
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
            assert!(Verdict::ALL.iter().any(|verdict| verdict.reasons().contains(&reason)), "{reason}");
        }
    }
}
