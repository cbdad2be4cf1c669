//! Everything the dashboard knows and shows.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::batch::Batch;
use super::board::{Board, BoardRow};
use super::decide::Guards;
use super::detail::Detail;
use super::effect::{ExportedCaptures, Ticket};
use super::form::{Form, FormTag};
use super::group::Groups;
use super::list::List;
use super::modal::{Modal, Setup};
use super::msg::Now;
use super::notices::Notices;
use super::oob::Oob;
pub use super::pane::{Focus, Pane};
use super::payloads::Payloads;
use super::plan::{Budget, Generation, Link, Noun};
use super::problem::Problem;
use super::remote::Remote;
use super::review::Review;
use super::screen::{Measures, Size};
use super::signals::Signals;
use super::since::Since;
use super::stream::{Gathering, Stream, StreamList};
use super::table::Table;
use super::tabs::Tabs;
use super::triage::Triage;
use super::watch::{Tally, Watch};
use crate::contract::{
    Finding, Logger, LoggerId, Report, Scan, ScanId, ScanOutput, Shared, Target, TargetId, Test, Wordlist, Workspace,
    WorkspaceId,
};
use crate::input::{Context, Keymap};
use crate::oob::Payload;
use crate::oob::source::Network;
use crate::triage::Case;

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
    /// State of the details.
    pub detail: Detail,
    /// What lies over the panes; the last one has the keys.
    pub modals: Vec<Modal>,
    /// The first key of a two-key sequence was pressed.
    pub pending: Option<Prefix>,
    /// Short sentences that come and go.
    pub notices: Notices,
    /// Calls under way, oldest first.
    pub batches: Vec<Batch>,
    /// Forms that were closed without being sent.
    pub drafts: BTreeMap<FormTag, Form>,
    /// What is decided about the findings.
    pub triage: Triage,
    /// The payload book, and how well captures and payloads are kept.
    pub oob: Oob,
    /// Payloads at hand, and what each brought in.
    pub payloads: Payloads,
    /// What is to be heard.
    pub signals: Signals,
    /// Holds verdicts back from rows that nobody has seen.
    pub guards: Guards,
    /// Cards that are decided one after another.
    pub review: Option<Box<Review>>,
    /// Saved queries of the findings.
    pub tabs: Tabs,
    /// What changed since this person last looked.
    pub since: Since,
    /// What is on the board: a retest, or two scans.
    pub board: Option<Board>,
    /// What the progress of scans tells.
    pub watch: Watch,
    /// How many scans are in which state, for the header.
    pub tally: Tally,
    /// Captures that came since the stream was looked at last.
    pub new_captures: u64,
    /// What pane 5 shows: captures, or the list of loggers.
    pub fifth: Pane,
    /// Where `-` goes.
    pub previous: Option<(Focus, Scope)>,
    /// The keys.
    pub keymap: Arc<Keymap>,
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
    /// The last ticket given out.
    pub(super) tickets: Ticket,
    /// The row whose detail is on the screen, and since when: after a second it counts as seen.
    pub(super) looking: Option<(Pane, i64, Duration)>,
    /// When ctrl-c was pressed last.
    pub(super) cancelled: Option<Duration>,
    /// Files of captures that are being gathered.
    pub(super) exports: VecDeque<(ExportedCaptures, Gathering)>,
    /// `Effect::AskOn` is under way.
    pub(super) asks_on: bool,
    /// How many requests of each logger were there when the stream was looked at last.
    pub(super) seen_requests: BTreeMap<LoggerId, i64>,
    /// The key being handled, for prompts that it opens.
    pub(super) key: Option<crate::input::Key>,
}

/// The first key of a two-key sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// `g`
    Go,
    /// `y`
    Copy,
    /// `y p`
    Shape,
    /// `b`
    Group,
}

impl Prefix {
    /// Where the second key is looked up.
    pub fn context(self) -> Context {
        match self {
            Self::Go => Context::Go,
            Self::Copy => Context::Copy,
            Self::Shape => Context::Shape,
            Self::Group => Context::Group,
        }
    }
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
    /// Opened from a bundle: there is no service.
    pub bundled: bool,
    /// Where the practice target of the demo can be played with.
    pub practice: Option<Playground>,
    /// What stands for the workspace in fingerprints: set in the profile when a shared file must fit several servers.
    pub alias: Shared,
    /// Addresses of the analyst's: what comes from there was not sent by a target.
    pub own_addresses: Vec<Network>,
    /// Name or id of the workspace to work in at first; otherwise it is the first one that has targets.
    pub workspace: Option<String>,
}

