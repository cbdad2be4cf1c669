//! Out-of-band: the payload book, and the state of the archive of captures and payloads.

use crate::base::{CaptureKey, CaptureRow, Generation};
use scandeck_domain::oob::{
    Hits, Mention, NewestCapture, Payload, PayloadBook, TargetHosts, Token,
};
use scandeck_domain::problem::Problem;
use scandeck_wire::contract::LoggerId;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub struct Oob {
    /// Every payload of every workspace.
    pub book: PayloadBook,
    /// The hosts of the workspace's targets.
    pub hosts: TargetHosts,
    /// Whether payloads and captures can be saved.
    pub writable: bool,
    pub archive: Archive,
    /// The changes that wait for the archive while it cannot be written.
    pub backlog: Option<ArchiveBacklog>,
    /// Why captures and payloads cannot be saved, or another problem of the archive.
    pub problem: Option<Arc<Problem>>,
}

/// The progress of opening the archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Archive {
    /// It is being opened, or read for the current workspace.
    #[default]
    Awaited,
    /// The newest captures of the workspace of this generation are loaded, with the newest archived
    /// one of each logger.
    Recalled(Generation, Arc<BTreeMap<LoggerId, NewestCapture>>),
    /// It cannot be read or written: captures are shown but not archived.
    Broken,
}

/// Messages of the archive. Captures are shown only after they come from here: a capture on the
/// screen is archived, or a problem says that it is not.
#[derive(Clone, Debug)]
pub enum OobNews {
    Opened(Box<StoredArchive>),
    /// Archived captures of the current workspace: the newest chunk first, then older ones.
    Recalled(Box<Recalled>),
    /// New captures, with the payloads recognised in them.
    Captures {
        /// The generation of the poll plan.
        generation: Generation,
        new: Vec<CaptureRow>,
    },
    /// Hits of payloads, as counted by the archive. Payloads that are not listed have the same hits
    /// as before.
    Hits {
        generation: Generation,
        hits: Vec<(Token, Hits)>,
        /// The whole archive was counted: a payload that was never listed has no hits.
        all: bool,
    },
    /// Payloads that another dashboard or command added or changed.
    Payloads(Vec<Arc<Payload>>),
    /// Captures in memory that mention other payloads since the book changed.
    Recognized(Vec<(CaptureKey, Arc<[Mention]>)>),
    /// Counting hits failed. Captures are archived nevertheless.
    Uncounted(Arc<Problem>),
    /// Another program locks the archive. Captures wait for it.
    Waits(Arc<Problem>),
    /// Writing fails for now: captures are shown, and wait in memory until they can be archived.
    Retrying(ArchiveBacklog),
    /// Everything that waited is archived, and the archive is read again.
    Recovered {
        /// Whether captures can be archived from now on.
        writable: bool,
    },
    /// The archive cannot be used: captures are shown from now on, but not archived.
    Failed(Arc<Problem>),
}

/// Writes that wait because the archive cannot be written now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveBacklog {
    pub problem: Arc<Problem>,
    /// Captures that are shown, but not archived yet.
    pub captures: usize,
    /// Payloads that are not saved yet.
    pub payloads: usize,
    /// Whether so much waits that no further captures are read: the service keeps them.
    pub is_full: bool,
}

/// The content of the archive when it was opened.
#[derive(Clone, Debug, Default)]
pub struct StoredArchive {
    /// Payloads of all workspaces, because a target may call a logger of another one.
    pub book: PayloadBook,
    /// Whether captures and payloads can be saved.
    pub writable: bool,
    pub problem: Option<Arc<Problem>>,
    /// Captures that were deleted because of their age.
    pub forgotten: u64,
}

/// A chunk of archived captures.
#[derive(Clone, Debug, Default)]
pub struct Recalled {
    pub generation: Generation,
    /// Oldest first.
    pub captures: Vec<CaptureRow>,
    /// Only in the first chunk: the newest archived capture of each logger.
    pub newest: Option<Arc<BTreeMap<LoggerId, NewestCapture>>>,
    /// Only in the last chunk: whether the archive has still older captures.
    pub older: Option<bool>,
}
