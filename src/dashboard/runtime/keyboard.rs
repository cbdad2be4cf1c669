//! The terminal's events, read by a task of their own while the dashboard has the terminal.
//!
//! The stream of crossterm wakes only the task that asked it first, so it cannot be polled both for waiting and for
//! looking whether there is more. A channel can.

use crossterm::event::{Event, EventStream};
use futures::StreamExt;
use std::io;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

/// Events that may wait; beyond, they wait in the terminal.
const WAITING: usize = 1024;

/// The reader of the terminal.
pub(crate) struct Keyboard {
    events: mpsc::Receiver<io::Result<Event>>,
    task: AbortOnDropHandle<()>,
}

impl Keyboard {
    /// Begins to read.
    pub fn open() -> Self {
        let (to, events) = mpsc::channel(WAITING);
        let task = AbortOnDropHandle::new(tokio::spawn(async move {
            let mut stream = EventStream::new();
            while let Some(event) = stream.next().await {
                let broken = event.is_err();
                if to.send(event).await.is_err() || broken {
                    return;
                }
            }
        }));
        Self { events, task }
    }

    /// The next event; nothing when the terminal is gone.
    pub async fn next(&mut self) -> Option<io::Result<Event>> {
        self.events.recv().await
    }

    /// The next event, if it is there already.
    pub fn at_hand(&mut self) -> Option<io::Result<Event>> {
        self.events.try_recv().ok()
    }

    /// Ends reading: when this returns, keys go to whoever reads next.
    pub async fn close(self) {
        self.task.abort();
        // Cancelled is what it should be.
        let _ = self.task.await;
    }
}
