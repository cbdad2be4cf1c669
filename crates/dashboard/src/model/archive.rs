//! The payload book and the state of the archive.

use crate::base::{ArchivedCaptures, Effect, Pane};
use crate::data::archive::*;
use crate::model::Model;
use scandeck_domain::oob::{Payload, TargetHosts};
use scandeck_domain::query::{Field, QueryKind, query_of};
use std::sync::Arc;

impl Model {
    /// Adds or changes payloads in the book and saves them.
    pub fn plant(&mut self, payloads: Vec<Arc<Payload>>, effects: &mut Vec<Effect>) {
        self.captures.oob.book.take(payloads.iter().cloned());
        effects.push(Effect::Plant(payloads));
        self.list_payloads();
    }

    /// Updates the hosts of the targets, and the captures if their filter queries targets.
    pub(crate) fn learn_hosts(&mut self) {
        let targets = self
            .data
            .targets
            .value()
            .map(|targets| targets.items())
            .unwrap_or_default();
        let hosts = TargetHosts::of(targets.iter().map(|target| &target.name));
        if hosts == self.captures.oob.hosts {
            return;
        }
        self.captures.oob.hosts = hosts;
        if query_of(&self.lists.captures.filter, QueryKind::Captures).has_field(Field::Target) {
            self.show_rows(Pane::Captures);
        }
    }

    /// The captures that the poller need not fetch.
    pub(crate) fn known_captures(&self) -> ArchivedCaptures {
        if self
            .captures
            .oob
            .backlog
            .as_ref()
            .is_some_and(|backlog| backlog.is_full)
        {
            return ArchivedCaptures::Awaited;
        }
        match &self.captures.oob.archive {
            Archive::Recalled(generation, newest) if *generation == self.connection.generation => {
                ArchivedCaptures::Newest(newest.clone())
            }
            Archive::Broken => ArchivedCaptures::Nothing,
            _ => ArchivedCaptures::Awaited,
        }
    }
}
