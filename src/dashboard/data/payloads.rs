//! What payloads brought in, and those made last.

use crate::contract::Stamp;
use crate::oob::{Hits, Network, Token};
use std::sync::Arc;
use std::time::Duration;

/// See the module.
#[derive(Debug, Default)]
pub struct Payloads {
    /// What each brought in.
    pub hits: Arc<imbl::OrdMap<Token, Hits>>,
    /// The archive has told all of it: one that is not named there brought in nothing.
    pub counted: bool,
    /// The one made last.
    pub last: Option<Token>,
    /// It was made by the key before, at this time: `e` is about it.
    pub fresh: Option<(Token, Duration)>,
    /// Addresses of the analyst's own.
    pub(crate) own: Vec<Network>,
    /// Requests with a known token since the captures were looked at last.
    pub unseen: u64,
    /// A file that is being written, with the tokens in it.
    pub sheet: Option<(String, Vec<Token>)>,
}

impl Payloads {
    /// What a payload brought in so far.
    pub fn hits_of(&self, token: Token) -> Hits {
        self.hits.get(&token).copied().unwrap_or_default()
    }

    /// A request carried a token, and is not archived.
    pub fn hit(&mut self, token: Token, came: Option<Stamp>) {
        let mut all = self.hits_of(token);
        all.take(came);
        Arc::make_mut(&mut self.hits).insert(token, all);
    }
}
