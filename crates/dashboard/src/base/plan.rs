//! The interface between model and poller: the data that the screen needs (down), and the data that
//! was fetched (up).

use scandeck_domain::oob::NewestCapture;
use scandeck_domain::problem::Problem;
use scandeck_domain::table::{Item, Table};
use scandeck_domain::triage::{ListedFinding, ReadTimes};
use scandeck_wire::contract::node::NodeList;
use scandeck_wire::contract::{
    Capture, Logger, LoggerId, MissingScanner, ScanId, ScanOutput, Shared, Stamp, Test, Unreadable,
    WorkspaceId,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Seconds after the end of a scan. Findings that arrive earlier may have been requested before the
/// end, or belong to other scans; then only the counts of the scan show whether all its findings
/// were fetched.
pub const SETTLING: i64 = 10;

/// Incremented when the workspace or profile changes; answers for an older one are dropped.
pub type Generation = u64;

/// The lists of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListKind {
    Workspaces,
    Targets,
    Scans,
    Findings,
    Loggers,
    Captures,
    Reports,
    Wordlists,
    Schedules,
}

impl ListKind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Workspaces,
        Self::Targets,
        Self::Scans,
        Self::Findings,
        Self::Loggers,
        Self::Captures,
        Self::Reports,
        Self::Wordlists,
        Self::Schedules,
    ];
}

/// The data that the screen needs, derived from the model after every update and sent to the poller
/// when it differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PollPlan {
    /// Copied into every update that answers this plan.
    pub generation: Generation,
    /// The current workspace. Without it only the list of workspaces is fetched.
    pub workspace: Option<WorkspaceId>,
    /// Lists on the screen, which are fetched most often.
    pub visible: Vec<ListKind>,
    /// Incremented to fetch a list now: by `r`, and after a call that changes it.
    pub refreshes: BTreeMap<ListKind, u32>,
    /// Captures are shown: all loggers' (`Some(None)`), or one's.
    pub captures: Option<Option<LoggerId>>,
    /// The captures that the archive has.
    pub archived: ArchivedCaptures,
    /// The part of a scan whose detail is open.
    pub scan_part: Option<(ScanId, ScanPart)>,
    /// Scans that a query names, while not all findings are loaded.
    pub wanted_scans: Vec<ScanId>,
    /// The nodes are shown, or their places are offered. Only a service of scandeck has them.
    pub nodes: bool,
}

/// Scans whose findings were not read, because the workspace has more findings than the dashboard
/// can hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnreadScans {
    pub ids: Arc<BTreeSet<ScanId>>,
    /// The findings that they report.
    pub findings: usize,
    /// Some of them are read next.
    pub is_reading: bool,
}

/// Captures that need not be read again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ArchivedCaptures {
    /// None: there is no archive.
    #[default]
    Nothing,
    /// The archive was not read yet; no captures are fetched before.
    Awaited,
    /// Those of each logger up to this one.
    Newest(Arc<BTreeMap<LoggerId, NewestCapture>>),
}

/// Parts of a scan that are fetched only while they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScanPart {
    Tests,
    Output,
    Raw,
}

/// A report of the poller.
#[derive(Clone, Debug)]
pub struct Update {
    /// Of the plan it answers.
    pub generation: Generation,
    /// When it was received, by the clock of this machine.
    pub at: Stamp,
    pub event: PollEvent,
}

#[derive(Clone, Debug)]
pub enum PollEvent {
    Link(Link),
    Budget(Option<PollBudget>),
    /// The service's clock minus ours, in seconds.
    ClockOffset(i64),
    /// The tools that the service cannot run changed.
    MissingScanners(Arc<[MissingScanner]>),
    Snapshot(Snapshot),
    /// The findings, the scans of which some are not read yet, and when those of each scan were
    /// read.
    SomeFindings(Arc<Table<ListedFinding>>, UnreadScans, ReadTimes),
    Captures {
        logger: Arc<Logger>,
        /// In the order of their ids, none sent before.
        new: Vec<Arc<Capture>>,
    },
    ScanPart(ScanId, PartData),
    /// The time at which the last snapshot was read again and was the same.
    Confirmed(ListKind, Stamp),
    /// The time since when lists on the screen wait for a response, if they wait for long.
    Unanswered(Option<Stamp>),
    /// The attempt to read a list failed; the last snapshot remains.
    Failed(ListKind, Arc<Problem>),
    /// The attempt to read the captures of loggers failed, or no longer fails.
    CapturesFailed(Option<Arc<Problem>>),
    /// The items of a list that could not be decoded; none when all can.
    Unreadable(ListKind, Arc<Unreadable>),
    /// The attempt to read a part of a scan failed.
    PartFailed(ScanId, ScanPart, Arc<Problem>),
    Nodes(Arc<NodeList>),
    /// The attempt to read the nodes failed.
    NodesFailed(Arc<Problem>),
}

