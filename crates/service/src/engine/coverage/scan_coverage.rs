//! The incomplete tests of a scan: findings, status message and note.

use std::collections::{BTreeMap, BTreeSet};

use super::{IncompleteTest, Obstacle};
use crate::engine::NewFinding;
use crate::engine::kinds::{self, FindingKind, coverage};
use scandeck_wire::text::{plural, thousands};

/// Incomplete tests that a description names; more are counted.
const NAMED_TESTS: usize = 6;

/// The tests with one cause, and their requests.
#[derive(Debug, Default)]
struct CoverageCause<'a> {
    missed: u32,
    requests: u32,
    tests: Vec<&'a str>,
}

type CoverageCauses<'a> = BTreeMap<Obstacle, CoverageCause<'a>>;

/// The tests of a scan, and those that are incomplete.
#[derive(Debug, Default)]
pub struct ScanCoverage {
    /// All tests of the scan, those of the crawl included.
    planned: u32,
    tests: Vec<&'static str>,
    incomplete: Vec<(&'static str, IncompleteTest)>,
    /// The names of the incomplete tests for readers.
    names: BTreeMap<&'static str, &'static str>,
    requests: u32,
    refused: u32,
    limits: Vec<ReachedLimit>,
}

/// A limit that ended the reading before everything was read.
#[derive(Clone, Debug)]
pub struct ReachedLimit {
    /// Such as `pages`.
    pub what: &'static str,
    pub read: usize,
    pub found: usize,
}

impl ReachedLimit {
    /// A line for users, with the remedy.
    pub fn line(&self, is_deep: bool) -> String {
        let Self { what, read, found } = self;
        let remedy = match is_deep {
            false => "a deep scan reads more",
            true if *what == "complete scripts" => "`serve --scan-script-bytes` sets the limit",
            true => "`serve --scan-pages` sets the limit",
        };
        let part = part_of(*read as u64, *found as u64);
        format!("Limit reached: {part} {what} read; {remedy}.")
    }

    fn row(&self) -> Vec<String> {
        // Without tests in the third column: those that read the rest have a result.
        vec![
            format!("limit of {}", self.what),
            part_of(self.read as u64, self.found as u64),
            String::new(),
        ]
    }
}

impl ScanCoverage {
    pub fn new(planned: u32) -> Self {
        Self {
            planned,
            ..Self::default()
        }
    }

    /// Adds a test with its name for readers, which is empty for the only test of a tool.
    pub fn add(
        &mut self,
        uid: &'static str,
        name: &'static str,
        incomplete: Option<IncompleteTest>,
    ) {
        self.tests.push(uid);
        if incomplete.is_some() && !name.is_empty() {
            self.names.insert(uid, name);
        }
        self.incomplete
            .extend(incomplete.map(|incomplete| (uid, incomplete)));
        self.incomplete.sort_by_key(|(uid, _)| *uid);
    }

    /// Adds requests, with the number of those that the site refused.
    pub fn count(&mut self, (requests, refused): (u32, u32)) {
        self.requests += requests;
        self.refused += refused;
    }

    /// One finding for each kind of cause. Its evidence lists the tests, which the dashboard reads
    /// (`crates/domain/src/triage/coverage.rs`): their earlier findings are not retested.
    pub fn findings(&self, port: u16, service: &str) -> Vec<NewFinding> {
        let mut rows: BTreeMap<&str, (FindingKind, CoverageCauses)> = BTreeMap::new();
        for (uid, incomplete) in &self.incomplete {
            for (obstacle, count) in &incomplete.missed {
                let kind = obstacle.kind(incomplete.is_blocked);
                let (_, causes) = rows
                    .entry(kind.id())
                    .or_insert_with(|| (kind, CoverageCauses::new()));
                let cause = causes.entry(*obstacle).or_default();
                cause.missed += count;
                cause.requests += incomplete.requests;
                cause.tests.push(uid);
            }
        }
        let incomplete = rows
            .into_values()
            .map(|(kind, causes)| self.finding(kind, causes, port, service));
        incomplete
            .chain(self.limits_finding(port, service))
            .collect()
    }

    /// Adds a reached limit.
    pub fn add_limit(&mut self, limit: ReachedLimit) {
        self.limits.push(limit);
    }

    fn limits_finding(&self, port: u16, service: &str) -> Option<NewFinding> {
        let rows: Vec<Vec<String>> = self.limits.iter().map(ReachedLimit::row).collect();
        (!rows.is_empty()).then(|| NewFinding {
            port,
            service: service.to_owned(),
            evidence: kinds::table(kinds::COVERAGE_HEADERS, rows),
            confirmed: true,
            ..coverage::LIMITS.finding()
        })
    }

