//! Captured requests without a screen: what the loggers recorded goes into the archive first and is told from there,
//! as the dashboard does it, and into the same file.
//!
//! ```text
//!   loggers in question ─► count moved ─► captures beyond the newest known ─► archive ─► looked through ─► hits
//!                                                                             └─► recognised ─► Sent
//! ```

mod empty;

use super::decisions::advised;
use super::{HeadlessSession, bundles, decisions};
use crate::cli::advised::Advised;
use crate::client::TargetQuery;
use crate::contract::{Capture, Logger, LoggerId, Shared, Stamp, Workspace};
use crate::oob::archived::{beyond, since};
use crate::oob::source::is_own;
use crate::oob::{
    ArchivedCapture, CaptureRecord, Hits, Network, NewestCapture, OpenedArchive, Payload, PayloadBook, Store,
    TargetHosts, Token, mentions,
};
use crate::query::{Field, Query};
use crate::table::OtherLists;
use crate::text::plural;
use crate::triage::settings::own_addresses;
use crate::{client, text};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The archive, open, with the book of payloads.
#[derive(Debug)]
pub struct ArchiveReader<'a> {
    session: &'a HeadlessSession,
    store: Store,
    /// Payloads of every workspace: a target may call a logger of another one.
    pub book: PayloadBook,
    newest: BTreeMap<LoggerId, NewestCapture>,
    /// What each logger had when it was read last.
    counts: HashMap<LoggerId, i64>,
    /// Read, but not told yet: a call that fails takes nothing of it away.
    untold: Vec<ArchivedCapture>,
    /// Addresses of the analyst's own.
    own: Vec<Network>,
    /// The hosts of the targets, where a query asked about them.
    hosts: TargetHosts,
    /// The workspaces in question, once the service has told them.
    workspaces: Option<Vec<Workspace>>,
    /// The workspace of each logger; of none in question where it is empty.
    homes: HashMap<LoggerId, Option<Shared>>,
}

impl<'a> ArchiveReader<'a> {
    /// Opens the archive of a service, which is made where there is none.
    ///
    /// # Errors
    /// When it cannot be opened or made.
    pub async fn open(session: &'a HeadlessSession) -> anyhow::Result<Self> {
        let OpenedArchive { mut store, book, notes } = Store::open(&session.memory.directory).await.map_err(advised)?;
        for note in notes {
            eprintln!("scandeck: {}", text::clean(&note));
        }
        if let Some(oldest) = session.memory.oldest_kept().filter(|_| store.is_writable()) {
            let gone = store.forget_before(oldest, &book).await.map_err(advised)?;
            if gone > 0 {
                let gone = plural(gone as usize, "capture");
                eprintln!("scandeck: {gone} left the archive: older than is kept");
            }
        }
        let newest = store.newest().await.map_err(advised)?;
        let (_, settings) = decisions::read(&session.memory).await?;
        let own = own_addresses(&settings, &session.own_addresses);
        let (counts, untold, workspaces, homes) = (HashMap::new(), Vec::new(), None, HashMap::new());
        let hosts = TargetHosts::default();
        Ok(Self { session, store, book, newest, counts, untold, own, hosts, workspaces, homes })
    }

    /// Learns the targets of the workspaces in question, where a query asks about them. Those of a service that does
    /// not answer are the ones that were bundled.
    ///
    /// # Errors
    /// What the service refuses.
    pub async fn learn_targets(&mut self, query: Option<&Query>) -> anyhow::Result<()> {
        if !query.is_some_and(|query| query.asks_about(Field::Target)) {
            return Ok(());
        }
        let targets = match self.targets().await {
            Err(error) if bundles::silence(&error).is_some() => {
                let mut bundles = bundles::all(&self.session.memory);
                bundles.retain(|bundle| self.session.means(&bundle.manifest.workspace));
                bundles.into_iter().flat_map(|bundle| bundle.targets).map(|target| target.name.clone()).collect()
            }
            told => told?,
        };
        self.hosts = TargetHosts::of(&targets);
        Ok(())
    }

