//! Findings: the table. Its columns are in `cells`, the detail of one finding is in `detail`, group
//! headers are in `groups` and `group_detail`.

pub mod cells;
pub mod group_detail;
pub mod groups;
pub mod seen_by;

pub mod detail;

use crate::base::{Pane, ShownRows};
use crate::data::Saved;
use crate::input::{Action, AppAction, Context, ItemAction, ListAction, ViewAction};
use crate::ui::{
    Cx, DetailPane, DrawnPane, GridRow, ListPane, PaneDrawing, Slot, ViewCache,
    draw_columns_dimming, format, invite, key, pane_of, tab_line, words,
};
use ratatui::prelude::{Buffer, Line};
use scandeck_domain::triage::{Issue, IssueId};
use scandeck_wire::text;

impl DrawnPane for Issue {
    const DRAWING: PaneDrawing = PaneDrawing::new(draw_list, detail_of_row).summary(summary);
}

pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
) -> ShownRows {
    if let (Some(by), Some(_)) = (
        cx.model.lists.finding_groups.by,
        cx.model.data.findings.value(),
    ) {
        return groups::draw_list(cx, buf, slot, cache, by);
    }
    let pane = ListPane {
        note: retained_note(cx),
        invitation: invitation(cx),
        tabs: Some(saved_tabs(cx, slot.area.width)),
        place: place_with_absent(cx),
        ..pane_of::<Issue>(cx)
    };
    draw_columns_dimming(
        cx,
        buf,
        slot,
        cache,
        pane,
        cells::COLUMNS,
        |row| match row {
            GridRow::Item { item, .. } => cells::is_dismissed(cx, item.id),
            GridRow::Header(_) => false,
        },
    )
}

/// `2 of 18, 7 absent` where nothing is hidden, because the tabs of the panes count present
/// findings.
fn place_with_absent(cx: &Cx<'_>) -> Option<String> {
    let (list, scope) = (&cx.model.lists.findings, &cx.model.navigation.scope);
    let table = cx
        .model
        .data
        .findings
        .value()
        .filter(|_| list.filter.is_empty() && scope.scan.is_none())?;
    let present = match scope.target {
        Some(target) => table.of_target(target).map_or([0; 5], |of| of.risks),
        None => table.risks(),
    };
    let absent = list
        .len()
        .saturating_sub(present.iter().sum::<u32>() as usize);
    let number = |count: usize| format::thousands(count as u64);
    (absent > 0).then(|| {
        format!(
            "{} of {}, {} absent",
            number(list.at + 1),
            number(list.len()),
            number(absent)
        )
    })
}

/// `2 decided · r hides them`: rows that the filter hides, but that remain until it is applied
/// again.
pub(crate) fn retained_note(cx: &Cx<'_>) -> Line<'static> {
    let list = &cx.model.lists.findings;
    if list.retained_only.is_empty() {
        return Line::default();
    }
    let is_decided = |id: &IssueId| {
        cx.model
            .assessment(*id)
            .is_some_and(|known| !known.is_undecided())
    };
    let (reason, them) = match (
        list.retained_only.iter().all(is_decided),
        list.retained_only.len(),
    ) {
        (true, 1) => ("decided", "it"),
        (true, _) => ("decided", "them"),
        (false, 1) => ("no longer matches", "it"),
        (false, _) => ("no longer match", "them"),
    };
    let refresh = key(cx, Context::Everywhere, Action::App(AppAction::Refresh));
    let note = format!(
        "{} {reason} {} {refresh} hides {them}",
        list.retained_only.len(),
        cx.theme.glyphs.separator
    );
    words(note, cx.theme.warn())
}

/// The text of the empty list: the next two keys, until there is a scan.
fn invitation(cx: &Cx<'_>) -> String {
    if cx.model.session.bundled {
        return "no findings in this bundle".to_owned();
    }
    let data = &cx.model.data;
    let targets = key(cx, Context::Everywhere, Action::View(ViewAction::Targets));
    let in_targets = |action| key(cx, Context::Targets, Action::Item(action));
    if data
        .targets
        .value()
        .is_some_and(|targets| targets.is_empty())
    {
        let new = in_targets(ItemAction::New);
        return invite(
            cx,
            "no targets yet",
            &format!("{targets} opens the targets, then {new} adds one"),
        );
    }
    if data.scans.value().is_some_and(|scans| scans.is_empty()) {
        let scan = in_targets(ItemAction::Scan);
        return invite(
            cx,
            "no scans yet",
            &format!("{targets} opens the targets, then {scan} scans one"),
        );
    }
    let scope = &cx.model.navigation.scope;
    let Some(of) = scope
        .scan
        .map(|_| "scan")
        .or(scope.target.map(|_| "target"))
    else {
        return "no findings yet · they appear here while scans run".to_owned();
    };
    let back = key(cx, Context::Lists, Action::List(ListAction::TakeBack));
    format!("this {of} has no findings · {back} shows those of others")
}

/// The detail of the selected finding, or of the selected group.
pub(crate) fn detail_of_row<'a>(cx: &Cx<'a>, cache: &mut ViewCache) -> Option<DetailPane<'a>> {
    match cx.model.lists.findings.header {
        Some(id) => group_detail::detail(cx, id, cache),
        None => detail::detail(cx, Pane::Findings, cx.model.lists.findings.selected?, cache),
    }
}

