//! Alerts on their way to the channels: claimed in the file of sent alerts, held until the quiet
//! time is over, and given back when they did not arrive.
//!
//! ```text
//!   AlertRequest ─► each channel: already waiting? joins it : claim ─► quiet? sleep ─► claim ─► send
//!   Alert without routes, or one that failed ─► claim ─► not due? sleep ─► claim ─► send
//! ```

use crate::base::{Alert, AlertRequest};
use jiff::{SignedDuration, Timestamp};
use scandeck_domain::alerts::{
    AlertClaim, AlertKind, AlertRoutes, ClaimedEvents, EventAlert, SentAlerts,
};
use scandeck_domain::problem::Problem;
use scandeck_wire::contract::Stamp;
use scandeck_wire::sqlite::StoreError;
use scandeck_wire::text;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Longest sleep: an event that joins an alert must not wait until the other one is due.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// A channel, a rule by name, and a kind of events.
type OutboxKey = (String, String, AlertKind);

/// The waiting alerts of a service. They end with it; another process, or the next start, sends
/// what was not claimed.
#[derive(Debug)]
pub(crate) struct AlertOutbox {
    directory: PathBuf,
    waiting: Arc<Mutex<BTreeMap<OutboxKey, EventAlert>>>,
    tasks: JoinSet<()>,
}

