//! The clock of the service: real outside of tests, moved by hand in them, so that no test waits for a time limit.

use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};

/// Tells the time and waits for it.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Timestamp;
    /// Waits until `at` has come.
    fn until(&self, at: Timestamp) -> BoxFuture<'static, ()>;
}

/// The clock of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn until(&self, at: Timestamp) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let left = at.duration_since(Timestamp::now());
            tokio::time::sleep(left.try_into().unwrap_or_default()).await;
        })
    }
}

/// A clock that moves only when told to.
#[derive(Clone, Debug)]
pub struct ManualClock(std::sync::Arc<tokio::sync::watch::Sender<Timestamp>>);

impl ManualClock {
    /// Stands at `now`.
    pub fn new(now: Timestamp) -> Self {
        Self(std::sync::Arc::new(tokio::sync::watch::Sender::new(now)))
    }

    /// Moves on.
    pub fn advance(&self, by: SignedDuration) {
        self.0.send_modify(|now| *now = now.saturating_add(by).unwrap_or(Timestamp::MAX));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.borrow()
    }

    fn until(&self, at: Timestamp) -> BoxFuture<'static, ()> {
        let mut now = self.0.subscribe();
        Box::pin(async move {
            if now.wait_for(|now| *now >= at).await.is_err() {
                // Nobody can move the clock any more: that time never comes.
                std::future::pending::<()>().await;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_manual_clock_wakes_who_waits_once_the_time_has_come() {
        let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
        let at = Timestamp::from_second(60).unwrap();
        let waiting = tokio::spawn(clock.until(at));
        clock.advance(SignedDuration::from_secs(59));
        assert!(!waiting.is_finished());
        clock.advance(SignedDuration::from_secs(1));
        waiting.await.unwrap();
    }
}
