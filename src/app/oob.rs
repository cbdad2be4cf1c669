//! Out-of-band: the payload book beside the lists, and how well captures and payloads are kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::effect::Effect;
use super::model::{Model, Pane};
use super::plan::{Generation, Known};
use super::problem::Problem;
use super::rows::query_of;
use crate::contract::LoggerId;
use crate::oob::archived::Newest;
use crate::oob::source::Hosts;
use crate::oob::{Book, Payload};
use crate::query::{Field, Kind};

/// See the module.
#[derive(Debug, Default)]
pub struct Oob {
    /// Every payload of every workspace.
    pub book: Book,
    /// The hosts of the workspace's targets.
    pub hosts: Hosts,
    /// Payloads and captures can be kept.
    pub writable: bool,
    /// How far the archive is.
    pub archive: Archive,
    /// Why captures and payloads cannot be kept, or what else there is to know about that.
    pub problem: Option<Arc<Problem>>,
}

/// How far the archive is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Archive {
    /// It is being opened, or read for the workspace worked in.
    #[default]
    Awaited,
    /// The newest captures of the workspace with this generation are here, and what is known of each logger.
    Recalled(Generation, Arc<BTreeMap<LoggerId, Newest>>),
    /// It cannot be read or written: captures are shown and not kept.
    Broken,
}

impl Model {
    /// Keeps payloads, new ones and changed ones, and knows them from now on.
    pub fn plant(&mut self, payloads: Vec<Arc<Payload>>, effects: &mut Vec<Effect>) {
        self.oob.book.take(payloads.iter().cloned());
        effects.push(Effect::Plant(payloads));
        self.list_payloads();
        self.dirty = true;
    }

    /// The targets are others: what requests name them, and which ones a query about targets takes.
    pub(super) fn learn_hosts(&mut self) {
        let targets = self.data.targets.value().map(|targets| targets.items()).unwrap_or_default();
        let hosts = Hosts::of(targets.iter().map(|target| &target.name));
        if hosts == self.oob.hosts {
            return;
        }
        self.oob.hosts = hosts;
        if query_of(&self.lists.captures.filter, Kind::Captures).asks_about(Field::Target) {
            self.show_rows(Pane::Captures);
        }
    }

    /// What the poller may take as known.
    pub(super) fn known_captures(&self) -> Known {
        match &self.oob.archive {
            Archive::Recalled(generation, newest) if *generation == self.generation => Known::Newest(newest.clone()),
            Archive::Broken => Known::Nothing,
            _ => Known::Awaited,
        }
    }
}
