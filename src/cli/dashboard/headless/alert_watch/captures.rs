//! Alerts of `scandeck watch` about captured requests, by the rules of the dashboard.
//!
//! ```text
//!   loggers ─► archive ─► captures of the last day: payload of the book? alert rule of the workspace? ─► waiting
//!   waiting, by payload ─► AlertSender ─► sent on all channels? forgotten : at the next look again
//! ```

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;

use super::HeadlessSession;
use super::sender::AlertSender;
use crate::cli::dashboard::headless::archive::{ArchiveReader, WorkspaceCapture};
use crate::cli::dashboard::headless::decisions;
use scandeck_dashboard::base::{Alert, AlertReason, CaptureAlert};
use scandeck_dashboard::data::{ALERT, OFF};
use scandeck_domain::alerts::{ALERT_WINDOW, AlertClaim};
use scandeck_domain::oob::{HitCounts, Payload, Token};
use scandeck_domain::query::{Query, QueryKind};
use scandeck_domain::table::{RecognizedCapture, Rows};
use scandeck_domain::triage::StoredSettings;
use scandeck_domain::triage::settings::settings_of;
use scandeck_wire::contract::{Shared, Stamp};

/// The captures whose alerts are not sent yet.
#[derive(Debug)]
pub struct CaptureWatch<'a> {
    session: &'a HeadlessSession,
    archive: ArchiveReader<'a>,
    waiting: Vec<WaitingCapture>,
}

#[derive(Debug)]
struct WaitingCapture {
    at: Option<Stamp>,
    /// About this capture alone.
    alert: Alert,
    claim: AlertClaim,
}

/// An alert rule of a workspace.
struct CaptureRule {
    text: String,
    query: Query,
}

impl<'a> CaptureWatch<'a> {
    /// Opens the archive, or creates it.
    ///
    /// # Errors
    /// When it cannot be opened or created.
    pub async fn open(session: &'a HeadlessSession) -> anyhow::Result<Self> {
        Ok(Self {
            session,
            archive: ArchiveReader::open(session).await?,
            waiting: Vec::new(),
        })
    }

    /// Sends the alerts about captures that are due; returns whether all were delivered. `now` is
    /// the clock of the service.
    ///
    /// # Errors
    /// Those of the service, the archive and the file of sent alerts.
    pub async fn look(&mut self, sender: &AlertSender<'_>, now: Stamp) -> anyhow::Result<bool> {
        let window = SignedDuration::from_secs(ALERT_WINDOW);
        let oldest = Stamp(now.0.checked_sub(window)?);
        let (_, settings) = decisions::read(&self.session.memory).await?;
        let rules = rules_by_workspace(&settings);
        for rule in rules.values().flatten() {
            self.archive.load_targets(Some(&rule.query)).await?;
        }
        let mut by_workspace: BTreeMap<Shared, Vec<WorkspaceCapture>> = BTreeMap::new();
        for one in self.archive.since(oldest).await? {
            let workspace = one.workspace.clone();
            by_workspace.entry(workspace).or_default().push(one);
        }
        for (workspace, captures) in by_workspace {
            let of_workspace = rules.get(&workspace).map(Vec::as_slice);
            self.add(of_workspace.unwrap_or_default(), &captures, now);
        }
        self.waiting
            .retain(|waiting| waiting.at.is_none_or(|at| at >= oldest));
        self.send(sender).await
    }

    /// Adds the captures that cause an alert: with a payload of the book, unless a bot or the
    /// analyst sent them, and those that match a rule.
    fn add(&mut self, rules: &[CaptureRule], captures: &[WorkspaceCapture], now: Stamp) {
        let matched = self.matched(rules, captures, now);
        let clock_offset = self.session.clock_offset();
        let mut added = Vec::new();
        for (one, rule) in captures.iter().zip(matched) {
            let capture = &one.record.capture;
            let mentions = one.record.mentions.iter();
            let tokens: BTreeSet<Token> = mentions.map(|mention| mention.token).collect();
            let book = &self.archive.book;
            let known = tokens.iter().filter_map(|token| book.get(*token));
            let payloads: Vec<&Payload> = known.map(|payload| &**payload).collect();
            let reason = match rule {
                Some(query) => AlertReason::Rule(query),
                None if payloads.is_empty() || self.archive.is_quiet(capture) => continue,
                None => AlertReason::Payload,
            };
            let about = CaptureAlert {
                capture,
                logger: one.record.logger,
                label: &one.record.label,
                workspace: &one.workspace,
                reason,
                payload: None,
                clock_offset,
            };
            if payloads.is_empty() {
                added.push(WaitingCapture::new(&about));
            }
            let hits = payloads.iter().map(|payload| CaptureAlert {
                payload: Some(*payload),
                ..about
            });
            added.extend(hits.map(|hit| WaitingCapture::new(&hit)));
        }
        self.waiting.append(&mut added);
    }

