//! Which rows a list shows, in which order: scope, query, sort.
//!
//! ```text
//!   order of the table ─► in scope? ─► taken by the query? ─► refined order ─► List::rows
//! ```

use crate::dashboard::base::{Effect, Pane, Tone};
use crate::dashboard::list::{Asked, Asking, List, StreamList, stream};
use crate::dashboard::model::{Model, PaneItem, Stored};
use crate::query::explain::explain;
use crate::query::{QueryKind, RowSet, RowSource, query_of};
use crate::table::{Item, Table};
use std::sync::Arc;

/// Said where something is to be done with all captures of many, before it is known which these are.
const STILL_ASKING: &str = "older captures are still being asked about: once more in a moment";

impl Model {
    /// Finds the rows of a list of a table again.
    pub(crate) fn show_table<T: PaneItem>(&mut self) {
        let Some(table) = T::remote(&self.data).value().cloned() else { return };
        let in_scope = T::in_scope(&self.navigation.scope);
        let mut rows = self.asking(&table, |model, list, asked| {
            rows(list, &table, asked, &*T::source(model, &table), in_scope.as_deref())
        });
        let list = T::list(&self.lists);
        let named = T::sorts().get(list.sort).filter(|_| list.order.is_empty());
        T::refine(self, named.map_or("", |sort| sort.name), &table, &mut rows);
        T::take_rows(self, &table, rows);
    }

    /// Asks the query of the captures: about all of them, those that came or changed, or a piece of what is left.
    pub(crate) fn ask_captures(&mut self, ask: impl FnOnce(&mut StreamList, &Asking<'_>)) {
        let mut list = std::mem::take(&mut self.lists.captures);
        let query = query_of(&list.filter, QueryKind::Captures);
        let (others, now) = (self.world(), self.service_now().as_second());
        let world = stream::asking::StreamContext { only: self.navigation.scope.logger, others: &others, now };
        ask(&mut list, &Asking { stream: &self.data.captures, query: &query, world, piece: stream::asking::PIECE });
        self.lists.captures = list;
    }

    /// Goes on with the file of captures that was asked for first.
    pub(crate) fn gather(&mut self, effects: &mut Vec<Effect>) {
        let Some((mut exported, mut gathering)) = self.captures.exports.pop_front() else { return };
        let (others, now) = (self.world(), self.service_now().as_second());
        let world = stream::asking::StreamContext { only: gathering.only, others: &others, now };
        let query = gathering.query.clone();
        let asking = Asking { stream: &self.data.captures, query: &query, world, piece: stream::asking::PIECE };
        match gathering.go_on(&asking) {
            None => self.captures.exports.push_front((exported, gathering)),
            Some(found) if found.is_empty() => self.say(Tone::Bad, "there is no captured request to export"),
            Some(found) => {
                exported.sent = found.iter().map(|caught| self.sent(caught)).collect();
                effects.push(Effect::ExportCaptures(Box::new(exported)));
            }
        }
    }

    /// Whether what is to be done with all captures that are shown must wait, which is said: they are not all known yet.
    pub(crate) fn must_wait(&mut self, pane: Pane) -> bool {
        let waits = pane == Pane::Captures && self.lists.captures.unasked() > 0;
        if waits {
            self.say(Tone::Plain, STILL_ASKING);
        }
        waits
    }

    /// The same for what a head stands for, where one has the cursor.
    pub(crate) fn head_must_wait(&mut self) -> bool {
        let list = &self.lists.captures;
        list.head_at(list.at).is_some() && self.must_wait(self.navigation.focus.pane)
    }

    /// What is left to be asked of the captures is asked when the keys that wait were heard.
    pub(crate) fn ask_on(&mut self, effects: &mut Vec<Effect>) {
        let more = self.lists.captures.unasked() > 0 || !self.captures.exports.is_empty();
        if more && !self.captures.asks_on {
            self.captures.asks_on = true;
            effects.push(Effect::AskOn);
        }
    }

    /// Runs `ask` with what a list keeps between two queries, after that was brought up to the present tables.
    pub(crate) fn asking<T: Stored, A>(
        &mut self,
        table: &Arc<Table<T>>,
        ask: impl FnOnce(&Model, &mut List<T>, &mut Asked) -> A,
    ) -> A {
        let mut taken = std::mem::take(T::list_mut(&mut self.lists));
        let mut asked = std::mem::take(&mut taken.asked);
        asked.meet(table, self.others_of(T::KIND));
        let answer = ask(self, &mut taken, &mut asked);
        taken.asked = asked;
        *T::list_mut(&mut self.lists) = taken;
        answer
    }
}

/// The rows of a list, in order; the list learns what each part of its query hides.
fn rows<T: Item>(
    list: &mut List<T>,
    table: &Table<T>,
    asked: &mut Asked,
    source: &dyn RowSource,
    in_scope: Option<&dyn Fn(&T) -> bool>,
) -> Vec<u32> {
    let query = query_of(&list.filter, T::KIND);
    let scope = in_scope.map(|holds| RowSet::of(table.len(), |row| holds(&table.items()[row])));
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
