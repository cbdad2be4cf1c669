//! Schedules of scans: an extension of the service beside the API v2.
//!
//! ```text
//!   GET    /scandeck/v1/schedules               of a workspace, or all   ScheduleList
//!   POST   /scandeck/v1/schedules               NewSchedule              ScanSchedule
//!   GET    /scandeck/v1/schedules/{id}                                   ScanSchedule
//!   POST   /scandeck/v1/schedules/{id}/pause    no start until resumed
//!   POST   /scandeck/v1/schedules/{id}/resume   missed starts are not made up for
//!   DELETE /scandeck/v1/schedules/{id}          its scans remain
//! ```
//!
//! The service starts schedules itself, in its own local time. A service without the header of
//! [`super::team`] in lists of workspaces has none, and receives no request for them.

use serde::{Deserialize, Serialize};

use super::shared::SharedTexts;
use super::{NewScan, ScheduleId, Shared, Stamp, TargetId, WorkspaceId};

/// The path of the schedules, beside that of the API v2.
pub const SCHEDULES_ROOT: &str = "/scandeck/v1/schedules";

/// The window of a schedule that does not name one.
pub const DEFAULT_WINDOW: &str = "6h";

/// Most targets that a schedule names, and most scans of each.
pub const MOST_SCHEDULED_TARGETS: usize = 1_000;
pub const MOST_SCHEDULED_SCANS: usize = 20;

/// A schedule to create.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewSchedule {
    /// For lists and for the notes of its scans, such as the name of the scan profile.
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// 1 to 1000 with `min`, `h`, `d`, `w` or `mo`.
    pub every: String,
    /// Local time of the service, such as `02:00`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Day of the first start, such as `2026-12-07`; needs `at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// How late a missed start may be: 1 to 1000 with `min`, `h` or `d`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// Targets of the workspace; all of them at the time of each start when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_ids: Option<Vec<TargetId>>,
    /// Instead of `target_ids`: the targets that have this tag at the time of each start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<Shared>,
    /// The scans of each target, without one.
    pub scans: Vec<NewScan>,
}

/// A schedule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScanSchedule {
    pub id: ScheduleId,
    pub workspace_id: WorkspaceId,
    pub name: Shared,
    pub every: Shared,
    /// Local time of the service from which starts are counted, such as `2026-12-07 02:00`. It is the
    /// first start if `at` was given, otherwise the creation.
    pub first_start: Shared,
    pub window: Shared,
    /// The time zone of the service; empty if it has no name.
    pub time_zone: Shared,
    /// Absent for all targets of the workspace, or those of a tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_ids: Option<Vec<TargetId>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<Shared>,
    /// With the defaults of the tools; credentials are replaced.
    pub scans: Vec<NewScan>,
    pub is_paused: bool,
    /// Null while it is paused.
    #[serde(deserialize_with = "Stamp::maybe")]
    pub next_start: Option<Stamp>,
    #[serde(deserialize_with = "Stamp::maybe")]
    pub last_start: Option<Stamp>,
    /// What the last start did, or why it was skipped.
    pub last_result: Shared,
    /// The number of starts.
    pub starts: i64,
    /// Name of the key that created it.
    pub created_by: Shared,
}

impl SharedTexts for ScanSchedule {}

/// The schedules of a workspace, or all, in the order of their ids.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScheduleList {
    pub schedules: Vec<ScanSchedule>,
}