    /// The rule that each capture matches.
    fn matched<'r>(
        &self,
        rules: &'r [CaptureRule],
        captures: &[WorkspaceCapture],
        now: Stamp,
    ) -> Vec<Option<&'r str>> {
        let rows: Vec<RecognizedCapture<'_>> = captures.iter().map(row).collect();
        let hits = HitCounts::new();
        let others = &self.archive.others(&hits);
        let source = Rows {
            rows: &rows,
            others,
            now: now.as_second(),
        };
        let mut matched = vec![None; rows.len()];
        for rule in rules {
            for at in rule.query.matches(&source).rows() {
                matched[at].get_or_insert(rule.text.as_str());
            }
        }
        matched
    }

    /// Sends one alert for each payload, and one for all captures that only match a rule.
    async fn send(&mut self, sender: &AlertSender<'_>) -> anyhow::Result<bool> {
        let routes = sender.plan.all_routes();
        let mut groups: BTreeMap<String, Vec<WaitingCapture>> = BTreeMap::new();
        for waiting in self.waiting.drain(..) {
            let group = waiting.claim.group.clone();
            groups.entry(group).or_default().push(waiting);
        }
        let mut is_delivered = true;
        let mut left = groups.into_values();
        while let Some(group) = left.next() {
            let claim = AlertClaim {
                events: group
                    .iter()
                    .flat_map(|waiting| waiting.claim.events.clone())
                    .collect(),
                ..group
                    .first()
                    .map(|first| first.claim.clone())
                    .unwrap_or_default()
            };
            let sent = sender
                .send(&routes, &claim, |keys| joined(&group, keys))
                .await;
            let is_settled = sent.as_ref().is_ok_and(|sent| sent.is_settled);
            if !is_settled {
                self.waiting.extend(group);
            }
            match sent {
                Ok(sent) => is_delivered &= sent.is_delivered,
                Err(error) => {
                    self.waiting.extend(left.flatten());
                    return Err(error);
                }
            }
        }
        Ok(is_delivered)
    }
}

impl WaitingCapture {
    fn new(about: &CaptureAlert<'_>) -> Self {
        let mut alert = about.alert();
        let mut claim = alert.claim.take().unwrap_or_default();
        let at = about.capture.request_date;
        // Captures from before the first use are no news.
        claim.events.iter_mut().for_each(|event| event.at = at);
        Self { at, alert, claim }
    }

    fn is_of(&self, keys: &BTreeSet<String>) -> bool {
        self.claim.events.iter().all(|one| keys.contains(&one.key))
    }
}

/// The alert about the first of the captures with these keys, and the number of the others.
fn joined(group: &[WaitingCapture], keys: &BTreeSet<String>) -> Alert {
    let mut claimed = group.iter().filter(|waiting| waiting.is_of(keys));
    let Some(first) = claimed.next() else {
        return Alert::default();
    };
    let mut all = first.claim.clone();
    let others: Vec<&WaitingCapture> = claimed.collect();
    all.events
        .extend(others.iter().flat_map(|one| one.claim.events.clone()));
    let mut alert = Alert {
        claim: Some(all),
        ..first.alert.clone()
    };
    alert.add_more(others.len());
    alert
}

fn row(one: &WorkspaceCapture) -> RecognizedCapture<'_> {
    RecognizedCapture {
        capture: &one.record.capture,
        has_body: !one.record.capture.request_body_base64.is_empty(),
        label: &one.record.label,
        mentions: &one.record.mentions,
    }
}

/// The rules that are on.
fn rules_by_workspace(settings: &StoredSettings) -> BTreeMap<Shared, Vec<CaptureRule>> {
    let names: BTreeSet<&Shared> = settings.keys().map(|(_, workspace)| workspace).collect();
    let rules_of = |workspace: &Shared| -> Vec<CaptureRule> {
        let stored = settings_of(settings, ALERT, workspace).into_iter();
        let on = stored.filter(|(_, state)| state != OFF);
        on.filter_map(|(text, _)| CaptureRule::parse(text))
            .collect()
    };
    let named = names.into_iter();
    named
        .map(|workspace| (workspace.clone(), rules_of(workspace)))
        .collect()
}

impl CaptureRule {
    fn parse(text: String) -> Option<Self> {
        let query = Query::parse(&text, QueryKind::Captures).ok()?;
        Some(Self { text, query })
    }
}
