//! Workspaces: where targets, scans and loggers belong.

use serde::{Deserialize, Serialize};

use super::{Shared, WorkspaceId, lenient};

/// A workspace as listed and looked up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)] // the names are the contract's
pub struct Workspace {
    pub id: WorkspaceId,
    #[serde(deserialize_with = "lenient::text")]
    pub name: Shared,
    #[serde(deserialize_with = "lenient::text")]
    pub description: Shared,
    #[serde(deserialize_with = "lenient::integer")]
    pub scan_count: i64,
    #[serde(deserialize_with = "lenient::integer")]
    pub target_count: i64,
}

impl Workspace {
    /// Whether this is its id, or its name.
    pub fn is_called(&self, asked: &str) -> bool {
        self.id.to_string() == asked.trim() || is_same_name(&self.name, asked)
    }
}

/// Whether two names are those of one workspace: they are compared trimmed and without case.
pub fn is_same_name(a: &str, b: &str) -> bool {
    a.trim().to_lowercase() == b.trim().to_lowercase()
}

/// Body of `POST /workspaces` (form).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewWorkspace {
    /// Unique, compared trimmed and without case.
    pub name: String,
    /// Free text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Body of `PUT /workspaces/{id}` (JSON); at least one must be given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct EditWorkspace {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}
