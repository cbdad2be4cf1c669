//! The vocabulary of the dashboard: panes, effects, calls, notices, the poll plan. Every layer
//! above may import it.
//!
//! ```text
//!   core::update ─► Effect (a call, a copy, a file, …) ─► runtime ─► CallAnswer, …
//!   Model::plan  ─► PollPlan ─► poller ─► Update, Snapshot ─► core::update
//! ```
//!
//! No state of a pane and no feature is named here.

pub mod alert;
pub mod batch;
pub mod cached;
pub mod capture;
pub mod capture_alert;
pub mod case_request;
pub mod chain_request;
pub mod effect;
pub mod finding_group_by;
pub mod finding_work;
pub mod form_tag;
pub mod group_keys;
pub mod import;
pub mod live_settings;
pub mod notices;
pub mod own_theme;
pub mod pane;
pub mod pane_sizes;
pub mod plan;
pub mod plot;
pub mod row;
pub mod scheme;
pub mod screen;
pub mod screen_map;
pub mod session;
pub mod tab;
pub mod team;
pub mod time;

pub use alert::{Alert, AlertFields};
pub use batch::{AT_ONCE, Batch, Job, JobState};
pub use cached::{CACHED_LISTS, CachedList};
pub use capture::{CaptureKey, CaptureRow};
pub use capture_alert::{AGAIN, AlertReason, CaptureAlert};
pub use case_request::CaseRequest;
pub use chain_request::ChainRequest;
pub use effect::{
    AlertRequest, Call, CallAnswer, CaptureUse, CommandRun, ConnectionChoice, CopyFailed, Effect,
    Exported, ExportedCaptures, FindingUse, PlannedProof, ReportRequest, SavedExport, Secret,
    Ticket,
};
pub use finding_group_by::FindingGroupBy;
pub use finding_work::{
    FindingsSource, ListRequest, MadeOrder, RetainedFindings, TextChunk, ViewInputs, ViewJob,
    ViewKey, ViewRequest,
};
pub use form_tag::{FormTag, ManualFindingOrigin};
pub use group_keys::{GroupKeys, GroupName};
pub use import::{FileReading, FileToImport, FolderNames, ImportPreview};
pub use live_settings::{LiveSettings, theme_names};
pub use notices::{Notices, Tone};
pub use own_theme::{AUTO, ColourRole, OwnColours, OwnTheme};
pub use pane::{Focus, Pane, Scope};
pub use pane_sizes::{Divider, PaneSizes};
pub use plan::{
    ArchivedCaptures, Generation, Link, ListItem, ListKind, PartData, PollBudget, PollEvent,
    PollPlan, ScanPart, Snapshot, UnreadScans, Update,
};
pub use plot::{
    FindingCounts, HeatMap, Plot, PlotBox, PlotCounts, PlotNumbers, PlotTarget, ProgressPoint,
    ScanHistory, ScopedPlot,
};
pub use row::{GroupId, RetainedRow, RowRef};
pub use scheme::Scheme;
pub use screen::{JsonFold, Layout, Measures, Size, SlotPart};
pub use screen_map::{Axis, CellArea, PlacedDivider, PlacedPane, ScreenMap, ShownRows};
pub use session::Session;
pub use tab::{Tab, TextMode};
pub use team::{FirstJoin, TeamRequest};
pub use time::Now;
