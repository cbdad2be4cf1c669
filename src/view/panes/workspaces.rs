//! Workspaces: the one worked in, and the others.

use ratatui::buffer::Buffer;
use ratatui::text::{Line, Span};

use super::list::{ListPane, draw_table, pane_of};
use crate::app::model::Pane;
use crate::contract::WorkspaceId;
use crate::input::{Action, Context};
use crate::text;
use crate::view::cache::Anchor;
use crate::view::context::{Cx, cell, words};
use crate::view::format;
use crate::view::layout::Slot;
use crate::view::widgets::table::Column;

const COLUMNS: &[Column] = &[
    Column::fixed("", 1),
    Column::flex("WORKSPACE", 8, 2).at_most(48),
    Column::fixed("TARGETS", 7).right().expendable(1),
    Column::fixed("SCANS", 5).right(),
    Column::flex("DESCRIPTION", 20, 3).expendable(2),
];

pub(super) fn draw_list(cx: &Cx<'_>, buf: &mut Buffer, slot: &Slot, anchor: &mut Anchor<WorkspaceId>) -> u16 {
    let remote = &cx.model.data.workspaces;
    let list = &cx.model.lists.workspaces;
    let new = super::key(cx, Context::Workspaces, Action::New);
    let pane = ListPane {
        columns: COLUMNS,
        heads: slot.area.height > 8,
        invitation: format!("No workspace yet. Targets, scans and loggers live in one: {new} makes it."),
        ..pane_of(Pane::Workspaces, remote)
    };
    draw_table(cx, buf, slot, anchor, pane, (remote, list), |workspace, _| {
        let current = cx.model.scope.workspace == Some(workspace.id);
        let mark = if current { words(cx.theme.glyphs.link, cx.theme.good()) } else { Line::default() };
        let name = text::clean(&workspace.name);
        let name = if current { Line::from(Span::styled(name, cx.theme.strong())) } else { Line::from(name) };
        let targets = words(format::count(workspace.target_count), cx.theme.text());
        let scans = words(format::count(workspace.scan_count), cx.theme.text());
        vec![mark, name, targets, scans, cell(&workspace.description)]
    })
}
