//! The rows of a list and their order: scope, query, sort.
//!
//! ```text
//!   order of the table ─► in scope? ─► taken by the query? ─► refined order ─► List::rows
//! ```

use crate::base::{CaptureKey, CaptureRow, CaptureUse, Effect, Pane, Tone};
use crate::list::{CHUNK, ChunkQuery, List, QueryCache, ReadCaptures, StreamContext, StreamList};
use crate::model::{Lists, Model, PaneItem, Stored};
use scandeck_domain::oob::CaptureRecord;
use scandeck_domain::problem::Problem;
use scandeck_domain::query::explain::explain;
use scandeck_domain::query::{Query, QueryKind, RowSet, RowSource, query_of};
use scandeck_domain::table::{Item, Table};
use scandeck_wire::contract::{LoggerId, Stamp};
use std::sync::Arc;

const STILL_FILTERING_CAPTURES: &str =
    "older captures are still being filtered: try again in a moment";
const STILL_FILTERING_FINDINGS: &str = "findings are still being filtered: try again in a moment";

impl Model {
    /// Updates the rows of a list of a table.
    pub(crate) fn show_table<T: PaneItem>(&mut self) {
        let Some(table) = T::remote(&self.data).value().cloned() else {
            return;
        };
        // Columns of other lists that changed are dropped.
        self.with_cache(&table, |_, _, _| ());
        let is_behind = T::list(&self.lists).shows(&table) && T::awaits_columns(self, &table);
        T::list_mut(&mut self.lists).is_behind = is_behind;
        if is_behind {
            return;
        }
        let in_scope = T::in_scope(&self.navigation.scope);
        let now = Stamp(self.service_now());
        let list = T::list_mut(&mut self.lists);
        let is_new = list
            .hidden_news
            .since(&list.filter, now)
            .and_then(|since| T::is_new(self, since));
        let limits = RowLimits {
            in_scope: in_scope.as_deref(),
            is_new: is_new.as_deref(),
        };
        let mut rows = self.with_cache(&table, |model, list, cache| {
            rows(list, &table, cache, &model.listed(&table), &limits)
        });
        let list = T::list(&self.lists);
        let named = T::SORTS.get(list.sort).filter(|_| list.order.is_empty());
        T::refine(self, named.map_or("", |sort| sort.name), &table, &mut rows);
        T::take_rows(self, &table, rows);
    }

