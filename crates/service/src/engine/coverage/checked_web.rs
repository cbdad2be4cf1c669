//! The client of a check, and the control that shows whether a firewall blocks the scan.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use reqwest::Method;
use reqwest::header::HeaderMap;
use url::Url;

use super::{CheckCoverage, CoverageCounts, CoverageRule, IncompleteTest, Obstacle};
use crate::engine::SecretDigests;
use crate::engine::http::{HttpPage, Web, WebError};
use crate::engine::limits::ScanLimits;

/// Refusals between two controls during a check.
const CONTROL_INTERVAL: u32 = 16;

/// A path that does not exist, and how the site answered it at the beginning of the scan.
#[derive(Clone, Debug)]
pub struct ControlPath {
    url: Url,
    answer: Option<ControlAnswer>,
    /// The site refuses every path that it does not know, so a refusal does not show that a path is
    /// not public.
    refuses_unknown: bool,
}

/// What an answer says about a path that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ControlAnswer {
    Missing,
    Found,
    Refused,
    /// A redirect, an error, or an answer that depends on the load.
    Other,
}

impl ControlAnswer {
    fn of(page: &HttpPage) -> Self {
        match Obstacle::of_page(page) {
            Some(Obstacle::Firewall | Obstacle::Forbidden | Obstacle::UnknownStatus) => {
                Self::Refused
            }
            Some(_) => Self::Other,
            None if matches!(page.status, 400..=499) => Self::Missing,
            None if page.is_success() => Self::Found,
            None => Self::Other,
        }
    }
}

impl ControlPath {
    /// Requests a random path of the site.
    pub async fn read(web: &CheckedWeb<'_>, start: &Url) -> Option<Self> {
        let url = start
            .join(&format!("/sd{:016x}", rand::random::<u64>()))
            .ok()?;
        let page = web.probe(&url).await.ok();
        let answer = page.as_ref().map(ControlAnswer::of);
        // Object stores answer so for every missing name, to everybody.
        let is_store = page
            .as_ref()
            .is_some_and(|page| page.text().contains("<Code>AccessDenied</Code>"));
        Some(Self {
            url,
            answer,
            refuses_unknown: answer == Some(ControlAnswer::Refused) && !is_store,
        })
    }

    /// Whether the site now refuses this path, or shows a page for it, as it did not before.
    async fn is_blocked(&self, web: &Web<'_>) -> bool {
        let Some(before) = self.answer else {
            return false;
        };
        let Ok(page) = web.probe(&self.url).await else {
            return false;
        };
        matches!(
            (before, ControlAnswer::of(&page)),
            (
                ControlAnswer::Missing | ControlAnswer::Found | ControlAnswer::Other,
                ControlAnswer::Refused
            ) | (ControlAnswer::Missing, ControlAnswer::Found)
        )
    }
}

/// The client of one check: it counts what the check could not judge.
#[derive(Clone, Copy)]
pub struct CheckedWeb<'a> {
    web: &'a Web<'a>,
    coverage: &'a CheckCoverage,
    control: Option<&'a ControlPath>,
}

impl<'a> CheckedWeb<'a> {
    pub fn new(web: &'a Web<'a>, coverage: &'a CheckCoverage) -> Self {
        Self {
            web,
            coverage,
            control: None,
        }
    }

    /// The same client, whose refusals are compared with a control.
    pub fn with_control(self, control: Option<&'a ControlPath>) -> Self {
        Self { control, ..self }
    }

    pub async fn get(&self, url: &Url) -> Result<HttpPage, WebError> {
        self.send(Method::GET, url, HeaderMap::new()).await
    }

