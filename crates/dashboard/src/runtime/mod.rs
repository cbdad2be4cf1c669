//! The shell of the dashboard: all I/O. It owns the terminal, the clock, the tasks and the files,
//! and executes the effects that `core::update` returns.
//!
//! ```text
//!   terminal, signals ─┐                                       ┌─► draw
//!   poller ────────────┼─► event loop: wait, drain, update ────┤
//!   answers ◄──────────┘                                       └─► effects: calls, copies, files, editor, suspend
//!        └──────────────────────────── tasks ◄─────────────────────────┘
//! ```
//!
//! [`run`] shows the dashboard until it ends. The service comes from the caller at the start, or
//! from a [`Connector`] after the question of the first start.

pub mod activity;
pub mod alert;
pub mod alert_body;
pub mod alert_outbox;
pub mod archive;
pub mod background;
pub mod browser;
mod bundled;
pub mod cache;
pub mod cached_lists;
pub mod calls;
pub mod clipboard;
pub mod custom;
pub mod deferred_drop;
pub mod editor;
pub mod effects;
pub mod event_loop;
pub mod files;
pub mod frame_pace;
pub mod keyboard;
pub mod local;
mod local_writes;
pub mod log;
pub mod process;
pub mod result_files;
pub mod settings_watch;
pub mod signals;
pub mod team;
pub mod terminal;
pub mod terminal_answers;
mod terminal_input;
pub mod triage;

pub(crate) use archive::archiver::CaptureArchiver;
pub(crate) use archive::recall::Recalling;
pub(crate) use archive::{ArchiveHandle, ArchiveRequest};
pub(crate) use background::LastBackground;
pub(crate) use cache::Cache;
pub use cached_lists::{CachedLists, CachedWorkspace, ListFile};
pub use clipboard::CopyMethod;
pub(crate) use deferred_drop::DeferredDrop;
use event_loop::EventLoop;
pub(crate) use event_loop::TaskReport;
pub use files::NewFile;
pub(crate) use frame_pace::{FRAME, FramePace};
pub(crate) use keyboard::Keyboard;
pub(crate) use local_writes::LocalWrites;
pub use settings_watch::SettingsSource;
pub use signals::{ProcessSignal, SignalStream};
pub(crate) use team::{TeamContext, TeamHandle};
pub use terminal::Terminal;
pub use terminal_answers::TerminalAnswers;
pub(crate) use terminal_input::TerminalInput;
pub(crate) use triage::{DecisionRequest, DecisionsHandle};

use crate::base::{ConnectionChoice, LiveSettings, Session};
use crate::config::KeySource;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use scandeck_client::{Client, Problem};
use scandeck_domain::triage::Bundle;
use scandeck_wire::contract::Stamp;
use std::any::Any;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The source of the lists.
#[derive(Debug)]
pub enum ConnectionSource {
    Service(Client),
    /// An imported bundle: nothing is requested, and only decisions can change.
    Bundle(Box<Bundle>),
}

/// A service to work on, or a bundle in its place.
#[derive(Debug)]
pub struct Connected {
    pub source: ConnectionSource,
    /// Its display name and address, and the first view.
    pub session: Session,
    /// The place of its decisions and captures.
    pub memory: Memory,
    /// The source of the API key, if it can be read again.
    pub key: Option<KeySource>,
    /// The data directory of the local service, which is started again when it has stopped.
    pub service_dir: Option<PathBuf>,
    /// A notice for the user, such as a changed address.
    pub note: Option<String>,
    /// A value that must live as long as the dashboard and is returned at its end, such as the demo
    /// service.
    pub keep_alive: Option<Box<dyn Any + Send>>,
}

/// The place of decisions, captures and cached lists.
#[derive(Clone, Debug)]
pub struct Memory {
    pub directory: PathBuf,
    /// The directory of the cached lists; none for a temporary service.
    pub cache: Option<PathBuf>,
    /// The author of decisions.
    pub who: String,
    /// Captures expire after so many days, or never.
    pub keep_days: Option<u16>,
}

impl Memory {
    /// Whether there are lists to show before the service has answered.
    pub fn has_cached_lists(&self) -> bool {
        self.cache
            .as_ref()
            .is_some_and(|directory| CachedLists::new(directory).exists())
    }

    /// The time before which captures have expired.
    pub fn oldest_retained(&self) -> Option<Stamp> {
        let age = SignedDuration::from_hours(24 * i64::from(self.keep_days?));
        Timestamp::now().checked_sub(age).ok().map(Stamp)
    }

    /// The directory of the files of long texts; a temporary service has a temporary one.
    pub fn text_directory(&self) -> &Path {
        self.cache.as_ref().unwrap_or(&self.directory)
    }

    /// The file of the imported bundle of a workspace.
    pub fn bundle_of(&self, workspace: &str) -> PathBuf {
        self.directory.join(format!(
            "{}.bundle",
            crate::config::state::file_name(workspace)
        ))
    }
}

/// Connects as chosen at the first start.
pub type Connector =
    Arc<dyn Fn(ConnectionChoice) -> BoxFuture<'static, Result<Connected, Problem>> + Send + Sync>;

pub enum DashboardStart {
    /// On a connected service.
    On(Box<Connected>),
    /// With the question of the first start, and the problem of the last attempt.
    Prompt(Option<Problem>),
}

/// The end of the dashboard.
pub struct DashboardExit {
    /// The signal that ended it; none if a user did.
    pub signal: Option<i32>,
    /// The last connected service.
    pub session: Option<Session>,
    /// Scans that wait or run.
    pub active_scans: usize,
    /// Number of loggers.
    pub loggers: usize,
    /// Whether all decisions are on disk.
    pub is_saved: bool,
    /// The value of [`Connected::keep_alive`].
    pub keep_alive: Option<Box<dyn Any + Send>>,
}

/// Settings that do not depend on the service.
#[derive(Clone, Default)]
pub struct DashboardSettings {
    /// When the runtime was started, if that is known.
    pub started: Option<Instant>,
    pub live: LiveSettings,
    /// Where changed settings are read; none ignores changes.
    pub source: Option<SettingsSource>,
    /// The file of the last reported background, which selects the colours until the terminal has
    /// answered.
    pub background_file: Option<PathBuf>,
}

/// Shows the dashboard until it ends: by its keys, a signal, the end of its terminal, or
/// `shutdown`. The terminal is restored when this returns.
///
/// # Errors
/// When the terminal cannot be used.
pub fn run(
    opening: DashboardStart,
    connect: Connector,
    settings: DashboardSettings,
    shutdown: CancellationToken,
) -> BoxFuture<'static, io::Result<DashboardExit>> {
    // An `async fn` is compiled where it is awaited; a boxed future is compiled once, here.
    Box::pin(run_on_own_thread(opening, connect, settings, shutdown))
}

async fn run_on_own_thread(
    opening: DashboardStart,
    connect: Connector,
    settings: DashboardSettings,
    shutdown: CancellationToken,
) -> io::Result<DashboardExit> {
    let workers = Handle::current();
    let thread = tokio::task::spawn_blocking(move || {
        // The thread of the screen waits for keys and timers itself; a worker that waits would have
        // to wake it. All tasks run on the workers.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            let screen = Handle::current();
            let _workers = workers.enter();
            EventLoop::open(screen, opening, connect, settings, shutdown)?
                .run()
                .await
        })
    });
    thread
        .await
        .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}
