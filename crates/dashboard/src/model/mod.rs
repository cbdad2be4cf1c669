//! The state of the dashboard: one tree that `core::update` changes and drawing reads.
//!
//! ```text
//!   base, data, list, text, forms, prompts ─► Model ─► features (keys, commands, drawing) ─► core (routing)
//! ```
//!
//! The state of all panes is one tree, because five panes are on the screen at once and most keys
//! read more than one list. Functions that several features need (the rows of a list, the selected
//! row, navigation, notices) are here, a file per area. Functions of one feature are in the folder
//! of that feature and take the model as an argument.

pub mod review;

pub mod alerts;
pub mod archive;
pub mod board;
pub mod calls;
pub mod captures;
pub mod chains;
pub mod chosen;
pub mod decisions;
pub mod derived;
pub mod detail_delay;
pub mod event_alerts;
pub mod findings_view;
pub mod forms;
pub mod history;
pub mod last_visit;
pub mod lists;
pub mod live_settings;
pub mod loggers;
pub mod mask;
pub mod modal;
pub mod mouse;
pub mod navigation;
pub mod outcomes;
pub mod overlays;
pub mod pane_sizes;
pub mod payloads;
pub mod plan;
pub mod refresh;
pub mod retained_rows;
pub mod rows;
pub mod seen;
pub mod settings;
pub mod sources;
pub mod stored_view;
pub mod tabs;
pub mod team;
pub mod texts;

pub use decisions::UNDOES;
pub use detail_delay::DetailDelay;
pub use findings_view::ViewState;
pub(crate) use lists::{InScope, IsNew, PaneItem, Stored};
pub use mask::MaskState;
pub use modal::chain_box::ChainBox;
pub use modal::command_line::{CommandAbout, CommandLine, CommandOffer, Fault};
pub use modal::decide_menu::{DecideMenu, MenuChoice, MenuEntry, MenuOffer, MenuValue};
pub use modal::rules_box::{RuleEdit, RulesBox};
pub use modal::why_box::{WhyBox, action_of};
pub use modal::{Help, Line, LinePurpose, Modal, QueryHelp, Setup, TextBox};
pub use mouse::{ListScroll, Mouse};
pub use outcomes::UnknownOutcome;
pub use review::facts::{Alike, Before, LOOKED_AT, NOTHING, ReviewEvidence, ReviewFacts};
pub use review::{Card, Cards, Decided, Review, ReviewOutcome, ReviewedList, TABS};
pub(crate) use seen::SEEN_AFTER;

use crate::base::{
    AUTO, Batch, ExportedCaptures, FileReading, FolderNames, FormTag, Generation, Link, ListKind,
    LiveSettings, Measures, Notices, Now, PaneSizes, PollBudget, Scope, Session, Size, Ticket,
};
use crate::data::{
    AlertState, Board, Data, EventAlertState, Guards, LastVisit, Oob, Payloads, ScanProgress,
    ShownCaptures, ShownTexts, Tabs, Tally, Team, TextSearch, Triage,
};
use crate::forms::Form;
use crate::input::{Context, KeyChord, Keymap};
use crate::list::{CaptureExport, Lists, ReadCaptures};
use crate::text::Detail;
use jiff::Timestamp;
use scandeck_domain::oob::LoggerExpiry;
use scandeck_domain::problem::Problem;
use scandeck_domain::triage::{FindingKey, IssueId};
use scandeck_wire::contract::{LoggerId, Stamp};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

pub use crate::base::{Focus, Pane};

/// The whole state of the dashboard. `update` changes it, `draw` reads it.
#[derive(Clone, Debug)]
pub struct Model {
    pub session: Session,
    /// The time of the last message.
    pub now: Now,
    /// The data of the service.
    pub data: Data,
    /// State of each pane's list.
    pub lists: Lists,
    /// State of the details.
    pub detail: Detail,
    pub connection: ConnectionState,
    pub findings: FindingsState,
    pub captures: CapturesState,
    pub scans: ScansState,
    /// The events that were found for alerts.
    pub event_alerts: EventAlertState,
    pub settings: SettingsState,
    pub navigation: Navigation,
    /// The keys, and the one being handled.
    pub keyboard: KeyboardState,
    pub overlay: Overlay,
    pub screen: Screen,
    pub calls: CallsState,
}

