//! The state of the dashboard: one tree that `core::update` changes and drawing reads.
//!
//! ```text
//!   base, data, list, text, forms, prompts ─► Model ─► features (keys, commands, drawing) ─► core (routing)
//! ```
//!
//! The state of all panes is one tree, because five panes are on the screen at once and most keys read more than one
//! list. Functions that several features need (the rows of a list, the selected row, navigation, notices) are here, a
//! file per area. Functions of one feature are in the folder of that feature and take the model as an argument.

pub mod review;

pub mod archive;
pub mod board;
pub mod calls;
pub mod captures;
pub mod chosen;
pub mod decisions;
pub mod derived;
pub mod forms;
pub mod history;
pub mod lists;
pub mod loggers;
pub mod modal;
pub mod navigation;
pub mod payloads;
pub mod plan;
pub mod rows;
pub mod say;
pub mod seen;
pub mod settings;
pub mod signals;
pub mod since;
pub mod sources;
pub mod stay;
pub mod tabs;

pub(crate) use lists::{PaneItem, Stored};
pub use modal::command_line::{CommandAbout, CommandLine, CommandOffer, Fault};
pub use modal::decide_menu::{DecideMenu, MenuChoice, MenuEntry, MenuOffer, MenuValue};
pub use modal::rules_box::{RuleEdit, RulesBox};
pub use modal::{Help, Line, LinePurpose, Modal, QueryHelp, Setup, TextBox};
pub use review::facts::{Alike, Before, NOTHING, ReviewEvidence, ReviewFacts};
pub use review::{Card, Cards, Decided, Review, ReviewOutcome, TABS};
pub(crate) use seen::SEEN_AFTER;

use crate::client::Problem;
use crate::contract::LoggerId;
use crate::dashboard::base::{
    Batch, ExportedCaptures, FormTag, Generation, Link, ListKind, Measures, Notices, Now, PollBudget, Scope, Session,
    Size, Ticket,
};
use crate::dashboard::data::{AlertState, Board, Data, Guards, Oob, Payloads, Since, Tabs, Tally, Triage, Watch};
use crate::dashboard::forms::Form;
use crate::dashboard::input::{Keymap, Prefix};
use crate::dashboard::list::{Gathering, Lists};
use crate::dashboard::text::Detail;
use jiff::Timestamp;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

pub use crate::dashboard::base::{Focus, Pane};

/// The whole state of the dashboard. `update` changes it, `draw` reads it.
#[derive(Debug)]
pub struct Model {
    /// Which service, under which name.
    pub session: Session,
    /// The time of the last message.
    pub now: Now,
    /// What the service told.
    pub data: Data,
    /// State of each pane's list.
    pub lists: Lists,
    /// State of the details.
    pub detail: Detail,
    /// How the service is reached: the link, its limits, its clock, and what the poller is asked for.
    pub connection: ConnectionState,
    /// Decisions about findings, and what is done with findings: review, board, guards.
    pub findings: FindingsState,
    /// The archive of captures, the payload book, and what makes itself heard.
    pub captures: CapturesState,
    /// What the progress of scans shows.
    pub scans: ScansState,
    /// What a person set and the dashboard remembers.
    pub settings: SettingsState,
    /// Where the keys go, and what is worked in.
    pub navigation: Navigation,
    /// The keys, and the one being handled.
    pub keyboard: KeyboardState,
    /// What lies over the panes.
    pub overlay: Overlay,
    /// The terminal, and what the last frame measured.
    pub screen: Screen,
    /// Calls made for a person.
    pub calls: CallsState,
}

/// How the service is reached: the link, its limits, its clock, and what the poller is asked for.
#[derive(Debug)]
pub struct ConnectionState {
    /// The connection.
    pub link: Link,
    /// What is left to ask this minute.
    pub budget: Option<PollBudget>,
    /// The service's clock minus ours in seconds, once known.
    pub clock_offset: Option<i64>,
    /// Raised when the workspace changes.
    pub generation: Generation,
    /// Raised to ask the poller for a list now.
    pub asked: BTreeMap<ListKind, u32>,
}

/// Decisions about findings, and what is done with findings: review, board, guards.
#[derive(Debug)]
pub struct FindingsState {
    /// What is decided about the findings.
    pub triage: Triage,
    /// Holds verdicts back from rows that nobody has seen.
    pub guards: Guards,
    /// Cards that are decided one after another.
    pub review: Option<Box<Review>>,
    /// What is on the board: a retest, or two scans.
    pub board: Option<Board>,
    /// The row whose detail is on the screen, and since when: after a second it counts as seen.
    pub(crate) looking: Option<(Pane, i64, Duration)>,
}

