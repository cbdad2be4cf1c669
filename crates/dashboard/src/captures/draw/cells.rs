//! The cells of a capture in the list: the place of its payload, the delay, and the text that the
//! target added.

use crate::base::CaptureRow;
use crate::captures::draw::detail::known;
use crate::list::{CaptureGroupBy, CaptureGroupKey, Group, sampled_places};
use crate::ui::{
    Cx, ListColumn, Room, TableColumn, cell, cells, dimmed_if, format, header_cells, is_constant,
    widest, words,
};
use ratatui::text::{Line, Span};
use scandeck_domain::oob::Agent;
use scandeck_domain::oob::source::is_own;
use scandeck_domain::table::columns::capture;
use scandeck_wire::text;
use std::borrow::Cow;

pub(crate) const COLUMNS: &[ListColumn<CaptureRow>] = &[
    ListColumn::<CaptureRow>::new(capture::TIME, TableColumn::fixed(8), |cx, captured, _| {
        let time = format::clock(cx.theme, captured.capture.request_date);
        words(time, cx.theme.text())
    }),
    ListColumn::<CaptureRow>::new(
        capture::PLACEMENT,
        TableColumn::flex(14, 2).at_most(60),
        |cx, captured, _| planted_in(cx, cx.model.lists.captures.by, captured),
    )
    .fit(fit_placement)
    .header(group_name),
    ListColumn::<CaptureRow>::new(
        capture::DELAY,
        TableColumn::fixed(6).right(),
        |cx, captured, _| after(cx, captured),
    )
    .fit(|column, cx| column.constant(!shown(cx).any(|row| known(cx, row).is_some()))),
    ListColumn::<CaptureRow>::new(
        capture::FROM,
        TableColumn::flex(13, 1).at_most(39),
        |_, captured, _| cell(&captured.capture.ip_address),
    )
    .fit(|column, cx| {
        let senders = || shown(cx).map(|row| row.capture.ip_address.as_str());
        column
            .omitted(is_grouped_by(cx, CaptureGroupBy::Source))
            .content(widest(senders()), 0)
            .constant(is_constant(senders()))
    }),
    ListColumn::<CaptureRow>::new(capture::METHOD, TableColumn::fixed(6), |_, captured, _| {
        cell(&captured.capture.request_method)
    })
    .fit(|column, cx| {
        column.constant(is_constant(
            shown(cx).map(|row| &row.capture.request_method),
        ))
    }),
    ListColumn::<CaptureRow>::new(
        capture::REQUEST,
        TableColumn::flex(12, 3).sentence(),
        |cx, captured, _| query(cx, captured),
    ),
    ListColumn::<CaptureRow>::new(
        capture::LOGGER,
        TableColumn::flex(8, 1).at_most(24).from(100),
        |cx, captured, _| Line::from(label(cx, captured)),
    )
    .fit(|column, cx| {
        // The scope beside the filter, or the header of the group, names the logger.
        let is_named =
            cx.model.navigation.scope.logger.is_some() || is_grouped_by(cx, CaptureGroupBy::Logger);
        let is_one = is_constant(shown(cx).map(|row| row.logger))
            && !shown(cx).any(|row| is_archived(cx, row));
        column.omitted(is_named).constant(is_one)
    }),
    ListColumn::<CaptureRow>::new(
        "BODY",
        TableColumn::fixed(8).right().from(100),
        |cx, captured, _| match captured.body_size() {
            0 => Line::default(),
            size => words(format::bytes(size), cx.theme.text()),
        },
    )
    .fit(|column, cx| column.constant(shown(cx).all(|row| row.body_size() == 0))),
];

/// Columns of a PLACEMENT cell without a payload and a reason: a dash and a blank.
const EMPTY: usize = 2;
/// The greatest width of a column with a text in few rows.
const SELDOM: u16 = 24;

