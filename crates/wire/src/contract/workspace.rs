//! Workspaces, which contain targets, scans and loggers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared::SharedTexts;
use super::{Shared, WorkspaceId, lenient};

/// A workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Workspace {
    pub id: WorkspaceId,
    /// Unique, case-insensitive.
    pub name: Shared,
    /// May be empty.
    pub description: Shared,
    /// Number of scans.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 0))]
    pub scan_count: i64,
    /// Number of targets.
    #[serde(deserialize_with = "lenient::integer")]
    #[schemars(range(min = 0))]
    pub target_count: i64,
}

impl SharedTexts for Workspace {}

impl Workspace {
    /// Whether the text is its id or its name.
    pub fn is_called(&self, text: &str) -> bool {
        self.id.to_string() == text.trim() || is_same_name(&self.name, text)
    }
}

/// Whether two workspace names are equal: trimmed and case-insensitive.
pub fn is_same_name(a: &str, b: &str) -> bool {
    a.trim().to_lowercase() == b.trim().to_lowercase()
}

/// Body of `POST /workspaces` (form).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewWorkspace {
    /// Unique (trimmed, case-insensitive).
    pub name: String,
    /// Free text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Body of `PUT /workspaces/{id}` (JSON), with at least one field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditWorkspace {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}
