//! The lists as sources of queries: what one list says about another, and what is kept between two queries.

use std::any::Any;
use std::sync::Arc;

use super::list::List;
use super::model::{Data, Lists, Model, Pane};
use super::payloads::Payloads;
use super::signals::Signals;
use super::stream;
use super::table::{Item, Table};
use crate::contract::{Capture, LoggerId, ScanId, Shared, TargetId};
use crate::oob::source::{Hosts, Network, is_own};
use crate::oob::{Book, Hits, Payload, Token};
use crate::query::order::{self, SortKey};
use crate::query::{Bits, Builder, Column, Evaluator, Field, Judged, Kind, Others, Query, Row, Source};
use crate::triage::{Case, Key, Stance, State};

impl Pane {
    /// Whose queries its filter takes.
    pub fn kind(self) -> Kind {
        match self {
            Self::Workspaces => Kind::Workspaces,
            Self::Targets => Kind::Targets,
            Self::Findings | Self::Board => Kind::Findings,
            Self::Scans => Kind::Scans,
            Self::Captures => Kind::Captures,
            Self::Loggers => Kind::Loggers,
            Self::Reports => Kind::Reports,
            Self::Wordlists => Kind::Wordlists,
            Self::Payloads => Kind::Payloads,
        }
    }
}

/// What the lists say about each other.
#[derive(Clone, Copy)]
pub struct World<'a> {
    data: &'a Data,
    state: &'a State,
    book: &'a Book,
    payloads: &'a Payloads,
    signals: &'a Signals,
    own: &'a [Network],
    hosts: &'a Hosts,
    clock_offset: Option<i64>,
}

impl Others for World<'_> {
    fn target_name(&self, target: TargetId) -> Option<&Shared> {
        self.data.targets.value()?.get(target).map(|target| &target.name)
    }

    fn workspace_name(&self, target: TargetId) -> Option<&Shared> {
        let workspace = self.data.targets.value()?.get(target)?.workspace_id;
        self.data.workspaces.value()?.get(workspace).map(|workspace| &workspace.name)
    }

    fn tool(&self, scan: ScanId) -> Option<i64> {
        self.data.scans.value()?.get(scan).map(|scan| scan.tool_id)
    }

    fn risks(&self, target: TargetId) -> Option<[u32; 5]> {
        self.data.findings.value()?.of_target(target).map(|of| of.risks)
    }

    fn scans(&self, target: TargetId) -> Option<(usize, usize)> {
        let scans = self.data.scans.value()?;
        let Some(of) = scans.of_target(target) else { return Some((0, 0)) };
        let active = of.positions.iter().filter(|&&at| scans.items()[at as usize].is_active()).count();
        Some((of.positions.len(), active))
    }

    fn logger_label(&self, logger: LoggerId) -> Option<&Shared> {
        self.data.loggers.value()?.get(logger).map(|logger| &logger.label)
    }

    fn payload(&self, token: Token) -> Option<&Payload> {
        self.book.get(token).map(|payload| &**payload)
    }

    fn hits(&self, token: Token) -> Option<&Hits> {
        self.payloads.hits.get(&token)
    }

    fn are_hits_known(&self) -> bool {
        self.payloads.counted
    }

    fn is_awaited(&self, token: Token) -> bool {
        self.signals.wait(token).is_some()
    }

    fn targets_of(&self, capture: &Capture) -> Vec<Shared> {
        self.hosts.named_in(capture).into_iter().map(|named| named.target).collect()
    }

    fn is_own(&self, capture: &Capture) -> bool {
        is_own(capture, self.own)
    }

    fn clock_offset(&self) -> Option<i64> {
        self.clock_offset
    }

    fn notes(&self, key: Key) -> Vec<&Shared> {
        self.state.standing(key).map(|standing| standing.noted().collect()).unwrap_or_default()
    }
}

/// A table as a source of queries.
pub(super) struct Listed<'a, T: Item> {
    pub table: &'a Table<T>,
    pub world: World<'a>,
    /// Seconds since 1970, by the service's clock.
    pub now: i64,
}