fn shown<'a>(cx: &Cx<'a>) -> impl Iterator<Item = &'a CaptureRow> + use<'a> {
    let (stream, list) = (&cx.model.data.captures, &cx.model.lists.captures);
    let places = sampled_places(list.len(), list.at, cx.model.screen.size.rows.into());
    places.filter_map(move |at| stream.get(list.rows_at(at).next_back()?))
}

fn is_grouped_by(cx: &Cx<'_>, by: CaptureGroupBy) -> bool {
    cx.model.lists.captures.by == Some(by)
}

fn fit_placement(column: TableColumn, cx: &Cx<'_>) -> TableColumn {
    // In groups its first cell is the group header.
    if cx.model.lists.captures.by.is_some() {
        return column;
    }
    let places = shown(cx).map(|row| planted(cx, row).width());
    let widest = places.max().unwrap_or(0);
    let placed = shown(cx).filter(|row| known(cx, row).is_some()).count();
    match placed {
        0 if widest <= EMPTY => column.constant(true),
        _ if placed * 4 < shown(cx).count() => column.content(widest, 0).at_most(SELDOM),
        _ => column.content(widest, 0),
    }
}

/// The common value of a group and the number of its captures.
fn group_name<'a>(cx: &Cx<'a>, group: &'a Group, _: Room<'_>) -> Line<'a> {
    let (theme, count) = (cx.theme, format::thousands(group.rows.len() as u64));
    let fold = theme.glyphs.folds[usize::from(group.is_open)];
    let mut name = words(format!("{fold} "), theme.key());
    let newest = group.rows.back();
    let newest = newest.and_then(|&row| cx.model.data.captures.get(row));
    if let Some((newest, by)) = newest.zip(cx.model.lists.captures.by) {
        name.extend(common_value(cx, newest, by));
    }
    name.push_span(Span::styled(
        format!("  {}{count}", theme.glyphs.times),
        theme.strong(),
    ));
    name
}

/// The value that the captures of a group have in common, of its newest one.
fn common_value<'a>(cx: &Cx<'a>, newest: &'a CaptureRow, by: CaptureGroupBy) -> Line<'a> {
    match CaptureGroupKey::of(by, newest) {
        CaptureGroupKey::Payload(_) => planted(cx, newest),
        CaptureGroupKey::Unknown(_) => words("no payload", cx.theme.dim()),
        CaptureGroupKey::Source(from) => Line::from(text::clean(&from).into_owned()),
        CaptureGroupKey::Logger(_) => Line::from(label(cx, newest).into_owned()),
    }
}

/// The cells of a group header: its name, and the other columns of its newest capture.
pub(crate) fn of_group<'a>(
    cx: &Cx<'a>,
    group: &'a Group,
    newest: &'a CaptureRow,
    widths: &[u16],
) -> Vec<Line<'a>> {
    let cells = header_cells(COLUMNS, cx, group, Some(newest), widths);
    dimmed_if(cx.model.is_quiet(&newest.capture), cx, cells)
}

/// The cells of a capture.
pub(crate) fn of<'a>(cx: &Cx<'a>, captured: &'a CaptureRow, widths: &[u16]) -> Vec<Line<'a>> {
    let cells = cells(COLUMNS, cx, captured, Room::of(widths));
    dimmed_if(cx.model.is_quiet(&captured.capture), cx, cells)
}

/// As [`planted`], without the payload that the header of a group names.
fn planted_in<'a>(cx: &Cx<'a>, by: Option<CaptureGroupBy>, captured: &'a CaptureRow) -> Line<'a> {
    let is_named = by == Some(CaptureGroupBy::Payload) && known(cx, captured).is_some();
    if is_named {
        Line::default()
    } else {
        planted(cx, captured)
    }
}