impl AlertOutbox {
    pub fn new(directory: PathBuf) -> Self {
        Self {
            directory,
            waiting: Arc::default(),
            tasks: JoinSet::new(),
        }
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Begins the file of sent alerts, if there is none: events before its beginning are not sent.
    pub fn begin(&mut self, clock_offset: i64) {
        let directory = self.directory.clone();
        self.spawn(async move {
            if let Err(error) = begin(&directory, clock_offset).await {
                tracing::warn!(%error, "sent alerts are not stored");
            }
        });
    }

    /// Calls `send` for each channel of the rule with the events that this process sends there.
    pub fn claim(
        &mut self,
        request: &AlertRequest,
        send: impl Fn(EventAlert, AlertRoutes) + Clone + Send + 'static,
    ) {
        for (channel, routes) in channels(&request.alert.rule.routes) {
            let (directory, waiting) = (self.directory.clone(), Arc::clone(&self.waiting));
            let (request, send) = (request.clone(), send.clone());
            let send_there = move |alert| send(alert, routes.clone());
            self.spawn(async move {
                send_when_quiet_ends(&directory, &waiting, channel, request, send_there).await;
            });
        }
    }

    /// Calls `send` for each channel of an alert when it is due there, unless another process sends
    /// it.
    pub fn claim_alert(
        &mut self,
        alert: &Alert,
        routes: &AlertRoutes,
        clock_offset: i64,
        send: impl Fn(Alert) + Clone + Send + 'static,
    ) {
        for (channel, routes) in channels(routes) {
            let (directory, send) = (self.directory.clone(), send.clone());
            let (wanted, alert) = (alert.claim.clone().unwrap_or_default(), alert.clone());
            self.spawn(async move {
                let claim = claim_when_due(&directory, &channel, wanted, clock_offset).await;
                if !claim.events.is_empty() {
                    send(Alert {
                        routes: Some(routes),
                        claim: Some(claim),
                        ..alert
                    });
                }
            });
        }
    }

    fn spawn(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        // Only to free the tasks that ended.
        while self.tasks.try_join_next().is_some() {}
        self.tasks.spawn(work);
    }
}

/// The channels of a rule, each with its own routes.
pub fn channels(routes: &AlertRoutes) -> Vec<(String, AlertRoutes)> {
    let mut all = Vec::new();
    if routes.bell {
        let bell = AlertRoutes {
            bell: true,
            ..AlertRoutes::default()
        };
        all.push(("bell".to_owned(), bell));
    }
    if routes.desktop {
        let desktop = AlertRoutes {
            desktop: true,
            ..AlertRoutes::default()
        };
        all.push(("desktop".to_owned(), desktop));
    }
    if routes.program {
        let program = AlertRoutes {
            program: true,
            ..AlertRoutes::default()
        };
        all.push(("program".to_owned(), program));
    }
    for name in &routes.webhooks {
        let webhook = AlertRoutes {
            webhooks: BTreeSet::from([name.clone()]),
            ..AlertRoutes::default()
        };
        all.push((format!("webhook {name}"), webhook));
    }
    all
}

async fn send_when_quiet_ends(
    directory: &Path,
    waiting: &Mutex<BTreeMap<OutboxKey, EventAlert>>,
    channel: String,
    request: AlertRequest,
    send: impl Fn(EventAlert),
) {
    let AlertRequest {
        alert,
        clock_offset,
    } = request;
    let key = (channel, alert.rule.name.clone(), alert.kind);
    {
        let mut all = waiting.lock().await;
        if let Some(earlier) = all.get_mut(&key) {
            return earlier.events.extend(alert.events);
        }
        all.insert(key.clone(), alert);
    }
    loop {
        // The lock is held while the file is read, so that no event joins an alert that was sent.
        let mut all = waiting.lock().await;
        let Some(pending) = all.get_mut(&key) else {
            return;
        };
        let claimed = claim(directory, &key.0, &pending.claim(), clock_offset).await;
        let left = match claimed {
            Ok(ClaimedEvents::After(left)) => left,
            Ok(ClaimedEvents::Now(keys)) => {
                if !keys.is_empty() {
                    send(pending.clone().only(&keys));
                }
                // Events that failed in another process may be due later.
                pending.events.retain(|event| !keys.contains(&event.key));
                if keys.is_empty() || pending.events.is_empty() {
                    all.remove(&key);
                    return;
                }
                Duration::ZERO
            }
            Err(error) => {
                // An alert that is sent twice is better than none.
                tracing::warn!(%error, "sent alerts are not stored");
                return all.remove(&key).into_iter().for_each(send);
            }
        };
        drop(all);
        sleep(left.min(LONGEST_SLEEP)).await;
    }
}

/// Waits until an alert is due on a channel. Returns it with the events that this process sends;
/// may be none.
async fn claim_when_due(
    directory: &Path,
    channel: &str,
    mut wanted: AlertClaim,
    clock_offset: i64,
) -> AlertClaim {
    loop {
        match claim(directory, channel, &wanted, clock_offset).await {
            Ok(ClaimedEvents::Now(keys)) => {
                wanted.events.retain(|event| keys.contains(&event.key));
                return wanted;
            }
            Ok(ClaimedEvents::After(left)) => sleep(left).await,
            Err(error) => {
                // An alert that is sent twice is better than none.
                tracing::warn!(%error, "sent alerts are not stored");
                return wanted;
            }
        }
    }
}

/// The clock of the service, which is so many seconds ahead of this machine's.
pub fn service_now(clock_offset: i64) -> Stamp {
    let (now, offset) = (Timestamp::now(), SignedDuration::from_secs(clock_offset));
    Stamp(now.checked_add(offset).unwrap_or(now))
}

/// Begins the file of sent alerts, if there is none, and returns the keys of the events that wait
/// for another attempt.
///
/// # Errors
/// When it cannot be made or read.
pub async fn begin(directory: &Path, clock_offset: i64) -> Result<BTreeSet<String>, StoreError> {
    let mut sent = SentAlerts::open(directory, service_now(clock_offset)).await?;
    let owed = sent.owed().await;
    sent.close().await;
    owed
}

/// Claims the events of an alert on a channel, at the present time.
///
/// # Errors
/// When the file of sent alerts cannot be used.
pub async fn claim(
    directory: &Path,
    channel: &str,
    of: &AlertClaim,
    clock_offset: i64,
) -> Result<ClaimedEvents, StoreError> {
    let now = service_now(clock_offset);
    let mut sent = SentAlerts::open(directory, now).await?;
    let claimed = sent.claim(channel, of, now).await;
    sent.close().await;
    claimed
}

/// Gives back the events of an alert that did not arrive. Returns the time until the next attempt,
/// if there is one.
///
/// # Errors
/// When the file of sent alerts cannot be used.
pub async fn release(
    directory: &Path,
    channel: &str,
    of: &AlertClaim,
    clock_offset: i64,
) -> Result<Option<Duration>, StoreError> {
    let now = service_now(clock_offset);
    let mut sent = SentAlerts::open(directory, now).await?;
    let left = sent.release(channel, of, now).await;
    sent.close().await;
    left
}

/// Gives back the events of an alert that failed on its channels, unless it may have arrived.
/// Returns the problem with the time of the next attempt, and whether there is one.
pub async fn release_failed(
    directory: &Path,
    alert: &Alert,
    problem: Problem,
    clock_offset: i64,
) -> FailedAlert {
    let mut next: Option<Duration> = None;
    let routes = alert
        .routes
        .as_ref()
        .filter(|_| !problem.is_outcome_unknown);
    for (channel, _) in routes.map(channels).unwrap_or_default() {
        let claim = alert.claim.clone().unwrap_or_default();
        match release(directory, &channel, &claim, clock_offset).await {
            Ok(left) => next = next.max(left),
            Err(error) => tracing::warn!(%error, "alert that failed is not stored"),
        }
    }
    let again = match next {
        Some(left) => format!("next attempt in {}", text::duration(left.as_secs() as i64)),
        None => "not sent again".to_owned(),
    };
    FailedAlert {
        problem: Problem {
            message: format!("{problem}, {again}"),
            status: None,
            ..problem
        },
        has_next: next.is_some(),
    }
}

/// An alert that did not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedAlert {
    pub problem: Problem,
    /// Whether there is another attempt.
    pub has_next: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_domain::alerts::{AlertEvent, EventKey, EventRule};
    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

