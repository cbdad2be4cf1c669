//! Hits of payloads, and the payload made last.

use scandeck_domain::oob::{HitCounts, Hits, Network, Token};
use scandeck_wire::contract::{LoggerId, Stamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub struct Payloads {
    pub hits: Arc<HitCounts>,
    /// The whole archive was counted: a payload that is not in `hits` has none.
    pub counted: bool,
    /// The payload made last.
    pub last: Option<Token>,
    /// The payload that the previous key made, and when: `e` edits it.
    pub fresh: Option<(Token, Duration)>,
    /// The analyst's addresses.
    pub(crate) own: Vec<Network>,
    /// Requests with a known token since the captures were last viewed, by logger.
    pub unseen: BTreeMap<LoggerId, u64>,
    /// A file that is being written, with the tokens in it.
    pub sheet: Option<(String, Vec<Token>)>,
}

impl Payloads {
    pub fn hits_of(&self, token: Token) -> Hits {
        self.hits.get(&token).copied().unwrap_or_default()
    }

    /// Counts a request that contains a token and is not archived.
    pub fn hit(&mut self, token: Token, at: Option<Stamp>) {
        let mut all = self.hits_of(token);
        all.take(at);
        Arc::make_mut(&mut self.hits).insert(token, all);
    }
}