    async fn targets(&self) -> anyhow::Result<Vec<Shared>> {
        let mut names = Vec::new();
        for workspace in self.session.workspaces().await? {
            let query = TargetQuery { workspace_id: Some(workspace.id), ..TargetQuery::default() };
            let targets = self.session.client()?.list_all_targets(&query).await?;
            names.extend(targets.into_iter().map(|target| target.name));
        }
        Ok(names)
    }

    /// Archives what came in since this was last asked, and tells it. Loggers whose count has not moved are not read:
    /// while nothing comes in, a look is one call.
    ///
    /// # Errors
    /// What the service refuses, and when the archive cannot be written.
    pub async fn gather(&mut self) -> anyhow::Result<Vec<CaptureRecord>> {
        self.look().await?;
        let new = std::mem::take(&mut self.untold);
        Ok(self.recognised(new).await)
    }

    /// Archives what one logger has before the next is asked: what counts as known is kept, whatever fails later.
    async fn look(&mut self) -> anyhow::Result<()> {
        for (workspace, logger) in self.loggers().await? {
            let count = logger.num_requests;
            if count > 0 && self.counts.get(&logger.id) != Some(&count) {
                let captures = self.beyond(&logger).await?;
                let last = captures.last().map(|last| (logger.id, (last.id, last.request_date)));
                let new = self.young(captures.into_iter().map(|capture| archived(&workspace, &logger, capture)));
                if self.store.is_writable() && !new.is_empty() {
                    self.store.archive(new.clone()).await.map_err(advised)?;
                }
                self.newest.extend(last);
                self.untold.extend(new);
            }
            self.counts.insert(logger.id, count);
        }
        // A payload is kept before it is planted: the book of now has whatever can be mentioned.
        self.book.take(self.store.news().await.map_err(advised)?.payloads);
        self.look_on().await;
        Ok(())
    }

    /// Looks through a piece of what was archived: who waits for a request does not wait for years of them.
    async fn look_on(&mut self) {
        if let Err(error) = self.look_through().await {
            eprintln!("scandeck: what payloads brought in is not counted: {}", text::clean(&format!("{error:#}")));
        }
    }

    /// Without what is too old: the service may have kept what left the archive for its age.
    fn young(&self, captures: impl Iterator<Item = ArchivedCapture>) -> Vec<ArchivedCapture> {
        let oldest = self.session.memory.oldest_kept();
        captures.filter(|one| oldest.is_none_or(|oldest| one.at() >= oldest)).collect()
    }

    /// Keeps the hits in a piece of what was archived, here and by others; whether that was the last.
    async fn look_through(&mut self) -> anyhow::Result<bool> {
        if !self.store.is_writable() {
            return Ok(true);
        }
        Ok(self.store.look_through(&mut self.book).await.map_err(advised)?.ended)
    }

    /// The loggers of the workspaces in question.
    async fn loggers(&mut self) -> anyhow::Result<Vec<(Shared, Logger)>> {
        let client = self.session.client()?;
        let workspaces = match self.workspaces.take() {
            Some(known) => known,
            None => self.session.workspaces().await?,
        };
        let only = if let [one] = &workspaces[..] { Some(one.id) } else { None };
        let all = client.list_loggers(only).await?;
        if all.iter().any(|logger| !self.homes.contains_key(&logger.id)) {
            self.homes.extend(all.iter().map(|logger| (logger.id, None)));
            for workspace in &workspaces {
                let its = client.list_loggers(Some(workspace.id)).await?;
                self.homes.extend(its.iter().map(|logger| (logger.id, Some(workspace.name.clone()))));
            }
        }
        self.workspaces = Some(workspaces);
        Ok(all.into_iter().filter_map(|logger| Some((self.homes.get(&logger.id)?.clone()?, logger))).collect())
    }