    fn request(quiet: u64, routes: AlertRoutes, keys: &[&str]) -> AlertRequest {
        let kinds = BTreeSet::from([AlertKind::Finding]);
        let quiet = Duration::from_secs(quiet);
        let event = |key: &&str| AlertEvent {
            kind: AlertKind::Finding,
            key: (*key).to_owned(),
            at: None,
            risk: None,
            title: "new critical finding".to_owned(),
            body: (*key).to_owned(),
            fields: Vec::new(),
        };
        let alert = EventAlert {
            rule: Arc::new(EventRule::new("night", kinds, "", quiet, routes).unwrap()),
            kind: AlertKind::Finding,
            events: keys.iter().map(event).collect(),
        };
        AlertRequest {
            alert,
            clock_offset: 0,
        }
    }

    /// An alert about a capture.
    fn capture_alert(key: &str) -> Alert {
        let event = EventKey {
            key: key.to_owned(),
            at: None,
        };
        Alert {
            body: key.to_owned(),
            claim: Some(AlertClaim {
                events: vec![event],
                ..AlertClaim::default()
            }),
            ..Alert::default()
        }
    }

    fn program() -> AlertRoutes {
        AlertRoutes {
            program: true,
            ..AlertRoutes::default()
        }
    }

    async fn next(sent: &mut UnboundedReceiver<(String, AlertRoutes)>) -> (String, AlertRoutes) {
        let limit = Duration::from_secs(30);
        let next = tokio::time::timeout(limit, sent.recv()).await;
        next.unwrap().unwrap()
    }

    #[tokio::test]
    async fn each_channel_sends_an_event_once_across_two_processes() {
        let temp = tempfile::tempdir().unwrap();
        let routes = AlertRoutes {
            bell: true,
            program: true,
            ..AlertRoutes::default()
        };
        let (to, mut sent) = unbounded_channel();
        let send = move |alert: EventAlert, routes| to.send((alert.body(), routes)).unwrap();
        let mut processes = [0, 1].map(|_| AlertOutbox::new(temp.path().to_owned()));
        for outbox in &mut processes {
            outbox.claim(&request(0, routes.clone(), &["a"]), send.clone());
        }
        let both = [next(&mut sent).await, next(&mut sent).await];
        assert!(both.iter().all(|(body, _)| body == "a"), "{both:?}");
        assert_eq!(both.iter().filter(|(_, routes)| routes.bell).count(), 1);
        assert_eq!(both.iter().filter(|(_, routes)| routes.program).count(), 1);
        for outbox in &mut processes {
            while outbox.tasks.join_next().await.is_some() {}
        }
        assert!(sent.try_recv().is_err(), "nothing more");
    }