    fn finding(
        &self,
        kind: FindingKind,
        causes: CoverageCauses,
        port: u16,
        service: &str,
    ) -> NewFinding {
        let texts = kind.finding();
        let named: Vec<&str> = causes.keys().map(|obstacle| obstacle.cause()).collect();
        let mut remedies: Vec<&str> = causes.keys().map(|obstacle| obstacle.remedy()).collect();
        remedies.dedup();
        let references: Vec<String> = causes
            .keys()
            .filter_map(|obstacle| obstacle.reference())
            .map(str::to_owned)
            .collect();
        let tests: BTreeSet<&str> = causes
            .values()
            .flat_map(|cause| &cause.tests)
            .copied()
            .collect();
        let (count, planned) = (tests.len(), self.planned);
        let row = |(obstacle, cause): (&Obstacle, &CoverageCause)| {
            vec![
                obstacle.cause().to_owned(),
                part_of(cause.missed.into(), cause.requests.into()),
                grouped(&cause.tests, &self.tests).join(", "),
            ]
        };
        NewFinding {
            port,
            service: service.to_owned(),
            evidence: kinds::table(kinds::COVERAGE_HEADERS, causes.iter().map(row).collect()),
            confirmed: true,
            vuln_description: format!(
                "{} Cause: {}. {count} of {} {} incomplete{}.",
                texts.vuln_description,
                named.join(", "),
                plural(planned as usize, "test"),
                if count == 1 { "is" } else { "are" },
                self.named(&tests),
            ),
            recommendation: remedies.join(" "),
            references: if references.is_empty() {
                texts.references.clone()
            } else {
                references
            },
            ..texts
        }
    }

    /// `: Directory listings; Environment files; and 39 more`
    fn named(&self, tests: &BTreeSet<&str>) -> String {
        let names = tests.iter().filter_map(|uid| self.names.get(*uid).copied());
        let mut names: Vec<&str> = names.collect();
        if names.is_empty() {
            return String::new();
        }
        let more = names.len().saturating_sub(NAMED_TESTS);
        names.truncate(NAMED_TESTS);
        match more {
            0 => format!(": {}", names.join("; ")),
            _ => format!(": {}; and {more} more", names.join("; ")),
        }
    }

    /// The incomplete tests, for the status message: `50 of 66 tests incomplete (HTTP 403)`.
    pub fn summary(&self) -> Option<String> {
        let causes: Vec<&str> = self.causes().into_keys().map(Obstacle::cause).collect();
        (!causes.is_empty()).then(|| format!("{} incomplete ({})", self.share(), causes.join(", ")))
    }

    /// A line about the incomplete tests, or about a site that refuses most requests.
    pub fn note(&self) -> Option<String> {
        let cause = |(one, count): (Obstacle, u32)| {
            format!("{} ({})", one.cause(), plural(count as usize, "request"))
        };
        let causes: Vec<String> = self.causes().into_iter().map(cause).collect();
        if !causes.is_empty() {
            let (share, causes) = (self.share(), causes.join(", "));
            return Some(format!(
                "{share} incomplete: {causes}. Earlier findings of these tests are not retested."
            ));
        }
        let ScanCoverage {
            requests, refused, ..
        } = self;
        let is_most = *refused > 0 && refused.saturating_mul(2) > *requests;
        is_most.then(|| {
            let part = part_of((*refused).into(), (*requests).into());
            format!(
                "The site refused {part} requests (HTTP 401 or 403); these paths count as not public."
            )
        })
    }

    fn share(&self) -> String {
        format!(
            "{} of {}",
            self.incomplete.len(),
            plural(self.planned as usize, "test")
        )
    }

    fn causes(&self) -> BTreeMap<Obstacle, u32> {
        let mut causes: BTreeMap<Obstacle, u32> = BTreeMap::new();
        for (obstacle, count) in self
            .incomplete
            .iter()
            .flat_map(|(_, incomplete)| &incomplete.missed)
        {
            *causes.entry(*obstacle).or_default() += count;
        }
        causes
    }
}

/// `1,500 of 2,000`
fn part_of(part: u64, all: u64) -> String {
    format!("{} of {}", thousands(part), thousands(all))
}

/// The tests by name; a group such as `web.cookie` represents all its tests of the scan (`all`).
fn grouped<'a>(tests: &[&'a str], all: &[&str]) -> Vec<&'a str> {
    fn group(uid: &str) -> Option<&str> {
        uid.match_indices('.').nth(1).map(|(at, _)| &uid[..at])
    }
    let is_whole = |name: &str| {
        let mut of_group = all.iter().filter(|uid| group(uid) == Some(name));
        of_group.clone().count() > 1 && of_group.all(|uid| tests.contains(uid))
    };
    let mut names: Vec<&str> = tests
        .iter()
        .map(|&uid| group(uid).filter(|name| is_whole(name)).unwrap_or(uid))
        .collect();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_stands_for_its_tests_only_if_all_are_incomplete() {
        let all = [
            "web.cookie.secure",
            "web.cookie.http_only",
            "web.header.csp",
            "web.header.hsts",
            "web.robots",
        ];
        let tests = [
            "web.cookie.http_only",
            "web.cookie.secure",
            "web.header.csp",
            "web.robots",
        ];
        assert_eq!(
            grouped(&tests, &all),
            ["web.cookie", "web.header.csp", "web.robots"]
        );
    }
}
