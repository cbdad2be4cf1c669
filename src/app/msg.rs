//! Everything that can happen to the dashboard, and the time it happens at.

use std::time::Duration;

use crossterm::event::KeyEvent;
use jiff::Timestamp;

use super::effect::{Answer, Ticket};
use super::model::Session;
use super::plan::Update;
use super::problem::Problem;
use super::screen::Size;

/// The time of a message. The core has no clock: time arrives with what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Since the dashboard started; never jumps.
    pub mono: Duration,
    /// By this machine's clock.
    pub wall: Timestamp,
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Msg {
    /// A key was pressed (or repeated; releases are not sent).
    Key(KeyEvent),
    /// Text was pasted.
    Paste(String),
    /// The terminal has this size now.
    Resize(Size),
    /// The poller learnt something.
    Update(Update),
    /// A call made for a person was answered.
    Called {
        /// Of the effect.
        ticket: Ticket,
        /// What came of it.
        result: Result<Answer, Problem>,
    },
    /// A copy was made, or not; the sentence says how.
    Copied(Result<String, CopyFailed>),
    /// The editor was left; the text is the field's new content.
    Edited(Result<String, Problem>),
    /// A file was written: its full path.
    Saved(Result<std::path::PathBuf, Problem>),
    /// The first-start choice was carried out: the service the dashboard is on now, or why it is not.
    Connected(Result<Session, Problem>),
    /// The time [`Model::wake_at`](super::Model::wake_at) named has come.
    Woke,
}

/// A copy that could not leave: the text is shown instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyFailed {
    /// Why.
    pub why: String,
    /// What was to be copied.
    pub text: String,
}
