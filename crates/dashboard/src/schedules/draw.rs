//! The list and the detail of schedules.

use crate::base::{RowRef, ShownRows};
use crate::input::{Action, Context, ItemAction};
use crate::schedules::NO_SCHEDULES;
use crate::ui::{
    Cx, DetailPane, DetailText, DrawnPane, ListColumn, ListPane, PaneDrawing, Slot, TableColumn,
    ViewCache, draw_columns, fact, format, invite, key, pane_of, plain, sampled_items, widest,
    words,
};
use ratatui::prelude::{Buffer, Line};
use ratatui::style::Style;
use scandeck_domain::table::columns::schedule;
use scandeck_wire::contract::Tool;
use scandeck_wire::contract::schedule::ScanSchedule;
use scandeck_wire::text;

/// Targets that the detail names.
const SHOWN_TARGETS: usize = 20;

const COLUMNS: &[ListColumn<ScanSchedule>] = &[
    ListColumn::of(schedule::NAME, TableColumn::flex(10, 2).at_most(40))
        .fit(|column, cx| column.content(widest(shown(cx).map(|one| &*one.name)), 0)),
    ListColumn::of(schedule::EVERY, TableColumn::fixed(6)),
    ListColumn::new(
        schedule::NEXT.title,
        TableColumn::fixed(10).right(),
        |cx, one, _| {
            let (text, style) = next_start(cx, one);
            words(text, style)
        },
    ),
    ListColumn::new(
        schedule::LAST.title,
        TableColumn::fixed(10).right().expendable(2),
        |cx, one, _| words(cx.age(one.last_start), cx.theme.text()),
    ),
    ListColumn::of(
        schedule::STARTS,
        TableColumn::fixed(6).right().expendable(3),
    ),
    ListColumn::of(schedule::TARGETS, TableColumn::fixed(12).expendable(1)),
    ListColumn::of(schedule::RESULT, TableColumn::flex(12, 3).expendable(4)),
];

fn shown<'a>(cx: &Cx<'a>) -> impl Iterator<Item = &'a ScanSchedule> + use<'a> {
    sampled_items::<ScanSchedule>(cx)
}

impl DrawnPane for ScanSchedule {
    const DRAWING: PaneDrawing = PaneDrawing::new(draw_list, detail);
}

pub(crate) fn draw_list(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    slot: &Slot,
    cache: &mut ViewCache,
) -> ShownRows {
    let new = key(cx, Context::Schedules, Action::Item(ItemAction::New));
    let invitation = match cx.model.has_extensions() {
        true => invite(
            cx,
            "no schedules in this workspace",
            &format!("{new} creates one"),
        ),
        false => NO_SCHEDULES.to_owned(),
    };
    let pane = ListPane {
        invitation,
        ..pane_of::<ScanSchedule>(cx)
    };
    draw_columns(cx, buf, slot, cache, pane, COLUMNS)
}

/// The time until the next start.
fn next_start(cx: &Cx<'_>, one: &ScanSchedule) -> (String, Style) {
    let Some(next) = one.next_start.filter(|_| !one.is_paused) else {
        return ("paused".to_owned(), cx.theme.dim());
    };
    let text = match next.as_second() - cx.now.as_second() {
        ..=0 => "now".to_owned(),
        left => format!("in {}", format::duration(left)),
    };
    (text, cx.theme.text())
}

pub(crate) fn detail<'a>(cx: &Cx<'a>, _: &mut ViewCache) -> Option<DetailPane<'a>> {
    let schedule = cx.model.selected_item::<ScanSchedule>()?;
    let theme = cx.theme;
    let next = match schedule.is_paused {
        true => "paused".to_owned(),
        false => format::stamp(theme, schedule.next_start),
    };
    let from = match &*schedule.time_zone {
        "" => text::clean(&schedule.first_start).into_owned(),
        zone => text::clean(&format!("{} ({zone})", schedule.first_start)).into_owned(),
    };
    let clean = |value: &str| text::clean(value).into_owned();
    let head = vec![
        words(clean(&schedule.name), theme.strong()),
        Line::default(),
        fact(theme, "Every", clean(&schedule.every)),
        fact(theme, "Counted from", from),
        fact(theme, "Next start", next),
        fact(
            theme,
            "Last start",
            format::stamp(theme, schedule.last_start),
        ),
        fact(theme, "Starts", schedule.starts.to_string()),
        fact(theme, "May be late", clean(&schedule.window)),
        fact(theme, "Created by", clean(&schedule.created_by)),
        fact(theme, "Id", schedule.id.to_string()),
    ];
    let targets = target_lines(cx, schedule);
    let pause = key(
        cx,
        Context::Schedules,
        Action::Item(ItemAction::PauseSchedule),
    );
    let delete = key(cx, Context::Schedules, Action::Item(ItemAction::Delete));
    let text = DetailText::new(vec![schedule.clone()], move |theme, _, _| {
        let tools = schedule.scans.iter().map(|scan| Tool(scan.tool_id));
        let tools: Vec<String> = tools.map(|tool| tool.to_string()).collect();
        let mut lines = plain(&format!("Scans: {}", tools.join(", ")), theme.text());
        lines.extend(targets.iter().flat_map(|line| plain(line, theme.text())));
        if !schedule.last_result.is_empty() {
            let result = format!("Last result: {}", text::clean(&schedule.last_result));
            lines.extend(plain(&result, theme.text()));
        }
        lines.push(Line::default());
        let resumes = match schedule.is_paused {
            true => "resumes it",
            false => "pauses it",
        };
        let hint = format!("{pause} {resumes}, {delete} deletes it; its scans remain");
        lines.push(words(hint, theme.dim()));
        lines
    });
    Some(DetailPane {
        id: RowRef::Item(schedule.id.0),
        head,
        tabs: Vec::new(),
        text,
    })
}

fn target_lines(cx: &Cx<'_>, schedule: &ScanSchedule) -> Vec<String> {
    let Some(ids) = &schedule.target_ids else {
        return vec![match &schedule.tag {
            Some(tag) => format!("Targets: those with #{} at each start", text::clean(tag)),
            None => "Targets: all of the workspace at each start".to_owned(),
        }];
    };
    let names = ids.iter().take(SHOWN_TARGETS);
    let mut lines: Vec<String> = names
        .map(|&id| format!("Target: {}", text::clean(&cx.short_target_name(id))))
        .collect();
    match ids.len().saturating_sub(SHOWN_TARGETS) {
        0 => {}
        more => lines.push(format!("and {more} more")),
    }
    lines
}
