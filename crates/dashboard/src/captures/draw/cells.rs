//! The cells of a capture in the list: the place of its payload, the delay, and the text that the
//! target added.

use crate::base::CaptureRow;
use crate::captures::draw::detail::known;
use crate::list::{CaptureGroupBy, CaptureGroupKey, Group};
use crate::ui::{Cx, TableColumn, cell, dimmed, format, words};
use ratatui::text::{Line, Span};
use scandeck_domain::oob::Agent;
use scandeck_domain::oob::source::is_own;
use scandeck_wire::text;
use std::borrow::Cow;

pub(crate) const COLUMNS: [TableColumn; 8] = [
    TableColumn::fixed("TIME", 8),
    TableColumn::flex("PLACEMENT", 14, 2).at_most(60),
    TableColumn::fixed("DELAY", 6).right(),
    TableColumn::flex("FROM", 13, 1).at_most(39),
    TableColumn::fixed("METHOD", 6),
    TableColumn::flex("REQUEST", 12, 3).sentence(),
    TableColumn::flex("LOGGER", 8, 1).at_most(24).from(100),
    TableColumn::fixed("BODY", 8).right().from(100),
];

/// The cells of a group header: the common value, the number of captures, and the newest capture.
pub(crate) fn of_group<'a>(
    cx: &Cx<'a>,
    (group, by): (&Group, CaptureGroupBy),
    newest: &'a CaptureRow,
) -> Vec<Line<'a>> {
    let (theme, count) = (cx.theme, format::thousands(group.rows.len() as u64));
    let fold = theme.glyphs.folds[usize::from(group.is_open)];
    let mut line = words(format!("{fold} "), theme.key());
    line.extend(match CaptureGroupKey::of(by, newest) {
        CaptureGroupKey::Payload(_) => planted(cx, newest),
        CaptureGroupKey::Unknown(_) => words("no payload", theme.dim()),
        CaptureGroupKey::Source(from) => Line::from(text::clean(&from).into_owned()),
        CaptureGroupKey::Logger(_) => Line::from(label(cx, newest).into_owned()),
    });
    line.push_span(Span::styled(
        format!("  {}{count}", theme.glyphs.times),
        theme.strong(),
    ));
    of(cx, newest, line)
}

/// The cells of a capture.
pub(crate) fn of<'a>(cx: &Cx<'a>, captured: &'a CaptureRow, planted: Line<'a>) -> Vec<Line<'a>> {
    let (theme, capture) = (cx.theme, &*captured.capture);
    let size = captured.body_size();
    let cells = vec![
        words(format::clock(theme, capture.request_date), theme.text()),
        planted,
        after(cx, captured),
        cell(&capture.ip_address),
        cell(&capture.request_method),
        query(cx, captured),
        Line::from(label(cx, captured)),
        words(
            if size == 0 {
                String::new()
            } else {
                format::bytes(size)
            },
            theme.text(),
        ),
    ];
    match cx.model.is_quiet(&captured.capture) {
        true => cells.into_iter().map(|cell| dimmed(theme, cell)).collect(),
        false => cells,
    }
}

/// As [`planted`], without the payload that the header of a group names.
pub(crate) fn planted_in<'a>(
    cx: &Cx<'a>,
    by: Option<CaptureGroupBy>,
    captured: &'a CaptureRow,
) -> Line<'a> {
    let is_named = by == Some(CaptureGroupBy::Payload) && known(cx, captured).is_some();
    if is_named {
        Line::default()
    } else {
        planted(cx, captured)
    }
}

/// The place of the payload if known, else the reason why the capture has none.
pub(crate) fn planted<'a>(cx: &Cx<'a>, captured: &'a CaptureRow) -> Line<'a> {
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
