//! The payload book: the place and the hits of each payload.

use crate::base::{RowRef, ShownRows};
use crate::input::{Action, Context, CopyAction, ItemAction, ListAction, PayloadAction};
use crate::ui::{
    Cx, DetailPane, DetailText, DrawnPane, ListColumn, ListPane, ListState, PaneDrawing, Slot,
    TableColumn, ViewCache, cell, draw_columns, fact, format, invite, is_constant, key, pane_of,
    plain, sampled_items, words,
};
use ratatui::prelude::{Buffer, Line, Span};
use scandeck_domain::oob::Payload;
use scandeck_domain::table::columns::payload;
use scandeck_wire::text;

const COLUMNS: &[ListColumn<Payload>] = &[
    ListColumn::<Payload>::new(
        payload::CREATED,
        TableColumn::fixed(7).right(),
        |cx, payload, _| words(age(cx, payload), cx.theme.text()),
    ),
    ListColumn::<Payload>::new(
        payload::PLACEMENT,
        TableColumn::flex(12, 3),
        |cx, payload, room| {
            // The last column is the note.
            let place = match room.shows_last() {
                true => payload.place(),
                false => payload.place_or_note(),
            };
            match place.as_str() {
                "" => or_dash(cx, &payload.finding_name),
                place => or_dash(cx, place),
            }
        },
    ),
    ListColumn::<Payload>::new(
        payload::TECHNIQUE,
        TableColumn::flex(9, 1).at_most(20),
        |cx, payload, _| or_dash(cx, &payload.technique),
    )
    .fit(|column, cx| {
        let is_empty = shown(cx).all(|payload| payload.technique.is_empty());
        let is_one = is_constant(shown(cx).map(|payload| &payload.technique));
        column.constant(is_empty || is_one)
    }),
    ListColumn::<Payload>::new(
        payload::LOGGER,
        TableColumn::flex(8, 1).at_most(24).expendable(2),
        |_, payload, _| cell(&payload.label),
    )
    .fit(|column, cx| {
        let loggers = cx.model.data.loggers.value();
        let is_only_one = loggers.is_some_and(|loggers| loggers.len() == 1);
        column.constant(is_only_one || is_constant(shown(cx).map(|payload| &payload.label)))
    }),
    ListColumn::<Payload>::new(payload::HITS, TableColumn::fixed(11), |cx, payload, _| {
        hits(cx, payload)
    }),
    ListColumn::<Payload>::new(
        payload::TOKEN,
        TableColumn::fixed(12).expendable(1),
        |cx, payload, _| words(payload.token.to_string(), cx.theme.text()),
    ),
    ListColumn::<Payload>::new(
        payload::NOTE,
        TableColumn::flex(12, 2).from(120),
        |_, payload, _| cell(&payload.note),
    ),
];

fn shown<'a>(cx: &Cx<'a>) -> impl Iterator<Item = &'a Payload> + use<'a> {
    sampled_items::<Payload>(cx)
}

impl DrawnPane for Payload {
    const DRAWING: PaneDrawing = PaneDrawing::new(draw_list, detail);
}

pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
) -> ShownRows {
    let remote = &cx.model.data.payloads;
    let pane = ListPane {
        note: note(cx),
        invitation: invitation(cx),
        // Without an archive the book is empty, not loading.
        state: if remote.value().is_some() {
            ListState::of(remote)
        } else {
            ListState::Loaded
        },
        ..pane_of::<Payload>(cx)
    };
    draw_columns(cx, buf, slot, cache, pane, COLUMNS)
}

/// The text of an empty list: the keys that create a payload, and before it a logger.
fn invitation(cx: &Cx<'_>) -> String {
    let plant = Action::Payload(PayloadAction::Plant);
    let new = key(cx, Context::Everywhere, plant);
    let loggers = cx.model.data.loggers.value();
    if loggers.is_some_and(|loggers| loggers.is_empty()) {
        let loggers = cx.model.logger_keys();
        let create = key(cx, Context::Loggers, Action::Item(ItemAction::New));
        let words = format!("{loggers}, then {create} creates one; then {new} creates a payload");
        return invite(cx, "no loggers", &words);
    }
    let words = format!("{new} in any pane creates and copies one");
    invite(cx, "no payloads", &words)
}

