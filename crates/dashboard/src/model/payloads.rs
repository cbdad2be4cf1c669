//! The payloads of the workspace, the payload of the selected row, and the analyst's addresses.

use crate::base::{Effect, Pane, Tone};
use crate::model::Model;
use scandeck_domain::oob::{Hits, Network, Payload, Token};
use scandeck_domain::table::Table;
use scandeck_domain::triage::OWN_ADDRESSES;
use scandeck_domain::triage::settings::own_addresses;
use scandeck_wire::contract::{Shared, Stamp};
use std::net::IpAddr;
use std::sync::Arc;

impl Model {
    /// Lists the payloads of the current workspace, after the book changed.
    pub(crate) fn list_payloads(&mut self) {
        let Some(workspace) = self.workspace().map(|workspace| workspace.name.clone()) else {
            return;
        };
        let here = self
            .captures
            .oob
            .book
            .payloads()
            .filter(|payload| payload.workspace == workspace)
            .cloned();
        let table = Arc::new(Table::new(here));
        self.data.payloads.succeed(table, Stamp(self.now.wall));
    }

    /// Updates the list after hits or waits changed.
    pub(crate) fn payloads_changed(&mut self) {
        // The cache of the list is valid for the same allocation only.
        self.captures.payloads.hits = Arc::new(self.captures.payloads.hits.as_ref().clone());
        if self.on_screen().contains(&Pane::Payloads) {
            self.show_rows(Pane::Payloads);
        }
    }

    /// Takes the hits that the archive counted.
    pub(crate) fn handle_hits(&mut self, hits: Vec<(Token, Hits)>, all: bool) {
        self.captures.payloads.counted |= all;
        Arc::make_mut(&mut self.captures.payloads.hits).extend(hits);
        self.payloads_changed();
    }

    /// The number of payloads without hits; 0 before hits are counted.
    pub fn payloads_waiting(&self) -> usize {
        let all = self
            .data
            .payloads
            .value()
            .map(|table| table.items())
            .unwrap_or_default();
        let waits =
            |payload: &&Arc<Payload>| !self.captures.payloads.hits.contains_key(&payload.token);
        if self.captures.payloads.counted {
            all.iter().filter(waits).count()
        } else {
            0
        }
    }

    /// The payload that a key applies to: that of the selected row, else the one made last.
    pub fn payload_at_hand(&self) -> Option<&Arc<Payload>> {
        let of_row = match self.navigation.focus.pane {
            Pane::Payloads => self.lists.payloads.selected,
            Pane::Captures => self
                .selected_capture()
                .and_then(|captured| captured.tokens().next()),
            _ => None,
        };
        self.captures
            .oob
            .book
            .get(of_row.or(self.captures.payloads.last)?)
    }

    /// The analyst's addresses: those of the configuration, and those marked in the dashboard.
    pub fn own_addresses(&self) -> &[Network] {
        &self.captures.payloads.own
    }

    /// Loads the analyst's addresses.
    pub(crate) fn load_own_addresses(&mut self) {
        self.captures.payloads.own =
            own_addresses(&self.findings.triage.settings, &self.session.own_addresses);
    }

    /// `:mine`: marks an address, or that of the selected capture, as the analyst's, or removes the
    /// mark.
    pub(crate) fn mark_own_address(
        &mut self,
        named: Option<String>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), String> {
        let of_row = || {
            let captured = self
                .selected_capture()
                .filter(|_| self.navigation.focus.pane == Pane::Captures);
            captured.map(|captured| captured.capture.ip_address.to_string())
        };
        let address = named
            .or_else(of_row)
            .ok_or("address is missing; enter `:mine 203.0.113.7`, or select a capture")?;
        let address: IpAddr = address
            .trim()
            .parse()
            .map_err(|_| format!("invalid address `{address}`; use an IPv4 or IPv6 address"))?;
        let name = address.to_canonical().to_string();
        let was = self
            .settings_of(OWN_ADDRESSES, &Shared::default())
            .iter()
            .any(|(address, _)| *address == name);
        if !was && self.own_addresses().iter().any(|own| own.has(address)) {
            return Err(format!(
                "{name} is set by own_addresses of the configuration"
            ));
        }
        let notice = match was {
            true => format!("{name} is no longer your address"),
            false => format!("{name} is your address: no alerts for its requests"),
        };
        self.remember_one(
            (OWN_ADDRESSES, &name),
            Shared::default(),
            (!was).then_some("own"),
            effects,
        );
        self.load_own_addresses();
        self.show_rows(Pane::Captures);
        self.notify(Tone::Good, notice);
        Ok(())
    }
}
