//! Creation of payloads: a request holds everything except the tokens.
//!
//! This module draws no random numbers. Tokens must be unpredictable, so the caller provides random
//! numbers.

use std::sync::Arc;

use super::payload::UrlForm;
use super::{Payload, PayloadBook, PayloadShape, Token};
use crate::finding::FindingKey;
use scandeck_wire::contract::{LoggerId, Shared, Stamp};
use scandeck_wire::text::file_name;

/// Maximum number of payloads per batch.
pub const MOST: usize = 10_000;

/// A request for payloads with the context of the key press.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PayloadRequest {
    pub logger: LoggerId,
    pub label: Shared,
    pub handler_url: Shared,
    pub form: UrlForm,
    /// How many.
    pub count: usize,
    /// Shape of the payloads in a file.
    pub shape: PayloadShape,
    /// Output file instead of the clipboard.
    pub into: Option<String>,
    /// Name of the selected target.
    pub target: Shared,
    /// The selected finding and its name.
    pub finding: Option<FindingKey>,
    pub finding_name: Shared,
}

/// Origin that all payloads of a batch share.
#[derive(Clone, Debug, Default)]
pub struct PayloadOrigin {
    pub workspace: Shared,
    pub who: Shared,
    pub at: Option<Stamp>,
    pub offset: Option<i64>,
}

impl PayloadRequest {
    /// The payloads, one per unused number.
    pub fn payloads(
        &self,
        numbers: &[u64],
        book: &PayloadBook,
        stamped: &PayloadOrigin,
    ) -> Vec<Arc<Payload>> {
        let mut tokens: Vec<Token> = Vec::with_capacity(self.count);
        let mut used = std::collections::HashSet::new();
        let free = numbers.iter().map(|&number| Token::of(number));
        let free = free.filter(|&token| book.get(token).is_none() && used.insert(token));
        tokens.extend(free.take(self.count));
        let many = self.into.is_some();
        let one = |(at, token): (usize, Token)| Payload {
            token,
            url: self.form.url(&self.handler_url, token).into(),
            logger: self.logger,
            label: self.label.clone(),
            workspace: stamped.workspace.clone(),
            at: stamped.at,
            offset: stamped.offset,
            who: stamped.who.clone(),
            number: many.then_some(at as i64 + 1),
            batch: self
                .into
                .as_deref()
                .filter(|name| !name.is_empty())
                .map(file_name)
                .unwrap_or_default()
                .into(),
            target: self.target.clone(),
            finding: self.finding,
            finding_name: self.finding_name.clone(),
            ..Payload::default()
        };
        tokens
            .into_iter()
            .enumerate()
            .map(one)
            .map(Arc::new)
            .collect()
    }
}