/// Addresses of the demo's practice target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Playground {
    /// Where it is mended and broken.
    pub control: String,
    /// Where it requests what it is given.
    pub fetch: String,
    /// A file for `.` in a shell: scripts work on the demo then.
    pub script_file: String,
}

/// What the service told, each list with how good the knowledge is.
#[derive(Debug, Default)]
#[allow(missing_docs)]
pub struct Data {
    pub workspaces: Remote<Arc<Table<Workspace>>>,
    pub targets: Remote<Arc<Table<Target>>>,
    pub scans: Remote<Arc<Table<Scan>>>,
    /// Every finding as the scans told it.
    pub occurrences: Remote<Arc<Table<Finding>>>,
    /// The rows made of them, one an identity.
    pub findings: Remote<Arc<Table<Case>>>,
    pub loggers: Remote<Arc<Table<Logger>>>,
    pub reports: Remote<Arc<Table<Report>>>,
    pub wordlists: Remote<Arc<Table<Wordlist>>>,
    /// The payload book of the workspace.
    pub payloads: Remote<Arc<Table<Payload>>>,
    /// The rows of the board.
    pub board: Remote<Arc<Table<BoardRow>>>,
    /// The merged stream of the loggers, oldest first: a ring.
    pub captures: Stream,
    /// Parts of the scan whose detail is or was open last.
    pub scan_parts: ScanParts,
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

/// State of each pane's list.
#[derive(Debug, Default)]
#[allow(missing_docs)]
pub struct Lists {
    pub workspaces: List<Workspace>,
    pub targets: List<Target>,
    pub scans: List<Scan>,
    pub findings: List<Case>,
    /// The findings in groups, where they are.
    pub groups: Groups,
    pub loggers: List<Logger>,
    pub captures: StreamList,
    pub reports: List<Report>,
    pub wordlists: List<Wordlist>,
    pub payloads: List<Payload>,
    pub board: List<BoardRow>,
}

impl Model {
    /// A dashboard that has not heard from its service yet.
    pub fn new(session: Session, size: Size) -> Self {
        let tabs = Tabs::default();
        let mut lists = Lists::default();
        lists.findings.filter = tabs.saved[tabs.at].query.clone();
        Self {
            session,
            now: Now { mono: Duration::ZERO, wall: Timestamp::UNIX_EPOCH },
            clock_offset: None,
            link: Link::default(),
            budget: None,
            data: Data::default(),
            scope: Scope::default(),
            focus: Focus { pane: Pane::Findings, in_detail: false, zoomed: false },
            lists,
            detail: Detail::default(),
            modals: Vec::new(),
            pending: None,
            notices: Notices::default(),
            batches: Vec::new(),
            drafts: BTreeMap::new(),
            triage: Triage::default(),
            oob: Oob::default(),
            guards: Guards::default(),
            payloads: Payloads::default(),
            signals: Signals::default(),
            review: None,
            tabs,
            since: Since::default(),
            board: None,
            watch: Watch::default(),
            tally: Tally::default(),
            new_captures: 0,
            fifth: Pane::Captures,
            previous: None,
            keymap: Keymap::builtin(),
            size,
            measures: Measures::default(),
            dirty: true,
            generation: 0,
            asked: BTreeMap::new(),
            tickets: Ticket::default(),
            looking: None,
            cancelled: None,
            exports: VecDeque::new(),
            asks_on: false,
            seen_requests: BTreeMap::new(),
            key: None,
        }
    }

    /// The same with the first-start question open, and why the last answer to it did not work.
    pub fn with_setup(mut self, problem: Option<Problem>) -> Self {
        self.modals.push(Modal::Setup(Box::new(Setup { problem, ..Setup::default() })));
        self
    }

    /// A frame was drawn: what it measured, and what was on the screen.
    pub fn drawn(&mut self, now: Duration, measures: Measures) {
        self.measures = measures;
        if let Some(guard) = self.guards.of(self.focus.pane) {
            guard.drawn(now, measures.row);
        }
    }

    /// The same with the focus on a pane.
    pub fn with_focus(mut self, pane: Pane) -> Self {
        self.focus.pane = pane;
        self
    }
}
