//! Sending an alert of `scandeck watch`: each channel once, whichever process is first.
//!
//! ```text
//!   alert ─► each channel: claimed? ─► program, webhook, terminal ─► failed? given back for another attempt
//!                                  └─► a line on standard output
//! ```

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write, stderr};

use jiff::Timestamp;

use super::HeadlessSession;
use crate::cli::stdio;
use scandeck_dashboard::base::Alert;
use scandeck_dashboard::config::AlertPlan;
use scandeck_dashboard::runtime::alert::{NotifyMethod, deliver};
use scandeck_dashboard::runtime::alert_body::json_of;
use scandeck_dashboard::runtime::alert_outbox::{channels, claim, release_failed};
use scandeck_domain::alerts::{AlertClaim, AlertRoutes, ClaimedEvents};
use scandeck_domain::problem::Problem;
use scandeck_wire::contract::Stamp;
use scandeck_wire::text;

/// Sends alerts about one service.
#[derive(Clone, Copy, Debug)]
pub struct AlertSender<'a> {
    pub session: &'a HeadlessSession,
    pub plan: &'a AlertPlan,
    /// The service's clock minus this machine's, in seconds.
    pub clock_offset: i64,
}

/// What became of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentAlert {
    /// Whether no channel failed.
    pub is_delivered: bool,
    /// Whether no channel waits for its quiet time or another attempt.
    pub is_settled: bool,
}

impl AlertSender<'_> {
    /// Sends an alert on these channels. `alert_about` makes it of the keys that were claimed.
    ///
    /// # Errors
    /// When the file of sent alerts cannot be used, or standard output is closed.
    pub async fn send(
        &self,
        routes: &AlertRoutes,
        of: &AlertClaim,
        alert_about: impl Fn(&BTreeSet<String>) -> Alert,
    ) -> anyhow::Result<SentAlert> {
        let mut sent = SentAlert {
            is_delivered: true,
            is_settled: true,
        };
        let mut printed: Option<Alert> = None;
        for (channel, routes_there) in channels(routes) {
            // Without a terminal, bell and desktop are left to a dashboard.
            if routes_there.is_shown() && !stderr().is_terminal() {
                continue;
            }
            let directory = &self.session.memory.directory;
            let claimed = claim(directory, &channel, of, self.clock_offset).await?;
            let ClaimedEvents::Now(keys) = claimed else {
                sent.is_settled = false;
                continue;
            };
            if keys.is_empty() {
                continue;
            }
            let alert = Alert {
                routes: Some(routes_there),
                ..alert_about(&keys)
            };
            if !self.is_delivered(&alert).await {
                sent.is_delivered = false;
                sent.is_settled = false;
            }
            printed = printed.or(Some(alert));
        }
        if let Some(alert) = printed {
            self.print(&alert)?;
        }
        Ok(sent)
    }

    /// Sends an alert on its channel, and reports what failed; returns whether nothing did.
    async fn is_delivered(&self, alert: &Alert) -> bool {
        let routes = alert.routes.clone().unwrap_or_default();
        let method = NotifyMethod::of(|name| std::env::var(name).ok());
        let sequence = method.sequence_on(alert, &routes);
        let written = stderr().write_all(sequence.as_bytes());
        let unwritten = written.map_err(|error| Problem::local(format!("terminal: {error}")));
        let delivered = deliver(self.plan, &routes, alert).await;
        let problems: Vec<Problem> = unwritten.err().into_iter().chain(delivered).collect();
        let is_delivered = problems.is_empty();
        let directory = &self.session.memory.directory;
        for problem in problems {
            let failed = release_failed(directory, alert, problem, self.clock_offset).await;
            note!("scandeck: {}", text::clean(&failed.problem.to_string()));
        }
        is_delivered
    }

    /// A line for each alert; JSON lines with `--json`.
    fn print(&self, alert: &Alert) -> anyhow::Result<()> {
        if self.session.out.json {
            let json = json_of(alert).to_string();
            return stdio::print(format!("{}\n", text::escaped_json(&json)).as_bytes());
        }
        let now = Stamp(Timestamp::now());
        let line = format!("{now} {}: {}", alert.title, alert.body);
        self.session.out.line(&line)
    }
}
