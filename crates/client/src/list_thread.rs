//! The thread that decodes long responses and builds the tables of long lists.
//!
//! The allocator keeps freed memory for each thread. If this work moved between the threads of a
//! pool, several of them would keep as much as the longest list needs for a moment.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, mpsc};
use std::thread;

use tokio::sync::oneshot;

type Work = Box<dyn FnOnce() + Send>;

static QUEUE: LazyLock<mpsc::Sender<Work>> = LazyLock::new(|| {
    let (queue, waiting) = mpsc::channel::<Work>();
    let run = move || {
        waiting
            .into_iter()
            .for_each(|work| _ = catch_unwind(AssertUnwindSafe(work)))
    };
    if let Err(error) = thread::Builder::new().name("lists".to_owned()).spawn(run) {
        tracing::error!(%error, "list thread not started");
    }
    queue
});

/// Runs work on the thread, after the queued work. `None` if the work panics.
pub async fn on_list_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (answer, result) = oneshot::channel();
    // Nobody waits for the result of a cancelled request.
    let work = move || _ = answer.send(work());
    QUEUE.send(Box::new(work)).ok()?;
    result.await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn panic_of_work_does_not_end_list_thread() {
        let thread = || thread::current().id();
        let first = on_list_thread(thread).await;
        assert_eq!(
            on_list_thread(|| panic!("expected by this test")).await,
            None::<()>
        );
        assert!(first.is_some() && first != Some(thread()));
        assert_eq!(on_list_thread(thread).await, first);
    }
}