    /// The captures of a logger beyond the newest known; all of them where that is not there any more, since ids may
    /// begin anew after a clear. None where the logger was deleted just now.
    async fn beyond(&self, logger: &Logger) -> client::ClientResult<Vec<Capture>> {
        match self.read_beyond(logger).await {
            Err(error) if error.kind == client::ErrorKind::NotFound => Ok(Vec::new()),
            read => read,
        }
    }

    async fn read_beyond(&self, logger: &Logger) -> client::ClientResult<Vec<Capture>> {
        let client = self.session.client()?;
        let newest = self.newest.get(&logger.id).copied();
        let captures = client.list_captures(logger.id, since(newest)).await?;
        let Some(newest) = newest else { return Ok(captures) };
        match beyond(newest, captures) {
            Some(new) => Ok(new),
            None => client.list_captures(logger.id, None).await,
        }
    }

    /// Everything there is of the workspaces in question, oldest first, after a look at the service. One that does not
    /// answer is said to, and what is archived is told.
    ///
    /// # Errors
    /// What the service refuses, and when the archive cannot be read or written.
    pub async fn all(&mut self) -> anyhow::Result<Vec<CaptureRecord>> {
        let unkept = self.look_if_reached().await?;
        self.captures(unkept).await
    }

    /// What is archived of the workspaces in question, and what could not be.
    async fn captures(&mut self, unkept: Vec<ArchivedCapture>) -> anyhow::Result<Vec<CaptureRecord>> {
        let mut all = unkept;
        for workspace in self.in_question().await? {
            all.extend(self.store.captures_of(&workspace).await.map_err(advised)?);
        }
        all.sort_by_key(|one| (one.capture.request_date, one.capture.id, one.logger));
        Ok(self.recognised(all).await)
    }

    /// What payloads brought in to the workspaces in question, after a look at the service as for [`all`](Self::all).
    ///
    /// # Errors
    /// What the service refuses, and when the archive cannot be read or written.
    pub async fn hits(&mut self) -> anyhow::Result<BTreeMap<Token, Hits>> {
        let unkept = self.look_if_reached().await?;
        let mut ended = self.look_through().await?;
        if !ended {
            eprintln!("scandeck: what was archived is looked through for payloads, once");
        }
        while !ended {
            ended = self.look_through().await?;
        }
        if self.store.is_behind().await.map_err(advised)? && !self.store.is_writable() {
            return Ok(counted(&self.captures(unkept).await?));
        }
        let mut hits = counted(&self.recognised(unkept).await);
        for workspace in self.in_question().await? {
            for count in self.store.counts_of(&workspace).await.map_err(advised)? {
                hits.entry(count.token).or_default().join(count.hits);
            }
        }
        Ok(hits)
    }

    /// Looks at the service, if it answers; what could not be archived.
    async fn look_if_reached(&mut self) -> anyhow::Result<Vec<ArchivedCapture>> {
        if let Err(error) = self.look().await {
            let Some(why) = bundles::silence(&error) else { return Err(error) };
            eprintln!("scandeck: {why}; what is archived here is told");
        }
        let new = std::mem::take(&mut self.untold);
        Ok(if self.store.is_writable() { Vec::new() } else { new })
    }

    /// The workspaces that the service told, and of those that are only archived the ones in question.
    async fn in_question(&mut self) -> anyhow::Result<Vec<Shared>> {
        let archived = self.store.workspaces().await.map_err(advised)?;
        let told = self.workspaces.iter().flatten().map(|workspace| workspace.name.clone());
        let mut all: Vec<Shared> = archived.into_iter().filter(|name| self.session.means(name)).chain(told).collect();
        all.sort();
        all.dedup();
        Ok(all)
    }

