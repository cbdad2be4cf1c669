//! The terminal while another program has it: the editor, the pager, the shell.

use crate::core::Msg;
use crate::core::draw::paged_text;
use crate::runtime::event_loop::EventLoop;
use crate::runtime::signals::stop_until_continued;
use crate::runtime::{ProcessSignal, SignalStream, Terminal, editor};
use rustix::termios::{QueueSelector, tcflush};
use scandeck_client::Problem;
use std::io::stdin;
use tokio::time::Instant;

impl EventLoop {
    pub(super) async fn edit(&mut self, text: String) {
        if let Some(edited) = self.with_own_terminal(editor::edit(&text)).await {
            self.queue.push_back(Msg::Edited(edited));
        }
    }

    pub(super) async fn page(&mut self, text: Option<String>) {
        // The last frame is older than the keys before this one.
        if text.is_none() && self.draw_now().is_err() {
            self.left = Some(Some(1));
            return;
        }
        let Some(text) = text.or_else(|| paged_text(&self.model, &mut self.cache)) else {
            return self
                .queue
                .push_back(Msg::Paged(Err(Problem::local("no text to show in $PAGER"))));
        };
        // The card of a review may have been laid out before the mask.
        let text = self
            .model
            .mask()
            .map(|mask| mask.text(&text).into_owned())
            .unwrap_or(text);
        if let Some(paged) = self.with_own_terminal(editor::page(&text)).await {
            self.queue.push_back(Msg::Paged(paged));
        }
    }

    /// Gives the terminal to a program until it ends. `None` if a signal ends the dashboard
    /// meanwhile.
    async fn with_own_terminal<T>(&mut self, program: impl Future<Output = T>) -> Option<T> {
        self.release_terminal().await;
        let result = tokio::select! {
            biased;
            signal = ended(&mut self.signals) => {
                self.left = Some(Some(signal));
                return None;
            }
            result = program => result,
        };
        self.editor_ended = Some(Instant::now());
        // Keys that were typed for the other program, and answers that it requested.
        let _ = tcflush(stdin(), QueueSelector::IFlush);
        self.resume_terminal();
        Some(result)
    }

    pub(super) async fn suspend(&mut self) {
        self.release_terminal().await;
        if let Err(error) = stop_until_continued().await {
            tracing::warn!(%error, "cannot suspend");
        }
        self.resume_terminal();
    }

    pub async fn release_terminal(&mut self) {
        // The reader is closed first, so that it takes no keys of the other program.
        if let Some(keyboard) = self.keyboard.take() {
            keyboard.close().await;
        }
        self.terminal.leave();
    }

    pub fn resume_terminal(&mut self) {
        if self
            .terminal
            .resume()
            .and_then(|()| self.open_keyboard())
            .is_err()
        {
            self.left = Some(Some(1));
            return;
        }
        self.queue.push_back(Msg::Resize(Terminal::size()));
        self.redraw();
    }

    pub(super) fn redraw(&mut self) {
        // The next frame detects a terminal that is gone.
        self.terminal.clear();
        self.model.screen.dirty = true;
    }
}

/// Waits for a signal that ends the dashboard while another program has the terminal. Typed signals
/// do not: they were typed for that program.
async fn ended(signals: &mut SignalStream) -> i32 {
    loop {
        match signals.next().await {
            signal if signal.is_typed() => {}
            ProcessSignal::End(signal) => return signal,
            ProcessSignal::Continued | ProcessSignal::Resized => {}
        }
    }
}