    #[tokio::test]
    async fn events_of_the_quiet_time_are_sent_together() {
        let temp = tempfile::tempdir().unwrap();
        let routes = AlertRoutes {
            program: true,
            ..AlertRoutes::default()
        };
        let (to, mut sent) = unbounded_channel();
        let send = move |alert: EventAlert, routes| to.send((alert.body(), routes)).unwrap();
        let mut outbox = AlertOutbox::new(temp.path().to_owned());
        outbox.claim(&request(2, routes.clone(), &["a"]), send.clone());
        assert_eq!(next(&mut sent).await.0, "a");
        for keys in [&["b"][..], &["c", "a"]] {
            outbox.claim(&request(2, routes.clone(), keys), send.clone());
        }
        let together = next(&mut sent).await.0;
        assert!(together.ends_with(" (and 1 more)"), "{together}");
    }

    #[tokio::test]
    async fn bell_and_desktop_are_claimed_apart() {
        let both = AlertRoutes {
            bell: true,
            desktop: true,
            ..AlertRoutes::default()
        };
        let names = channels(&both).into_iter().map(|(name, _)| name);
        assert_eq!(names.collect::<Vec<_>>(), ["bell", "desktop"]);
        let temp = tempfile::tempdir().unwrap();
        let (to, mut sent) = unbounded_channel();
        let send = move |alert: EventAlert, routes| to.send((alert.body(), routes)).unwrap();
        let mut outbox = AlertOutbox::new(temp.path().to_owned());
        let bell = AlertRoutes {
            desktop: false,
            ..both.clone()
        };
        outbox.claim(&request(0, bell, &["a"]), send.clone());
        assert!(next(&mut sent).await.1.bell);
        // The rule of the bell does not silence that of the desktop.
        outbox.claim(&request(0, both, &["a"]), send);
        let second = next(&mut sent).await.1;
        assert!(second.desktop && !second.bell);
    }

    #[tokio::test]
    async fn alert_about_a_capture_is_sent_by_one_process() {
        let temp = tempfile::tempdir().unwrap();
        let (to, mut sent) = unbounded_channel();
        let send = move |alert: Alert| to.send(alert).unwrap();
        let mut processes = [0, 1].map(|_| AlertOutbox::new(temp.path().to_owned()));
        for outbox in &mut processes {
            outbox.claim_alert(&capture_alert("a"), &program(), 0, send.clone());
        }
        for outbox in &mut processes {
            while outbox.tasks.join_next().await.is_some() {}
        }
        assert_eq!(sent.recv().await.unwrap().routes, Some(program()));
        assert!(sent.try_recv().is_err(), "nothing more");
    }

    #[tokio::test]
    async fn failed_alert_has_another_attempt_unless_it_may_have_arrived() {
        let temp = tempfile::tempdir().unwrap();
        for (is_outcome_unknown, text, has_next) in [
            (false, "refused, next attempt in 1m", true),
            (true, "refused, not sent again", false),
        ] {
            let alert = Alert {
                routes: Some(program()),
                ..capture_alert(text)
            };
            let wanted = alert.claim.clone().unwrap();
            claim_when_due(temp.path(), "program", wanted, 0).await;
            let problem = Problem {
                is_outcome_unknown,
                ..Problem::local("refused")
            };
            let failed = release_failed(temp.path(), &alert, problem, 0).await;
            assert_eq!(failed.problem.message, text);
            assert_eq!(failed.has_next, has_next);
            let owed = begin(temp.path(), 0).await.unwrap();
            assert_eq!(owed.contains(text), has_next);
        }
    }
}
