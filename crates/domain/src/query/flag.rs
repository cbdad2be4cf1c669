//! The flags of `is:` as a table.

use super::QueryKind::{
    self, Activity, Captures, Findings, Loggers, Payloads, Reports, Scans, Schedules, Targets,
    Wordlists, Workspaces,
};

/// One row of the table.
#[derive(Debug)]
pub struct FlagSpec {
    /// The described flag.
    pub flag: Flag,
    /// Name in queries.
    pub name: &'static str,
    /// Aliases.
    pub aliases: &'static [&'static str],
    /// Lists that have it.
    pub lists: &'static [QueryKind],
    /// Description.
    pub words: &'static str,
}

impl FlagSpec {
    /// Description for a list in which the general one would be wrong or vague.
    pub fn words_in(&self, list: QueryKind) -> &'static str {
        match (self.flag, list) {
            (Flag::Manual, Captures) => "sent from one of your addresses",
            (Flag::Active, Targets) => "with an active scan",
            (Flag::Active, Activity) => "in flight",
            (Flag::Failed, Activity) => "ended with an error",
            (Flag::Empty, Workspaces) => "no targets",
            (Flag::Empty, Wordlists) => "no words",
            (Flag::Empty, Loggers) => "no requests",
            _ => self.words,
        }
    }
}

impl Flag {
    /// The entry in the table.
    pub fn spec(self) -> &'static FlagSpec {
        &FLAGS[self as usize]
    }

    /// Bit in the flags of a row.
    pub fn bit(self) -> u64 {
        1 << self as u32
    }

    /// The flag of this name or alias in any case, if the list has it.
    pub fn named(name: &str, kind: QueryKind) -> Option<Self> {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        Self::of(kind)
            .find(|spec| is(spec.name) || spec.aliases.iter().any(|alias| is(alias)))
            .map(|spec| spec.flag)
    }

    /// The flags of a list, in the order of the table.
    pub fn of(kind: QueryKind) -> impl Iterator<Item = &'static FlagSpec> {
        FLAGS.iter().filter(move |spec| spec.lists.contains(&kind))
    }

    /// True for flags that follow from decisions.
    pub fn is_of_decision(self) -> bool {
        self <= Self::Differs
    }
}

/// Declares [`Flag`] and its table from one list.
macro_rules! flags {
    ($($flag:ident $name:literal $aliases:expr, $lists:expr, $words:literal;)+) => {
        /// A yes-or-no property of a row, tested by `is:`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Flag {
            $(#[doc = $words] $flag,)+
        }

        /// All flags, in the order of [`Flag`].
        pub static FLAGS: &[FlagSpec] = &[
            $(FlagSpec { flag: Flag::$flag, name: $name, aliases: $aliases, lists: $lists, words: $words }),+
        ];
    };
}

flags! {
    Undecided "undecided" &[], &[Findings], "open, in review, expired, reopened or in conflict; also absent findings";
    Decided "decided" &[], &[Findings], "not undecided";
    Regression "regression" &[], &[Findings], "fixed, but found again";
    Expired "expired" &[], &[Findings], "the decision expired";
    Conflict "conflict" &[], &[Findings], "conflicting decisions of two people";
    Recheck "recheck" &[], &[Findings], "risk, KEV or EPSS rose since the decision";
    Noted "noted" &[], &[Findings], "has a note";
    Tagged "tagged" &[], &[Findings], "has a tag";
    Overdue "overdue" &[], &[Findings], "the due date has passed, and the finding still needs work";
    Differs "differs" &[], &[Findings], "the status at the service differs from the verdict";
    New "new" &[], &[Findings], "absent in the previous scan or the baseline";
    Unchanged "unchanged" &[], &[Findings], "unchanged since the previous scan";
    Changed "changed" &[], &[Findings], "changed since the previous scan";
    Reappeared "reappeared" &[], &[Findings], "was absent and reappeared";
    NotRetested "not_retested" &[], &[Findings], "a later scan failed or did not test for it";
    Absent "absent" &[], &[Findings], "not found in the last scan";
    Present "present" &[], &[Findings], "not absent";
    Kev "kev" &["exploited"], &[Findings], "in CISA's catalog of known exploited vulnerabilities (KEV)";
    Proven "proven" &[], &[Findings], "proven by the scanner (`confirmed` in the API)";
    Verified "verified" &[], &[Findings], "verified by a person at the service";
    Manual "own" &["mine"], &[Findings, Captures], "manual finding";
    Reusable "offered" &[], &[Findings], "an earlier decision on another port can be reused";
    Proposed "proposed" &[], &[Findings], "its imported file proposes a verdict";
    Nothing "nothing" &[], &[Findings], "result of a test that found nothing";
    Active "active" &["running"], &[Scans, Targets, Activity], "waiting or running";
    Ended "ended" &["done"], &[Scans], "finished, failed or stopped";
    Failed "failed" &[], &[Scans, Reports, Activity], "ended before it was complete";
    Incomplete "incomplete" &[], &[Scans], "finished, but some tests have no result";
    Stopped "stopped" &[], &[Scans], "stopped by a user";
    Vpn "vpn" &[], &[Scans], "runs through a VPN";
    Unscanned "unscanned" &[], &[Targets], "never scanned";
    Body "body" &[], &[Captures], "has a body";
    Closed "closed" &[], &[Loggers], "stopped recording: no days or no requests left";
    Ready "ready" &[], &[Reports], "can be downloaded";
    Predefined "predefined" &[], &[Wordlists], "ships with the service";
    Empty "empty" &[], &[Workspaces, Wordlists, Loggers], "empty";
    Known "known" &[], &[Captures], "contains the token of a payload";
    UnknownToken "unknown_token" &["unknown"], &[Captures], "contains a token of no known payload";
    Bot "bot" &["crawler"], &[Captures], "sent by a link preview or crawler, according to its user agent";
    Waiting "waiting" &[], &[Payloads], "no hits yet";
    Hit "hit" &[], &[Payloads], "has hits";
    Paused "paused" &[], &[Schedules], "starts nothing until it is resumed";
    Awaited "awaited" &[], &[Payloads], "watched by `:wait`";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flag_names_are_unique_and_every_list_has_flags() {
        assert!(FLAGS.len() <= 64);
        for (at, spec) in FLAGS.iter().enumerate() {
            assert_eq!(spec.flag as usize, at, "{}", spec.name);
        }
        for kind in QueryKind::ALL {
            assert!(Flag::of(kind).count() > 0, "{kind:?}");
        }
        assert!(Flag::Differs.is_of_decision() && !Flag::New.is_of_decision());
    }
}
