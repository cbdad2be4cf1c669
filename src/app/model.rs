//! Everything the dashboard knows and shows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::list::List;
use super::msg::Now;
use super::plan::{Budget, Generation, Link, Noun, ScanPart};
use super::remote::Remote;
use super::screen::{Layout, Measures, Size};
use super::table::Table;
use crate::contract::{
    Capture, Finding, Logger, LoggerId, Report, Scan, ScanId, ScanOutput, Shared, Target, TargetId, Test, Wordlist,
    Workspace, WorkspaceId,
};

/// The whole state of the dashboard. `update` changes it, `draw` reads it.
#[derive(Debug)]
pub struct Model {
    /// Which service, under which name.
    pub session: Session,
    /// The time of the last message.
    pub now: Now,
    /// The service's clock minus ours in seconds, once known.
    pub clock_offset: Option<i64>,
    /// The connection.
    pub link: Link,
    /// What is left to ask this minute.
    pub budget: Option<Budget>,
    /// What the service told.
    pub data: Data,
    /// What of it is worked in.
    pub scope: Scope,
    /// Where the keys go.
    pub focus: Focus,
    /// State of each pane's list.
    pub lists: Lists,
    /// The terminal.
    pub size: Size,
    /// What the last frame measured.
    pub measures: Measures,
    /// Something changed since the last frame.
    pub dirty: bool,
    /// Raised when the workspace changes.
    pub generation: Generation,
    /// Raised to ask the poller for a list now.
    pub asked: BTreeMap<Noun, u32>,
}

/// Which service the dashboard is on.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// For the header: `local`, `demo`, or the profile's name.
    pub name: String,
    /// Base URL, for copies as curl.
    pub base_url: String,
    /// Actions that leave the machine are off.
    pub read_only: bool,
    /// A throw-away world: leaving ends it.
    pub demo: bool,
    /// Where the practice target of the demo is mended and broken.
    pub practice_control: Option<String>,
}

/// What the service told, each list with how good the knowledge is.
#[derive(Debug, Default)]
#[allow(missing_docs)]
pub struct Data {
    pub workspaces: Remote<Arc<Table<Workspace>>>,
    pub targets: Remote<Arc<Table<Target>>>,
    pub scans: Remote<Arc<Table<Scan>>>,
    pub findings: Remote<Arc<Table<Finding>>>,
    pub loggers: Remote<Arc<Table<Logger>>>,
    pub reports: Remote<Arc<Table<Report>>>,
    pub wordlists: Remote<Arc<Table<Wordlist>>>,
    /// The merged stream of the loggers, oldest first: a ring.
    pub captures: Stream,
    /// Parts of the scan whose detail is or was open last.
    pub scan_parts: ScanParts,
}

/// A captured request with the logger that recorded it.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Caught {
    pub logger: LoggerId,
    pub capture: Arc<Capture>,
}

/// The captures held in memory; the oldest go first when it is full, and `dropped` says how many.
#[derive(Debug, Default)]
#[allow(missing_docs)]
pub struct Stream {
    pub caught: std::collections::VecDeque<Caught>,
    pub dropped: u64,
}

/// Parts of one scan, read while they are looked at.
#[derive(Debug, Default)]
#[allow(missing_docs)]
pub struct ScanParts {
    pub scan: Option<ScanId>,
    pub tests: Remote<Arc<Vec<Test>>>,
    pub output: Remote<Arc<ScanOutput>>,
    pub raw: Remote<Arc<Vec<Shared>>>,
}

/// What is worked in.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The chosen workspace.
    pub workspace: Option<WorkspaceId>,
    /// Only this target's findings and scans.
    pub target: Option<TargetId>,
    /// Only this scan's findings.
    pub scan: Option<ScanId>,
    /// Only this logger's captures.
    pub logger: Option<LoggerId>,
}

/// The panes and full views, in the order of their keys 1 to 7. Captures and Loggers share key 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Pane {
    Workspaces,
    Targets,
    Findings,
    Scans,
    Captures,
    Loggers,
    Reports,
    Wordlists,
}

/// Where the keys go: a pane, and in it the list or the detail of the selected row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focus {
    /// The pane.
    pub pane: Pane,
    /// The detail has the keys, not the list.
    pub in_detail: bool,
    /// The focused pane (or detail) has the whole screen.
    pub zoomed: bool,
}

/// State of each pane's list.
#[derive(Debug, Default)]
#[allow(missing_docs)]
pub struct Lists {
    pub workspaces: List<Workspace>,
    pub targets: List<Target>,
    pub scans: List<Scan>,
    pub findings: List<Finding>,
    pub loggers: List<Logger>,
    pub reports: List<Report>,
    pub wordlists: List<Wordlist>,
}

impl Model {
    /// A dashboard that has not heard from its service yet.
    pub fn new(session: Session, size: Size) -> Self {
        Self {
            session,
            now: Now { mono: Duration::ZERO, wall: Timestamp::UNIX_EPOCH },
            clock_offset: None,
            link: Link::default(),
            budget: None,
            data: Data::default(),
            scope: Scope::default(),
            focus: Focus { pane: Pane::Findings, in_detail: false, zoomed: false },
            lists: Lists::default(),
            size,
            measures: Measures::default(),
            dirty: true,
            generation: 0,
            asked: BTreeMap::new(),
        }
    }

    /// The layout at the present size.
    pub fn layout(&self) -> Layout {
        Layout::of(self.size)
    }

    /// The part of a scan that the open detail needs read, if any.
    pub fn scan_part(&self) -> Option<(ScanId, ScanPart)> {
        None
    }
}