    /// Runs the query of the captures: on all of them, on new or changed ones, or on the next
    /// chunk.
    pub(crate) fn filter_captures(&mut self, run: impl FnOnce(&mut StreamList, &ChunkQuery<'_>)) {
        let mut list = std::mem::take(&mut self.lists.captures);
        let query = query_of(&list.filter, QueryKind::Captures);
        let only = self.navigation.scope.logger;
        self.with_chunk_query(&query, only, |chunk_query| run(&mut list, chunk_query));
        list.count_hidden_news(&self.data.captures, only, Stamp(self.service_now()));
        self.lists.captures = list;
    }

    /// Runs `run` with a query on the captures, or on those of one logger.
    fn with_chunk_query<A>(
        &self,
        query: &Query,
        only: Option<LoggerId>,
        run: impl FnOnce(&ChunkQuery<'_>) -> A,
    ) -> A {
        let (others, now) = (self.list_context(), self.service_now().as_second());
        let context = StreamContext {
            only,
            read: Some(&self.captures.read),
            others: &others,
            now,
        };
        run(&ChunkQuery {
            stream: &self.data.captures,
            query,
            context,
            bytes: CHUNK,
        })
    }

    /// Runs the query of the captures, or the oldest export, on the next chunk.
    pub(crate) fn run_chunk(&mut self, effects: &mut Vec<Effect>) {
        self.captures.is_chunk_requested = false;
        match self.lists.captures.pending() {
            0 => self.gather(effects),
            _ => self.filter_captures(StreamList::next_chunk),
        }
    }

    /// The same with the bodies that were read for this chunk. Bodies that cannot be read are not
    /// searched.
    pub(crate) fn run_read_chunk(
        &mut self,
        captures: Vec<CaptureRecord>,
        problem: Option<&Problem>,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(problem) = problem {
            self.notify_problem("bodies not searched", problem);
        }
        let id = |one: &CaptureRecord| CaptureKey {
            logger: one.logger,
            capture: one.capture.id,
            date: one.capture.request_date,
        };
        self.captures.read = captures
            .into_iter()
            .map(|one| (id(&one), one.capture))
            .collect();
        self.run_chunk(effects);
        self.captures.read = ReadCaptures::default();
    }

    /// Continues the oldest export of captures.
    pub(crate) fn gather(&mut self, effects: &mut Vec<Effect>) {
        let Some((mut exported, mut gathering)) = self.captures.exports.pop_front() else {
            return;
        };
        let query = gathering.query.clone();
        match self.with_chunk_query(&query, gathering.only, |chunk_query| {
            gathering.next_chunk(chunk_query)
        }) {
            None => self.captures.exports.push_front((exported, gathering)),
            Some(found) if found.is_empty() => self.notify(Tone::Bad, "no captures to export"),
            Some(found) => {
                exported.sent = found
                    .iter()
                    .map(|captured| self.record_of(captured))
                    .collect();
                effects.push(Effect::ExportCaptures(Box::new(exported)));
            }
        }
    }

    /// Why an action on all shown rows must wait: not all captures are filtered yet, or the
    /// findings are those of the last filter.
    pub(crate) fn wait_notice(&self) -> Option<&'static str> {
        match self.navigation.focus.pane {
            Pane::Captures => {
                (self.lists.captures.pending() > 0).then_some(STILL_FILTERING_CAPTURES)
            }
            Pane::Findings => self.findings_wait_notice(),
            Pane::Board => (self.lists.board.is_behind || self.findings.is_board_partial)
                .then_some(STILL_FILTERING_FINDINGS),
            _ => None,
        }
    }

    /// The same for the findings, whatever the focus is.
    pub(crate) fn findings_wait_notice(&self) -> Option<&'static str> {
        let is_partial = self.lists.findings.is_behind || self.search_progress().is_some();
        is_partial.then_some(STILL_FILTERING_FINDINGS)
    }

    /// The same for an action on the selected row: a capture, or a finding that was found, is
    /// complete; a group is not.
    pub(crate) fn header_wait_notice(&self) -> Option<&'static str> {
        let Lists {
            captures,
            findings,
            board,
            ..
        } = &self.lists;
        let is_single = match self.navigation.focus.pane {
            Pane::Captures => captures.groups.header(captures.at).is_none(),
            Pane::Findings => {
                !findings.is_behind && findings.header.is_none() && findings.range_from.is_none()
            }
            Pane::Board => !board.is_behind && board.header.is_none() && board.range_from.is_none(),
            _ => false,
        };
        // The findings of a card are those of its review, whatever the list is doing.
        self.wait_notice()
            .filter(|_| !is_single && self.reviewing().is_none())
    }

    /// Requests the next chunk of captures, after the keys that are queued.
    pub(crate) fn next_chunk(&mut self, effects: &mut Vec<Effect>) {
        let more = self.lists.captures.pending() > 0 || !self.captures.exports.is_empty();
        if more && !self.captures.is_chunk_requested {
            self.captures.is_chunk_requested = true;
            effects.push(match self.unread_captures() {
                none if none.is_empty() => Effect::NextChunk,
                unread => Effect::ReadCaptures(CaptureUse::Filter, unread),
            });
        }
    }

    /// The captures of the next chunk whose bodies have to be read first.
    fn unread_captures(&self) -> Vec<CaptureRecord> {
        let list = &self.lists.captures;
        let records = |unread: Vec<&CaptureRow>| {
            unread
                .into_iter()
                .map(|captured| self.record_of(captured))
                .collect()
        };
        match self.captures.exports.front() {
            _ if list.pending() > 0 => {
                let query = query_of(&list.filter, QueryKind::Captures);
                self.with_chunk_query(&query, self.navigation.scope.logger, |chunk| {
                    records(list.unread(chunk))
                })
            }
            Some((_, export)) => self.with_chunk_query(&export.query, export.only, |chunk| {
                records(export.unread(chunk))
            }),
            None => Vec::new(),
        }
    }

    /// Finishes the exports of captures before the end. False if one has to read bodies first.
    pub(crate) fn finish_exports(&mut self, effects: &mut Vec<Effect>) -> bool {
        while let Some((_, export)) = self.captures.exports.front() {
            let unread = self.with_chunk_query(&export.query, export.only, |chunk| {
                !export.unread(chunk).is_empty()
            });
            if unread {
                return false;
            }
            self.gather(effects);
        }
        true
    }

    /// Runs `run` with the query cache of a list, valid for the current tables.
    pub(crate) fn with_cache<T: Stored, A>(
        &mut self,
        table: &Arc<Table<T>>,
        run: impl FnOnce(&Model, &mut List<T>, &mut QueryCache) -> A,
    ) -> A {
        let mut list = std::mem::take(T::list_mut(&mut self.lists));
        let mut cache = std::mem::take(&mut list.cache);
        cache.fit(table, self.others_of(T::KIND));
        let answer = run(self, &mut list, &mut cache);
        list.cache = cache;
        *T::list_mut(&mut self.lists) = list;
        answer
    }
}

