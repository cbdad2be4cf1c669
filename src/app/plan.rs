//! The border between core and poller: what the screen needs (down), and what was learnt (up).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::problem::Problem;
use super::table::Table;
use crate::contract::{
    Capture, Finding, Logger, LoggerId, Report, Scan, ScanId, ScanOutput, Shared, Stamp, Target, Test, Wordlist,
    Workspace, WorkspaceId,
};
use crate::oob::archived::Newest;

/// Raised whenever the shown workspace or profile changes; answers of an older one are dropped.
pub type Generation = u64;

/// The lists of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Noun {
    Workspaces,
    Targets,
    Scans,
    Findings,
    Loggers,
    Captures,
    Reports,
    Wordlists,
}

/// What the screen needs, derived from the model after every update and sent to the poller when it differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PollPlan {
    /// Copied into every update that answers this plan.
    pub generation: Generation,
    /// The workspace worked in. While it is unknown only the list of workspaces is read.
    pub workspace: Option<WorkspaceId>,
    /// Lists on the screen, which are kept freshest.
    pub visible: Vec<Noun>,
    /// Raised to ask for a list now: by `r`, and after a change made here.
    pub asked: BTreeMap<Noun, u32>,
    /// Captures are shown: all loggers' (`Some(None)`), or one's.
    pub captures: Option<Option<LoggerId>>,
    /// What the archive has of the captures.
    pub archived: Known,
    /// The part of a scan whose detail is open.
    pub scan_part: Option<(ScanId, ScanPart)>,
}

/// Captures that need not be read again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Known {
    /// None: there is no archive.
    #[default]
    Nothing,
    /// The archive will tell; none are read before.
    Awaited,
    /// Those of each logger up to this one.
    Newest(Arc<BTreeMap<LoggerId, Newest>>),
}

/// Parts of a scan that are read only while they are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum ScanPart {
    Tests,
    Output,
    Raw,
}

/// One thing the poller learnt.
#[derive(Clone, Debug)]
pub struct Update {
    /// Of the plan it answers.
    pub generation: Generation,
    /// When it was learnt, by this machine's clock.
    pub at: Stamp,
    /// What.
    pub news: News,
}

/// What the poller learnt. A list comes whole, as a table made ready off the UI thread; the captures come as those
/// that are new.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum News {
    Link(Link),
    Budget(Option<Budget>),
    /// The service's clock minus ours, in seconds.
    ClockOffset(i64),
    Workspaces(Arc<Table<Workspace>>),
    Targets(Arc<Table<Target>>),
    Scans(Arc<Table<Scan>>),
    Findings(Arc<Table<Finding>>),
    Loggers(Arc<Table<Logger>>),
    Reports(Arc<Table<Report>>),
    Wordlists(Arc<Table<Wordlist>>),
    Captures {
        logger: Arc<Logger>,
        /// In the order of their ids, none sent before.
        new: Vec<Arc<Capture>>,
    },
    ScanPart(ScanId, PartData),
    /// The attempt to read a list failed; what was known stays.
    Failed(Noun, Arc<Problem>),
    /// The attempt to read a part of a scan failed.
    PartFailed(ScanId, ScanPart, Arc<Problem>),
}

/// A part of a scan as read.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum PartData {
    Tests(Arc<Vec<Test>>),
    Output(Arc<ScanOutput>),
    Raw(Arc<Vec<Shared>>),
}

/// The connection to the service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Link {
    /// No answer yet.
    #[default]
    Connecting,
    /// The last attempt was answered.
    Live {
        /// When.
        at: Stamp,
    },
    /// It fails; the next attempt is set.
    Retrying {
        /// How many failed in a row.
        attempt: u32,
        /// Time of the next attempt.
        next: Stamp,
        /// Why the last one failed.
        problem: Arc<Problem>,
    },
    /// Trying again makes no sense before something changes (wrong key); `r` tries once.
    Down {
        /// Why.
        problem: Arc<Problem>,
    },
}

/// The rate budget as the service announced it last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Requests a minute.
    pub limit: u32,
    /// Left in the present minute.
    pub remaining: u32,
    /// Until it is full again, where told.
    pub reset: Option<Duration>,
}
