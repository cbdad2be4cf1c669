//! Reports about scans or findings, rendered in the background and downloaded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared::SharedTexts;
use super::{ReportId, Shared, Stamp, WorkspaceId, lenient};

/// A report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Report {
    pub id: ReportId,
    /// Name of the file.
    pub download_name: Shared,
    pub status: ReportStatus,
    pub format: ReportFormat,
    /// End of the generation; while the report waits, the time of the request.
    /// `YYYY-MM-DD HH:MM:SS` in UTC.
    #[serde(deserialize_with = "Stamp::maybe", serialize_with = "Stamp::as_text")]
    #[schemars(with = "Stamp")]
    pub generation_date: Option<Stamp>,
    /// The service deletes the report at this time. `YYYY-MM-DD HH:MM:SS` in UTC.
    #[serde(deserialize_with = "Stamp::maybe", serialize_with = "Stamp::as_text")]
    #[schemars(with = "Stamp")]
    pub expiration_date: Option<Stamp>,
    /// Workspace of the scans or findings; null if there are several. Deleting the workspace
    /// deletes the report.
    // An addition to the contract.
    #[serde(deserialize_with = "lenient::maybe_id")]
    pub workspace_id: Option<WorkspaceId>,
}

impl SharedTexts for Report {}

string_enum! {
    /// The state of a report. A finished report can be downloaded.
    ReportStatus {
        /// Not rendered yet.
        Waiting = "waiting",
        /// Ready to download.
        Finished = "finished",
        /// Rendering failed.
        Failed = "failed",
    }
}

string_enum! {
    /// The format of the file of a report.
    ReportFormat {
        /// Portable document.
        Pdf = "pdf",
        /// One self-contained page.
        Html = "html",
        /// An array of groups with their findings.
        Json = "json",
        /// One row per finding.
        Csv = "csv",
        /// Spreadsheet.
        Xlsx = "xlsx",
        /// Word document.
        Docx = "docx",
    }
}

string_enum! {
    /// The grouping of a report.
    GroupBy {
        /// One chapter per target.
        Target = "target",
        /// One chapter per kind of finding.
        Vulnerability = "vulnerability",
    }
}

string_enum! {
    /// The kind of the ids in `resources`.
    ReportSource {
        /// Scan ids.
        Scans = "scans",
        /// Finding ids.
        Findings = "findings",
    }
}

/// Body of `POST /reports`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NewReport {
    pub format: ReportFormat,
    pub group_by: GroupBy,
    pub source: ReportSource,
    /// Scan ids or finding ids, depending on `source`.
    pub resources: Vec<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filters: Option<ReportFilters>,
    /// Receives a notification when the report is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook_url: Option<String>,
}

/// The contents of a report. The defaults are those of the hosted service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportFilters {
    pub include_finding_history: bool,
    pub include_all_targets: bool,
    pub include_how_to_reproduce: bool,
    pub include_false_positives: bool,
    pub include_info: bool,
    pub include_not_verified: bool,
    pub include_ignored: bool,
    pub include_accepted: bool,
    pub include_fixed: bool,
    pub include_tool_configuration: bool,
}

impl Default for ReportFilters {
    fn default() -> Self {
        Self {
            include_finding_history: false,
            include_all_targets: false,
            include_how_to_reproduce: true,
            include_false_positives: false,
            include_info: true,
            include_not_verified: true,
            include_ignored: false,
            include_accepted: true,
            include_fixed: true,
            include_tool_configuration: true,
        }
    }
}

/// Response of `POST /reports`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportCreated {
    /// The id of the new report.
    pub report_id: ReportId,
}
