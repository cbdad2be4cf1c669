//! A capture as it is archived, together with its logger and workspace.

use std::fmt;
use std::ops::AddAssign;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use scandeck_wire::contract::{Capture, CaptureId, Logger, LoggerId, Shared, Stamp};
use scandeck_wire::text::plural;

/// A captured request with the logger and workspace it belongs to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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

impl ArchivedCapture {
    /// Captures of a logger of this workspace for the archive, without those from before `oldest`:
    /// the service may still have captures that left the archive.
    pub fn of_logger(
        workspace: &Shared,
        logger: &Logger,
        captures: impl IntoIterator<Item = Arc<Capture>>,
        seen_at: Stamp,
        oldest: Option<Stamp>,
    ) -> Vec<Self> {
        let archived = |capture| Self {
            workspace: workspace.clone(),
            logger: logger.id,
            label: logger.label.clone(),
            handler_url: logger.handler_url.clone(),
            seen_at,
            capture,
        };
        let all = captures.into_iter().map(archived);
        all.filter(|one| oldest.is_none_or(|oldest| one.at() >= oldest))
            .collect()
    }

    /// Arrival time by the service's clock; the time when it was first seen if the service reports
    /// none.
    pub fn at(&self) -> Stamp {
        self.capture.request_date.unwrap_or(self.seen_at)
    }
}

/// Captures that were read before loggers were cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClearedRequests {
    /// Requests read.
    pub requests: usize,
    /// Requests in the archive; the others are older than the retention period.
    pub archived: usize,
    /// Time between the last read and the deletion: a request that arrived in it is deleted without
    /// being archived.
    pub unread: Duration,
}

impl AddAssign for ClearedRequests {
    fn add_assign(&mut self, more: Self) {
        self.requests += more.requests;
        self.archived += more.archived;
        self.unread = self.unread.max(more.unread);
    }
}

impl fmt::Display for ClearedRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} archived", plural(self.archived, "capture"))?;
        match self.requests - self.archived {
            0 => {}
            old => write!(f, ", {old} older than keep_days not archived")?,
        }
        match self.unread.as_millis() {
            0 => Ok(()),
            time => write!(
                f,
                "; captures of the last {time} ms before the deletion may not be archived"
            ),
        }
    }
}

/// The id after which captures are requested; the newest archived capture is requested again to
/// detect reused ids.
pub fn since(newest: Option<NewestCapture>) -> Option<CaptureId> {
    newest.map(|(id, _)| CaptureId(id.0 - 1))
}

/// The captures after the newest archived one. `None` if that one is missing: ids may have
/// restarted after a clear, so all captures must be read.
pub fn beyond((newest, date): NewestCapture, mut captures: Vec<Capture>) -> Option<Vec<Capture>> {
    captures
        .iter()
        .any(|one| (one.id, one.request_date) == (newest, date))
        .then(|| {
            captures.retain(|one| one.id > newest);
            captures
        })
}

/// The last archived capture of a logger. Ids may restart after a clear, so the date is part of the
/// key.
pub type NewestCapture = (CaptureId, Option<Stamp>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleared_requests_message_counts_requests_too_old_to_archive() {
        let message = |requests, archived| {
            ClearedRequests {
                requests,
                archived,
                unread: Duration::ZERO,
            }
            .to_string()
        };
        assert_eq!(
            [message(0, 0), message(1, 1)],
            ["0 captures archived", "1 capture archived"]
        );
        assert_eq!(message(37, 37), "37 captures archived");
        assert_eq!(
            message(37, 30),
            "30 captures archived, 7 older than keep_days not archived"
        );
        let cleared = ClearedRequests {
            requests: 2,
            archived: 2,
            unread: Duration::from_millis(12),
        };
        let said = "2 captures archived; captures of the last 12 ms before the deletion may not be archived";
        assert_eq!(cleared.to_string(), said);
    }
}