/// The retained rows that the filter hides.
pub(super) fn retained_only<T: Item>(
    list: &List<T>,
    table: &Table<T>,
    matching: &RowSet,
) -> Vec<T::Id> {
    let is_hidden = |id: &T::Id| table.position(*id).is_some_and(|at| !matching.has(at));
    list.retained.keys().copied().filter(is_hidden).collect()
}

/// The items that a list is about, and those that are new to its filter.
struct RowLimits<'a, T> {
    in_scope: Option<&'a dyn Fn(&T) -> bool>,
    is_new: Option<&'a dyn Fn(&T) -> bool>,
}

/// The rows of a list in order. Also counts the rows that each part of the query hides, and the new
/// rows among them.
fn rows<T: Item>(
    list: &mut List<T>,
    table: &Table<T>,
    cache: &mut QueryCache,
    source: &dyn RowSource,
    limits: &RowLimits<'_, T>,
) -> Vec<u32> {
    let query = query_of(&list.filter, T::KIND);
    let scope = limits
        .in_scope
        .map(|holds| RowSet::of(table.len(), |row| holds(&table.items()[row])));
    list.in_scope = scope.as_ref().map_or(table.len(), RowSet::count);
    let retained: Vec<usize> = list
        .retained
        .keys()
        .filter_map(|&id| table.position(id))
        .collect();
    list.why = explain(
        &query,
        &mut cache.evaluator,
        source,
        scope.as_ref(),
        &retained,
    );
    let own = (!list.order.is_empty()).then(|| cache.order(&list.order, source));
    let order = own
        .as_ref()
        .map_or_else(|| table.order(list.sort), |order| order.as_slice())
        .iter()
        .copied();
    list.retained_only.clear();
    list.hidden_news.count = 0;
    let rows: Vec<u32> = if query.is_empty() && scope.is_none() {
        order.collect()
    } else {
        let mut matching = cache.matches(&query, source);
        list.retained_only = retained_only(list, table, &matching);
        list.retained_only
            .iter()
            .filter_map(|&id| table.position(id))
            .for_each(|at| matching.set(at));
        scope.iter().for_each(|scope| matching.and(scope));
        let is_hidden =
            |row: usize| scope.as_ref().is_none_or(|scope| scope.has(row)) && !matching.has(row);
        list.hidden_news.count = limits.is_new.map_or(0, |is_new| {
            table
                .items()
                .iter()
                .enumerate()
                .filter(|(row, item)| is_hidden(*row) && is_new(item))
                .count()
        });
        order.filter(|&row| matching.has(row as usize)).collect()
    };
    // The order may depend on decisions, such as that by risk.
    if list.retained.is_empty() {
        rows
    } else {
        list.in_place(table, rows)
    }
}
