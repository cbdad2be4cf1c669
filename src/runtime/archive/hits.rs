//! What payloads brought in: kept with the captures, made good where nobody did, and told as the archive counts it.

use super::Task;
use crate::app::msg::OobNews;
use crate::contract::Shared;
use crate::oob::store::{Count, Rows, StoreError};
use crate::oob::{Hit, Hits, Token};

impl Task {
    /// Keeps hits in captures that were archived just now, in these rows.
    pub(super) async fn keep_hits(&mut self, hits: Vec<Hit>, rows: Rows) -> Result<(), StoreError> {
        loop {
            let Some(store) = self.writable() else { return Ok(()) };
            let kept = store.keep_hits(&hits, rows).await;
            if !self.is_held(kept.as_ref().err()).await {
                kept?;
                return if hits.is_empty() { Ok(()) } else { self.tell_new_hits().await };
            }
        }
    }

    /// What each payload brought in to a workspace so far.
    pub(super) async fn recall_hits(&mut self, workspace: &Shared) -> Result<(), StoreError> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let behind = store.is_behind().await?;
        let counts = store.counts_of(workspace).await?;
        self.looking = behind && store.is_writable();
        self.tell_hits(counts, !behind);
        Ok(())
    }

    /// The next piece of what nobody looked through for payloads.
    pub(super) async fn look_through(&mut self) -> Result<(), StoreError> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let looked = store.look_through(&mut self.book).await?;
        self.looking = !looked.ended;
        self.hear_payloads(looked.payloads);
        self.tell_new_hits().await
    }

    async fn tell_new_hits(&mut self) -> Result<(), StoreError> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let counts = store.new_counts().await?;
        self.tell_hits(counts, !self.looking);
        Ok(())
    }

    /// What payloads brought in to the workspace worked in; with `all` nothing else came in for any.
    pub(super) fn tell_hits(&self, counts: Vec<Count>, all: bool) {
        let Some((generation, workspace)) = &self.workspace else { return };
        let here = counts.into_iter().filter(|count| count.workspace == *workspace);
        let hits: Vec<(Token, Hits)> = here.map(|count| (count.token, count.hits)).collect();
        if all || !hits.is_empty() {
            self.tell(OobNews::Hits { generation: *generation, hits, all });
        }
    }
}
