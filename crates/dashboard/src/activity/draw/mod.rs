//! The calls of the API: those in flight, then the last ones, and the detail of one. Above them are
//! the notes of colleagues that mention the user, and the nodes of the service.

mod nodes;

use crate::base::{Link, RowRef, ShownRows};
use crate::input::{Action, Context, CopyAction, ItemAction};
use crate::model::team::note_line;
use crate::ui::{
    Cx, DetailPane, DetailText, DrawnPane, ListColumn, ListPane, ListState, PaneDrawing, Slot,
    TableColumn, ViewCache, cell, draw_columns, fact, format, is_constant, key, pane_of, plain,
    retry_in, sampled_items, widest, words,
};
use ratatui::prelude::{Buffer, Constraint, Layout, Line, Style, Widget};
use scandeck_client::calls::ApiCall;
use scandeck_wire::contract::Stamp;
use scandeck_wire::text;
use std::time::Duration;

/// Most notes above the calls.
const MOST_NOTES: usize = 3;
/// Rows of the calls, with their frame, before there is room for notes and nodes.
const FEWEST_ROWS: u16 = 8;

/// What is equal or empty in all shown calls gives way to the path.
const COLUMNS: &[ListColumn<ApiCall>] = &[
    ListColumn::<ApiCall>::new("SENT", TableColumn::fixed(8), |cx, call, _| {
        words(format::clock(cx.theme, call.started), cx.theme.dim())
    }),
    ListColumn::<ApiCall>::new("STATUS", TableColumn::fixed(9), |cx, call, _| {
        let (status, style) = status(cx, call);
        words(status, style)
    }),
    ListColumn::<ApiCall>::new("METHOD", TableColumn::fixed(6), |_, call, _| {
        cell(&call.method)
    })
    .fit(|column, cx| column.gives_way_if(is_constant(shown(cx).map(|call| &call.method)), 4)),
    ListColumn::<ApiCall>::new("PATH", TableColumn::flex(16, 3), |cx, call, room| {
        path(cx, &call.path, usize::from(room.width()))
    })
    .fit(|column, cx| column.content(widest(shown(cx).map(|call| call.path.as_str())), 0)),
    ListColumn::<ApiCall>::new("TOOK", TableColumn::fixed(7).right(), |cx, call, _| {
        words(took(cx, call), cx.theme.text())
    }),
    ListColumn::<ApiCall>::new(
        "SIZE",
        TableColumn::fixed(8).right().expendable(1),
        |cx, call, _| match size(call) {
            Some(size) => words(size, cx.theme.text()),
            None => dash(cx),
        },
    )
    .fit(|column, cx| column.gives_way_if(shown(cx).all(|call| size(call).is_none()), 3)),
    ListColumn::<ApiCall>::new(
        "RETRIES",
        TableColumn::fixed(7).right().expendable(2),
        |cx, call, _| match call.retries {
            0 => dash(cx),
            retries => words(retries.to_string(), cx.theme.warn()),
        },
    )
    .fit(|column, cx| column.gives_way_if(shown(cx).all(|call| call.retries == 0), 2)),
    ListColumn::<ApiCall>::new("ERROR", TableColumn::flex(16, 2), |_, call, _| {
        error(call).map_or_else(Line::default, cell)
    })
    .fit(|column, cx| {
        let errors = widest(shown(cx).filter_map(error));
        column.content(errors, 0).from(120).omitted(errors == 0)
    }),
];

fn shown<'a>(cx: &Cx<'a>) -> impl Iterator<Item = &'a ApiCall> + use<'a> {
    sampled_items::<ApiCall>(cx)
}

fn error(call: &ApiCall) -> Option<&str> {
    call.end.as_ref()?.error.as_deref()
}

fn dash(cx: &Cx<'_>) -> Line<'static> {
    words(cx.theme.glyphs.dash, cx.theme.dim())
}

/// Parameters that most requests of a path share, the most different first.
const SHARED: [&str; 4] = ["page=", "workspace_id=", "include=", "limit="];

impl DrawnPane for ApiCall {
    const DRAWING: PaneDrawing = PaneDrawing::new(draw_list, detail);
}

pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
) -> ShownRows {
    let below = below_notes(cx, buf, slot);
    let slot = &nodes::below_nodes(cx, buf, &below);
    let remote = &cx.model.data.calls;
    let pane = ListPane {
        note: words(note(cx), cx.theme.dim()),
        invitation: match cx.model.session.bundled {
            true => "no requests · the bundle replaces the service".to_owned(),
            false => "no requests to the service yet".to_owned(),
        },
        // Without a service there are no calls, and none are loading.
        state: if remote.value().is_some() {
            ListState::of(remote)
        } else {
            ListState::Loaded
        },
        ..pane_of::<ApiCall>(cx)
    };
    draw_columns(cx, buf, slot, cache, pane, COLUMNS)
}

/// Draws the newest notes that mention the user; returns the room below them.
fn below_notes(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot) -> Slot {
    let notes = cx.model.notes_to_me();
    let rows = 1 + notes.len().min(MOST_NOTES) as u16;
    if notes.is_empty() || slot.area.height < rows + FEWEST_ROWS {
        return *slot;
    }
    let [title, lines, below] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(rows - 1),
        Constraint::Fill(1),
    ])
    .areas(slot.area);
    let verb = if notes.len() == 1 {
        "mentions"
    } else {
        "mention"
    };
    let title_text = format!(
        "{} {verb} you {} :mentions shows the findings",
        text::plural(notes.len(), "note"),
        cx.theme.glyphs.separator
    );
    words(title_text, cx.theme.strong()).render(title, buf);
    for (row, note) in lines.rows().zip(&notes) {
        let line = note_line(note);
        words(cx.shown(&line).into_owned(), cx.theme.text()).render(row, buf);
    }
    Slot {
        area: below,
        ..*slot
    }
}

