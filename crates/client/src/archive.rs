//! Calls that delete captures of the service: everything is archived first, and the call is made
//! only then.
//!
//! ```text
//!   captures of a logger ─► CaptureArchive ─► captures that arrived since ─► … ─► nothing new ─► the call
//!                                └─ error ─► no call
//! ```

use std::slice;
use std::time::Instant;

use super::{Client, Problem};
use scandeck_domain::oob::ClearedRequests;
use scandeck_wire::contract::{Capture, Logger, Shared, Workspace};

/// Reads of one logger before it is cleared: more captures may arrive while the last ones are
/// archived.
const MOST_READS: usize = 20;

/// The archive of captures on this machine.
pub trait CaptureArchive: Send {
    /// Archives captures of a logger of this workspace. Returns how many are archived; the others
    /// are older than the retention period.
    ///
    /// # Errors
    /// When they are not archived: the service must keep them.
    fn archive(
        &mut self,
        workspace: &Shared,
        logger: &Logger,
        captures: Vec<Capture>,
    ) -> impl Future<Output = Result<usize, Problem>> + Send;
}

/// The captures that were read before a call deletes them.
struct CapturesRead {
    counts: ClearedRequests,
    /// When the last read was sent: captures that arrived since then were not read. Of several
    /// loggers the earliest.
    last_read: Instant,
}

impl CapturesRead {
    /// The counts after the captures were deleted.
    fn deleted(self) -> ClearedRequests {
        ClearedRequests {
            unread: self.last_read.elapsed(),
            ..self.counts
        }
    }
}

impl Client {
    /// Archives the captures of a logger, then clears the logger.
    ///
    /// # Errors
    /// When the captures cannot be read or archived, and those of the call.
    pub async fn archive_and_clear(
        &self,
        archive: &mut impl CaptureArchive,
        workspace: &Shared,
        logger: &Logger,
    ) -> Result<ClearedRequests, Problem> {
        let call = format!("DELETE /http_loggers/{}/data", logger.id);
        let loggers = slice::from_ref(logger);
        let read = self.archive_all(archive, workspace, loggers, &call).await?;
        // More captures may have arrived since the look at the logger.
        let requests = i64::try_from(read.counts.requests).unwrap_or(i64::MAX);
        let before = logger.num_requests.max(requests);
        self.clear_captures(logger.id, before).await?;
        Ok(read.deleted())
    }

    /// Archives the captures of a logger, then deletes the logger.
    ///
    /// # Errors
    /// As [`archive_and_clear`](Self::archive_and_clear).
    pub async fn archive_and_delete_logger(
        &self,
        archive: &mut impl CaptureArchive,
        workspace: &Shared,
        logger: &Logger,
    ) -> Result<ClearedRequests, Problem> {
        let call = format!("DELETE /http_loggers/{}", logger.id);
        let loggers = slice::from_ref(logger);
        let read = self.archive_all(archive, workspace, loggers, &call).await?;
        self.delete_logger(logger.id).await?;
        Ok(read.deleted())
    }

    /// Archives the captures of all loggers of a workspace, then deletes the workspace.
    ///
    /// # Errors
    /// As [`archive_and_clear`](Self::archive_and_clear).
    pub async fn archive_and_delete_workspace(
        &self,
        archive: &mut impl CaptureArchive,
        workspace: &Workspace,
    ) -> Result<ClearedRequests, Problem> {
        let call = format!("DELETE /workspaces/{}", workspace.id);
        let loggers = self.list_loggers(Some(workspace.id)).await?;
        let read = self
            .archive_all(archive, &workspace.name, &loggers, &call)
            .await?;
        self.delete_workspace(workspace.id).await?;
        match loggers.is_empty() {
            true => Ok(ClearedRequests::default()),
            false => Ok(read.deleted()),
        }
    }

    /// Archives the captures of loggers of a workspace. The caller makes the call that deletes them
    /// at once, because captures that arrive in between are lost.
    async fn archive_all(
        &self,
        archive: &mut impl CaptureArchive,
        workspace: &Shared,
        loggers: &[Logger],
        call: &str,
    ) -> Result<CapturesRead, Problem> {
        let mut all = CapturesRead {
            counts: ClearedRequests::default(),
            last_read: Instant::now(),
        };
        for (number, logger) in loggers.iter().enumerate() {
            let read = self
                .archive_logger(archive, workspace, logger)
                .await
                .map_err(|why| unread(&why, call))?;
            all.counts += read.counts;
            if number == 0 {
                all.last_read = read.last_read;
            }
        }
        Ok(all)
    }

    /// Reads until there is nothing new, so only captures that arrive between the last read and the
    /// call can be lost. A logger that receives requests without pause is read at most twenty
    /// times.
    async fn archive_logger(
        &self,
        archive: &mut impl CaptureArchive,
        workspace: &Shared,
        logger: &Logger,
    ) -> Result<CapturesRead, Problem> {
        let (mut counts, mut since) = (ClearedRequests::default(), None);
        let mut last_read = Instant::now();
        for _ in 0..MOST_READS {
            last_read = Instant::now();
            let captures = self.list_captures(logger.id, since).await?;
            let Some(last) = captures.last() else { break };
            since = Some(last.id);
            counts.requests += captures.len();
            counts.archived += archive.archive(workspace, logger, captures).await?;
        }
        Ok(CapturesRead { counts, last_read })
    }
}

/// The reason why the call is not made, and the command that makes it nevertheless.
fn unread(why: &Problem, call: &str) -> Problem {
    let hint = why
        .hint
        .as_deref()
        .map(|hint| format!("{hint}; or "))
        .unwrap_or_default();
    Problem::local(format!("captures cannot be archived: {why}"))
        .with_hint(format!("{hint}without archiving: `scandeck api {call}`"))
}
