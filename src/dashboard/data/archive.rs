//! Out-of-band: the payload book beside the lists, and how well captures and payloads are kept.

use crate::client::Problem;
use crate::contract::LoggerId;
use crate::dashboard::base::{Caught, CaughtId, Generation};
use crate::oob::{Hits, Mention, NewestCapture, Payload, PayloadBook, TargetHosts, Token};
use std::collections::BTreeMap;
use std::sync::Arc;

/// See the module.
#[derive(Debug, Default)]
pub struct Oob {
    /// Every payload of every workspace.
    pub book: PayloadBook,
    /// The hosts of the workspace's targets.
    pub hosts: TargetHosts,
    /// Payloads and captures can be kept.
    pub writable: bool,
    /// How far the archive is.
    pub archive: Archive,
    /// Why captures and payloads cannot be kept, or what else there is to know about that.
    pub problem: Option<Arc<Problem>>,
}

/// How far the archive is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Archive {
    /// It is being opened, or read for the workspace worked in.
    #[default]
    Awaited,
    /// The newest captures of the workspace with this generation are here, and what is known of each logger.
    Recalled(Generation, Arc<BTreeMap<LoggerId, NewestCapture>>),
    /// It cannot be read or written: captures are shown and not kept.
    Broken,
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
    pub book: PayloadBook,
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
    pub newest: Option<Arc<BTreeMap<LoggerId, NewestCapture>>>,
    /// It is the last piece, and whether still older captures are in the archive.
    pub older: Option<bool>,
}