/// `2 in flight · 231 of 250/min left · 84 MB RAM`.
fn note(cx: &Cx<'_>) -> String {
    let model = cx.model;
    let running = model
        .items::<ApiCall>()
        .iter()
        .filter(|call| call.end.is_none())
        .count();
    let mut parts = vec![format!("{running} in flight")];
    if let Link::Retrying { next, .. } = &model.connection.link {
        let wait = (next.as_second() - model.now.wall.as_second()).max(0);
        parts.push(retry_in(wait));
    }
    parts.extend(
        model
            .connection
            .budget
            .map(|budget| format!("{} of {}/min left", budget.remaining, budget.limit)),
    );
    parts.extend(
        model
            .calls
            .memory
            .map(|bytes| format!("{} MB RAM", bytes / 1_000_000)),
    );
    parts.join(&format!(" {} ", cx.theme.glyphs.separator))
}

/// A path and its query. Where it does not fit, the parameters that most requests of a path share
/// come last.
fn path<'a>(cx: &Cx<'_>, path: &'a str, columns: usize) -> Line<'a> {
    // The mask does not recognise a name that is cut.
    let clean = text::clean(path);
    let shown = cx.shown(&clean);
    let Some((begin, query)) = shown
        .split_once('?')
        .filter(|_| text::width(&shown) > columns)
    else {
        return words(shown.into_owned(), cx.theme.text());
    };
    let mut parameters: Vec<&str> = query.split('&').collect();
    parameters.sort_by_key(|parameter| SHARED.iter().position(|name| parameter.starts_with(name)));
    words(format!("{begin}?{}", parameters.join("&")), cx.theme.text())
}

/// The HTTP status; `failed` without a response, `unused` if the response was no longer needed.
fn status(cx: &Cx<'_>, call: &ApiCall) -> (String, Style) {
    let theme = cx.theme;
    match &call.end {
        None => ("in flight".to_owned(), theme.active()),
        Some(end) => {
            let style = if end.error.is_some() {
                theme.bad()
            } else {
                theme.good()
            };
            match end.status {
                Some(status) => (status.to_string(), style),
                None if end.error.is_none() => ("unused".to_owned(), theme.dim()),
                None if call.is_cancelled() => ("cancelled".to_owned(), theme.dim()),
                None => ("failed".to_owned(), style),
            }
        }
    }
}

/// The size of the response that was read.
fn size(call: &ApiCall) -> Option<String> {
    let bytes = call.end.as_ref().map_or(0, |end| end.bytes);
    (bytes > 0).then(|| format::bytes(bytes as usize))
}

/// How long the call took, or takes by now.
fn took(cx: &Cx<'_>, call: &ApiCall) -> String {
    match call.duration() {
        Some(took) => milliseconds(took),
        None => {
            let since = |started: Stamp| cx.model.now.wall.as_second() - started.as_second();
            format::duration(call.started.map_or(0, since))
        }
    }
}

/// `12ms`, `1.4s`, `2m`.
fn milliseconds(took: Duration) -> String {
    match took.as_millis() {
        0 => "<1ms".to_owned(),
        ms @ ..1_000 => format!("{ms}ms"),
        1_000..100_000 => format!("{:.1}s", took.as_secs_f64()),
        _ => format::duration(i64::try_from(took.as_secs()).unwrap_or(i64::MAX)),
    }
}

pub(crate) fn detail<'a>(cx: &Cx<'a>, _: &mut ViewCache) -> Option<DetailPane<'a>> {
    let call = cx.model.selected_item::<ApiCall>()?;
    let theme = cx.theme;
    let clean = |outside: &str| text::clean(outside).into_owned();
    let (status, style) = status(cx, call);
    let head = vec![
        words(
            format!("{} {}", clean(&call.method), clean(&call.path)),
            theme.strong(),
        ),
        words(status, style),
        Line::default(),
        fact(theme, "Sent", format::stamp(theme, call.started)),
        fact(
            theme,
            if call.end.is_some() {
                "Took"
            } else {
                "Running for"
            },
            took(cx, call),
        ),
        fact(theme, "Retries", call.retries.to_string()),
        fact(
            theme,
            "Size",
            size(call).unwrap_or_else(|| theme.glyphs.dash.to_owned()),
        ),
    ];
    let curl = key(cx, Context::Copy, Action::Copy(CopyAction::Curl));
    let cancel = key(cx, Context::Activity, Action::Item(ItemAction::CancelCall));
    let call = call.clone();
    let text = DetailText::new(vec![call.clone()], move |theme, _, _| {
        let mut lines = Vec::new();
        if let Some(error) = call.end.as_ref().and_then(|end| end.error.as_ref()) {
            lines.extend(plain(&text::clean_text(error), theme.bad()));
            lines.push(Line::default());
        }
        if let Some(body) = &call.body {
            lines.push(words(format!("Body, {}", body.content_type), theme.dim()));
            let shown = body.text.as_deref().unwrap_or("too long to be recorded");
            lines.extend(plain(&text::clean_text(shown), theme.text()));
            lines.push(Line::default());
        }
        if call.end.is_none() {
            lines.push(words(format!("{cancel} cancels this request"), theme.dim()));
        }
        lines.push(words(
            format!(
                "{curl} copies this request as curl, which reads the key from $SCANDECK_API_KEY"
            ),
            theme.dim(),
        ));
        lines
    });
    Some(DetailPane {
        id: RowRef::Item(cx.model.selected_item::<ApiCall>()?.id.0),
        head,
        tabs: Vec::new(),
        text,
    })
}