impl From<Snapshot> for PollEvent {
    fn from(snapshot: Snapshot) -> Self {
        Self::Snapshot(snapshot)
    }
}

/// Items that the service lists as a whole.
pub trait ListItem: Item + Sized {
    /// Their list.
    const LIST: ListKind;
    /// The table in a snapshot of their list.
    fn table_in(snapshot: &Snapshot) -> Option<&Arc<Table<Self>>>;
}

/// Applies a macro to all lists: the type of their items, the field of `Data`, and whether the list
/// belongs to a workspace. In the order of the requests when several are due: lists that change
/// often first.
macro_rules! each_list {
    ($callback:ident) => {
        $callback! {
            Workspaces(scandeck_wire::contract::Workspace) workspaces false;
            Scans(scandeck_wire::contract::Scan) scans true;
            Loggers(scandeck_wire::contract::Logger) loggers true;
            Findings(scandeck_domain::triage::ListedFinding) occurrences true;
            Targets(scandeck_wire::contract::Target) targets true;
            Reports(scandeck_wire::contract::Report) reports false;
            Wordlists(scandeck_wire::contract::Wordlist) wordlists false;
            Schedules(scandeck_wire::contract::schedule::ScanSchedule) schedules true;
        }
    };
}
pub(crate) use each_list;

macro_rules! snapshots {
    ($($list:ident($item:ty) $field:ident $of_workspace:literal;)*) => {
        impl ListKind {
            /// The lists that are requested as a whole, in the order of their requests.
            pub const REQUESTED: [Self; [$($of_workspace),*].len()] = [$(Self::$list),*];

            /// Whether another workspace has another list.
            pub fn is_of_workspace(self) -> bool {
                match self {
                    $(Self::$list => $of_workspace,)*
                    Self::Captures => true,
                }
            }
        }

        /// A whole list as read, made into a table off the UI thread: the poller fetches and
        /// reports snapshots, the cache keeps them.
        #[derive(Clone, Debug)]
        pub enum Snapshot {
            $($list(Arc<Table<$item>>),)*
        }

        impl Snapshot {
            /// Which list it is.
            pub fn list_kind(&self) -> ListKind {
                match self {
                    $(Self::$list(_) => ListKind::$list,)*
                }
            }

            /// The number of items.
            pub fn len(&self) -> usize {
                match self {
                    $(Self::$list(table) => table.len(),)*
                }
            }

            /// The number of its table.
            pub fn revision(&self) -> u64 {
                match self {
                    $(Self::$list(table) => table.revision(),)*
                }
            }

            /// Whether there are no items.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// This list with the items of an earlier one that it lacks and that are among these,
            /// and their number.
            pub fn with_unreadable_of(&self, earlier: &Self, unreadable: &Unreadable) -> (Self, usize) {
                match (self, earlier) {
                    $((Self::$list(new), Self::$list(earlier)) => {
                        let is_missing = |item: &&Arc<$item>| {
                            new.get(item.id()).is_none() && unreadable.may_include(item.id().into())
                        };
                        let missing: Vec<_> = earlier.items().iter().filter(is_missing).cloned().collect();
                        let count = missing.len();
                        if count == 0 {
                            return (self.clone(), 0);
                        }
                        let all = Table::new(new.items().iter().cloned().chain(missing));
                        (Self::$list(Arc::new(all)), count)
                    })*
                    _ => (self.clone(), 0),
                }
            }

            /// Whether both hold the same table, as they do when a list did not change between two
            /// reads.
            pub fn is_same(&self, other: &Self) -> bool {
                match (self, other) {
                    $((Self::$list(one), Self::$list(other)) => Arc::ptr_eq(one, other),)*
                    _ => false,
                }
            }
        }

        $(impl ListItem for $item {
            const LIST: ListKind = ListKind::$list;

            fn table_in(snapshot: &Snapshot) -> Option<&Arc<Table<Self>>> {
                match snapshot {
                    Snapshot::$list(table) => Some(table),
                    _ => None,
                }
            }
        })*
    };
}

each_list!(snapshots);

/// A part of a scan as read.
#[derive(Clone, Debug)]
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
    /// Retries are pointless until something changes (wrong key); `r` tries once.
    Down {
        /// Why.
        problem: Arc<Problem>,
    },
}

/// The rate budget as the service announced it last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollBudget {
    /// Requests a minute.
    pub limit: u32,
    /// Left in the present minute.
    pub remaining: u32,
    /// Until it is full again, where the service sends it.
    pub reset: Option<Duration>,
}
