//! Reports: documents in the making, and those ready to download.

use crate::contract::{Report, ReportStatus};
use crate::dashboard::base::{Pane, RowRef};
use crate::dashboard::input::Context;
use crate::dashboard::input::action::{Action, ItemAction};
use crate::dashboard::ui::context::{cell, words};
use crate::dashboard::ui::labels::fact;
use crate::dashboard::ui::list::{draw_table, pane_of};
use crate::dashboard::ui::{Cx, DetailPane, DetailText, ListPane, Slot, TableColumn, ViewCache, format};
use crate::text;
use ratatui::buffer::Buffer;
use ratatui::text::Line;

const COLUMNS: &[TableColumn] = &[
    TableColumn::fixed("", 1),
    TableColumn::flex("REPORT", 12, 3),
    TableColumn::fixed("FORMAT", 6),
    TableColumn::fixed("STATUS", 9),
    TableColumn::fixed("MADE", 5).right(),
    TableColumn::fixed("EXPIRES", 7).right().expendable(1),
];

pub(crate) fn draw_list(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot, cache: &mut ViewCache) -> u16 {
    let remote = &cx.model.data.reports;
    let list = &cx.model.lists.reports;
    let new = crate::dashboard::ui::labels::key(cx, Context::Reports, Action::Item(ItemAction::New));
    let report = crate::dashboard::ui::labels::key(cx, Context::Findings, Action::Item(ItemAction::Report));
    let pane = ListPane {
        columns: COLUMNS,
        invitation: format!("No report yet: {new} makes one, {report} on scans or findings makes one of them."),
        ..pane_of(Pane::Reports, remote)
    };
    draw_table(cx, buf, slot, cache, pane, (remote, list), |report, _| {
        let (glyph, style) = state(cx, report);
        vec![
            words(glyph, style),
            cell(&report.download_name),
            cell(report.format.as_str()),
            cell(report.status.as_str()),
            words(cx.age(report.generation_date), cx.theme.text()),
            words(until(cx, report), cx.theme.text()),
        ]
    })
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

/// Time until it expires.
fn until(cx: &Cx<'_>, report: &Report) -> String {
    match report.expiration_date {
        Some(end) => match end.as_second() - cx.now.as_second() {
            ..=0 => "over".to_owned(),
            left => format::duration(left),
        },
        None => String::new(),
    }
}

pub(crate) fn detail<'a>(cx: &Cx<'a>, _: &mut ViewCache) -> Option<DetailPane<'a>> {
    let table = cx.model.data.reports.value()?;
    let report: &Report = table.get(cx.model.lists.reports.selected?)?;
    let theme = cx.theme;
    let (glyph, style) = state(cx, report);
    let status = text::clean(report.status.as_str()).into_owned();
    let head = vec![
        words(text::clean(&report.download_name).into_owned(), theme.strong()),
        words(format!("{glyph} {status}"), style),
        Line::default(),
        fact(theme, "Format", text::clean(report.format.as_str())),
        fact(theme, "Made", format::stamp(theme, report.generation_date)),
        fact(theme, "Expires", format::stamp(theme, report.expiration_date)),
        fact(theme, "Id", report.id.to_string()),
    ];
    let download = crate::dashboard::ui::labels::key(cx, Context::Reports, Action::Item(ItemAction::Download));
    let ready = report.status != ReportStatus::Waiting;
    let text = DetailText::new(vec![table.clone()], move |theme, _, _| {
        let sentence = if ready {
            format!("{download} downloads it into the current directory; nothing is overwritten.")
        } else {
            "It is being made; it can be downloaded when it is finished.".to_owned()
        };
        vec![words(sentence, theme.dim())]
    });
    Some(DetailPane { id: RowRef::Item(report.id.0), head, tabs: Vec::new(), text })
}
