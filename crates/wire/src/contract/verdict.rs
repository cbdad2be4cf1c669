//! Verdicts and their reasons: the words of decisions in a team, in stored data and exports. And
//! the verdicts that imported files propose.

use serde::{Deserialize, Deserializer, Serialize};

use super::{Shared, lenient, named_enum};

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

    /// True for verdicts after which nobody needs to work on the finding, though it remains.
    pub fn dismisses(self) -> bool {
        matches!(
            self,
            Self::FalsePositive | Self::RiskAccepted | Self::NotApplicable | Self::Duplicate
        )
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

/// What an imported file says about a finding, such as that it is a false positive. It decides
/// nothing: people accept the proposal or decide otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct ProposedVerdict {
    /// Never `open` or `in_review`.
    pub verdict: Verdict,
    /// In the words of the file; may be empty.
    pub reason: Shared,
    /// Who decided, according to the file; may be empty.
    pub by: Shared,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ProposedFields {
    #[serde(deserialize_with = "lenient::text")]
    verdict: Shared,
    #[serde(deserialize_with = "lenient::text")]
    reason: Shared,
    #[serde(deserialize_with = "lenient::text")]
    by: Shared,
}

impl ProposedVerdict {
    /// A proposal of nobody in particular.
    pub fn new(verdict: Verdict, reason: &str) -> Self {
        Self {
            verdict,
            reason: reason.into(),
            by: Shared::default(),
        }
    }

    /// A proposal of any JSON value; none without a final verdict.
    pub fn maybe<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Box<Self>>, D::Error> {
        let fields: ProposedFields = lenient::object(from)?;
        let verdict = Verdict::named(&fields.verdict).filter(|verdict| verdict.settles());
        Ok(verdict.map(|verdict| {
            Box::new(Self {
                verdict,
                reason: fields.reason,
                by: fields.by,
            })
        }))
    }

    /// The reason as a code, if it is one that fits the verdict.
    pub fn reason_code(&self) -> Option<Reason> {
        Reason::named(&self.reason).filter(|reason| self.verdict.reasons().contains(reason))
    }

    /// `false positive by anna: only in the test shop`.
    pub fn phrase(&self) -> String {
        let mut words = self.verdict.phrase();
        if !self.by.is_empty() {
            words.push_str(&format!(" by {}", self.by));
        }
        let reason = self
            .reason_code()
            .map_or_else(|| self.reason.to_string(), Reason::phrase);
        if !reason.is_empty() {
            words.push_str(&format!(": {reason}"));
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn proposal_is_read_from_any_value_and_needs_a_final_verdict() {
        let read = |value: serde_json::Value| ProposedVerdict::maybe(value).unwrap();
        let full =
            read(json!({"verdict": "false_positive", "reason": "test_artifact", "by": "anna"}));
        let full = full.unwrap();
        assert_eq!(full.phrase(), "false positive by anna: test artifact");
        assert_eq!(full.reason_code(), Some(Reason::TestArtifact));
        assert_eq!(read(json!(full)), Some(full));
        let bare = read(json!({"verdict": "fixed", "by": 7})).unwrap();
        assert_eq!(bare.phrase(), "fixed by 7");
        for other in [
            json!(null),
            json!("false_positive"),
            json!({"verdict": "open"}),
            json!({"verdict": "maybe"}),
            json!([1]),
        ] {
            assert_eq!(read(other.clone()), None, "{other}");
        }
    }

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
