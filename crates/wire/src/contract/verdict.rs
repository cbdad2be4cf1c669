//! Verdicts and their reasons: the words of decisions in a team, in stored data and exports.

use serde::{Deserialize, Serialize};

use super::named_enum;

named_enum! {
    /// The outcome of triage.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    Verdict {
        #[default]
        Open "open",
        InReview "in_review",
        Confirmed "confirmed",
        FalsePositive "false_positive",
        RiskAccepted "risk_accepted",
        NotApplicable "not_applicable",
        Fixed "fixed",
        Duplicate "duplicate",
    }
}

impl Verdict {
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

    /// The reasons that fit this verdict.
    pub fn reasons(self) -> &'static [Reason] {
        use Reason::*;
        match self {
            Self::FalsePositive => &[
                NotReproducible,
                VersionBackported,
                WrongProduct,
                TestArtifact,
                Other,
            ],
            Self::NotApplicable => &[OutOfScope, TestSystem, ByDesign, Informational, Other],
            Self::RiskAccepted => &[
                WillNotFix,
                NoFixAvailable,
                CompensatingControl,
                Deferred,
                Other,
            ],
            _ => &[],
        }
    }

    /// True for final verdicts: all but open and in review.
    pub fn settles(self) -> bool {
        !matches!(self, Self::Open | Self::InReview)
    }
}

named_enum! {
    /// The justification of a verdict, as a code that exports contain.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    Reason {
        NotReproducible "not_reproducible",
        VersionBackported "version_backported",
        WrongProduct "wrong_product",
        TestArtifact "test_artifact",
        OutOfScope "out_of_scope",
        TestSystem "test_system",
        ByDesign "by_design",
        Informational "informational",
        WillNotFix "will_not_fix",
        NoFixAvailable "no_fix_available",
        CompensatingControl "compensating_control",
        Deferred "deferred",
        Other "other",
    }
}

impl Reason {
    /// Its name for people, in sentences.
    pub fn phrase(self) -> String {
        self.as_str().replace('_', " ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdict_names_round_trip_and_match_exchange_format() {
        for verdict in Verdict::ALL {
            assert_eq!(Verdict::named(verdict.as_str()), Some(verdict));
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.as_str());
            assert!(verdict.word().len() <= 9);
        }
        for reason in Reason::ALL {
            assert_eq!(Reason::named(reason.as_str()), Some(reason));
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
            assert!(
                Verdict::ALL
                    .iter()
                    .any(|verdict| verdict.reasons().contains(&reason)),
                "{reason}"
            );
        }
    }
}