/// The saved queries with their counts; number and name of the active one: `2/5 Undecided`.
pub(crate) fn saved_tabs<'a>(cx: &Cx<'a>, width: u16) -> (Line<'a>, String) {
    let tabs = &cx.model.settings.tabs;
    let chosen = tabs.chosen(&cx.model.lists.findings.filter);
    let title = |(at, saved): (usize, &Saved)| {
        // `12+` while the long texts of its query are being searched.
        let more = if tabs.partial.get(at) == Some(&true) {
            "+"
        } else {
            ""
        };
        let count = tabs
            .counts
            .get(at)
            .map(|count| format!(" {}{more}", format::count(*count as i64)));
        format!("{}{}", text::clean(&saved.name), count.unwrap_or_default())
    };
    let titles: Vec<String> = tabs.saved.iter().enumerate().map(title).collect();
    let name = chosen
        .and_then(|at| Some((at + 1, tabs.saved.get(at)?)))
        .map(|(number, saved)| format!("{number}/{} {}", tabs.saved.len(), saved.name))
        .unwrap_or_default();
    (
        tab_line(cx.theme, &titles, chosen, width.saturating_sub(4)),
        name,
    )
}

/// For layouts that have one line for the findings.
pub(crate) fn summary<'a>(cx: &Cx<'a>) -> Line<'a> {
    Line::from(format::risk_counts(
        cx.theme,
        cx.facts.risks.map(Some),
        "  ",
    ))
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn exploited_and_proven_findings_are_flagged_in_every_split() {
        for (columns, rows) in [(80, 24), (90, 50), (100, 40), (120, 40), (200, 60)] {
            let mut app = TestDashboard::blank(columns, rows);
            app.feed(Snapshot::Findings(table([
                Finding {
                    in_cisa_catalog: true,
                    confirmed: true,
                    ..finding(1, 1, "Private key of the certificate", Risk::Critical)
                },
                finding(2, 1, "Banner", Risk::Info),
            ])));
            app.keys("3");
            let frame = app.frame();
            let header = frame.iter().find(|line| line.contains("FINDING")).unwrap();
            assert!(header.contains("KP"), "{columns}x{rows}: {frame:#?}");
            assert!(
                frame
                    .iter()
                    .any(|line| line.contains(" KP") && line.contains("CRIT"))
            );
        }
    }

    #[test]
    fn port_is_shown_only_where_the_target_does_not_name_it() {
        let shown = |ports: [i64; 3]| {
            let mut app = TestDashboard::blank(100, 30);
            app.keys("3 z");
            app.feed(Snapshot::Targets(table([
                target(1, "127.0.0.1:8300"),
                target(2, "shop.acme.test"),
            ])));
            let found = |at: usize, target: i64| Finding {
                port: ports[at],
                target_id: Some(TargetId(target)),
                ..finding(at as i64 + 1, target, "Banner", Risk::Info)
            };
            app.feed(Snapshot::Findings(table([
                found(0, 1),
                found(1, 1),
                found(2, 2),
            ])));
            app.frame()
                .into_iter()
                .filter(|line| line.contains("TARGET") || line.contains("Banner"))
                .collect::<Vec<_>>()
        };
        let lines = shown([8300, 9100, 443]);
        assert!(lines[0].contains("PORT"), "{lines:#?}");
        assert_eq!(
            lines.join("\n").matches("8300").count(),
            2,
            "once in each target: {lines:#?}"
        );
        assert!(
            lines.join("\n").contains(" 9100") && lines.join("\n").contains(" 443"),
            "{lines:#?}"
        );
        let lines = shown([8300, 8300, 0]);
        assert!(!lines[0].contains("PORT"), "{lines:#?}");
    }

    #[test]
    fn columns_keep_their_places_while_findings_arrive() {
        let mut app = TestDashboard::blank(100, 30);
        app.keys("3 z");
        let header = |app: &mut TestDashboard| {
            let frame = app.frame();
            let header = frame.into_iter().find(|line| line.contains("RISK"));
            header.unwrap_or_default().trim_end().to_owned()
        };
        let on_port = |id, port| Finding {
            port,
            ..finding(id, id, "Banner", Risk::Info)
        };
        let feed = |app: &mut TestDashboard, ports: [i64; 2]| {
            app.feed(Snapshot::Findings(table([
                on_port(1, ports[0]),
                on_port(2, ports[1]),
            ])));
            header(app)
        };
        let varied = feed(&mut app, [443, 8443]);
        assert!(varied.contains("PORT"), "{varied}");
        assert_eq!(feed(&mut app, [443, 443]), varied, "one port is left");
        app.keys("/ 'port:443' enter");
        assert!(!header(&mut app).contains("PORT"), "another view");
    }
}
