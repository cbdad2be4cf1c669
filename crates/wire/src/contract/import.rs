//! Imports of result files: an extension of the service beside the 34 endpoints of the API v2.
//!
//! ```text
//!   POST /api/v2/imports?workspace_id=…   the file as the body     202  {"data": FileImport}
//!   GET  /api/v2/imports?workspace_id=…   newest first                  {"data": [FileImport]}
//!   GET  /api/v2/imports/{id}             state and result              {"data": FileImport}
//!   POST /api/v2/findings/import          FindingsToImport         201  {"data": ImportedFindings}
//! ```
//!
//! An import stores a finished scan for each target of its file. Such a scan has an [`ImportOrigin`]
//! in its tool parameters, under [`ImportOrigin::FIELD`]; other clients show it as a parameter.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::shared::SharedTexts;
use super::{
    FindingId, ImportId, Risk, Scan, ScanId, Shared, Stamp, TargetId, WorkspaceId, lenient,
};

/// The path of the imports in the API v2.
pub const IMPORTS: &str = "/imports";

/// The path of the import of findings in the API v2.
pub const FINDINGS_IMPORT: &str = "/findings/import";

/// Most bytes of a result file.
pub const MOST_IMPORT_BYTES: u64 = 512 << 20;

/// Most findings of one `POST /findings/import`.
pub const MOST_IMPORTED_FINDINGS: usize = 1_000;

/// Query parameters of `POST /imports`; the body is the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewImport {
    /// The current workspace of the service when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Replaces every target of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_name: Option<String>,
    /// A name of `docs/imports.md`; recognised by the content when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// For lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_name: Option<String>,
    /// The run tested the same as the last one, so findings that it does not have are absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
}

string_enum! {
    /// The state of an import. `finished` and `failed` are final.
    ImportState {
        /// Queued.
        Waiting = "waiting",
        /// The file is read; nothing of it is visible yet.
        Running = "running",
        /// The scans are stored, or were stored by an earlier import.
        Finished = "finished",
        /// Nothing was stored.
        Failed = "failed",
    }
}

/// An import of a result file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FileImport {
    pub id: ImportId,
    pub workspace_id: WorkspaceId,
    pub state: ImportState,
    /// Name of the file at the sender; may be empty.
    pub file_name: Shared,
    /// SHA-256 of the file, as 64 hexadecimal digits.
    pub digest: Shared,
    /// Name of the key that sent the file; may be empty.
    pub imported_by: Shared,
    /// `YYYY-MM-DD HH:MM:SS` in UTC.
    #[serde(deserialize_with = "Stamp::maybe", serialize_with = "Stamp::as_text")]
    #[schemars(with = "Stamp")]
    pub created_at: Option<Stamp>,
    /// Why the import failed or stored nothing, or that the file was imported before; may be empty.
    pub message: Shared,
    /// The earlier import of the same file; absent if this import stored scans.
    #[serde(
        deserialize_with = "lenient::maybe_id",
        skip_serializing_if = "Option::is_none"
    )]
    pub same_as: Option<ImportId>,
    /// The file, or the files of an archive; empty until the import ends.
    pub files: Vec<ImportedFile>,
}

impl SharedTexts for FileImport {}

impl FileImport {
    /// Whether the import has ended.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, ImportState::Finished | ImportState::Failed)
    }

    /// Whether the scans of the file are stored, by this import or by an earlier one.
    pub fn is_stored(&self) -> bool {
        let has_scans = self.files.iter().any(|file| !file.scans.is_empty());
        self.state == ImportState::Finished && (has_scans || self.same_as.is_some())
    }
}

/// What one file of an import contained, and the scans that it became.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ImportedFile {
    /// Name of the file; in an archive also the name there.
    pub file: Shared,
    /// Null if it was not recognised.
    #[serde(deserialize_with = "lenient::maybe_text")]
    pub format: Option<Shared>,
    /// The tool that wrote the results.
    pub tool: Shared,
    /// May be empty.
    pub version: Shared,
    /// Start of the original scan; null if the file does not have it.
    /// `YYYY-MM-DD HH:MM:SS` in UTC.
    #[serde(deserialize_with = "Stamp::maybe")]
    pub started: Option<Stamp>,
    /// End of the original scan; null if the file does not have it. `YYYY-MM-DD HH:MM:SS` in UTC.
    #[serde(deserialize_with = "Stamp::maybe")]
    pub ended: Option<Stamp>,
    /// Number of targets.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 0))]
    pub targets: i64,
    /// Number of stored findings.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 0))]
    pub findings: i64,
    /// Stored findings by the name of the risk; risks without findings are absent.
    pub by_risk: BTreeMap<String, i64>,
    /// Results that are not stored.
    pub skipped: Vec<SkippedResults>,
    /// Why the file was not read to its end; absent if it was.
    #[serde(
        deserialize_with = "lenient::maybe_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub error: Option<Shared>,
    /// A scan for each target.
    pub scans: Vec<ImportedScan>,
}

/// Results that were skipped for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SkippedResults {
    pub reason: Shared,
    /// Number of results.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 1))]
    pub count: i64,
}

impl SkippedResults {
    /// The reason of results for which the file names no target.
    pub const NO_TARGET: &str = "no target named; import the file again with a target name";
    /// The reason of results whose target in the file cannot be one of the service.
    pub const NOT_A_TARGET: &str =
        "target is not a host name, address or URL; import the file again with a target name";

    /// Whether the results would be findings if a target were named for them.
    pub fn lacks_target(&self) -> bool {
        [Self::NO_TARGET, Self::NOT_A_TARGET].contains(&&*self.reason)
    }
}

