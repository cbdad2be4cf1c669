//! The detail of a scan: its state, its summary, and the parts that are loaded on demand.

use super::{is_incomplete, tests, time_left};
use crate::base::{Pane, RowRef, Tab};
use crate::data::ScanParts;
use crate::ui::{
    Cx, DetailPane, DetailText, Theme, ViewCache, ago, bar, fact, format, import_words, plain,
    problem_lines, stale_reason, tree_lines, words,
};
use ratatui::prelude::{Line, Span, Style};
use scandeck_domain::problem::Problem;
use scandeck_domain::table::Remote;
use scandeck_wire::contract::{INCOMPLETE, ResourceType, Scan, ScanStatus, Test, Tool};
use scandeck_wire::text;

pub(crate) fn detail<'a>(cx: &Cx<'a>, _: &mut ViewCache) -> Option<DetailPane<'a>> {
    let scan = cx.model.selected_item::<Scan>()?;
    let tab = cx.model.detail.tab(Pane::Scans);
    let tabs = Pane::Scans
        .tabs()
        .iter()
        .map(|tab| tab.title().to_owned())
        .collect();
    let parts = Some(&cx.model.data.scan_parts).filter(|parts| parts.scan == Some(scan.id));
    let text = match tab {
        Tab::Tests => part_text(cx, parts.map(|parts| &parts.tests), |theme, tests| {
            test_lines(theme, tests)
        }),
        Tab::Output => part_text(cx, parts.map(|parts| &parts.output), |theme, output| {
            tree_lines(theme, &output.output_data)
        }),
        Tab::Raw => part_text(cx, parts.map(|parts| &parts.raw), |theme, raw| {
            if raw.is_empty() {
                return vec![words("no lines", theme.dim())];
            }
            raw.iter()
                .flat_map(|line| plain(&text::clean_text(line), theme.text()))
                .collect()
        }),
        _ => DetailText::new(vec![scan.clone()], move |theme, _, _| {
            summary_lines(theme, scan)
        }),
    };
    let mut head = head_lines(cx, scan);
    if let Some(parts) = parts {
        head.extend(uncounted_tests(cx, scan, tab, parts));
        head.extend(stale_part(cx, tab, parts));
    }
    Some(DetailPane {
        id: RowRef::Item(scan.id.0),
        head,
        tabs,
        text,
    })
}