impl<T: Item> Source for Listed<'_, T> {
    fn kind(&self) -> Kind {
        T::KIND
    }

    fn len(&self) -> usize {
        self.table.len()
    }

    fn ready(&self, field: Field) -> Option<&Column> {
        self.table.column(field)
    }

    fn tell(&self, row: usize, field: Field, to: &mut Builder) {
        self.table.items()[row].tell(field, &self.world, to);
    }

    fn with_text(&self, text: &str) -> Bits {
        let targets = match T::KIND {
            Kind::Findings | Kind::Scans => self.world.targets_named(text),
            _ => Vec::new(),
        };
        self.table.with_text(text, &targets)
    }

    fn now(&self) -> i64 {
        self.now
    }
}

impl World<'_> {
    /// Targets whose name has a lower-case text.
    fn targets_named(&self, text: &str) -> Vec<TargetId> {
        let targets = self.data.targets.value().map(|targets| targets.items()).unwrap_or_default();
        let named = targets.iter().filter(|target| target.name.to_lowercase().contains(text));
        named.map(|target| target.id).collect()
    }
}

/// The findings, with what was decided about each.
pub(super) struct Triaged<'a> {
    pub listed: Listed<'a, Case>,
    pub stances: &'a [Arc<Stance>],
}

impl Source for Triaged<'_> {
    fn kind(&self) -> Kind {
        Kind::Findings
    }

    fn len(&self) -> usize {
        self.listed.len()
    }

    fn ready(&self, field: Field) -> Option<&Column> {
        self.listed.ready(field)
    }

    fn tell(&self, row: usize, field: Field, to: &mut Builder) {
        let case = &self.listed.table.items()[row];
        match self.stances.get(row) {
            Some(stance) => Judged { case, stance }.tell(field, &self.listed.world, to),
            None => case.tell(field, &self.listed.world, to),
        }
    }

    fn with_text(&self, text: &str) -> Bits {
        self.listed.with_text(text)
    }

    fn now(&self) -> i64 {
        self.listed.now
    }
}

/// What is kept between two queries of a list, for as long as what it was computed from stands.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    evaluator: Evaluator,
    order: Option<(Vec<SortKey>, Arc<Vec<u32>>)>,
    own: AnyTable,
    others: Vec<AnyTable>,
}

/// A table whatever it lists, to be compared by what it is.
type AnyTable = Option<Arc<dyn Any + Send + Sync>>;

impl Asked {
    /// Forgets what does not hold for these tables any more.
    pub(super) fn meet<T: Item>(&mut self, own: &Arc<Table<T>>, others: Vec<AnyTable>) {
        let same = |a: &AnyTable, b: &AnyTable| match (a, b) {
            (Some(a), Some(b)) => std::ptr::addr_eq(Arc::as_ptr(a), Arc::as_ptr(b)),
            (None, None) => true,
            _ => false,
        };
        let own: AnyTable = Some(Arc::clone(own) as Arc<dyn Any + Send + Sync>);
        if !same(&self.own, &own) {
            self.evaluator.forget();
            self.order = None;
        } else if self.others.len() != others.len() || !self.others.iter().zip(&others).all(|(a, b)| same(a, b)) {
            // Bare words search the names of targets too.
            let elsewhere = |field: Field| field.needs_others(T::KIND) && !field.is_of_decision();
            self.evaluator.forget_fields(|field| field == Field::Text || elsewhere(field));
            self.order = None;
        }
        self.own = own;
        self.others = others;
    }

    /// Which rows a query takes.
    pub(super) fn matches(&mut self, query: &Query, source: &dyn Source) -> Bits {
        self.evaluator.matches(query, source)
    }

    /// What computes and keeps.
    pub(super) fn evaluator(&mut self) -> &mut Evaluator {
        &mut self.evaluator
    }

    /// Rows by these keys.
    pub(super) fn order(&mut self, keys: &[SortKey], source: &dyn Source) -> Arc<Vec<u32>> {
        if let Some((_, order)) = self.order.as_ref().filter(|(of, _)| of == keys) {
            return Arc::clone(order);
        }
        let order = Arc::new(order::ordered(keys, &mut self.evaluator, source));
        self.order = Some((keys.to_vec(), Arc::clone(&order)));
        order
    }

    /// Something else is said about some rows.
    pub(super) fn restanced(&mut self, rows: &[usize], source: &dyn Source) {
        self.evaluator.tell_again(rows, Field::is_of_decision, source);
        if self.order.as_ref().is_some_and(|(keys, _)| keys.iter().any(|key| key.field.is_of_decision())) {
            self.order = None;
        }
    }
}

/// A table as one of those compared by [`Asked::meet`].
fn any<T: Item>(table: Option<&Arc<Table<T>>>) -> AnyTable {
    table.map(|table| Arc::clone(table) as Arc<dyn Any + Send + Sync>)
}

