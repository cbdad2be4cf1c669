//! Payloads and captures for each other's queries, and the hits of payloads.

use std::collections::{BTreeMap, BTreeSet};

use super::ArchiveReader;
use scandeck_domain::oob::source::is_own;
use scandeck_domain::oob::{
    CaptureRecord, Hits, Network, Payload, PayloadBook, TargetHosts, Token,
};
use scandeck_domain::table::OtherLists;
use scandeck_wire::contract::{Capture, Shared};

#[derive(Debug)]
pub struct PayloadHits<'a> {
    pub book: &'a PayloadBook,
    pub hits: BTreeMap<Token, Hits>,
    pub(super) own: &'a [Network],
    pub(super) hosts: &'a TargetHosts,
    pub(super) offset: Option<i64>,
}

impl OtherLists for PayloadHits<'_> {
    fn payload(&self, token: Token) -> Option<&Payload> {
        self.book.get(token).map(|payload| &**payload)
    }

    fn hits(&self, token: Token) -> Option<&Hits> {
        self.hits.get(&token)
    }

    fn targets_of(&self, capture: &Capture) -> Vec<Shared> {
        self.hosts
            .named_in(capture)
            .into_iter()
            .map(|named| named.target)
            .collect()
    }

    fn is_own(&self, capture: &Capture) -> bool {
        is_own(capture, self.own)
    }

    fn clock_offset(&self) -> Option<i64> {
        self.offset
    }
}

impl ArchiveReader<'_> {
    /// The hits of each payload in the selected workspaces, after archiving new captures as in
    /// [`all`](Self::all).
    ///
    /// # Errors
    /// Those of the service, and when the archive cannot be read or written.
    pub async fn hits(&mut self) -> anyhow::Result<BTreeMap<Token, Hits>> {
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
}

/// The hits of each payload in these captures.
fn hits_in(all: &[CaptureRecord]) -> BTreeMap<Token, Hits> {
    let mut hits: BTreeMap<Token, Hits> = BTreeMap::new();
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
