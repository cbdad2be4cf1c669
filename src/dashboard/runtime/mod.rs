//! The shell of the dashboard: all I/O. It owns the terminal, the clock, the tasks and the files, and executes the
//! effects that `core::update` returns.
//!
//! ```text
//!   terminal, signals ─┐                                   ┌─► draw
//!   poller ────────────┼─► desk: wait, drain, update, ─────┤
//!   answers ◄──────────┘                                   └─► effects: calls, copies, files, editor, suspend
//!        └──────────────────────────── tasks ◄─────────────────────┘
//! ```
//!
//! [`run`] shows the dashboard until it is left. Which service it is on comes from outside, at the start or, after the
//! first-start question, from a [`Connector`].

pub mod archive;
pub mod bundled;
pub mod cache;
pub mod cached_lists;
pub mod calls;
pub mod clipboard;
pub mod desk;
pub mod editor;
pub mod effects;
pub mod files;
pub mod keyboard;
#[cfg(feature = "service")]
pub mod local;
pub mod log;
pub mod signal;
pub mod signals;
pub mod spent;
pub mod terminal;
pub mod triage;

pub(crate) use archive::inlet::Inlet;
pub(crate) use archive::recall::Recalling;
pub(crate) use archive::{ArchiveHandle, ArchiveRequest};
pub(crate) use cache::Cache;
pub use cached_lists::{CachedLists, CachedWorkspace, ListFile};
pub use clipboard::CopyMethod;
pub(crate) use desk::TaskReport;
pub use files::NewFile;
pub(crate) use keyboard::Keyboard;
pub use signals::{CaughtSignal, SignalStream};
pub(crate) use spent::Spent;
pub use terminal::Terminal;
pub(crate) use triage::{DecisionRequest, DecisionsHandle};

use crate::client::{Client, Problem};
use crate::contract::Stamp;
use crate::dashboard::base::{ConnectionChoice, Session};
use crate::triage::Bundle;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;
use std::{fmt, io};
use tokio_util::sync::CancellationToken;

/// Who tells the lists.
#[derive(Debug)]
pub enum ConnectionSource {
    /// A service.
    Service(Client),
    /// A bundle that was taken up here: nothing is asked, and nothing changed but decisions.
    Bundle(Box<Bundle>),
}

/// A service to work on, or what stands in for one.
pub struct Connected {
    /// Who tells the lists.
    pub source: ConnectionSource,
    /// What the screen calls it, and where it begins.
    pub session: Session,
    /// Where decisions about it are kept, and in whose name.
    pub memory: Memory,
    /// A sentence for the person, such as a changed address.
    pub note: Option<String>,
    /// What must live as long as the dashboard, and is handed back at its end: the demo's world.
    pub keep_alive: Option<Box<dyn Any + Send>>,
}

impl fmt::Debug for Connected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connected")
            .field("source", &self.source)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// Where decisions and last known data are kept.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The directory of the service.
    pub directory: PathBuf,
    /// Where its lists are kept between two runs; nowhere for a throw-away world.
    pub cache: Option<PathBuf>,
    /// Who decides.
    pub who: String,
    /// Captured requests are kept so many days; for ever without it.
    pub keep_days: Option<u16>,
}

impl Memory {
    /// Whether there are lists to show before the service has answered.
    pub fn has_cached_lists(&self) -> bool {
        self.cache.as_ref().is_some_and(|directory| CachedLists::new(directory).exists())
    }

    /// Captured requests from before this time are not kept any more.
    pub fn oldest_kept(&self) -> Option<Stamp> {
        let age = SignedDuration::from_hours(24 * i64::from(self.keep_days?));
        Timestamp::now().checked_sub(age).ok().map(Stamp)
    }

    /// The bundle of a workspace that was taken up here.
    pub fn bundle_of(&self, workspace: &str) -> PathBuf {
        self.directory.join(format!("{}.bundle", crate::config::state::file_name(workspace)))
    }
}

/// Carries out the answer to the first-start question.
pub type Connector = Arc<dyn Fn(ConnectionChoice) -> BoxFuture<'static, Result<Connected, Problem>> + Send + Sync>;

/// How the dashboard begins.
pub enum DashboardStart {
    /// On a service.
    On(Box<Connected>),
    /// With the first-start question, and why the last answer to it did not work.
    Ask(Option<Problem>),
}

/// How the dashboard was left.
pub struct DashboardExit {
    /// The signal that ended it; none when a person did.
    pub signal: Option<i32>,
    /// The service it was on last.
    pub session: Option<Session>,
    /// Scans that wait or run, as last known.
    pub active_scans: usize,
    /// Loggers, as last known.
    pub loggers: usize,
    /// What was kept for it.
    pub keep_alive: Option<Box<dyn Any + Send>>,
}

/// Shows the dashboard until it is left: by its keys, a signal, the end of its terminal, or `shutdown`. The terminal
/// is as it was when this returns. `notify_command` is the program, with its arguments, that is told of what comes in.
///
/// # Errors
/// When the terminal cannot be taken over.
pub async fn run(
    opening: DashboardStart,
    connect: Connector,
    notify_command: Vec<String>,
    shutdown: CancellationToken,
) -> io::Result<DashboardExit> {
    desk::Desk::open(opening, connect, notify_command, shutdown)?.run().await
}