    /// The payloads of the workspaces in question, oldest first.
    pub fn payloads(&self) -> Vec<Arc<Payload>> {
        let mut all: Vec<Arc<Payload>> =
            self.book.payloads().filter(|payload| self.session.means(&payload.workspace)).cloned().collect();
        all.sort_by_key(|payload| (payload.at, payload.batch.clone(), payload.number, payload.token));
        all
    }

    /// What is known of payloads, for queries.
    pub fn known(&self, hits: BTreeMap<Token, Hits>) -> KnownPayloads<'_> {
        let offset = self.session.clock_offset();
        KnownPayloads { book: &self.book, own: &self.own, hosts: &self.hosts, hits, offset }
    }

    /// Keeps payloads: they are in the file when this returns.
    ///
    /// # Errors
    /// When it cannot be written.
    pub async fn plant(&mut self, payloads: &[Arc<Payload>]) -> anyhow::Result<()> {
        if !self.store.is_writable() {
            let what = format!("no payload: {} is read-only", self.store.path().display());
            return Err(Advised::new(what, "make it writable, or set XDG_STATE_HOME").into());
        }
        self.store.plant(payloads).await.map_err(advised)?;
        self.book.take(payloads.iter().cloned());
        Ok(())
    }

    /// Closes the file.
    pub async fn close(self) {
        self.store.close().await;
    }

    /// What captures mention, off this thread.
    async fn recognised(&self, captures: Vec<ArchivedCapture>) -> Vec<CaptureRecord> {
        let book = self.book.clone();
        let sent = move |one: ArchivedCapture| CaptureRecord {
            mentions: mentions(&one.capture, &book).into(),
            capture: one.capture,
            logger: one.logger,
            label: one.label,
            handler_url: one.handler_url,
        };
        let work = move || captures.into_iter().map(sent).collect();
        // Only a panic takes an answer away.
        tokio::task::spawn_blocking(work).await.unwrap_or_default()
    }
}

/// What captures and payloads say about each other.
#[derive(Debug)]
pub struct KnownPayloads<'a> {
    /// Every payload.
    pub book: &'a PayloadBook,
    /// What each brought in.
    pub hits: BTreeMap<Token, Hits>,
    own: &'a [Network],
    hosts: &'a TargetHosts,
    offset: Option<i64>,
}

impl KnownPayloads<'_> {
    /// What a payload brought in.
    pub fn hits_of(&self, token: Token) -> Hits {
        self.hits.get(&token).copied().unwrap_or_default()
    }
}

impl OtherLists for KnownPayloads<'_> {
    fn payload(&self, token: Token) -> Option<&Payload> {
        self.book.get(token).map(|payload| &**payload)
    }

    fn hits(&self, token: Token) -> Option<&Hits> {
        self.hits.get(&token)
    }

    fn targets_of(&self, capture: &Capture) -> Vec<Shared> {
        self.hosts.named_in(capture).into_iter().map(|named| named.target).collect()
    }

    fn is_own(&self, capture: &Capture) -> bool {
        is_own(capture, self.own)
    }

    fn clock_offset(&self) -> Option<i64> {
        self.offset
    }
}

/// What captures brought in for each payload.
fn counted(all: &[CaptureRecord]) -> BTreeMap<Token, Hits> {
    let mut hits: BTreeMap<Token, Hits> = BTreeMap::new();
    for sent in all {
        let known = sent.mentions.iter().filter(|mention| mention.known);
        let tokens: BTreeSet<Token> = known.map(|mention| mention.token).collect();
        tokens.into_iter().for_each(|token| hits.entry(token).or_default().take(sent.capture.request_date));
    }
    hits
}

fn archived(workspace: &Shared, logger: &Logger, capture: Capture) -> ArchivedCapture {
    ArchivedCapture {
        workspace: workspace.clone(),
        logger: logger.id,
        label: logger.label.clone(),
        handler_url: logger.handler_url.clone(),
        seen_at: Stamp(Timestamp::now()),
        capture: Arc::new(capture),
    }
}
