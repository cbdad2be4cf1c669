//! Targets: the findings on each, and the age of its last scan.

use crate::base::{RowRef, ShownRows};
use crate::input::{Action, Context, ItemAction};
use crate::ui::{
    Cx, DetailPane, DetailText, DrawnPane, ListColumn, ListPane, PaneDrawing, Slot, TableColumn,
    ViewCache, draw_columns, fact, format, invite, is_constant, key, pane_of, plain, sampled_items,
    width_of, words,
};
use ratatui::prelude::{Buffer, Line, Span};
use scandeck_domain::table::columns::target;
use scandeck_wire::contract::target_tags::tags_text;
use scandeck_wire::contract::{ScanStatus, Target};
use scandeck_wire::text;

const COLUMNS: &[ListColumn<Target>] = &[
    ListColumn::<Target>::new(
        target::NAME.title,
        TableColumn::flex(12, 3).at_most(60),
        |cx, target, _| Line::from(cx.short_target_name(target.id)),
    )
    .fit(|column, cx| column.content(cx.widest_target(shown(cx).map(|target| target.id)), 0)),
    ListColumn::<Target>::new(
        "FOUND",
        TableColumn::flex(8, 2).at_most(26),
        |cx, target, room| found(cx, target, room.width()),
    )
    .fit(|column, cx| {
        let widest = |columns| {
            let risks = shown(cx).map(|target| width_of(&found(cx, target, columns)));
            risks.max().unwrap_or(0)
        };
        // Critical and high risks are never cut.
        column.content(widest(u16::MAX), widest(0) as u16)
    }),
    ListColumn::<Target>::new("ENDED", TableColumn::fixed(5).right(), |cx, target, _| {
        last(cx, target)
    }),
    ListColumn::of(
        target::TAGS,
        TableColumn::flex(8, 2)
            .at_most(30)
            .expendable(1)
            .gives_way(),
    )
    .fit(|column, cx| {
        column
            .omitted(all(cx).all(|target| target.tags.is_empty()))
            .constant(shown(cx).all(|target| target.tags.is_empty()))
    }),
    // A column that is equal in all rows is hidden.
    ListColumn::of(
        target::TYPE,
        TableColumn::fixed(10).expendable(2).gives_way(),
    )
    .fit(|column, cx| {
        column
            .omitted(is_constant(all(cx).map(|target| &target.kind)))
            .constant(is_constant(shown(cx).map(|target| &target.kind)))
    }),
    ListColumn::of(
        target::DESCRIPTION,
        TableColumn::flex(18, 3).expendable(1).gives_way().from(62),
    )
    .fit(|column, cx| {
        column
            .omitted(all(cx).all(|target| target.description.is_empty()))
            .constant(shown(cx).all(|target| target.description.is_empty()))
    }),
];

fn shown<'a>(cx: &Cx<'a>) -> impl Iterator<Item = &'a Target> + use<'a> {
    sampled_items::<Target>(cx)
}

fn all<'a>(cx: &Cx<'a>) -> impl Iterator<Item = &'a Target> + use<'a> {
    let targets = cx.model.data.targets.value();
    let targets = targets.map(|targets| targets.items()).unwrap_or_default();
    targets.iter().map(|target| &**target)
}

impl DrawnPane for Target {
    const DRAWING: PaneDrawing = PaneDrawing::new(draw_list, detail);
}

pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
) -> ShownRows {
    let new = key(cx, Context::Targets, Action::Item(ItemAction::New));
    let pane = ListPane {
        note: words(cx.facts.targets.suffix.clone(), cx.theme.dim()),
        invitation: invite(
            cx,
            "no targets",
            &format!("{new} adds one; paste adds several"),
        ),
        ..pane_of::<Target>(cx)
    };
    draw_columns(cx, buf, slot, cache, pane, COLUMNS)
}

/// The findings on the target by risk.
fn found(cx: &Cx<'_>, target: &Target, columns: u16) -> Line<'static> {
    let risks = cx
        .model
        .risks_of(target.id)
        .map(|risks| risks.map(i64::from))
        .unwrap_or_default();
    Line::from(format::risk_counts_in(cx.theme, risks.map(Some), columns))
}

/// The state of its last scan: progress, age, or `never`. At most five columns.
fn last(cx: &Cx<'_>, target: &Target) -> Line<'static> {
    let facts = cx.facts.target(target.id);
    let Some(scans) = cx.model.data.scans.value() else {
        return Line::default();
    };
    if let Some(scan) = facts.active.and_then(|at| scans.items().get(at)) {
        return match (&scan.status_name, cx.model.stalled_for(scan.id)) {
            (ScanStatus::Waiting, _) => words("wait", cx.theme.dim()),
            (_, Some(_)) => words("stall", cx.theme.warn()),
            (_, None) => words(
                format!("{}%", scan.progress.clamp(0, 100)),
                cx.theme.active(),
            ),
        };
    }
    match facts
        .last
        .and_then(|(at, end)| Some((scans.items().get(at)?, end)))
    {
        Some((scan, _)) if scan.status_name.is_failure() => words("fail", cx.theme.bad()),
        Some((_, end)) => words(cx.age(end), cx.theme.text()),
        None => words("never", cx.theme.dim()),
    }
}

pub(crate) fn detail<'a>(cx: &Cx<'a>, _: &mut ViewCache) -> Option<DetailPane<'a>> {
    let target = cx.model.selected_item::<Target>()?;
    let (theme, facts) = (cx.theme, cx.facts.target(target.id));
    let mut found = Line::from(Span::styled(format!("{:<14}", "Findings"), theme.dim()));
    let risks = cx.model.risks_of(target.id).unwrap_or_default();
    found.extend(format::risk_counts(
        theme,
        risks.map(|count| Some(i64::from(count))),
        "  ",
    ));
    let mut head = vec![
        words(text::clean(&target.name).into_owned(), theme.strong()),
        fact(
            theme,
            "Type",
            text::clean(target.kind.as_str()).into_owned(),
        ),
        found,
        fact(theme, "Scans", facts.scans.to_string()),
    ];
    if !target.tags.is_empty() {
        let tags = tags_text(&target.tags);
        head.push(fact(theme, "Tags", text::clean(&tags).into_owned()));
    }
    let scans = cx.model.data.scans.value();
    if let (Some(scans), Some(at)) = (scans, facts.active.or(facts.last.map(|last| last.0)))
        && let Some(scan) = scans.items().get(at)
    {
        let name = if facts.active.is_some() {
            "Now"
        } else {
            "Last"
        };
        let status = text::clean(scan.shown_status());
        head.push(fact(
            theme,
            name,
            format!("{}, {status}", cx.scan_name(scan.id)),
        ));
    }
    head.push(fact(theme, "Id", target.id.to_string()));
    let text = DetailText::new(vec![target.clone()], move |theme, _, _| {
        plain(&text::clean_text(&target.description), theme.text())
    });
    Some(DetailPane {
        id: RowRef::Item(target.id.0),
        head,
        tabs: Vec::new(),
        text,
    })
}
