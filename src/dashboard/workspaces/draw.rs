//! The list of workspaces, with the current one marked.

use crate::contract::Workspace;
use crate::dashboard::base::ShownRows;
use crate::dashboard::input::{Action, Context, ItemAction};
use crate::dashboard::ui::{Cx, ListPane, Slot, TableColumn, ViewCache, cell, draw_table, format, key, pane_of, words};
use crate::text;
use ratatui::prelude::{Buffer, Line, Span};

const COLUMNS: &[TableColumn] = &[
    TableColumn::fixed("", 1),
    TableColumn::flex("WORKSPACE", 8, 2).at_most(48),
    TableColumn::fixed("TARGETS", 7).right().expendable(1),
    TableColumn::fixed("SCANS", 5).right(),
    TableColumn::flex("DESCRIPTION", 20, 3).expendable(2),
];

pub(crate) fn draw_list(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot, cache: &mut ViewCache) -> ShownRows {
    let new = key(cx, Context::Workspaces, Action::Item(ItemAction::New));
    let pane = ListPane {
        columns: COLUMNS,
        has_header: slot.area.height > 8,
        invitation: format!("no workspaces: {new} creates one for targets, scans and loggers"),
        ..pane_of::<Workspace>(cx)
    };
    draw_table::<Workspace>(cx, buf, slot, cache, pane, |workspace, _| {
        let current = cx.model.navigation.scope.workspace == Some(workspace.id);
        let mark = if current { words(cx.theme.glyphs.link, cx.theme.good()) } else { Line::default() };
        let name = text::clean(&workspace.name);
        let name = if current { Line::from(Span::styled(name, cx.theme.strong())) } else { Line::from(name) };
        let targets = words(format::count(workspace.target_count), cx.theme.text());
        let scans = words(format::count(workspace.scan_count), cx.theme.text());
        vec![mark, name, targets, scans, cell(&workspace.description)]
    })
}
