//! The list of workspaces, with the current one marked, and the detail of a workspace.

use crate::base::{RowRef, ShownRows};
use crate::input::{Action, Context, ItemAction};
use crate::ui::{
    Cx, DetailPane, DetailText, DrawnPane, ListColumn, ListPane, PaneDrawing, Slot, TableColumn,
    ViewCache, draw_columns, fact, format, invite, key, pane_of, plain, words,
};
use ratatui::prelude::{Buffer, Line, Span};
use scandeck_domain::table::columns::workspace;
use scandeck_wire::contract::Workspace;
use scandeck_wire::text;

const COLUMNS: &[ListColumn<Workspace>] = &[
    ListColumn::new(
        "",
        TableColumn::fixed(1),
        |cx, workspace, _| match is_current(cx, workspace) {
            true => words(cx.theme.glyphs.link, cx.theme.good()),
            false => Line::default(),
        },
    ),
    ListColumn::new(
        workspace::NAME.title,
        TableColumn::flex(8, 2).at_most(48),
        |cx, workspace, _| {
            let name = text::clean(&workspace.name).into_owned();
            match is_current(cx, workspace) {
                true => words(name, cx.theme.strong()),
                false => Line::from(name),
            }
        },
    ),
    ListColumn::new(
        workspace::TARGETS.title,
        TableColumn::fixed(7).right().expendable(1),
        |cx, workspace, _| words(format::count(workspace.target_count), cx.theme.text()),
    ),
    ListColumn::new(
        workspace::SCANS.title,
        TableColumn::fixed(5).right(),
        |cx, workspace, _| words(format::count(workspace.scan_count), cx.theme.text()),
    ),
    ListColumn::of(
        workspace::DESCRIPTION,
        TableColumn::flex(20, 3).expendable(2).from(62),
    ),
];

impl DrawnPane for Workspace {
    const DRAWING: PaneDrawing = PaneDrawing::new(draw_list, detail);
}

pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
) -> ShownRows {
    let new = key(cx, Context::Workspaces, Action::Item(ItemAction::New));
    let pane = ListPane {
        has_header: slot.area.height > 8,
        invitation: invite(
            cx,
            "no workspaces",
            &format!("{new} creates one for targets, scans and loggers"),
        ),
        ..pane_of::<Workspace>(cx)
    };
    draw_columns(cx, buf, slot, cache, pane, COLUMNS)
}

fn is_current(cx: &Cx<'_>, workspace: &Workspace) -> bool {
    cx.model.navigation.scope.workspace == Some(workspace.id)
}

pub(crate) fn detail<'a>(cx: &Cx<'a>, _: &mut ViewCache) -> Option<DetailPane<'a>> {
    let workspace = cx.model.selected_item::<Workspace>()?;
    let theme = cx.theme;
    let mut head = vec![
        words(text::clean(&workspace.name).into_owned(), theme.strong()),
        fact(theme, "Targets", format::count(workspace.target_count)),
        fact(theme, "Scans", format::count(workspace.scan_count)),
    ];
    // Only the findings of the current workspace are loaded.
    if is_current(cx, workspace) {
        let mut found = Line::from(Span::styled(format!("{:<14}", "Findings"), theme.dim()));
        found.extend(format::risk_counts(theme, cx.facts.risks.map(Some), "  "));
        head.insert(1, found);
    }
    head.push(fact(theme, "Id", workspace.id.to_string()));
    let text = DetailText::new(vec![workspace.clone()], move |theme, _, _| {
        plain(&text::clean_text(&workspace.description), theme.text())
    });
    Some(DetailPane {
        id: RowRef::Item(workspace.id.0),
        head,
        tabs: Vec::new(),
        text,
    })
}
