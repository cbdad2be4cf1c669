//! Payloads as the dashboard handles them: asked for, made, at hand, and what each brought in. The book itself is in
//! [`super::oob`].
//!
//! ```text
//!   p ─► Effect::Draw(Planting) ─► Msg::Drawn(Planting, random numbers) ─► Payload ─► Effect::Plant, Effect::Copy
//!   captures ─► Mentions ─► signals, waits          archive ─► hits ─► Payloads pane
//! ```
//!
//! The core has no randomness: tokens must not be guessed, so each is made of numbers that the runtime draws.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::effect::Effect;
use super::model::{Model, Pane};
use super::notices::Tone;
use super::table::Table;
use crate::contract::{Logger, LoggerId, Shared, Stamp};
use crate::oob::payload::Form;
use crate::oob::source::Network;
use crate::oob::{Book, Hits, Payload, Shape, Token};
use crate::text::file_name;
use crate::triage::Key;

/// Under which name addresses marked as one's own are kept.
pub const OWN: &str = "own_addresses";

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
    own: Vec<Network>,
    /// Requests with a known token since the captures were looked at last.
    pub unseen: u64,
    /// A file that is being written, with the tokens in it.
    pub sheet: Option<(String, Vec<Token>)>,
}

/// Why a logger records no more.
pub fn over(logger: &Logger) -> Option<&'static str> {
    match (logger.active_days, logger.requests_left) {
        (..=0, _) => Some("its days are over"),
        (_, ..=0) => Some("no requests are left"),
        _ => None,
    }
}

/// Payloads that were asked for: everything is as it was when the key was pressed.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Planting {
    pub logger: LoggerId,
    pub label: Shared,
    pub handler_url: Shared,
    pub form: Form,
    /// How many.
    pub count: usize,
    /// As what they are written into a file.
    pub shape: Shape,
    /// Into this file instead of the clipboard.
    pub into: Option<String>,
    /// Name of the target at hand.
    pub target: Shared,
    /// The finding at hand, and its name.
    pub finding: Option<Key>,
    pub finding_name: Shared,
}

/// What all payloads of one planting share beside that.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Stamped {
    pub workspace: Shared,
    pub who: Shared,
    pub at: Option<Stamp>,
    pub offset: Option<i64>,
}

impl Planting {
    /// The payloads, one a number that is not taken.
    pub fn payloads(&self, numbers: &[u64], book: &Book, stamped: &Stamped) -> Vec<Arc<Payload>> {
        let mut tokens: Vec<Token> = Vec::with_capacity(self.count);
        let mut taken = std::collections::HashSet::new();
        let free = numbers.iter().map(|&number| Token::of(number));
        let free = free.filter(|&token| book.get(token).is_none() && taken.insert(token));
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
            batch: self.into.as_deref().map(file_name).unwrap_or_default().into(),
            target: self.target.clone(),
            finding: self.finding,
            finding_name: self.finding_name.clone(),
            ..Payload::default()
        };
        tokens.into_iter().enumerate().map(one).map(Arc::new).collect()
    }
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

impl Model {
    /// The book is another than before: that of the workspace worked in is listed anew.
    pub(super) fn list_payloads(&mut self) {
        let Some(workspace) = self.workspace().map(|workspace| workspace.name.clone()) else { return };
        let here = self.oob.book.payloads().filter(|payload| payload.workspace == workspace).cloned();
        let table = Arc::new(Table::new(here));
        self.data.payloads.succeed(table, Stamp(self.now.wall));
        self.show_rows(Pane::Payloads);
        self.dirty = true;
    }

    /// Something else is said about payloads: what they brought in, or which are waited for.
    pub(super) fn payloads_changed(&mut self) {
        // What the list keeps between two queries goes by this being the same.
        self.payloads.hits = Arc::new(self.payloads.hits.as_ref().clone());
        if self.on_screen().contains(&Pane::Payloads) {
            self.show_rows(Pane::Payloads);
        }
    }

    /// The archive counts what payloads brought in.
    pub(super) fn handle_hits(&mut self, hits: Vec<(Token, Hits)>, all: bool) {
        self.payloads.counted |= all;
        Arc::make_mut(&mut self.payloads.hits).extend(hits);
        self.payloads_changed();
    }

    /// Payloads of the workspace that brought nothing in yet; none as long as that is not known.
    pub fn payloads_waiting(&self) -> usize {
        let all = self.data.payloads.value().map(|table| table.items()).unwrap_or_default();
        let waits = |payload: &&Arc<Payload>| !self.payloads.hits.contains_key(&payload.token);
        if self.payloads.counted { all.iter().filter(waits).count() } else { 0 }
    }

    /// What came in was looked at.
    pub(super) fn see_hits(&mut self) {
        if self.new_captures == 0 {
            self.payloads.unseen = 0;
        }
    }

    /// The payload that keys are about: of the selected row, else the one made last.
    pub fn payload_at_hand(&self) -> Option<&Arc<Payload>> {
        let of_row = match self.focus.pane {
            Pane::Payloads => self.lists.payloads.selected,
            Pane::Captures => self.payload_of_capture(),
            _ => None,
        };
        self.oob.book.get(of_row.or(self.payloads.last)?)
    }

    /// The payload that the selected capture carries.
    pub fn payload_of_capture(&self) -> Option<Token> {
        self.lists.captures.current(&self.data.captures)?.tokens().next()
    }

    /// Addresses of the analyst's own: those of the configuration, and those marked here.
    pub fn own_addresses(&self) -> &[Network] {
        &self.payloads.own
    }

    /// Takes up what is kept about addresses of one's own.
    pub(super) fn load_own_addresses(&mut self) {
        let marked = self.marked_addresses();
        let marked = marked.iter().filter_map(|address| address.parse().ok());
        self.payloads.own = self.session.own_addresses.iter().copied().chain(marked).collect();
    }

    fn marked_addresses(&self) -> Vec<String> {
        self.settings_of(OWN, &Shared::default()).into_iter().map(|(address, _)| address).collect()
    }

    /// `:mine`: an address, or that of the selected capture, is the analyst's own from now on, or no longer.
    pub(super) fn mark_own_address(&mut self, named: Option<String>, effects: &mut Vec<Effect>) -> Result<(), String> {
        let of_row = || {
            let caught = self.lists.captures.current(&self.data.captures).filter(|_| self.focus.pane == Pane::Captures);
            caught.map(|caught| caught.capture.ip_address.to_string())
        };
        let address = named.or_else(of_row).ok_or("name an address, or select a capture first (5)")?;
        let address: IpAddr = address.trim().parse().map_err(|_| format!("{address} is no address"))?;
        let name = address.to_canonical().to_string();
        let was = self.marked_addresses().contains(&name);
        if !was && self.own_addresses().iter().any(|own| own.has(address)) {
            return Err(format!("{name} is yours by own_addresses of the configuration"));
        }
        let told = match was {
            true => format!("{name} is not yours any more"),
            false => format!("{name} is yours: what it sends rings no more; mine once more takes that back"),
        };
        self.remember_one((OWN, &name), Shared::default(), (!was).then_some("own"), effects);
        self.load_own_addresses();
        self.show_rows(Pane::Captures);
        self.say(Tone::Good, told);
        Ok(())
    }
}