/// The place of the payload if known, else the reason why the capture has none.
fn planted<'a>(cx: &Cx<'a>, captured: &'a CaptureRow) -> Line<'a> {
    let theme = cx.theme;
    let Some((mention, payload)) = known(cx, captured) else {
        let dash = theme.glyphs.dash;
        let bot = Agent::of(&captured.capture.user_agent).map(|agent| agent.name.clone());
        let own = is_own(&captured.capture, cx.model.own_addresses())
            .then(|| "your own address".to_owned());
        let unknown = captured
            .mentions
            .first()
            .map(|mention| format!("unknown {}", mention.token));
        let reason = bot.or(own).or(unknown).unwrap_or_default();
        return words(format!("{dash} {reason}"), theme.dim());
    };
    let place = match payload.place_or_note() {
        place if !place.is_empty() => text::clean(&place).into_owned(),
        _ if !payload.finding_name.is_empty() => text::clean(&payload.finding_name).into_owned(),
        _ => mention.token.to_string(),
    };
    let mut line = words(place, theme.strong());
    if !payload.technique.is_empty() {
        line.push_span(Span::styled(
            format!("  {}", text::clean(&payload.technique)),
            theme.text(),
        ));
    }
    line
}

fn after<'a>(cx: &Cx<'a>, captured: &CaptureRow) -> Line<'a> {
    let delay = known(cx, captured).and_then(|(_, payload)| {
        payload.delay(
            captured.capture.request_date,
            cx.model.connection.clock_offset,
        )
    });
    words(
        delay.map(|delay| delay.to_string()).unwrap_or_default(),
        cx.theme.text(),
    )
}

/// Path and query, with the text that the target added after the token highlighted.
fn query<'a>(cx: &Cx<'a>, captured: &'a CaptureRow) -> Line<'a> {
    let (theme, request) = (cx.theme, crate::captures::draw::below_logger(cx, captured));
    let added = captured
        .known()
        .map(|mention| mention.added.as_str())
        .filter(|added| !added.is_empty());
    let Some(added) = added else {
        return words(request, theme.text());
    };
    match request.rfind(added) {
        Some(at) => Line::from(vec![
            Span::styled(request[..at].to_owned(), theme.text()),
            Span::styled(request[at..at + added.len()].to_owned(), theme.warn()),
            Span::styled(request[at + added.len()..].to_owned(), theme.text()),
        ]),
        // The text is in another part, or is encoded.
        None => Line::from(vec![
            Span::styled(format!("{request}  "), theme.text()),
            Span::styled(format!("+{}", text::clean(added)), theme.warn()),
        ]),
    }
}

/// Whether only the archive has a capture: its logger is deleted. A bundle has no loggers.
pub(crate) fn is_archived(cx: &Cx<'_>, captured: &CaptureRow) -> bool {
    let loggers = cx
        .model
        .data
        .loggers
        .value()
        .filter(|_| !cx.model.session.bundled);
    loggers.is_some_and(|loggers| loggers.get(captured.logger).is_none())
}

/// The label of the logger at the time of the capture; marked when the logger is deleted.
pub(crate) fn label_then<'a>(cx: &Cx<'_>, captured: &'a CaptureRow) -> Cow<'a, str> {
    mark_archived(cx, captured, text::clean(&captured.label).into())
}

fn mark_archived<'a>(cx: &Cx<'_>, captured: &CaptureRow, label: Cow<'a, str>) -> Cow<'a, str> {
    if is_archived(cx, captured) {
        Cow::Owned(format!("{label}, archived"))
    } else {
        label
    }
}

/// The present label of the logger, else the label at the time of the capture; marked when the
/// logger is deleted.
fn label<'a>(cx: &Cx<'a>, captured: &'a CaptureRow) -> Cow<'a, str> {
    let label = match cx
        .model
        .data
        .loggers
        .value()
        .is_some_and(|loggers| loggers.get(captured.logger).is_some())
    {
        false if !captured.label.is_empty() => text::clean(&captured.label).into(),
        _ => cx.logger_name(captured.logger),
    };
    mark_archived(cx, captured, label)
}
