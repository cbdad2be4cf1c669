//! Everything that can happen to the dashboard, and the time it happens at.

use crate::client::Problem;
use crate::dashboard::base::{CachedList, CallAnswer, CopyFailed, Generation, Session, Size, Ticket, Update};
use crate::dashboard::data::{OobNews, TriageNews};
use crate::oob::{CaptureRecord, PayloadRequest};
use crate::triage::Correlated;
use crossterm::event::KeyEvent;

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
        result: Result<CallAnswer, Problem>,
    },
    /// A copy was made, or not; the sentence says how.
    Copied(Result<String, CopyFailed>),
    /// The editor was left; the text is the field's new content.
    Edited(Result<String, Problem>),
    /// A file was written: its full path.
    Saved(Result<std::path::PathBuf, Problem>),
    /// The body of a captured request was written, for the curl command that is to send it.
    BodySaved {
        /// The request.
        sent: Box<CaptureRecord>,
        /// The file's full path.
        saved: Result<std::path::PathBuf, Problem>,
    },
    /// The first-start choice was carried out: the service the dashboard is on now, or why it is not.
    Connected(Result<Session, Problem>),
    /// The rows of the findings were made.
    Correlated(Generation, Box<Correlated>),
    /// A list as an earlier dashboard read it.
    Cached(CachedList),
    /// The store of decisions tells something.
    Triage(TriageNews),
    /// The archive of captures and payloads tells something.
    Oob(OobNews),
    /// Random numbers for payloads that were asked for: more than one each, should some be taken.
    Drawn(Box<PayloadRequest>, Vec<u64>),
    /// The command of a signal did not work.
    SignalFailed(Problem),
    /// What was left to be asked of the captures is to be asked on, by a piece.
    AskOn,
    /// The time [`Model::wake_at`](super::Model::wake_at) named has come.
    Woke,
}