    /// Sends one request; callers use GET, HEAD and OPTIONS only.
    pub async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
    ) -> Result<HttpPage, WebError> {
        let answer = self.web.send(method, url, headers).await;
        self.record(&answer).await;
        answer
    }

    /// Requests a path that may exist, and reads only the beginning of its body.
    pub async fn probe(&self, url: &Url) -> Result<HttpPage, WebError> {
        let answer = self.web.probe(url).await;
        self.record(&answer).await;
        answer
    }

    /// Like `probe`, without the credentials of the scan.
    pub async fn probe_without_login(&self, url: &Url) -> Result<HttpPage, WebError> {
        let answer = self.web.probe_without_login(url).await;
        self.record(&answer).await;
        answer
    }

    /// Requests a page, and reads up to `max_body` bytes of its body.
    pub async fn get_up_to(&self, url: &Url, max_body: usize) -> Result<HttpPage, WebError> {
        let answer = self.web.get_up_to(url, max_body).await;
        self.record(&answer).await;
        answer
    }

    /// Counts the answer to a request that was sent for several checks.
    pub async fn recount(&self, answer: &Result<HttpPage, WebError>) {
        self.record(answer).await;
    }

    /// Counts an answer. Among refusals, some are followed by the control: a block may end before
    /// the check does.
    async fn record(&self, answer: &Result<HttpPage, WebError>) {
        self.coverage.record(answer);
        let is_refused = answer
            .as_ref()
            .is_ok_and(|page| Obstacle::of_page(page).is_some_and(Obstacle::is_refusal));
        let (_, refused) = self.refusals();
        if is_refused
            && refused % CONTROL_INTERVAL == 1
            && let Some(control) = self.control
            && control.is_blocked(self.web).await
        {
            self.coverage.is_blocked.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the control shows that the site blocked the check.
    async fn is_blocked(&self) -> bool {
        if self.coverage.is_blocked.load(Ordering::Relaxed) {
            return true;
        }
        match self.control {
            Some(control) if self.coverage.requests() > 0 => control.is_blocked(self.web).await,
            _ => false,
        }
    }

    pub fn limits(&self) -> &ScanLimits {
        self.web.limits()
    }

    pub fn secret_digests(&self) -> &SecretDigests {
        self.web.secret_digests()
    }

    /// The incomplete part of the check. `start` is the start page as the scan first saw it.
    ///
    /// A check that was refused on single paths requests the start page again: a site that still
    /// shows it refuses these paths only, unless it also refuses a path that does not exist.
    pub async fn incomplete(&self, start: &HttpPage, rule: CoverageRule) -> Option<IncompleteTest> {
        let CoverageCounts {
            requests,
            mut missed,
        } = self.coverage.counts();
        if rule.reads_errors {
            missed.remove(&Obstacle::ServerError);
        }
        let is_control_blocked = self.is_blocked().await;
        if is_control_blocked {
            // All answers of the check may be those of the firewall.
            missed = BTreeMap::from([(Obstacle::Firewall, requests)]);
        }
        let is_refused = missed.keys().any(|obstacle| obstacle.may_be_normal());
        let refuses_unknown = missed.contains_key(&Obstacle::Forbidden)
            && self.control.is_some_and(|control| control.refuses_unknown);
        let is_shown = is_refused && !refuses_unknown && self.shows(start).await;
        if is_shown && rule.may_refuse {
            missed.retain(|obstacle, _| !obstacle.may_be_normal());
        }
        let is_blocked =
            is_refused && !is_shown || matches!(self.web.shortfall(), Some(WebError::RateLimited));
        let incomplete = CoverageCounts { requests, missed }.incomplete(rule)?;
        Some(IncompleteTest {
            is_blocked,
            ..incomplete
        })
    }

    /// The requests, and how many of them the site refused.
    pub fn refusals(&self) -> (u32, u32) {
        let CoverageCounts { requests, missed } = self.coverage.counts();
        let refused = missed.iter().filter(|(obstacle, _)| obstacle.is_refusal());
        (requests, refused.map(|(_, count)| *count).sum())
    }

    async fn shows(&self, start: &HttpPage) -> bool {
        if Obstacle::of_page(start).is_some() || self.web.is_walled() {
            return false;
        }
        let again = self.web.get(&start.url).await;
        again.is_ok_and(|page| page.status == start.status && Obstacle::of_page(&page).is_none())
    }
}
