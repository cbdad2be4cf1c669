//! A clock that tests advance.

use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use scandeck::service::clock::Clock;
use tokio::sync::watch::Sender;

#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Sender<Timestamp>>);

impl ManualClock {
    pub fn new(now: Timestamp) -> Self {
        Self(Arc::new(Sender::new(now)))
    }

    pub fn advance(&self, by: SignedDuration) {
        self.0
            .send_modify(|now| *now = now.saturating_add(by).unwrap_or(Timestamp::MAX));
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
                // Without a sender the clock never advances again.
                std::future::pending::<()>().await;
            }
        })
    }
}

#[tokio::test]
async fn manual_clock_wakes_waiting_task_at_its_time() {
    let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
    let waiting = tokio::spawn(clock.until(Timestamp::from_second(60).unwrap()));
    clock.advance(SignedDuration::from_secs(59));
    assert!(!waiting.is_finished());
    clock.advance(SignedDuration::from_secs(1));
    waiting.await.unwrap();
}
