//! The hits of payloads.

use std::collections::BTreeSet;

use super::ArchiveReader;
use scandeck_domain::oob::{ArchivedCapture, CaptureRecord, Hit, HitCounts, Token, mentions};

impl ArchiveReader<'_> {
    /// The hits of each payload in the selected workspaces, after archiving new captures as in
    /// [`all`](Self::all).
    ///
    /// # Errors
    /// Those of the service, and when the archive cannot be read or written.
    pub async fn hits(&mut self) -> anyhow::Result<HitCounts> {
        let unarchived = self.search_archive().await?;
        if self.store.is_behind().await? && !self.store.is_writable() {
            return Ok(hits_in(&self.captures(unarchived).await?));
        }
        let mut hits = hits_in(&self.with_mentions(unarchived).await);
        for workspace in self.selected_workspaces().await? {
            for count in self.store.counts_of(&workspace).await? {
                hits.entry(count.token).or_default().join(count.hits);
            }
        }
        Ok(hits)
    }

    /// Every hit in the selected workspaces, after archiving new captures as in
    /// [`all`](Self::all).
    ///
    /// # Errors
    /// Those of [`hits`](Self::hits).
    pub async fn each_hit(&mut self) -> anyhow::Result<Vec<Hit>> {
        let mut captures = self.search_archive().await?;
        let is_unsearched = self.store.is_behind().await? && !self.store.is_writable();
        let mut hits = BTreeSet::new();
        for workspace in self.selected_workspaces().await? {
            hits.extend(self.store.hits_of(&workspace).await?);
            if is_unsearched {
                captures.extend(self.store.captures_of(&workspace).await?);
            }
        }
        let book = self.book.clone();
        let search = move || {
            let of = |one: &ArchivedCapture| one.hits(&mentions(&one.capture, &book));
            captures.iter().flat_map(of).collect::<Vec<Hit>>()
        };
        hits.extend(tokio::task::spawn_blocking(search).await?);
        Ok(hits.into_iter().collect())
    }

    /// Archives new captures and counts the hits in them; returns the captures that cannot be
    /// archived.
    async fn search_archive(&mut self) -> anyhow::Result<Vec<ArchivedCapture>> {
        let unarchived = self
            .archive_if_reachable("the payload book on this machine")
            .await?;
        let mut ended = self.count_hits().await?;
        if !ended {
            note!("scandeck: searching the whole archive for payloads, this time only");
        }
        while !ended {
            ended = self.count_hits().await?;
        }
        Ok(unarchived)
    }
}

/// The hits of each payload in these captures.
fn hits_in(all: &[CaptureRecord]) -> HitCounts {
    let mut hits = HitCounts::new();
    for record in all {
        let known = record.mentions.iter().filter(|mention| mention.known);
        let tokens: BTreeSet<Token> = known.map(|mention| mention.token).collect();
        tokens.into_iter().for_each(|token| {
            hits.entry(token)
                .or_default()
                .take(record.capture.request_date)
        });
    }
    hits
}