/// The link to the service, its limits and its clock, and the requested lists.
#[derive(Clone, Debug, Default)]
pub struct ConnectionState {
    pub link: Link,
    /// Since when lists on the screen wait for a response, if they wait for long.
    pub unanswered: Option<Stamp>,
    /// The remaining requests of this minute.
    pub budget: Option<PollBudget>,
    /// The service's clock minus the local clock in seconds.
    pub clock_offset: Option<i64>,
    /// The team on the service.
    pub team: Team,
    /// Incremented when the workspace changes.
    pub generation: Generation,
    /// Incremented to request a list from the poller now.
    pub refreshes: BTreeMap<ListKind, u32>,
    /// Whether the API key is being read again.
    pub is_reading_key: bool,
    /// Whether the local service is being started again.
    pub is_starting_service: bool,
}

/// Decisions on findings, the review, the retest board and the guards.
#[derive(Clone, Debug, Default)]
pub struct FindingsState {
    pub triage: Triage,
    /// Guards against verdicts on rows that nobody has seen.
    pub guards: Guards,
    pub review: Option<Box<Review>>,
    pub board: Option<Board>,
    /// The long texts on the screen.
    pub(crate) shown: ShownTexts,
    /// The last view of the findings, and the next one.
    pub view: ViewState,
    /// The long texts that queries search.
    pub texts: TextSearch,
    /// Raised when it shows something else.
    pub(crate) board_revision: u64,
    /// The retest of this workspace has scans without a result.
    pub(crate) is_retest_running: bool,
    /// The findings of the retests since the last one that was reported as ended.
    pub(crate) requested_retest: Option<HashSet<FindingKey>>,
    /// The item whose detail is on the screen, and since when: after a second it counts as seen.
    pub(crate) looking: Option<(Pane, i64, Duration)>,
}

/// The archive of captures, the payload book, and the alerts.
#[derive(Clone, Debug, Default)]
pub struct CapturesState {
    pub oob: Oob,
    pub payloads: Payloads,
    pub alerts: AlertState,
    /// Captures since the stream was last viewed.
    pub new_captures: u64,
    /// When the first recording logger stops, for the header.
    pub next_expiry: Option<LoggerExpiry>,
    /// Requests of each logger when the stream was last viewed.
    pub(crate) seen_requests: BTreeMap<LoggerId, i64>,
    /// Exports of captures in progress.
    pub(crate) exports: VecDeque<(ExportedCaptures, CaptureExport)>,
    /// `Effect::NextChunk`, or the reading of bodies for it, is under way.
    pub(crate) is_chunk_requested: bool,
    /// The captures with the bodies that were read for the present chunk.
    pub(crate) read: ReadCaptures,
    /// The captures in the detail whose bodies are in files.
    pub(crate) shown: ShownCaptures,
    /// Quit when the exports have been written.
    pub(crate) is_quitting: bool,
}

/// Progress of scans.
#[derive(Clone, Debug, Default)]
pub struct ScansState {
    pub progress: ScanProgress,
    /// Numbers of scans by state, for the header.
    pub tally: Tally,
    /// Result files that are being read, oldest first.
    pub(crate) readings: Vec<FileReading>,
}

/// The settings of the configuration, saved queries, and the changes since the last view.
#[derive(Clone, Debug)]
pub struct SettingsState {
    pub live: LiveSettings,
    pub tabs: Tabs,
    pub last_visit: LastVisit,
    /// Raised when tabs or the last visit change.
    pub(crate) revision: u64,
}

/// Focus and scope.
#[derive(Clone, Debug)]
pub struct Navigation {
    pub scope: Scope,
    pub focus: Focus,
    /// The fifth pane: captures or loggers.
    pub fifth: Pane,
    /// The target of `-`.
    pub previous: Option<(Focus, Scope)>,
}

