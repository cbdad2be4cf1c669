//! Targets of scans: a host name, an IP address or a URL.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared::{SharedPool, SharedTexts};
use super::{Shared, TargetId, WorkspaceId, lenient};

/// A target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Target {
    pub id: TargetId,
    /// The host name, IP address or URL, in canonical form.
    pub name: Shared,
    #[serde(rename = "type")]
    pub kind: TargetType,
    /// May be empty.
    pub description: Shared,
    pub workspace_id: WorkspaceId,
    /// Words in lower case, sorted; absent without tags.
    // Only a service of scandeck has them.
    #[serde(
        deserialize_with = "lenient::texts",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub tags: Vec<Shared>,
}

impl SharedTexts for Target {
    fn share_texts(&mut self, pool: &mut SharedPool) {
        self.tags.share_texts(pool);
    }
}

string_enum! {
    /// The type of a target.
    TargetType {
        /// A DNS name, or `localhost`.
        Hostname = "hostname",
        /// An IPv4 or IPv6 address.
        IpAddress = "ip_address",
        /// An `http` or `https` URL.
        Url = "url",
    }
}

/// Body of `POST /targets` (form).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewTarget {
    /// A host name, an IP address or a URL.
    pub name: String,
    /// Free text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The current workspace of the service when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}
