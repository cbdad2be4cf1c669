//! The events of the terminal, read by a separate task while the dashboard has the terminal.
//!
//! The event stream of crossterm wakes only the task that polled it first, so it cannot be polled both to wait and to look
//! for further events. A channel can.

use crossterm::event::{Event, EventStream};
use futures::StreamExt;
use std::io;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

/// Events that wait in the channel; further ones wait in the terminal.
const WAITING: usize = 1024;

/// The reader of terminal events.
pub(crate) struct Keyboard {
    events: mpsc::Receiver<io::Result<Event>>,
    task: AbortOnDropHandle<()>,
}

impl Keyboard {
    /// Starts to read.
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

    /// The next event, or `None` when the terminal is gone.
    pub async fn next(&mut self) -> Option<io::Result<Event>> {
        self.events.recv().await
    }

    /// The next event, if it has arrived.
    pub fn at_hand(&mut self) -> Option<io::Result<Event>> {
        self.events.try_recv().ok()
    }

    /// Stops reading. After this, another program receives the keys.
    pub async fn close(self) {
        self.task.abort();
        // The result is the cancellation.
        let _ = self.task.await;
    }
}
