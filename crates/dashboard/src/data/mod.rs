//! Data that the service and the local stores reported, in the form in which the dashboard keeps
//! it.
//!
//! ```text
//!   poller, stores, cache ─► core::update ─► snapshots, stream, decisions, archive ─► lists, details, counts
//! ```
//!
//! `snapshots` holds one table per list of the service, `stream` the captured requests, `decisions`
//! the folded events. Selection, filters and scroll positions are not here: they belong to `list`,
//! `text` and `model`.

pub mod alerts;
pub mod event_alerts;
pub mod guard;
pub mod last_visit;
pub mod tabs;

pub mod board;
pub mod calls;
pub mod observed_scans;
pub mod payloads;
pub mod revisions;
pub mod scan_progress;
pub mod shown_captures;
pub mod shown_texts;
pub mod snapshots;
pub mod stream;
pub mod text_search;

pub mod archive;
pub mod decisions;
pub mod team;

pub use alerts::{ALERT, AlertRule, AlertState, OFF};
pub(crate) use alerts::{ON, RECENT};
pub use archive::{Archive, ArchiveBacklog, Oob, OobNews, Recalled, StoredArchive};
pub use board::{BY_NOW, Board, BoardRow};
pub use calls::RecordedCalls;
pub use decisions::{StoredDecisions, Triage, TriageNews};
pub(crate) use event_alerts::AlertInputs;
pub use event_alerts::EventAlertState;
pub use guard::{GUARDED, Guards};
pub use last_visit::{LastVisit, VisitChanges};
pub(crate) use last_visit::{SOON, VISITED_AT};
pub use observed_scans::ObservedScans;
pub use payloads::Payloads;
pub use revisions::{Revisions, Segment};
pub use scan_progress::{ScanProgress, Tally};
pub use shown_captures::{ShownCaptures, WholeCapture};
pub use shown_texts::{ReadFinding, ShownText, ShownTexts};
pub use snapshots::{Data, ScanParts};
pub(crate) use stream::START;
pub use stream::{MOST, MOST_BYTES, Stream};
pub(crate) use tabs::{HISTORY, MOST_TYPED, TABS, UNDECIDED};
pub use tabs::{Saved, Tabs};
pub use team::{LookedAt, Team, TeamNews};
pub use text_search::TextSearch;
