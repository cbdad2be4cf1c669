//! The clock of the service. Tests replace it, so that no test waits for a time limit.

use futures::future::BoxFuture;
use jiff::Timestamp;

pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;

    /// Waits until `at`.
    fn until(&self, at: Timestamp) -> BoxFuture<'static, ()>;
}

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
