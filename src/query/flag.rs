//! The flags of `is:`, as data.

use super::QueryKind::{self, Captures, Findings, Loggers, Payloads, Reports, Scans, Targets, Wordlists, Workspaces};

/// Something a row is or is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // the table tells
pub enum Flag {
    Undecided,
    Decided,
    Regression,
    Expired,
    Conflict,
    Recheck,
    Noted,
    Tagged,
    Differs,
    New,
    Unchanged,
    Updated,
    Reappeared,
    NotRetested,
    Absent,
    Kev,
    Proven,
    Verified,
    Own,
    Offered,
    Nothing,
    Active,
    Ended,
    Failed,
    Stopped,
    Vpn,
    Unscanned,
    Body,
    Closed,
    Ready,
    Predefined,
    Empty,
    Known,
    UnknownToken,
    Bot,
    Waiting,
    Hit,
    Awaited,
}

/// One row of the table.
#[derive(Debug)]
pub struct FlagSpec {
    /// What it is about.
    pub flag: Flag,
    /// Its name in queries.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// The lists that have it.
    pub lists: &'static [QueryKind],
    /// What it says, for people.
    pub words: &'static str,
}

impl Flag {
    /// Its row of the table.
    pub fn spec(self) -> &'static FlagSpec {
        &FLAGS[self as usize]
    }

    /// Its bit in the flags of a row.
    pub fn bit(self) -> u64 {
        1 << self as u32
    }

    /// The flag of this name or alias, any case, where the list has it.
    pub fn named(name: &str, kind: QueryKind) -> Option<Self> {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        Self::of(kind).find(|spec| is(spec.name) || spec.aliases.iter().any(|alias| is(alias))).map(|spec| spec.flag)
    }

    /// The flags of a list, in the order of the table.
    pub fn of(kind: QueryKind) -> impl Iterator<Item = &'static FlagSpec> {
        FLAGS.iter().filter(move |spec| spec.lists.contains(&kind))
    }

    /// It follows from what persons decided, not from what the service told.
    pub fn is_of_decision(self) -> bool {
        self <= Self::Differs
    }
}

const fn row(
    flag: Flag,
    name: &'static str,
    aliases: &'static [&'static str],
    lists: &'static [QueryKind],
    words: &'static str,
) -> FlagSpec {
    FlagSpec { flag, name, aliases, lists, words }
}

/// All flags, in the order of [`Flag`].
#[rustfmt::skip]
pub static FLAGS: &[FlagSpec] = &[
    row(Flag::Undecided, "undecided", &[], &[Findings], "open, in review, expired, reopened or in conflict"),
    row(Flag::Decided, "decided", &[], &[Findings], "not undecided"),
    row(Flag::Regression, "regression", &[], &[Findings], "fixed, and seen again"),
    row(Flag::Expired, "expired", &[], &[Findings], "the day it held until has passed"),
    row(Flag::Conflict, "conflict", &[], &[Findings], "decided differently by two who did not know of each other"),
    row(Flag::Recheck, "recheck", &[], &[Findings], "risk, KEV or EPSS rose since the decision"),
    row(Flag::Noted, "noted", &[], &[Findings], "has a note"),
    row(Flag::Tagged, "tagged", &[], &[Findings], "has a tag"),
    row(Flag::Differs, "differs", &[], &[Findings], "the service says otherwise"),
    row(Flag::New, "new", &[], &[Findings], "not there in the scan before, or the baseline"),
    row(Flag::Unchanged, "unchanged", &["same"], &[Findings], "as in the scan before"),
    row(Flag::Updated, "updated", &["changed"], &[Findings], "changed since the scan before"),
    row(Flag::Reappeared, "reappeared", &["back"], &[Findings], "had gone, and is back"),
    row(Flag::NotRetested, "not_retested", &[], &[Findings], "the newer scan failed, or covered less"),
    row(Flag::Absent, "absent", &["gone"], &[Findings], "not found any more"),
    row(Flag::Kev, "kev", &["exploited"], &[Findings], "in CISA's catalogue of exploited vulnerabilities"),
    row(Flag::Proven, "proven", &[], &[Findings], "proven by the scanner (its `confirmed`)"),
    row(Flag::Verified, "verified", &[], &[Findings], "verified by a person at the service"),
    row(Flag::Own, "own", &["mine"], &[Findings, Captures], "a finding of one's own; of captures, sent from an address of one's own"),
    row(Flag::Offered, "offered", &[], &[Findings], "decisions of the same on another port are offered"),
    row(Flag::Nothing, "nothing", &[], &[Findings], "tested, nothing found"),
    row(Flag::Active, "active", &["running"], &[Scans, Targets], "waiting or running; of targets, being scanned"),
    row(Flag::Ended, "ended", &["done"], &[Scans], "will not change any more"),
    row(Flag::Failed, "failed", &[], &[Scans, Reports], "ended without doing all it was asked to"),
    row(Flag::Stopped, "stopped", &[], &[Scans], "stopped by a person"),
    row(Flag::Vpn, "vpn", &[], &[Scans], "runs through a VPN"),
    row(Flag::Unscanned, "unscanned", &[], &[Targets], "was never scanned"),
    row(Flag::Body, "body", &[], &[Captures], "has a body"),
    row(Flag::Closed, "closed", &[], &[Loggers], "records no more: no days or no requests are left"),
    row(Flag::Ready, "ready", &[], &[Reports], "can be downloaded"),
    row(Flag::Predefined, "predefined", &[], &[Wordlists], "ships with the service"),
    row(Flag::Empty, "empty", &[], &[Workspaces, Wordlists, Loggers], "has no targets, no words or no requests"),
    row(Flag::Known, "known", &[], &[Captures], "carries the token of a payload"),
    row(Flag::UnknownToken, "unknown_token", &["unknown"], &[Captures], "carries what looks like a token, of no payload known here"),
    row(Flag::Bot, "bot", &["crawler"], &[Captures], "sent by a link preview or a crawler, as its user agent says"),
    row(Flag::Waiting, "waiting", &[], &[Payloads], "brought nothing in yet"),
    row(Flag::Hit, "hit", &[], &[Payloads], "brought something in"),
    row(Flag::Awaited, "awaited", &[], &[Payloads], "waited for by `:wait`"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_its_flags_and_every_list_has_some() {
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
