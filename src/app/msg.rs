//! Everything that can happen to the dashboard, and the time it happens at.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::KeyEvent;
use jiff::Timestamp;

use super::cached::Cached;
use super::effect::{Answer, Ticket};
use super::model::Session;
use super::payloads::Planting;
use super::plan::{Generation, Update};
use super::problem::Problem;
use super::screen::Size;
use super::stream::{Caught, CaughtId};
use crate::contract::{LoggerId, Shared};
use crate::oob::archived::Newest;
use crate::oob::out::Sent;
use crate::oob::{Book, Hits, Mention, Payload, Token};
use crate::triage::{Arranged, Event, Key, Pen, State};

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
    /// The body of a captured request was written, for the curl command that is to send it.
    BodySaved {
        /// The request.
        sent: Box<Sent>,
        /// The file's full path.
        saved: Result<std::path::PathBuf, Problem>,
    },
    /// The first-start choice was carried out: the service the dashboard is on now, or why it is not.
    Connected(Result<Session, Problem>),
    /// The rows of the findings were made.
    Arranged(Generation, Box<Arranged>),
    /// A list as an earlier dashboard read it.
    Cached(Cached),
    /// The store of decisions tells something.
    Triage(TriageNews),
    /// The archive of captures and payloads tells something.
    Oob(OobNews),
    /// Random numbers for payloads that were asked for: more than one each, should some be taken.
    Drawn(Box<Planting>, Vec<u64>),
    /// The command of a signal did not work.
    SignalFailed(Problem),
    /// What was left to be asked of the captures is to be asked on, by a piece.
    AskOn,
    /// The time [`Model::wake_at`](super::Model::wake_at) named has come.
    Woke,
}

/// What the store of decisions tells.
#[derive(Clone, Debug)]
pub enum TriageNews {
    /// It is open: everything kept so far.
    Opened(Box<Kept>),
    /// Another dashboard or command on the same store recorded these.
    Events(Vec<Arc<Event>>),
    /// Something could not be kept; nothing is decided from now on.
    Failed(Arc<Problem>),
}

/// What the archive of captures and payloads tells. A capture is shown when it comes from here: what is on the screen is
/// kept, or a problem says that it is not.
#[derive(Clone, Debug)]
pub enum OobNews {
    /// It is open.
    Opened(Box<OobKept>),
    /// Captures of the workspace worked in, as they are archived: the newest first, then older ones.
    Recalled(Box<Recalled>),
    /// Captures that came in, recognised.
    Captures {
        /// Of the plan they answer.
        generation: Generation,
        /// New to this dashboard.
        new: Vec<Caught>,
    },
    /// What payloads brought in, as the archive counts it: all that is not named stands as it was told before.
    Hits {
        /// Of the workspace with this generation.
        generation: Generation,
        /// How it stands now.
        hits: Vec<(Token, Hits)>,
        /// Everything archived was looked through: a payload that was never named brought in nothing.
        all: bool,
    },
    /// Payloads that another dashboard or command recorded or changed.
    Payloads(Vec<Arc<Payload>>),
    /// Captures in memory that mention something else since the book grew.
    Recognised(Vec<(CaughtId, Arc<[Mention]>)>),
    /// What payloads brought in cannot be counted to the end; captures are archived all the same.
    Uncounted(Arc<Problem>),
    /// Another program holds the archive: what is to be kept waits for it.
    Waits(Arc<Problem>),
    /// Something could not be kept: what comes from now on is shown and lost with the dashboard.
    Failed(Arc<Problem>),
}

/// What the archive held when it was opened.
#[derive(Clone, Debug, Default)]
pub struct OobKept {
    /// Every payload of every workspace: a target may call a logger of another one.
    pub book: Book,
    /// Whether anything can be kept.
    pub writable: bool,
    /// What is wrong with the archive, if anything.
    pub problem: Option<Arc<Problem>>,
    /// How many captures left the archive for their age.
    pub forgotten: u64,
}

/// A piece of the archive.
#[derive(Clone, Debug, Default)]
pub struct Recalled {
    /// Of the workspace with this generation.
    pub generation: Generation,
    /// Oldest first.
    pub captures: Vec<Caught>,
    /// It is the first piece: what the archive knows of each logger.
    pub newest: Option<Arc<BTreeMap<LoggerId, Newest>>>,
    /// It is the last piece, and whether still older captures are in the archive.
    pub older: Option<bool>,
}

/// What the store of decisions held when it was opened.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// The folded events.
    pub state: State,
    /// Writes new ones; none when the store cannot be written to.
    pub pen: Option<Pen>,
    /// Settings by name and workspace, as JSON.
    pub settings: BTreeMap<(Shared, Shared), String>,
    /// Findings that were seen.
    pub seen: imbl::HashSet<Key>,
    /// What is wrong with the store, if anything.
    pub problem: Option<Arc<Problem>>,
}

/// A copy that could not leave: the text is shown instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyFailed {
    /// Why.
    pub why: String,
    /// What was to be copied.
    pub text: String,
}
