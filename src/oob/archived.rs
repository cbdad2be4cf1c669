//! A capture as it is archived: with what was known of its logger when it was seen.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::contract::{Capture, CaptureId, LoggerId, Shared, Stamp};

/// See the module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Archived {
    /// Name of the workspace.
    pub workspace: Shared,
    pub logger: LoggerId,
    pub label: Shared,
    pub handler_url: Shared,
    /// By this machine's clock.
    pub seen_at: Stamp,
    pub capture: Arc<Capture>,
}

impl Default for Archived {
    fn default() -> Self {
        Self {
            workspace: Shared::default(),
            logger: LoggerId::default(),
            label: Shared::default(),
            handler_url: Shared::default(),
            seen_at: Stamp(jiff::Timestamp::UNIX_EPOCH),
            capture: Arc::default(),
        }
    }
}

impl Archived {
    /// When it came: by the service's clock, or when it was seen where that is not told.
    pub fn at(&self) -> Stamp {
        self.capture.request_date.unwrap_or(self.seen_at)
    }
}

/// The last capture archived of a logger. Ids may begin anew after a clear, so the date belongs to it.
pub type Newest = (CaptureId, Option<Stamp>);
