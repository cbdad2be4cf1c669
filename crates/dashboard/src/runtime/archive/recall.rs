//! Reading the archived captures of the current workspace in chunks, the newest first.

use crate::base::CaptureRow;
use crate::data::{MOST, MOST_BYTES, OobNews, Recalled};
use crate::runtime::archive::Task;
use scandeck_domain::oob::{ArchivePlace, StoreError};
use std::sync::Arc;

/// Captures of the first chunk, which is shown at once.
const FIRST: usize = 2_000;
/// Captures of each further chunk.
const CHUNK: usize = 5_000;

/// The progress in a workspace whose older captures are not read yet.
#[derive(Clone, Copy, Default)]
pub(crate) struct Recalling {
    before: Option<ArchivePlace>,
    read: usize,
    bytes: usize,
}

impl Task {
    /// Reads and reports the next chunk.
    pub(crate) async fn recall_more(&mut self) -> Result<(), StoreError> {
        let (Some(mut recalling), Some((generation, workspace))) =
            (self.recalling, self.workspace.clone())
        else {
            return Ok(());
        };
        let first = recalling.before.is_none();
        if first {
            self.recall_hits(&workspace).await?;
        }
        let Some(store) = &mut self.store else {
            return Ok(());
        };
        let newest = if first {
            Some(Arc::new(store.newest().await?))
        } else {
            None
        };
        let most = if first {
            FIRST
        } else {
            CHUNK.min(MOST - recalling.read)
        };
        let page = store.captures(&workspace, recalling.before, most).await?;
        let ended = page.older.is_none();
        recalling.before = page.older;
        let captures = self
            .recognized(
                page.captures
                    .into_iter()
                    .rev()
                    .map(|(_, one)| one)
                    .collect(),
            )
            .await;
        recalling.read += captures.len();
        recalling.bytes += captures.iter().map(CaptureRow::bytes).sum::<usize>();
        let full = recalling.read >= MOST || recalling.bytes >= MOST_BYTES;
        let older = (ended || full).then_some(!ended);
        self.report(OobNews::Recalled(Box::new(Recalled {
            generation,
            captures,
            newest,
            older,
        })));
        self.recalling = older.is_none().then_some(recalling);
        Ok(())
    }
}
