//! A capture as it is archived: with what was known of its logger when it was seen; and what is told of many.

use std::fmt;
use std::ops::AddAssign;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::contract::{Capture, CaptureId, LoggerId, Shared, Stamp};
use crate::text::plural;

/// See the module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArchivedCapture {
    /// Name of the workspace.
    pub workspace: Shared,
    pub logger: LoggerId,
    pub label: Shared,
    pub handler_url: Shared,
    /// By this machine's clock.
    pub seen_at: Stamp,
    pub capture: Arc<Capture>,
}

impl Default for ArchivedCapture {
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

impl ArchivedCapture {
    /// When it came: by the service's clock, or when it was seen where that is not told.
    pub fn at(&self) -> Stamp {
        self.capture.request_date.unwrap_or(self.seen_at)
    }
}

/// What was read from loggers before the service was told to forget it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClearedRequests {
    /// Requests that were read.
    pub requests: usize,
    /// Those that are in the archive now; the others are older than is kept.
    pub archived: usize,
}

impl AddAssign for ClearedRequests {
    fn add_assign(&mut self, more: Self) {
        self.requests += more.requests;
        self.archived += more.archived;
    }
}

impl fmt::Display for ClearedRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let requests = plural(self.requests, "request");
        match self.requests - self.archived {
            0 if self.requests == 0 => f.write_str("nothing was recorded"),
            0 if self.requests == 1 => write!(f, "{requests}, archived"),
            0 => write!(f, "{requests}, all archived"),
            old => write!(f, "{requests}, archived but for {old} older than is kept"),
        }
    }
}

/// The id after which captures are requested: the newest known is read once more.
pub fn since(newest: Option<NewestCapture>) -> Option<CaptureId> {
    newest.map(|(id, _)| CaptureId(id.0 - 1))
}

/// The captures beyond the newest known; nothing where that is not among them: ids may have begun again after a clear, so
/// all must be read.
pub fn beyond((newest, date): NewestCapture, mut captures: Vec<Capture>) -> Option<Vec<Capture>> {
    captures.iter().any(|one| (one.id, one.request_date) == (newest, date)).then(|| {
        captures.retain(|one| one.id > newest);
        captures
    })
}

/// The last capture archived of a logger. Ids may begin anew after a clear, so the date belongs to it.
pub type NewestCapture = (CaptureId, Option<Stamp>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_told_with_what_is_not_kept_for_its_age() {
        let told = |requests, archived| ClearedRequests { requests, archived }.to_string();
        assert_eq!([told(0, 0), told(1, 1)], ["nothing was recorded", "1 request, archived"]);
        assert_eq!(told(37, 37), "37 requests, all archived");
        assert_eq!(told(37, 30), "37 requests, archived but for 7 older than is kept");
    }
}