/// A scan of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ImportedScan {
    pub id: ScanId,
    pub target_id: TargetId,
    pub target_name: Shared,
    /// Number of findings.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 0))]
    pub findings: i64,
    /// The import created the target.
    #[serde(deserialize_with = "lenient::boolean")]
    pub is_new_target: bool,
}

/// Where the findings of an imported scan come from, in its tool parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportOrigin {
    /// 0 for findings of `POST /findings/import`.
    pub id: ImportId,
    /// Name of the file; in an archive also the name there.
    pub file: Shared,
    /// The tool that wrote the results.
    pub tool: Shared,
    /// May be empty.
    pub version: Shared,
    /// SHA-256 of the file, as 64 hexadecimal digits.
    pub digest: Shared,
    /// Name of the key that sent the file; may be empty.
    pub imported_by: Shared,
    #[serde(deserialize_with = "Stamp::maybe")]
    pub imported_at: Option<Stamp>,
    /// Whoever imported it stated that the run tested the same as the last one.
    #[serde(
        deserialize_with = "lenient::boolean",
        skip_serializing_if = "is_false"
    )]
    pub complete: bool,
    /// What the file states about tests of this target; empty if it lists results alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub coverage: Vec<TestedClasses>,
}

/// Tests that an imported scan completed. `vuln_id`s name the classes of findings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestedClasses {
    /// Tested ports, such as `tcp/1-1000`; all when empty.
    #[serde(
        deserialize_with = "lenient::texts",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub ports: Vec<Shared>,
    /// Tested classes.
    #[serde(
        deserialize_with = "lenient::texts",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub checks: Vec<Shared>,
    /// Beginnings of tested classes.
    #[serde(
        deserialize_with = "lenient::texts",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub prefixes: Vec<Shared>,
    /// Kinds of checks that were not run, such as those that need a login.
    #[serde(
        deserialize_with = "lenient::texts",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub without: Vec<Shared>,
}

impl ImportOrigin {
    /// The field of the tool parameters.
    pub const FIELD: &str = "import";

    /// The origin of an imported scan; none for a scan of the service.
    pub fn of(scan: &Scan) -> Option<Self> {
        Self::in_params(scan.tool_params.as_ref()?)
    }

    /// Whether a scan has an origin, without reading it.
    pub fn is_of(scan: &Scan) -> bool {
        let params = scan.tool_params.as_ref();
        params.is_some_and(|params| params.get(Self::FIELD).is_some_and(Value::is_object))
    }

    /// The tool that the file of an imported scan names.
    pub fn tool_of(scan: &Scan) -> Option<&str> {
        let origin = scan.tool_params.as_ref()?.get(Self::FIELD)?;
        let named = origin.get("tool")?.as_str()?;
        (!named.is_empty()).then_some(named)
    }

    /// The origin in the tool parameters of a scan.
    pub fn in_params(params: &Value) -> Option<Self> {
        let origin = params.get(Self::FIELD).filter(|value| value.is_object())?;
        Self::deserialize(origin).ok()
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Body of `POST /findings/import` (JSON).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FindingsToImport {
    /// The current workspace of the service when absent.
    #[serde(
        deserialize_with = "lenient::maybe_id",
        skip_serializing_if = "Option::is_none"
    )]
    pub workspace_id: Option<WorkspaceId>,
    pub findings: Vec<FindingToImport>,
}

/// A finding of another tool, in the form of the hosted service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FindingToImport {
    pub name: Shared,
    /// 2: of another tool.
    #[serde(deserialize_with = "lenient::integer")]
    pub source: i64,
    pub target_name: Shared,
    pub test_description: Shared,
    pub vuln_description: Shared,
    pub vuln_risk_level: Risk,
    pub vuln_recommendation: Shared,
    #[serde(
        deserialize_with = "lenient::maybe_number",
        skip_serializing_if = "Option::is_none"
    )]
    pub cvss_v3: Option<f64>,
    pub vuln_evidence: Shared,
}

/// Response of `POST /findings/import`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ImportedFindings {
    /// In the order of the request.
    pub results: Vec<ImportedFinding>,
}

/// A finding that was stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ImportedFinding {
    pub id: FindingId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn import_is_stored_by_its_scans_or_by_an_earlier_import() {
        let file = ImportedFile {
            scans: vec![ImportedScan::default()],
            ..ImportedFile::default()
        };
        let stored = FileImport {
            state: ImportState::Finished,
            files: vec![ImportedFile::default(), file],
            ..FileImport::default()
        };
        assert!(stored.is_stored());
        let skipped = FileImport {
            files: vec![ImportedFile::default()],
            ..stored.clone()
        };
        assert!(!skipped.is_stored());
        let repeated = FileImport {
            same_as: Some(ImportId(3)),
            ..skipped
        };
        assert!(repeated.is_stored());
        let running = FileImport {
            state: ImportState::Running,
            ..stored
        };
        assert!(!running.is_stored());
    }

    #[test]
    fn origin_survives_the_tool_parameters() {
        let origin = ImportOrigin {
            id: ImportId(3),
            tool: "nmap".into(),
            coverage: vec![TestedClasses {
                ports: vec!["tcp/1-1000".into()],
                prefixes: vec!["nmap:".into()],
                ..TestedClasses::default()
            }],
            ..ImportOrigin::default()
        };
        let params = serde_json::json!({"import": &origin});
        assert_eq!(ImportOrigin::in_params(&params), Some(origin));
        for other in [
            serde_json::json!({"scan_type": "light"}),
            serde_json::json!({"import": "yes"}),
        ] {
            assert_eq!(ImportOrigin::in_params(&other), None, "{other}");
        }
    }
}