/// `200 tests in 120 rows`, where the service lists fewer rows than tests.
fn uncounted_tests(cx: &Cx<'_>, scan: &Scan, tab: Tab, parts: &ScanParts) -> Option<Line<'static>> {
    let listed = parts.tests.value().filter(|_| tab == Tab::Tests)?.len();
    let has_more = scan.num_finished_tests > listed as i64 && listed > 0;
    let done = format::count(scan.num_finished_tests.max(scan.num_tests));
    let rows = format::plural(listed, "row");
    let note = format!("{done} tests in {rows}; a row can cover several tests");
    (has_more && !scan.is_active()).then(|| words(note, cx.theme.dim()))
}

/// `Tests stale · 503 Service Unavailable`
fn stale_part(cx: &Cx<'_>, tab: Tab, parts: &ScanParts) -> Option<Line<'static>> {
    let problem = match tab {
        Tab::Tests => stale(&parts.tests),
        Tab::Output => stale(&parts.output),
        Tab::Raw => stale(&parts.raw),
        _ => None,
    }?;
    let why = stale_reason(cx, problem, usize::from(u16::MAX));
    let separator = cx.theme.glyphs.separator;
    let note = format!("{} stale {separator} {why}", tab.title());
    Some(words(note, cx.theme.warn()))
}

/// Why a part that is shown is not current.
fn stale<T>(part: &Remote<T>) -> Option<&Problem> {
    part.value().and(part.problem())
}

/// The text of a part of a scan that is loaded on demand.
fn part_text<'a, T: Send + Sync + 'static>(
    cx: &Cx<'a>,
    part: Option<&'a Remote<std::sync::Arc<T>>>,
    lines: impl Fn(Theme, &T) -> Vec<Line<'static>> + 'a,
) -> DetailText<'a> {
    match part.map(|part| (part.value(), part.problem())) {
        Some((Some(value), _)) => {
            DetailText::new(vec![value.clone()], move |theme, _, _| lines(theme, value))
        }
        Some((None, Some(problem))) => {
            let lines = problem_lines(cx, problem);
            // A problem has no address, so a new value makes the text again in each frame.
            DetailText::new(
                vec![std::sync::Arc::new(problem.clone())],
                move |_, _, _| lines,
            )
        }
        _ => DetailText::new(vec![std::sync::Arc::new(())], |theme, _, _| {
            vec![words("loading", theme.dim())]
        }),
    }
}

fn head_lines(cx: &Cx<'_>, scan: &Scan) -> Vec<Line<'static>> {
    let theme = cx.theme;
    let name = Tool(scan.tool_id).full_name();
    let title = format!("#{} {name} on {}", scan.id, cx.target_name(scan.target_id));
    let mut state = vec![match is_incomplete(cx, scan) {
        true => Span::styled(
            format!("{} {INCOMPLETE}", theme.glyphs.incomplete),
            theme.warn(),
        ),
        false => Span::styled(
            text::clean(scan.status_name.as_str()).into_owned(),
            status_style(theme, scan),
        ),
    }];
    if scan.status_name == ScanStatus::Running {
        state.push(Span::raw("  "));
        state.extend(bar(theme, scan.progress, 16));
        state.push(Span::raw(format!(" {}%  ", scan.progress.clamp(0, 100))));
        match cx.model.stalled_for(scan.id) {
            Some(still) => {
                let still = format!("stalled {}", format::duration(still.as_secs() as i64));
                state.push(Span::styled(still, theme.warn()));
            }
            None => state.extend(time_left(cx, scan).spans),
        }
    } else if scan.end_time.is_some() {
        state.push(Span::raw(format!("  {}", ago(cx, scan.end_time))));
    }
    let mut found = vec![Span::styled("found  ", theme.dim())];
    found.extend(format::risk_counts(
        theme,
        scan.result_summary.by_risk(),
        "  ",
    ));
    if scan.num_tests > 0 {
        found.push(Span::raw(format!("   {} tests", tests(scan))));
    }
    let mut lines = vec![
        words(title, theme.strong()),
        Line::from(state),
        Line::from(found),
    ];
    lines.extend(import_words(cx, scan).map(|origin| words(origin, theme.text())));
    lines
}

fn status_style(theme: Theme, scan: &Scan) -> Style {
    match &scan.status_name {
        ScanStatus::Running => theme.active(),
        ScanStatus::Finished => theme.good(),
        status if status.is_failure() => theme.bad(),
        _ => theme.text(),
    }
}

fn summary_lines(theme: Theme, scan: &Scan) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for outside in [&scan.status_message, &scan.result_summary.text] {
        if !scan.has_ended() && *outside == "no findings" {
            lines.extend([words("no findings yet", theme.text()), Line::default()]);
        } else if !outside.is_empty() {
            lines.extend(plain(&text::clean_text(outside), theme.text()));
            lines.push(Line::default());
        }
    }
    lines.push(fact(
        theme,
        "Started",
        format::stamp(theme, scan.start_time),
    ));
    if scan.has_ended() {
        lines.push(fact(theme, "Ended", format::stamp(theme, scan.end_time)));
    }
    if scan.duration > 0 {
        let name = if scan.has_ended() {
            "Duration"
        } else {
            "Running for"
        };
        lines.push(fact(theme, name, format::long_duration(scan.duration)));
    }
    match scan.place() {
        Some(place) => lines.push(fact(theme, "Place", text::clean(place).into_owned())),
        None if scan.vpn_scan => lines.push(fact(theme, "VPN", "yes")),
        None => {}
    }
    if let Some(minutes) = scan.max_scan_time.filter(|minutes| *minutes > 0) {
        let limit = format::long_duration(minutes.saturating_mul(60));
        lines.push(fact(theme, "Time limit", limit));
    }
    if scan.scan_original_url {
        lines.push(fact(
            theme,
            "Original URL",
            "scanned as given, without its redirect target",
        ));
    }
    if !scan.info_text_lines.is_empty() {
        lines.push(Line::default());
        lines.extend(
            scan.info_text_lines
                .iter()
                .flat_map(|line| plain(&text::clean_text(line), theme.text())),
        );
    }
    if let Some(params) = &scan.tool_params {
        lines.push(Line::default());
        lines.push(words("Parameters", theme.strong()));
        lines.extend(tree_lines(theme, params));
    }
    lines
}

fn test_lines(theme: Theme, tests: &[Test]) -> Vec<Line<'static>> {
    if tests.is_empty() {
        return vec![words("no finished tests", theme.dim())];
    }
    let width = if tests.iter().any(Test::is_incomplete) {
        INCOMPLETE.len()
    } else {
        "found".len()
    };
    let result = |test: &Test| match test.resource_type {
        _ if test.is_incomplete() => Span::styled(format!("{INCOMPLETE:width$}  "), theme.warn()),
        ResourceType::Finding => Span::styled(format!("{:width$}  ", "found"), theme.warn()),
        ResourceType::Scan | ResourceType::Other(_) => Span::raw(" ".repeat(width + 2)),
    };
    let line = |test: &Test| {
        let time = format::clock(theme, test.performed_at);
        let glyph = match test.is_incomplete() {
            true => Span::styled(theme.glyphs.incomplete, theme.warn()),
            false => Span::styled(theme.glyphs.done, theme.good()),
        };
        let mut spans = vec![
            glyph,
            Span::styled(format!(" {time}  "), theme.dim()),
            result(test),
            Span::raw(text::clean(&test.description).into_owned()),
        ];
        if test.is_incomplete() && !test.incomplete_cause().is_empty() {
            spans.push(Span::styled(
                format!("  {}", text::clean(test.incomplete_cause())),
                theme.dim(),
            ));
        }
        Line::from(spans)
    };
    tests.iter().map(line).collect()
}