/// `6 waiting`.
fn note(cx: &Cx<'_>) -> Line<'static> {
    match cx.model.payloads_waiting() {
        0 => Line::default(),
        waiting => words(
            format!("{} waiting", format::thousands(waiting as u64)),
            cx.theme.dim(),
        ),
    }
}

/// The age by the local clock, which payloads are stamped with.
fn age(cx: &Cx<'_>, payload: &Payload) -> String {
    payload
        .at
        .map_or_else(String::new, |at| format::age(cx.model.now.wall, at))
}

/// A text from outside, or a dash if it is empty.
fn or_dash(cx: &Cx<'_>, outside: &str) -> Line<'static> {
    match outside {
        "" => words(cx.theme.glyphs.dash, cx.theme.dim()),
        text => Line::from(text::clean(text).into_owned()),
    }
}

/// The number of hits and the delay of the first (`2 +0s`), `waiting` without hits, `unknown` until
/// they are counted.
fn hits(cx: &Cx<'_>, payload: &Payload) -> Line<'static> {
    let hits = cx.model.captures.payloads.hits_of(payload.token);
    if let Some(wait) = cx.model.captures.alerts.wait(payload.token) {
        let left = wait
            .until
            .map(|until| until.saturating_sub(cx.model.now.mono).as_secs());
        let left = left
            .map(|left| format!(" {}", format::duration(left as i64)))
            .unwrap_or_default();
        return words(format!("awaited{left}"), cx.theme.active());
    }
    if hits.count == 0 && !cx.model.captures.payloads.counted {
        return words("unknown", cx.theme.dim());
    }
    if hits.count == 0 {
        return words("waiting", cx.theme.dim());
    }
    let mut line = words(format::count(hits.count as i64), cx.theme.good());
    if let Some(delay) = hits.delay(payload, cx.model.connection.clock_offset) {
        line.push_span(Span::styled(format!(" {delay}"), cx.theme.text()));
    }
    line
}

fn head_lines(cx: &Cx<'_>, payload: &Payload) -> Vec<Line<'static>> {
    let theme = cx.theme;
    let clean = |outside: &str| text::clean(outside).into_owned();
    let mut head = vec![words(clean(&payload.url), theme.key()), Line::default()];
    let mut count = fact(theme, "Hits", "");
    count.extend(hits(cx, payload));
    head.push(count);
    let facts = [
        ("Parameter", &payload.parameter),
        ("Target", &payload.target),
        ("Technique", &payload.technique),
        ("Finding", &payload.finding_name),
        ("Batch", &payload.batch),
        ("Logger", &payload.label),
        ("Created by", &payload.who),
    ];
    head.extend(
        facts
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| fact(theme, name, clean(value))),
    );
    if let Some(number) = payload.number {
        head.push(fact(theme, "Line", number.to_string()));
    }
    head.push(fact(
        theme,
        "Created",
        format!(
            "{}   {}",
            format::stamp(theme, payload.at),
            format::ago(&age(cx, payload))
        ),
    ));
    head.push(fact(theme, "Token", payload.token.to_string()));
    head
}

pub(crate) fn detail<'a>(cx: &Cx<'a>, _: &mut ViewCache) -> Option<DetailPane<'a>> {
    let payload = cx
        .model
        .captures
        .oob
        .book
        .get(cx.model.lists.payloads.selected?)?;
    let head = head_lines(cx, payload);
    let key = |context, action| key(cx, context, action);
    let [open, edit, copy] = [
        key(Context::Lists, Action::List(ListAction::In)),
        key(Context::Payloads, Action::Payload(PayloadAction::EditPlace)),
        key(Context::Copy, Action::Copy(CopyAction::Shapes)),
    ];
    let payload = payload.clone();
    let text = DetailText::new(vec![payload.clone()], move |theme, _, _| {
        let mut lines = plain(&text::clean_text(&payload.note), theme.text());
        lines.push(Line::default());
        let keys = format!("{open} shows its captures, {edit} edits its note, {copy} copies it");
        lines.push(words(keys, theme.dim()));
        lines
    });
    Some(DetailPane {
        id: RowRef::Item(cx.model.lists.payloads.selected?.into()),
        head,
        tabs: Vec::new(),
        text,
    })
}
