//! Which rows a list shows, in which order: scope, query, sort.
//!
//! ```text
//!   order of the table ─► in scope? ─► taken by the query? ─► refined order ─► List::rows
//! ```

use std::cmp::Reverse;
use std::sync::Arc;

use super::asked::Asked;
use super::effect::Effect;
use super::list::List;
use super::model::{Lists, Model, Pane};
use super::notices::Tone;
use super::sorts;
use super::stream::{self, Asking, StreamList};
use super::table::{Item, Table};
use crate::contract::{Scan, Target, TargetId};
use crate::oob::Payload;
use crate::query::explain::explain;
use crate::query::{Bits, Kind, Query, Source};
use crate::triage::Case;

/// Said where something is to be done with all captures of many, before it is known which these are.
const STILL_ASKING: &str = "older captures are still being asked about: once more in a moment";

impl Model {
    /// Makes the rows of a pane anew, after its data, filter, scope or order changed.
    pub fn show_rows(&mut self, pane: Pane) {
        let data = &self.data;
        match pane {
            Pane::Workspaces => self.show_plain(data.workspaces.value().cloned(), |lists| &mut lists.workspaces),
            Pane::Loggers => self.show_plain(data.loggers.value().cloned(), |lists| &mut lists.loggers),
            Pane::Reports => self.show_plain(data.reports.value().cloned(), |lists| &mut lists.reports),
            Pane::Wordlists => self.show_plain(data.wordlists.value().cloned(), |lists| &mut lists.wordlists),
            Pane::Payloads => self.show_payloads(),
            Pane::Board => self.show_board(),
            Pane::Targets => self.show_targets(),
            Pane::Scans => self.show_scans(),
            Pane::Findings => self.show_findings(),
            Pane::Captures => self.ask_captures(StreamList::show),
        }
    }

    /// The rows of a list that needs nothing but its query.
    fn show_plain<T: Item>(&mut self, table: Option<Arc<Table<T>>>, list: fn(&mut Lists) -> &mut List<T>) {
        let Some(table) = table else { return };
        let rows = self.rows_of(&table, list, None);
        list(&mut self.lists).show(&table, rows);
    }

    fn show_targets(&mut self) {
        let Some(table) = self.data.targets.value().cloned() else { return };
        let mut rows = self.rows_of(&table, |lists| &mut lists.targets, None);
        let list = &self.lists.targets;
        if list.order.is_empty() && Target::sorts().get(list.sort).is_some_and(|sort| sort.name == sorts::BY_RISK) {
            let risks = |id: TargetId| self.data.findings.value().and_then(|all| all.of_target(id)).map(|of| of.risks);
            rows.sort_by_cached_key(|&row| Reverse(risks(table.items()[row as usize].id).unwrap_or_default()));
        }
        self.lists.targets.show(&table, rows);
    }

    fn show_payloads(&mut self) {
        let Some(table) = self.data.payloads.value().cloned() else { return };
        let mut rows = self.rows_of(&table, |lists| &mut lists.payloads, None);
        let list = &self.lists.payloads;
        if list.order.is_empty() && Payload::sorts().get(list.sort).is_some_and(|sort| sort.name == sorts::BY_HITS) {
            rows.sort_by_cached_key(|&row| Reverse(self.payloads.hits_of(table.items()[row as usize].token).count));
        }
        self.lists.payloads.show(&table, rows);
    }

    fn show_scans(&mut self) {
        let Some(table) = self.data.scans.value().cloned() else { return };
        let only = self.scope.target;
        let in_scope = |scan: &Scan| only.is_none_or(|target| scan.target_id == target);
        let in_scope = only.is_some().then_some(&in_scope as &dyn Fn(&Scan) -> bool);
        let mut rows = self.rows_of(&table, |lists| &mut lists.scans, in_scope);
        let list = &self.lists.scans;
        if list.order.is_empty() && Scan::sorts().get(list.sort).is_some_and(|sort| sort.name == sorts::BY_NEED) {
            rows.sort_by_key(|&row| self.watch.need(self.now.mono, &table.items()[row as usize]));
        }
        self.lists.scans.show(&table, rows);
    }

    fn show_findings(&mut self) {
        let Some(table) = self.data.findings.value().cloned() else { return };
        let (target, scan) = (self.scope.target, self.scope.scan);
        let in_scope = |finding: &Case| {
            (target.is_none() || finding.target_id == target) && (scan.is_none() || finding.task_id == scan)
        };
        let rows = self.asking(
            &table,
            |lists| &mut lists.findings,
            |model, list, asked| {
                let scoped = target.is_some() || scan.is_some();
                rows(list, &table, asked, &model.triaged(&table), scoped.then_some(&in_scope))
            },
        );
        let lists = &mut self.lists;
        match lists.groups.by {
            None => lists.findings.show(&table, rows),
            Some(_) => {
                lists.findings.rows = Arc::new(rows);
                lists.groups.show(&mut lists.findings, &table, &self.triage.stances);
            }
        }
    }

