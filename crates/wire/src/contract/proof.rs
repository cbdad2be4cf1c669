//! What the answer to a request that was sent again says about a finding, as a closed list.

use serde::{Deserialize, Serialize};

use super::named_enum;

named_enum! {
    /// Whether a finding is still there.
    ProofOutcome {
        StillThere "still_there",
        Gone "gone",
        CannotTell "cannot_tell",
    }
}

impl ProofOutcome {
    /// Its name for people, in sentences.
    pub fn phrase(self) -> String {
        self.as_str().replace('_', " ")
    }
}

named_enum! {
    /// The reason of an outcome.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    ProofReason {
        MatchedText "matched_text",
        SameHeader "same_header",
        StillMissing "still_missing",
        SameAnswer "same_answer",
        NoMatchedText "no_matched_text",
        NoHeader "no_header",
        HeaderAdded "header_added",
        NotFound "not_found",
        Down "down",
        RateLimited "rate_limited",
        ServerError "server_error",
        Redirects "redirects",
        AccessRefused "access_refused",
        LoginPage "login_page",
        CredentialsLeftOut "credentials_left_out",
        SoftNotFound "soft_not_found",
        Cached "cached",
        OtherHost "other_host",
        OtherLanguage "other_language",
        OtherPage "other_page",
        OtherStatus "other_status",
        OtherValue "other_value",
        HeaderRemoved "header_removed",
        HeaderReplaced "header_replaced",
        OtherPlaces "other_places",
        Unreadable "unreadable",
        CutAnswer "cut_answer",
        #[default]
        NoAnswer "no_answer",
        MatchedUnknown "matched_unknown",
    }
}

impl ProofReason {
    pub fn outcome(self) -> ProofOutcome {
        match self {
            Self::MatchedText | Self::SameHeader | Self::StillMissing | Self::SameAnswer => {
                ProofOutcome::StillThere
            }
            Self::NoMatchedText | Self::NoHeader | Self::HeaderAdded | Self::NotFound => {
                ProofOutcome::Gone
            }
            Self::Down
            | Self::RateLimited
            | Self::ServerError
            | Self::Redirects
            | Self::AccessRefused
            | Self::LoginPage
            | Self::CredentialsLeftOut
            | Self::SoftNotFound
            | Self::Cached
            | Self::OtherHost
            | Self::OtherLanguage
            | Self::OtherPage
            | Self::OtherStatus
            | Self::OtherValue
            | Self::HeaderRemoved
            | Self::HeaderReplaced
            | Self::OtherPlaces
            | Self::Unreadable
            | Self::CutAnswer
            | Self::NoAnswer
            | Self::MatchedUnknown => ProofOutcome::CannotTell,
        }
    }

    /// The reason as a clause.
    pub fn reason(self) -> &'static str {
        match self {
            Self::MatchedText => "the answer contains the text that proved it",
            Self::SameHeader => "the answer has the header that proved it",
            Self::StillMissing => "the answer still has no such header",
            Self::SameAnswer => "the answer is the same",
            Self::NoMatchedText => "the page no longer contains the text that proved it",
            Self::NoHeader => "the answer no longer has the header that proved it",
            Self::HeaderAdded => "the answer now has the missing header",
            Self::NotFound => "the target answers 404 or 410 for this URL",
            Self::Down => "the target does not answer",
            Self::RateLimited => "the target limits the rate of requests",
            Self::ServerError => "the target answers with a server error",
            Self::Redirects => "the target redirects, and redirects are not followed",
            Self::AccessRefused => "the target refuses access, which a firewall can do too",
            Self::LoginPage => "the target shows a log-in page instead",
            Self::CredentialsLeftOut => "the request was sent without its credentials",
            Self::SoftNotFound => "the target shows an error page with a status of success",
            Self::Cached => "a cache answered, not the target",
            Self::OtherHost => "another server answers under this name",
            Self::OtherLanguage => "the page is in another language",
            Self::OtherPage => "the target shows another page",
            Self::OtherStatus => "the answer has another status",
            Self::OtherValue => "the header that proved it has another value",
            Self::HeaderRemoved => "the answer no longer has this security header at all",
            Self::HeaderReplaced => "another header or an element may replace the missing header",
            Self::OtherPlaces => "the other places in the evidence were not requested",
            Self::Unreadable => "the answer is encoded or not in UTF-8",
            Self::CutAnswer => "the answer is longer than the part that was read",
            Self::NoAnswer => "the evidence has no answer to compare with",
            Self::MatchedUnknown => "the evidence does not name the text that proved it",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_names_round_trip_and_differ_in_words() {
        let mut words = std::collections::BTreeSet::new();
        for reason in ProofReason::ALL {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
            assert!(words.insert(reason.reason()), "{reason}");
        }
        for outcome in ProofOutcome::ALL {
            let of = |reason: &ProofReason| reason.outcome() == outcome;
            assert!(ProofReason::ALL.iter().any(of), "{outcome}");
        }
    }
}
