//! The list and the detail of reports.

use crate::base::{RowRef, ShownRows};
use crate::input::{Action, Context, ItemAction};
use crate::ui::{
    Cx, DetailPane, DetailText, DrawnPane, ListColumn, ListPane, PaneDrawing, Slot, TableColumn,
    ViewCache, draw_columns, fact, format, invite, key, pane_of, words,
};
use ratatui::prelude::{Buffer, Line};
use scandeck_domain::table::columns::report;
use scandeck_wire::contract::{Report, ReportStatus};
use scandeck_wire::text;

const COLUMNS: &[ListColumn<Report>] = &[
    ListColumn::new("", TableColumn::fixed(1), |cx, report, _| {
        let (glyph, style) = state(cx, report);
        words(glyph, style)
    }),
    ListColumn::of(report::NAME, TableColumn::flex(12, 3)),
    ListColumn::of(report::FORMAT, TableColumn::fixed(6)),
    ListColumn::of(report::STATUS, TableColumn::fixed(9)),
    ListColumn::new(
        report::CREATED.title,
        TableColumn::fixed(7).right(),
        |cx, report, _| words(cx.age(report.generation_date), cx.theme.text()),
    ),
    ListColumn::new(
        report::EXPIRES.title,
        TableColumn::fixed(7).right().expendable(1),
        |cx, report, _| words(until(cx, report), cx.theme.text()),
    ),
];

impl DrawnPane for Report {
    const DRAWING: PaneDrawing = PaneDrawing::new(draw_list, detail);
}

pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
) -> ShownRows {
    let new = key(cx, Context::Reports, Action::Item(ItemAction::New));
    let report = key(cx, Context::Findings, Action::Item(ItemAction::Report));
    let pane = ListPane {
        invitation: [
            &invite(
                cx,
                "no reports from the service",
                &format!("{new} creates one, {report} in Findings or Scans too"),
            ),
            "reports by scandeck are files in the current directory",
        ]
        .join("\n"),
        ..pane_of::<Report>(cx)
    };
    draw_columns(cx, buf, slot, cache, pane, COLUMNS)
}

fn state(cx: &Cx<'_>, report: &Report) -> (&'static str, ratatui::style::Style) {
    let (theme, glyphs) = (cx.theme, cx.theme.glyphs);
    match &report.status {
        ReportStatus::Waiting => (glyphs.waiting, theme.active()),
        ReportStatus::Finished => (glyphs.done, theme.good()),
        ReportStatus::Failed => (glyphs.failed, theme.bad()),
        ReportStatus::Other(_) => (glyphs.separator, theme.dim()),
    }
}

/// Remaining time until the report expires.
fn until(cx: &Cx<'_>, report: &Report) -> String {
    match report.expiration_date {
        Some(end) => match end.as_second() - cx.now.as_second() {
            ..=0 => "expired".to_owned(),
            left => format::duration(left),
        },
        None => String::new(),
    }
}

pub(crate) fn detail<'a>(cx: &Cx<'a>, _: &mut ViewCache) -> Option<DetailPane<'a>> {
    let report = cx.model.selected_item::<Report>()?;
    let theme = cx.theme;
    let (glyph, style) = state(cx, report);
    let status = text::clean(report.status.as_str()).into_owned();
    let head = vec![
        words(
            text::clean(&report.download_name).into_owned(),
            theme.strong(),
        ),
        words(format!("{glyph} {status}"), style),
        Line::default(),
        fact(
            theme,
            "Format",
            text::clean(report.format.as_str()).into_owned(),
        ),
        fact(
            theme,
            "Created",
            format::stamp(theme, report.generation_date),
        ),
        fact(
            theme,
            "Expires",
            format::stamp(theme, report.expiration_date),
        ),
        fact(theme, "Id", report.id.to_string()),
    ];
    let download = key(cx, Context::Reports, Action::Item(ItemAction::Download));
    let ready = report.status != ReportStatus::Waiting;
    let text = DetailText::new(vec![report.clone()], move |theme, _, _| {
        let sentence = match ready {
            true => format!("{download} downloads it to the current directory"),
            false => "not ready yet".to_owned(),
        };
        vec![words(sentence, theme.dim())]
    });
    Some(DetailPane {
        id: RowRef::Item(report.id.0),
        head,
        tabs: Vec::new(),
        text,
    })
}