/// The keys, and the one being handled.
#[derive(Clone, Debug)]
pub struct KeyboardState {
    /// The keys.
    pub keymap: Arc<Keymap>,
    /// The first key of a two-key sequence was pressed.
    pub pending: Option<Context>,
    /// The first keys of a sequence of the configuration.
    pub typed: Vec<KeyChord>,
    /// The key being handled, for prompts that it opens.
    pub(crate) key: Option<KeyChord>,
    /// When ctrl-c was pressed last.
    pub(crate) cancelled: Option<Duration>,
}

/// Modals, drafts of forms, and notices.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    /// The last one has the keys.
    pub modals: Vec<Modal>,
    /// Forms that were closed without sending them.
    pub drafts: BTreeMap<FormTag, Form>,
    /// Notes on findings that were closed without recording them.
    pub notes: HashMap<Vec<IssueId>, String>,
    /// The folder of the path that is typed in the command line.
    pub folder: Option<FolderNames>,
    pub notices: Notices,
}

/// The terminal, and what the last frame measured.
#[derive(Clone, Debug)]
pub struct Screen {
    /// The terminal.
    pub size: Size,
    /// Measures of the last frame.
    pub measures: Measures,
    /// Something changed since the last frame.
    pub dirty: bool,
    /// Whether the detail already shows the selected row.
    pub detail: DetailDelay,
    /// The dividers between panes that the user moved.
    pub sizes: PaneSizes,
    pub mouse: Mouse,
    pub mask: MaskState,
    /// The name of the chosen theme.
    pub theme: String,
}

/// Batches of calls to the service.
#[derive(Clone, Debug, Default)]
pub struct CallsState {
    /// Batches in progress, oldest first.
    pub batches: Vec<Batch>,
    /// Creations of the last minute whose outcome is unknown.
    pub(crate) unknown: Vec<UnknownOutcome>,
    /// The report formats of the service were requested.
    pub(crate) are_formats_requested: bool,
    /// Report formats that the service refused or does not list, with the reasons.
    pub(crate) refused_formats: BTreeMap<String, String>,
    /// The last ticket given out.
    pub(crate) tickets: Ticket,
    /// Memory of this process in bytes, as of the last recorded call.
    pub(crate) memory: Option<u64>,
}

impl Model {
    /// A dashboard without data.
    pub fn new(session: Session, size: Size) -> Self {
        let tabs = Tabs::default();
        let mut lists = Lists::default();
        lists.findings.filter = tabs.saved[tabs.at].query.clone();
        Self {
            session,
            now: Now {
                mono: Duration::ZERO,
                wall: Timestamp::UNIX_EPOCH,
            },
            data: Data::default(),
            lists,
            detail: Detail::default(),
            connection: ConnectionState::default(),
            findings: FindingsState::default(),
            captures: CapturesState::default(),
            scans: ScansState::default(),
            event_alerts: EventAlertState::default(),
            settings: SettingsState {
                live: LiveSettings::default(),
                tabs,
                last_visit: LastVisit::default(),
                revision: 0,
            },
            navigation: Navigation {
                scope: Scope::default(),
                focus: Focus {
                    pane: Pane::Findings,
                    in_detail: false,
                    zoomed: false,
                },
                fifth: Pane::Captures,
                previous: None,
            },
            keyboard: KeyboardState {
                keymap: Keymap::builtin(),
                pending: None,
                typed: Vec::new(),
                key: None,
                cancelled: None,
            },
            overlay: Overlay::default(),
            screen: Screen {
                size,
                measures: Measures::default(),
                dirty: true,
                detail: DetailDelay::default(),
                sizes: PaneSizes::default(),
                mouse: Mouse::default(),
                mask: MaskState::default(),
                theme: AUTO.to_owned(),
            },
            calls: CallsState::default(),
        }
    }

    /// The same with the first-start question open, and the problem of the last answer.
    pub fn with_setup(mut self, problem: Option<Problem>) -> Self {
        self.overlay.modals.push(Modal::Setup(Box::new(Setup {
            problem,
            ..Setup::default()
        })));
        self
    }

    /// Takes the measures of a frame.
    pub fn drawn(&mut self, now: Duration, measures: Measures) {
        if let Some(guard) = self.findings.guards.of(self.navigation.focus.pane) {
            guard.drawn(now, measures.row);
        }
        self.screen.measures = measures;
    }
}
