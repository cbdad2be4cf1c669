//! Work of a scan that needs time on a processor: it runs on a blocking thread, never on a thread
//! of the runtime.
//!
//! ```text
//!   scan ──closure──► blocking thread ──► result
//!    └─ dropped (stop, time limit, shutdown) ──► StopFlag set: long work ends at its next check
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set when nobody waits for the result any more.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Sets the flag when the waiting future is dropped.
struct SetOnDrop(StopFlag);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Runs `work` on a blocking thread; a panic in it continues in the caller.
pub async fn run<T: Send + 'static>(work: impl FnOnce(&StopFlag) -> T + Send + 'static) -> T {
    let guard = SetOnDrop(StopFlag::default());
    let stop = guard.0.clone();
    match tokio::task::spawn_blocking(move || work(&stop)).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime cancels queued work when it shuts down; then nobody polls this future
            // again.
            Err(_) => std::future::pending().await,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn dropped_future_sets_the_flag() {
        let (sender, ended) = tokio::sync::oneshot::channel();
        let work = run(move |stop| {
            while !stop.is_set() {
                std::thread::sleep(Duration::from_millis(1));
            }
            let _ = sender.send(());
        });
        assert!(
            tokio::time::timeout(Duration::from_millis(20), work)
                .await
                .is_err()
        );
        ended.await.unwrap();
    }
}
