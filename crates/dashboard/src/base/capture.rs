//! A captured request as the dashboard holds it, with its logger and what it mentions.

use scandeck_domain::oob::recognize::mentions;
use scandeck_domain::oob::request::body_size;
use scandeck_domain::oob::{
    ArchivedCapture, BodyStore, Mention, PayloadBook, StoredBody, Token, with_body,
};
use scandeck_domain::table::{RecognizedCapture, Row};
use scandeck_wire::contract::{Capture, CaptureId, LoggerId, Shared, Stamp};
use scandeck_wire::text::search_form;
use std::io;
use std::sync::Arc;

/// A captured request with the logger that recorded it, and what it mentions. A copy shares
/// everything.
#[derive(Clone, Debug, PartialEq)]
pub struct CaptureRow {
    pub logger: LoggerId,
    /// Label of the logger: the archive also has captures of deleted loggers.
    pub label: Shared,
    /// Its URL when this was recorded.
    pub handler_url: Shared,
    pub capture: Arc<Capture>,
    /// The place of its body in a file. A row of the list has no other; a new row has both.
    pub(crate) body: Option<Arc<StoredBody>>,
    /// The tokens in it; known ones first.
    pub mentions: Arc<[Mention]>,
    /// Lower-case text that `/` searches.
    pub text: Arc<str>,
}

/// The id of a capture. Some services restart the numbers of a logger after a clear, so the date is
/// part of the id. Ids have the order of the captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaptureKey {
    pub date: Option<Stamp>,
    pub capture: CaptureId,
    pub logger: LoggerId,
}

impl CaptureRow {
    /// A capture as it was archived.
    pub fn new(archived: &ArchivedCapture, mentions: Vec<Mention>) -> Self {
        // Few captures mention a payload, and the default of `Arc` allocates nothing.
        let mentions = if mentions.is_empty() {
            Arc::default()
        } else {
            mentions.into()
        };
        let capture = Arc::clone(&archived.capture);
        let mut text = String::new();
        capture.search_text(&mut text);
        let text = search_form(&text).into();
        let (label, handler_url) = (archived.label.clone(), archived.handler_url.clone());
        Self {
            logger: archived.logger,
            label,
            handler_url,
            capture,
            body: None,
            mentions,
            text,
        }
    }

    pub fn id(&self) -> CaptureKey {
        CaptureKey {
            logger: self.logger,
            capture: self.capture.id,
            date: self.capture.request_date,
        }
    }

    /// The same capture with its body in a file, too.
    ///
    /// # Errors
    /// When no file can be created.
    pub fn stored(mut self, bodies: &mut BodyStore) -> io::Result<Self> {
        self.body = bodies.store(&self.capture)?;
        Ok(self)
    }

    /// Frees the body if it is in a file.
    pub(crate) fn release_body(&mut self) {
        if self.body.is_some() && !self.capture.request_body_base64.is_empty() {
            let mut capture = Capture {
                request_body_base64: Shared::default(),
                ..Capture::clone(&self.capture)
            };
            if self.body.as_ref().is_some_and(|body| body.has_raw()) {
                capture.raw_base64 = None;
            }
            self.capture = Arc::new(capture);
        }
    }

    /// The place of the body, if it has to be read from there.
    pub fn unread_body(&self) -> Option<&Arc<StoredBody>> {
        self.body
            .as_ref()
            .filter(|_| self.capture.request_body_base64.is_empty())
    }

    /// The capture with its body.
    ///
    /// # Errors
    /// When the body cannot be read.
    pub fn whole(&self) -> io::Result<Arc<Capture>> {
        with_body(&self.capture, self.unread_body().map(|body| &**body))
    }

    /// Bytes of the decoded body.
    pub fn body_size(&self) -> usize {
        self.unread_body()
            .map_or_else(|| body_size(&self.capture), |body| body.size())
    }

    /// The mentions of a capture after tokens were added to the book. None if it contains none of
    /// the added tokens. A body that cannot be read is not searched.
    pub fn mentions_of(&self, grown: &PayloadBook) -> Option<Arc<[Mention]>> {
        let capture = self.whole().unwrap_or_else(|error| {
            tracing::warn!(%error, "body of a capture not searched for tokens");
            Arc::clone(&self.capture)
        });
        let found: Vec<Mention> = mentions(&capture, grown)
            .into_iter()
            .filter(|mention| mention.known)
            .collect();
        if found.is_empty() {
            return None;
        }
        let others = self
            .mentions
            .iter()
            .filter(|old| !found.iter().any(|new| new.token == old.token));
        let (known, unknown): (Vec<Mention>, Vec<Mention>) =
            others.cloned().partition(|mention| mention.known);
        Some(
            known
                .into_iter()
                .chain(found.clone())
                .chain(unknown)
                .collect(),
        )
    }

    /// The payload it mentions first, if that is known.
    pub fn known(&self) -> Option<&Mention> {
        self.mentions.first().filter(|mention| mention.known)
    }

    /// The tokens of payloads in it, each once.
    pub fn tokens(&self) -> impl Iterator<Item = Token> + '_ {
        let known = self
            .mentions
            .iter()
            .enumerate()
            .filter(|(_, mention)| mention.known);
        let first = |at: usize, token| {
            self.mentions[..at]
                .iter()
                .all(|mention| mention.token != token)
        };
        known
            .filter(move |(at, mention)| first(*at, mention.token))
            .map(|(_, mention)| mention.token)
    }

    /// As a row of queries; with its body if that was read.
    pub fn recognized<'a>(&'a self, whole: Option<&'a Arc<Capture>>) -> RecognizedCapture<'a> {
        let capture = whole.unwrap_or(&self.capture);
        let has_body = self.unread_body().is_some() || !capture.request_body_base64.is_empty();
        RecognizedCapture {
            capture,
            has_body,
            label: &self.label,
            mentions: &self.mentions,
        }
    }

    /// The approximate size in memory and in files.
    pub fn bytes(&self) -> usize {
        let capture = &self.capture;
        let headers: usize = capture
            .http_headers
            .iter()
            .map(|line| line.len() + 32)
            .sum();
        let raw = capture.raw_base64.as_ref().map_or(0, |raw| raw.len());
        let problems: usize = capture
            .problems
            .iter()
            .map(|problem| problem.len() + 32)
            .sum();
        let in_memory = || capture.request_body_base64.len() + raw;
        let body = self
            .body
            .as_ref()
            .map_or_else(in_memory, |body| body.encoded_size());
        512 + self.text.len() + headers + problems + body + capture.url_params.len()
    }
}
