//! Payloads: the list of the workspace, the one at hand, own addresses.

use crate::contract::{Shared, Stamp};
use crate::dashboard::base::{Effect, Pane, Tone};
use crate::dashboard::model::Model;
use crate::oob::{Hits, Network, Payload, Token};
use crate::table::Table;
use crate::triage::OWN_ADDRESSES;
use crate::triage::settings::own_addresses;
use std::net::IpAddr;
use std::sync::Arc;

impl Model {
    /// The book is another than before: that of the workspace worked in is listed anew.
    pub(crate) fn list_payloads(&mut self) {
        let Some(workspace) = self.workspace().map(|workspace| workspace.name.clone()) else { return };
        let here = self.captures.oob.book.payloads().filter(|payload| payload.workspace == workspace).cloned();
        let table = Arc::new(Table::new(here));
        self.data.payloads.succeed(table, Stamp(self.now.wall));
        self.show_rows(Pane::Payloads);
        self.screen.dirty = true;
    }

    /// Something else is said about payloads: what they brought in, or which are waited for.
    pub(crate) fn payloads_changed(&mut self) {
        // What the list keeps between two queries goes by this being the same.
        self.captures.payloads.hits = Arc::new(self.captures.payloads.hits.as_ref().clone());
        if self.on_screen().contains(&Pane::Payloads) {
            self.show_rows(Pane::Payloads);
        }
    }

    /// The archive counts what payloads brought in.
    pub(crate) fn handle_hits(&mut self, hits: Vec<(Token, Hits)>, all: bool) {
        self.captures.payloads.counted |= all;
        Arc::make_mut(&mut self.captures.payloads.hits).extend(hits);
        self.payloads_changed();
    }

    /// Payloads of the workspace that brought nothing in yet; none as long as that is not known.
    pub fn payloads_waiting(&self) -> usize {
        let all = self.data.payloads.value().map(|table| table.items()).unwrap_or_default();
        let waits = |payload: &&Arc<Payload>| !self.captures.payloads.hits.contains_key(&payload.token);
        if self.captures.payloads.counted { all.iter().filter(waits).count() } else { 0 }
    }

    /// What came in was looked at.
    pub(crate) fn see_hits(&mut self) {
        if self.captures.new_captures == 0 {
            self.captures.payloads.unseen = 0;
        }
    }

    /// The payload that keys are about: of the selected row, else the one made last.
    pub fn payload_at_hand(&self) -> Option<&Arc<Payload>> {
        let of_row = match self.navigation.focus.pane {
            Pane::Payloads => self.lists.payloads.selected,
            Pane::Captures => self.payload_of_capture(),
            _ => None,
        };
        self.captures.oob.book.get(of_row.or(self.captures.payloads.last)?)
    }

    /// The payload that the selected capture carries.
    pub fn payload_of_capture(&self) -> Option<Token> {
        self.lists.captures.current(&self.data.captures)?.tokens().next()
    }

    /// Addresses of the analyst's own: those of the configuration, and those marked here.
    pub fn own_addresses(&self) -> &[Network] {
        &self.captures.payloads.own
    }

    /// Takes up what is kept about addresses of one's own.
    pub(crate) fn load_own_addresses(&mut self) {
        self.captures.payloads.own = own_addresses(&self.findings.triage.settings, &self.session.own_addresses);
    }

    fn marked_addresses(&self) -> Vec<String> {
        self.settings_of(OWN_ADDRESSES, &Shared::default()).into_iter().map(|(address, _)| address).collect()
    }

    /// `:mine`: an address, or that of the selected capture, is the analyst's own from now on, or no longer.
    pub(crate) fn mark_own_address(&mut self, named: Option<String>, effects: &mut Vec<Effect>) -> Result<(), String> {
        let of_row = || {
            let caught = self
                .lists
                .captures
                .current(&self.data.captures)
                .filter(|_| self.navigation.focus.pane == Pane::Captures);
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
        self.remember_one((OWN_ADDRESSES, &name), Shared::default(), (!was).then_some("own"), effects);
        self.load_own_addresses();
        self.show_rows(Pane::Captures);
        self.say(Tone::Good, told);
        Ok(())
    }
}
