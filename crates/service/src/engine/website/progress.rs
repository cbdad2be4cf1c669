//! Progress of the checks, measured by their requests.
//!
//! Six checks run at the same time, and the longest begin first, so ended checks alone would show
//! no progress for minutes at a low rate, and then all of it at once. Ended checks and sent
//! requests together advance evenly:
//!
//! ```text
//!   CheckCoverage of each check: sent ──► of the expected requests ──► steps of the scan
//! ```

use super::Check;
use super::CheckKind::{Files, Passive};
use super::exposed;
use super::site::CrawledSite;
use crate::engine::coverage::CheckCoverage;

/// The steps that the checks of a scan count as.
pub struct ChecksProgress<'a> {
    /// The expected requests of each check, and one step for its own work.
    expected: Vec<u32>,
    coverage: &'a [CheckCoverage],
    ended: Vec<bool>,
    steps: u32,
    reported: u32,
}

impl<'a> ChecksProgress<'a> {
    /// `expected` has the expected requests of each check, and `coverage` counts those that it
    /// sent.
    pub fn new(
        steps: u32,
        expected: impl Iterator<Item = u32>,
        coverage: &'a [CheckCoverage],
    ) -> Self {
        let expected: Vec<u32> = expected
            .map(|requests| requests.saturating_add(1))
            .collect();
        Self {
            ended: vec![false; expected.len()],
            expected,
            coverage,
            steps,
            reported: 0,
        }
    }

    /// The new steps after a check has ended.
    pub fn end(&mut self, check: usize) -> u32 {
        self.ended[check] = true;
        self.take()
    }

    /// The new steps since the last call.
    pub fn take(&mut self) -> u32 {
        let checks = self.expected.iter().zip(self.coverage).zip(&self.ended);
        let done = checks.map(|((expected, coverage), ended)| match ended {
            true => u64::from(*expected),
            false => u64::from(coverage.requests().min(expected - 1)),
        });
        let all: u64 = self.expected.iter().copied().map(u64::from).sum();
        let reached = (done.sum::<u64>() * u64::from(self.steps))
            .checked_div(all)
            .unwrap_or(u64::from(self.steps)) as u32;
        let new = reached - self.reported;
        self.reported = reached;
        new
    }
}

/// The number of requests that a check sends to the site, approximately.
pub fn expected_requests(check: &Check, site: &CrawledSite) -> u32 {
    let requests = match check.kind {
        Passive(_) => 0,
        Files(files) => exposed::paths(site, files).len(),
        _ => match check.uid {
            // A foreign origin, `null` and two names like that of the site.
            "web.cors" => site.pages.len().min(super::cors::MAX_CORS_PAGES) * 4,
            "web.listing" => super::listing::searched_folders(site).len(),
            "web.exposed.copy" => exposed::copied_paths(site).len(),
            "web.exposed.source_map" => site.source_maps.len(),
            "web.javascript.outdated" | "web.secret" => 0,
            _ => 2,
        },
    };
    u32::try_from(requests).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_requests_and_end_with_the_last_check() {
        let coverage = [
            CheckCoverage::default(),
            CheckCoverage::default(),
            CheckCoverage::default(),
        ];
        let mut progress = ChecksProgress::new(10, [79, 19, 0].into_iter(), &coverage);
        let send =
            |check: usize, requests: u32| (0..requests).for_each(|_| coverage[check].count(None));
        assert_eq!(progress.take(), 0);
        send(0, 40);
        assert_eq!((progress.take(), progress.take()), (3, 0), "40 of 101");
        send(1, 500);
        assert_eq!(progress.take(), 2, "a check sends more than expected");
        assert_eq!(progress.end(2), 0);
        assert_eq!(progress.end(1), 1, "61 of 101");
        assert_eq!(progress.end(0), 4, "a check sends less than expected");
    }

    #[test]
    fn scan_without_checks_has_its_steps_at_once() {
        assert_eq!(ChecksProgress::new(8, std::iter::empty(), &[]).take(), 8);
    }
}
