//! The rows of a list and their order: scope, query, sort.
//!
//! ```text
//!   order of the table ─► in scope? ─► taken by the query? ─► refined order ─► List::rows
//! ```

use crate::base::{CaptureKey, CaptureRow, CaptureUse, Effect, Pane, Tone};
use crate::list::{CHUNK, ChunkQuery, ListQuery, ReadCaptures, StreamContext, StreamList};
use crate::model::{Lists, Model, PaneItem};
use scandeck_domain::oob::CaptureRecord;
use scandeck_domain::problem::Problem;
use scandeck_domain::query::{Evaluator, Query, QueryKind, RowSet, order, query_of};
use scandeck_wire::contract::{LoggerId, Stamp};

const STILL_FILTERING_CAPTURES: &str =
    "older captures are still being filtered: try again in a moment";
const STILL_FILTERING_FINDINGS: &str = "findings are still being filtered: try again in a moment";

impl Model {
    /// Updates the rows of a list of a table.
    pub(crate) fn show_table<T: PaneItem>(&mut self) {
        let Some(table) = T::remote(&self.data).value().cloned() else {
            return;
        };
        let in_scope = T::in_scope(&self.navigation.scope);
        let now = Stamp(self.service_now());
        let list = T::list_mut(&mut self.lists);
        let is_new = list
            .hidden_news
            .since(&list.filter, now)
            .and_then(|since| T::is_new(self, since));
        let list = T::list(&self.lists);
        let (source, mut evaluator) = (self.listed(&table), Evaluator::default());
        let own =
            (!list.order.is_empty()).then(|| order::ordered(&list.order, &mut evaluator, &source));
        let scope = in_scope.map(|holds| RowSet::of(table.len(), |row| holds(&table.items()[row])));
        let mut found = ListQuery {
            query: &query_of(&list.filter, T::KIND),
            order: own.as_deref().unwrap_or_else(|| table.order(list.sort)),
            scope: scope.as_ref(),
            retained: &list.retained,
            is_new: is_new.as_deref(),
        }
        .rows(&table, &mut evaluator, &source);
        let named = T::SORTS.get(list.sort).filter(|_| list.order.is_empty());
        let name = named.map_or("", |sort| sort.name);
        T::refine(self, name, &table, &mut found.rows);
        let list = T::list_mut(&mut self.lists);
        (list.why, list.in_scope) = (found.why, found.in_scope);
        list.retained_only = found.retained_only;
        list.hidden_news.count = found.hidden_new;
        list.show(&table, found.rows);
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
            Pane::Board => self.is_board_waiting().then_some(STILL_FILTERING_FINDINGS),
            _ => None,
        }
    }

    /// The same for the findings, whatever the focus is.
    pub(crate) fn findings_wait_notice(&self) -> Option<&'static str> {
        let is_partial = self.is_list_behind() || self.search_progress().is_some();
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
                !self.is_list_behind() && findings.header.is_none() && findings.range_from.is_none()
            }
            Pane::Board => {
                !self.is_board_behind() && board.header.is_none() && board.range_from.is_none()
            }
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
}