/// The archive of captures, the payload book, and what makes itself heard.
#[derive(Debug)]
pub struct CapturesState {
    /// The payload book, and how well captures and payloads are kept.
    pub oob: Oob,
    /// Payloads at hand, and what each brought in.
    pub payloads: Payloads,
    /// What is to be heard.
    pub signals: AlertState,
    /// Captures that came since the stream was looked at last.
    pub new_captures: u64,
    /// How many requests of each logger were there when the stream was looked at last.
    pub(crate) seen_requests: BTreeMap<LoggerId, i64>,
    /// Files of captures that are being gathered.
    pub(crate) exports: VecDeque<(ExportedCaptures, Gathering)>,
    /// `Effect::AskOn` is under way.
    pub(crate) asks_on: bool,
}

/// What the progress of scans shows.
#[derive(Debug)]
pub struct ScansState {
    /// What the progress of scans tells.
    pub watch: Watch,
    /// How many scans are in which state, for the header.
    pub tally: Tally,
}

/// What a person set and the dashboard remembers.
#[derive(Debug)]
pub struct SettingsState {
    /// Saved queries of the findings.
    pub tabs: Tabs,
    /// What changed since this person last looked.
    pub since: Since,
}

/// Where the keys go, and what is worked in.
#[derive(Debug)]
pub struct Navigation {
    /// What of it is worked in.
    pub scope: Scope,
    /// Where the keys go.
    pub focus: Focus,
    /// What pane 5 shows: captures, or the list of loggers.
    pub fifth: Pane,
    /// Where `-` goes.
    pub previous: Option<(Focus, Scope)>,
}

/// The keys, and the one being handled.
#[derive(Debug)]
pub struct KeyboardState {
    /// The keys.
    pub keymap: Arc<Keymap>,
    /// The first key of a two-key sequence was pressed.
    pub pending: Option<Prefix>,
    /// The key being handled, for prompts that it opens.
    pub(crate) key: Option<crate::dashboard::input::KeyChord>,
    /// When ctrl-c was pressed last.
    pub(crate) cancelled: Option<Duration>,
}

/// What lies over the panes.
#[derive(Debug)]
pub struct Overlay {
    /// What lies over the panes; the last one has the keys.
    pub modals: Vec<Modal>,
    /// Forms that were closed without being sent.
    pub drafts: BTreeMap<FormTag, Form>,
    /// Short sentences that come and go.
    pub notices: Notices,
}

/// The terminal, and what the last frame measured.
#[derive(Debug)]
pub struct Screen {
    /// The terminal.
    pub size: Size,
    /// What the last frame measured.
    pub measures: Measures,
    /// Something changed since the last frame.
    pub dirty: bool,
}

/// Calls made for a person.
#[derive(Debug)]
pub struct CallsState {
    /// Calls under way, oldest first.
    pub batches: Vec<Batch>,
    /// The last ticket given out.
    pub(crate) tickets: Ticket,
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
            data: Data::default(),
            lists,
            detail: Detail::default(),
            connection: ConnectionState {
                link: Link::default(),
                budget: None,
                clock_offset: None,
                generation: 0,
                asked: BTreeMap::new(),
            },
            findings: FindingsState {
                triage: Triage::default(),
                guards: Guards::default(),
                review: None,
                board: None,
                looking: None,
            },
            captures: CapturesState {
                oob: Oob::default(),
                payloads: Payloads::default(),
                signals: AlertState::default(),
                new_captures: 0,
                seen_requests: BTreeMap::new(),
                exports: VecDeque::new(),
                asks_on: false,
            },
            scans: ScansState { watch: Watch::default(), tally: Tally::default() },
            settings: SettingsState { tabs, since: Since::default() },
            navigation: Navigation {
                scope: Scope::default(),
                focus: Focus { pane: Pane::Findings, in_detail: false, zoomed: false },
                fifth: Pane::Captures,
                previous: None,
            },
            keyboard: KeyboardState { keymap: Keymap::builtin(), pending: None, key: None, cancelled: None },
            overlay: Overlay { modals: Vec::new(), drafts: BTreeMap::new(), notices: Notices::default() },
            screen: Screen { size, measures: Measures::default(), dirty: true },
            calls: CallsState { batches: Vec::new(), tickets: Ticket::default() },
        }
    }

    /// The same with the first-start question open, and why the last answer to it did not work.
    pub fn with_setup(mut self, problem: Option<Problem>) -> Self {
        self.overlay.modals.push(Modal::Setup(Box::new(Setup { problem, ..Setup::default() })));
        self
    }

    /// A frame was drawn: what it measured, and what was on the screen.
    pub fn drawn(&mut self, now: Duration, measures: Measures) {
        self.screen.measures = measures;
        if let Some(guard) = self.findings.guards.of(self.navigation.focus.pane) {
            guard.drawn(now, measures.row);
        }
    }

    /// The same with the focus on a pane.
    pub fn with_focus(mut self, pane: Pane) -> Self {
        self.navigation.focus.pane = pane;
        self
    }
}
