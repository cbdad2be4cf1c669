//! Alerts about events on their way to the channels of a rule: claimed in the file of sent alerts,
//! and held until the quiet time is over.
//!
//! ```text
//!   AlertRequest ─► each channel: already waiting? joins it : claim ─► quiet? sleep ─► claim ─► send
//! ```

use crate::base::AlertRequest;
use jiff::{SignedDuration, Timestamp};
use scandeck_domain::alerts::{AlertKind, AlertRoutes, ClaimedEvents, EventAlert, SentAlerts};
use scandeck_wire::contract::Stamp;
use scandeck_wire::sqlite::StoreError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::sleep;

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

    /// Begins the file of sent alerts, if there is none: events before its beginning are not sent.
    pub fn begin(&mut self) {
        let directory = self.directory.clone();
        self.tasks.spawn(async move {
            if let Err(error) = begin(&directory, 0).await {
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
        // Only to free the tasks that ended.
        while self.tasks.try_join_next().is_some() {}
        for (channel, routes) in channels(&request.alert.rule.routes) {
            let (directory, waiting) = (self.directory.clone(), Arc::clone(&self.waiting));
            let (request, send) = (request.clone(), send.clone());
            self.tasks.spawn(async move {
                if let Some(alert) = when_quiet_ends(&directory, &waiting, channel, request).await {
                    send(alert, routes);
                }
            });
        }
    }
}

/// The channels of a rule, each with its own routes. Bell and desktop are one: the screen.
pub fn channels(routes: &AlertRoutes) -> Vec<(String, AlertRoutes)> {
    let mut all = Vec::new();
    if routes.is_shown() {
        let screen = AlertRoutes {
            bell: routes.bell,
            desktop: routes.desktop,
            ..AlertRoutes::default()
        };
        all.push(("screen".to_owned(), screen));
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

async fn when_quiet_ends(
    directory: &Path,
    waiting: &Mutex<BTreeMap<OutboxKey, EventAlert>>,
    channel: String,
    request: AlertRequest,
) -> Option<EventAlert> {
    let AlertRequest {
        alert,
        clock_offset,
    } = request;
    let key = (channel, alert.rule.name.clone(), alert.kind);
    {
        let mut all = waiting.lock().await;
        if let Some(earlier) = all.get_mut(&key) {
            earlier.events.extend(alert.events);
            return None;
        }
        all.insert(key.clone(), alert);
    }
    loop {
        // The lock is held while the file is read, so that no event joins an alert that was sent.
        let mut all = waiting.lock().await;
        let pending = all.get(&key)?.clone();
        let claimed = claim(directory, &key.0, &pending, clock_offset).await;
        let left = match claimed {
            Ok(ClaimedEvents::After(left)) => left,
            Ok(ClaimedEvents::Now(alert)) => {
                all.remove(&key);
                return Some(alert).filter(|alert| !alert.events.is_empty());
            }
            Err(error) => {
                // An alert that is sent twice is better than none.
                tracing::warn!(%error, "sent alerts are not stored");
                return all.remove(&key);
            }
        };
        drop(all);
        sleep(left).await;
    }
}

/// The clock of the service, which is so many seconds ahead of this machine's.
pub fn service_now(clock_offset: i64) -> Stamp {
    let (now, offset) = (Timestamp::now(), SignedDuration::from_secs(clock_offset));
    Stamp(now.checked_add(offset).unwrap_or(now))
}

/// Begins the file of sent alerts, if there is none.
///
/// # Errors
/// When it cannot be made.
pub async fn begin(directory: &Path, clock_offset: i64) -> Result<(), StoreError> {
    let sent = SentAlerts::open(directory, service_now(clock_offset)).await?;
    sent.close().await;
    Ok(())
}

/// Claims the events of an alert on a channel, at the present time.
///
/// # Errors
/// When the file of sent alerts cannot be used.
pub async fn claim(
    directory: &Path,
    channel: &str,
    alert: &EventAlert,
    clock_offset: i64,
) -> Result<ClaimedEvents, StoreError> {
    let now = service_now(clock_offset);
    let mut sent = SentAlerts::open(directory, now).await?;
    let claimed = sent.claim(channel, alert, now).await;
    sent.close().await;
    claimed
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_domain::alerts::{AlertEvent, EventRule};
    use std::time::Duration;
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
        assert!(together.ends_with(" and 1 more"), "{together}");
    }
}