impl Model {
    /// What the lists say about each other.
    pub(super) fn world(&self) -> World<'_> {
        World {
            data: &self.data,
            state: &self.triage.state,
            book: &self.oob.book,
            payloads: &self.payloads,
            signals: &self.signals,
            own: self.own_addresses(),
            hosts: &self.oob.hosts,
            clock_offset: self.clock_offset,
        }
    }

    /// A table of this model to be queried.
    pub(super) fn listed<'a, T: Item>(&'a self, table: &'a Table<T>) -> Listed<'a, T> {
        Listed { table, world: self.world(), now: self.service_now().as_second() }
    }

    /// The findings to be queried.
    pub(super) fn triaged<'a>(&'a self, table: &'a Table<Case>) -> Triaged<'a> {
        Triaged { listed: self.listed(table), stances: &self.triage.stances }
    }

    /// Asks something of a pane's list; nothing while there is none.
    pub(super) fn ask_list<A>(&mut self, pane: Pane, ask: impl FnOnce(&mut Evaluator, &dyn Source) -> A) -> Option<A> {
        fn plain<T: Item, A>(
            model: &mut Model,
            table: Option<Arc<Table<T>>>,
            list: fn(&mut Lists) -> &mut List<T>,
            ask: impl FnOnce(&mut Evaluator, &dyn Source) -> A,
        ) -> Option<A> {
            let table = table?;
            Some(model.asking(&table, list, |model, _, asked| ask(asked.evaluator(), &model.listed(&table))))
        }
        let data = &self.data;
        match pane {
            Pane::Workspaces => plain(self, data.workspaces.value().cloned(), |lists| &mut lists.workspaces, ask),
            Pane::Targets => plain(self, data.targets.value().cloned(), |lists| &mut lists.targets, ask),
            Pane::Scans => plain(self, data.scans.value().cloned(), |lists| &mut lists.scans, ask),
            Pane::Loggers => plain(self, data.loggers.value().cloned(), |lists| &mut lists.loggers, ask),
            Pane::Reports => plain(self, data.reports.value().cloned(), |lists| &mut lists.reports, ask),
            Pane::Wordlists => plain(self, data.wordlists.value().cloned(), |lists| &mut lists.wordlists, ask),
            Pane::Payloads => plain(self, data.payloads.value().cloned(), |lists| &mut lists.payloads, ask),
            // The board's rows are findings.
            Pane::Findings | Pane::Board => {
                let table = data.findings.value().cloned()?;
                Some(self.asking(
                    &table,
                    |lists| &mut lists.findings,
                    |model, _, asked| ask(asked.evaluator(), &model.triaged(&table)),
                ))
            }
            Pane::Captures => {
                let (others, now) = (self.world(), self.service_now().as_second());
                let world = stream::World { only: self.scope.logger, others: &others, now };
                Some(ask(&mut Evaluator::default(), &stream::Part::newest(&data.captures, world)))
            }
        }
    }

    /// Takes columns of the findings that were made off the UI thread.
    pub(super) fn take_columns(&mut self, made: Vec<(Field, Builder)>) {
        let Some(table) = self.data.findings.value().cloned() else { return };
        self.asking(&table, |lists| &mut lists.findings, |_, _, asked| asked.evaluator.take_columns(made));
    }

    /// Something else is said about some rows of the findings.
    pub(super) fn tell_again(&mut self, rows: &[usize]) {
        let Some(table) = self.data.findings.value().cloned() else { return };
        self.asking(
            &table,
            |lists| &mut lists.findings,
            |model, _, asked| asked.restanced(rows, &model.triaged(&table)),
        );
        self.tabs.stale = true;
    }

    /// The lists that those of a kind say something about.
    pub(super) fn others_of(&self, kind: Kind) -> Vec<AnyTable> {
        let data = &self.data;
        match kind {
            Kind::Findings | Kind::Scans => {
                let scans = if kind == Kind::Findings { any(data.scans.value()) } else { None };
                vec![any(data.targets.value()), any(data.workspaces.value()), scans]
            }
            Kind::Payloads => vec![Some(Arc::clone(&self.payloads.hits) as Arc<dyn Any + Send + Sync>)],
            Kind::Targets => vec![any(data.workspaces.value()), any(data.scans.value()), any(data.findings.value())],
            _ => Vec::new(),
        }
    }
}