    /// Asks the query of the captures: about all of them, those that came or changed, or a piece of what is left.
    pub(super) fn ask_captures(&mut self, ask: impl FnOnce(&mut StreamList, &Asking<'_>)) {
        let mut list = std::mem::take(&mut self.lists.captures);
        let query = query_of(&list.filter, Kind::Captures);
        let (others, now) = (self.world(), self.service_now().as_second());
        let world = stream::World { only: self.scope.logger, others: &others, now };
        ask(&mut list, &Asking { stream: &self.data.captures, query: &query, world, piece: stream::PIECE });
        self.lists.captures = list;
    }

    /// Goes on with the file of captures that was asked for first.
    pub(super) fn gather(&mut self, effects: &mut Vec<Effect>) {
        let Some((mut exported, mut gathering)) = self.exports.pop_front() else { return };
        let (others, now) = (self.world(), self.service_now().as_second());
        let world = stream::World { only: gathering.only, others: &others, now };
        let query = gathering.query.clone();
        let asking = Asking { stream: &self.data.captures, query: &query, world, piece: stream::PIECE };
        match gathering.go_on(&asking) {
            None => self.exports.push_front((exported, gathering)),
            Some(found) if found.is_empty() => self.say(Tone::Bad, "there is no captured request to export"),
            Some(found) => {
                exported.sent = found.iter().map(|caught| self.sent(caught)).collect();
                effects.push(Effect::ExportCaptures(Box::new(exported)));
            }
        }
    }

    /// Whether what is to be done with all captures that are shown must wait, which is said: they are not all known yet.
    pub(super) fn must_wait(&mut self, pane: Pane) -> bool {
        let waits = pane == Pane::Captures && self.lists.captures.unasked() > 0;
        if waits {
            self.say(Tone::Plain, STILL_ASKING);
        }
        waits
    }

    /// The same for what a head stands for, where one has the cursor.
    pub(super) fn head_must_wait(&mut self) -> bool {
        let list = &self.lists.captures;
        list.head_at(list.at).is_some() && self.must_wait(self.focus.pane)
    }

    /// What is left to be asked of the captures is asked when the keys that wait were heard.
    pub(super) fn ask_on(&mut self, effects: &mut Vec<Effect>) {
        let more = self.lists.captures.unasked() > 0 || !self.exports.is_empty();
        if more && !self.asks_on {
            self.asks_on = true;
            effects.push(Effect::AskOn);
        }
    }

    fn rows_of<T: Item>(
        &mut self,
        table: &Arc<Table<T>>,
        list: fn(&mut Lists) -> &mut List<T>,
        in_scope: Option<&dyn Fn(&T) -> bool>,
    ) -> Vec<u32> {
        self.asking(table, list, |model, list, asked| rows(list, table, asked, &model.listed(table), in_scope))
    }

    /// Runs `ask` with what a list keeps between two queries, after that was brought up to the present tables.
    pub(super) fn asking<T: Item, A>(
        &mut self,
        table: &Arc<Table<T>>,
        list: fn(&mut Lists) -> &mut List<T>,
        ask: impl FnOnce(&Model, &mut List<T>, &mut Asked) -> A,
    ) -> A {
        let mut taken = std::mem::take(list(&mut self.lists));
        let mut asked = std::mem::take(&mut taken.asked);
        asked.meet(table, self.others_of(T::KIND));
        let answer = ask(self, &mut taken, &mut asked);
        taken.asked = asked;
        *list(&mut self.lists) = taken;
        answer
    }
}

/// The query of a filter. Only what could be read becomes a filter, so the other case hides nothing.
pub(super) fn query_of(filter: &str, kind: Kind) -> Query {
    Query::parse(filter, kind).unwrap_or_else(|_| Query::everything(kind))
}

/// The rows of a list, in order; the list learns what each part of its query hides.
fn rows<T: Item>(
    list: &mut List<T>,
    table: &Table<T>,
    asked: &mut Asked,
    source: &dyn Source,
    in_scope: Option<&dyn Fn(&T) -> bool>,
) -> Vec<u32> {
    let query = query_of(&list.filter, T::KIND);
    let scope = in_scope.map(|holds| Bits::of(table.len(), |row| holds(&table.items()[row])));
    list.why = explain(&query, asked.evaluator(), source, scope.as_ref());
    let own = (!list.order.is_empty()).then(|| asked.order(&list.order, source));
    let order = own.as_ref().map_or_else(|| table.order(list.sort), |order| order.as_slice()).iter().copied();
    let rows: Vec<u32> = if query.is_empty() && scope.is_none() {
        order.collect()
    } else {
        let mut wanted = asked.matches(&query, source);
        list.kept.keys().filter_map(|&id| table.position(id)).for_each(|at| wanted.set(at));
        scope.iter().for_each(|scope| wanted.and(scope));
        order.filter(|&row| wanted.has(row as usize)).collect()
    };
    let by_decision = list.order.iter().any(|key| key.field.needs_others(T::KIND));
    if by_decision && !list.kept.is_empty() { list.in_place(table, rows) } else { rows }
}
