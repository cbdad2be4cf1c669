//! The plots on the screen: areas of braille dots, bars and shades of blocks, or `#` in terminals
//! without Unicode.

use crate::base::{
    FindingCounts, HeatMap, Pane, Plot, PlotBox, PlotCounts, PlotNumbers, ProgressPoint,
    ScanHistory,
};
use crate::input::{Action, Context, MoveAction, TextAction};
use crate::plots::data;
use crate::ui::widgets::area::{ASCII, draw_area, values_in};
use crate::ui::{
    Cx, PlotKey, ViewCache, draw_box, draw_line, draw_lines, draw_sides, format, key, plain, sheet,
    take_bottom, take_left, take_top, words, wrap,
};
use jiff::Timestamp;
use ratatui::prelude::{Buffer, Line, Rect, Span, Style, Widget};
use ratatui::symbols::bar;
use ratatui::widgets::{Bar, BarChart};
use scandeck_wire::contract::{Risk, Shared, Stamp};
use scandeck_wire::text;
use scandeck_wire::text::plural;
use std::ops::Range;
use std::sync::Arc;

/// Columns of the names beside bars, of a day, and of a cell of the heat map.
const NAMES: u16 = 15;
const DAY: u16 = 6;
const CELL: u16 = 5;
/// Minimum rows (with the blank line and the title) and columns of a plot in a detail, and its
/// maximum rows.
const LEAST_ROWS: u16 = 8;
const LEAST_COLUMNS: u16 = 40;
const MOST_ROWS: u16 = 16;

pub(crate) fn draw_plot(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    area: Rect,
    open: PlotBox,
    cache: &mut ViewCache,
) {
    let plot = open.plot;
    let place = words(
        format!(" {} of {} ", plot as usize + 1, Plot::ALL.len()),
        cx.theme.dim(),
    );
    let shown = data::of_scope(cx.model, plot);
    let target = shown
        .target
        .and_then(|target| cx.model.target_name(target))
        .map(|name| text::clean(name).into_owned());
    let title = match target.or_else(|| Some(cx.scan_name(shown.scan?))) {
        Some(name) => format!("{} {} {name}", plot.title(), cx.theme.glyphs.separator),
        None => plot.title().to_owned(),
    };
    let title = title.replace('×', cx.theme.glyphs.times);
    let inner = draw_box(
        buf,
        sheet(area, area.height.saturating_sub(1)),
        cx.theme,
        &cx.shown(&title),
        place,
    );
    if inner.is_empty() {
        return;
    }
    let numbers = cache.plot.get(PlotKey::of(cx.model, shown), || {
        Arc::new(data::numbers(cx.model, shown))
    });
    if let Some(nothing) = draw_numbers(cx, buf, inner, &numbers, open, cache) {
        draw_line(buf, inner, &Line::styled(nothing, cx.theme.dim()));
    }
}

/// Draws the plot of the selected item in the free rows below its detail, if they are enough.
pub(crate) fn draw_in_detail(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    free: Rect,
    pane: Pane,
    cache: &mut ViewCache,
) {
    if free.height < LEAST_ROWS || free.width < LEAST_COLUMNS {
        return;
    }
    let Some(shown) = data::of_detail(cx.model, pane) else {
        return;
    };
    let numbers = cache.detail_plot.get(PlotKey::of(cx.model, shown), || {
        Arc::new(data::numbers(cx.model, shown))
    });
    if numbers.is_empty() {
        return;
    }
    let (title, rest) = take_top(take_top(free, 1).1, 1);
    draw_line(
        buf,
        title,
        &Line::styled(shown.plot.title(), cx.theme.strong()),
    );
    let open = PlotBox::new(shown.plot);
    draw_numbers(cx, buf, take_top(rest, MOST_ROWS).0, &numbers, open, cache);
}

/// Draws the numbers of a plot from its first visible row and column on, and measures both. Returns
/// the reason why there is nothing to draw.
fn draw_numbers(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    inner: Rect,
    numbers: &PlotNumbers,
    open: PlotBox,
    cache: &mut ViewCache,
) -> Option<&'static str> {
    match numbers {
        PlotNumbers::Findings(counts) => draw_findings(cx, buf, inner, counts),
        PlotNumbers::Decisions(days) => draw_decisions(cx, buf, inner, days),
        PlotNumbers::Captures(minutes) => draw_captures(cx, buf, inner, minutes),
        PlotNumbers::HeatMap(map) => draw_heat_map(cx, buf, inner, map, open, cache),
        PlotNumbers::Progress(history) => draw_progress(cx, buf, inner, history),
    }
}

fn bars(cx: &Cx<'_>) -> bar::Set<'static> {
    if cx.theme.glyphs.boxes {
        bar::NINE_LEVELS
    } else {
        ASCII
    }
}

/// A row of a plot over time, with its own scale.
struct Track {
    /// Lines beside the values; lines without room are not drawn.
    labels: Vec<Line<'static>>,
    style: Style,
    values: Vec<u64>,
    most: u64,
}

/// Draws tracks of equal height below each other. If there is room, an empty row above each track
/// separates the tracks.
fn draw_tracks(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    area: Rect,
    tracks: &[Track],
    [from, to]: [String; 2],
) {
    let (rows, axis) = take_bottom(area, 1);
    let height = (rows.height / tracks.len().max(1) as u16).max(1);
    for (at, track) in tracks
        .iter()
        .enumerate()
        .take(usize::from(rows.height / height))
    {
        let row = Rect {
            y: rows.y + at as u16 * height,
            height,
            ..rows
        };
        draw_lines(
            buf,
            Rect {
                width: NAMES,
                ..row
            },
            &track.labels,
        );
        let chart = take_top(take_left(row, NAMES).1, u16::from(height > 2)).1;
        draw_area(cx.theme, buf, chart, &track.values, track.most, track.style);
    }
    draw_axis(cx, buf, take_left(axis, NAMES).1, from, to);
}

/// A track per risk, because info findings outnumber the others.
fn draw_findings(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    area: Rect,
    counts: &FindingCounts,
) -> Option<&'static str> {
    let Some((from, (to, now))) = counts.span(Stamp(cx.model.now.wall)) else {
        return Some("no findings in this workspace");
    };
    let span = [from.0.as_second(), to.0.as_second()];
    let counts_at = |second: i64| {
        if second < span[1] {
            counts.at(second)
        } else {
            now
        }
    };
    let room = values_in(cx.theme, area.width.saturating_sub(NAMES));
    let track = |(at, risk): (usize, Risk)| {
        let values = resampled(span, room, |second| counts_at(second)[at]);
        let most = counts
            .samples
            .iter()
            .map(|(_, counts)| counts[at])
            .max()
            .unwrap_or_default();
        let style = cx.theme.risk(risk);
        let name = Line::from(vec![
            format::risk_span(cx.theme, risk),
            Span::styled(format!(" {}", now[at]), style),
        ]);
        Track {
            labels: vec![name, Line::styled(format!("  max {most}"), cx.theme.dim())],
            style,
            values,
            most,
        }
    };
    let tracks: Vec<Track> = Risk::DOWN.into_iter().enumerate().map(track).collect();
    draw_tracks(cx, buf, area, &tracks, [from, to].map(|at| utc(at.0)));
    None
}

/// Percent, finished tests and findings of a scan over its running time.
fn draw_progress(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    area: Rect,
    history: &ScanHistory,
) -> Option<&'static str> {
    let (Some(first), Some(now), true) = (
        history.points.first(),
        history.points.last(),
        history.points.len() > 1,
    ) else {
        return Some("no progress observed for this scan");
    };
    let theme = cx.theme;
    let span = [first.elapsed as i64, history.until as i64];
    let room = values_in(cx.theme, area.width.saturating_sub(NAMES));
    let track =
        |name: String, style: Style, most: Option<u64>, value: fn(&ProgressPoint) -> u64| {
            let values = resampled(span, room, |second| {
                history.at(second as u64).map_or(0, value)
            });
            let most = most.unwrap_or_else(|| values.iter().copied().max().unwrap_or_default());
            Track {
                labels: vec![Line::styled(name, style)],
                style,
                values,
                most,
            }
        };
    let mut tracks = vec![track(
        format!("done {}%", now.percent),
        theme.active(),
        Some(100),
        |point| point.percent,
    )];
    if history.all_tests > 0 {
        let name = format!(
            "tests {}/{}",
            format::count(now.tests as i64),
            format::count(history.all_tests as i64)
        );
        tracks.push(track(
            name,
            theme.good(),
            Some(history.all_tests),
            |point| point.tests,
        ));
    }
    let name = format!("findings {}", format::count(now.found as i64));
    tracks.push(track(name, theme.warn(), None, |point| point.found));
    draw_tracks(cx, buf, area, &tracks, span.map(format::long_duration));
    None
}

/// This number of values at equal intervals.
fn resampled([from, to]: [i64; 2], number: usize, value: impl Fn(i64) -> u64) -> Vec<u64> {
    (1..=number)
        .map(|at| value(from + (to - from) * at as i64 / number as i64))
        .collect()
}

fn utc(at: Timestamp) -> String {
    at.strftime("%d %b %H:%M UTC").to_string()
}

fn draw_axis(cx: &Cx<'_>, buf: &mut Buffer, area: Rect, from: String, to: String) {
    let to = if to == from { String::new() } else { to };
    draw_sides(
        buf,
        area,
        &Line::styled(from, cx.theme.dim()),
        &Line::styled(to, cx.theme.dim()),
    );
}

fn draw_decisions(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    area: Rect,
    days: &[(jiff::civil::Date, u64)],
) -> Option<&'static str> {
    if days.is_empty() {
        return Some("no manual verdicts in this workspace · rules are not counted");
    }
    let shown = days
        .len()
        .saturating_sub(usize::from((area.width + 1) / (DAY + 1)));
    let bar = |(day, count): &(jiff::civil::Date, u64)| {
        let value = if *count == 0 {
            String::new()
        } else {
            count.to_string()
        };
        Bar::default()
            .value(*count)
            .text_value(value)
            .label(day.strftime("%d %b").to_string())
    };
    let bars_of_days: Vec<Bar<'_>> = days[shown..].iter().map(bar).collect();
    let style = cx.theme.active();
    BarChart::vertical(bars_of_days)
        .bar_width(DAY)
        .bar_set(bars(cx))
        .bar_style(style)
        .value_style(style.patch(cx.theme.chosen()))
        .label_style(cx.theme.dim())
        .render(area, buf);
    None
}

fn draw_captures(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    area: Rect,
    minutes: &[(Timestamp, u64)],
) -> Option<&'static str> {
    let room = values_in(cx.theme, area.width);
    let minutes = &minutes[minutes.len().saturating_sub(room)..];
    let (Some((from, _)), Some((to, _))) = (minutes.first(), minutes.last()) else {
        return Some("no captures loaded");
    };
    let most = minutes
        .iter()
        .map(|(_, count)| *count)
        .max()
        .unwrap_or_default();
    let total: u64 = minutes.iter().map(|(_, count)| count).sum();
    let (chart, axis) = take_bottom(area, 1);
    let separator = cx.theme.glyphs.separator;
    let summary = format!(
        "{} {separator} peak {most} per minute",
        plural(total as usize, "capture")
    );
    draw_line(buf, chart, &Line::styled(summary, cx.theme.dim()));
    let chart = Rect {
        y: chart.y + 1,
        height: chart.height.saturating_sub(1),
        ..chart
    };
    let values = widened(cx, minutes, room);
    draw_area(cx.theme, buf, chart, &values, most, cx.theme.active());
    let columns = values.len().div_ceil(values_in(cx.theme, 1)) as u16;
    let axis = Rect {
        width: columns.max(50).min(area.width),
        ..axis
    };
    draw_axis(cx, buf, axis, utc(*from), utc(*to));
    None
}

/// The number of each minute; few minutes are drawn as wide bars.
fn widened(cx: &Cx<'_>, minutes: &[(Timestamp, u64)], room: usize) -> Vec<u64> {
    let each = (room / minutes.len()).min(values_in(cx.theme, DAY));
    let counts = minutes.iter().map(|(_, count)| *count);
    counts
        .flat_map(|count| std::iter::repeat_n(count, each))
        .collect()
}

/// Classes below each other, targets by number beside each other, the names of the targets below.
fn draw_heat_map(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    area: Rect,
    heat_map: &HeatMap,
    open: PlotBox,
    cache: &mut ViewCache,
) -> Option<&'static str> {
    if heat_map.classes.is_empty() {
        return Some("no findings in this workspace");
    }
    let grid = HeatGrid::of(cx, heat_map, area.width, open.across);
    let (classes, targets) = (heat_map.classes.len(), heat_map.targets.len());
    let mut foot = target_legend(cx, heat_map, &grid.shown, area.width);
    let room = usize::from(area.height).saturating_sub(foot.len() + 1);
    let is_cut = classes > room || grid.shown.len() < targets;
    let below = foot.len() as u16 + u16::from(is_cut);
    let (map, below) = take_bottom(area, below.min(area.height / 3));
    let rows = classes.min(usize::from(map.height.saturating_sub(1)));
    let last = classes - rows;
    let first = last.min(open.scroll as usize);
    let columns = grid.shown.len();
    cache.measures.plot_rows = (rows as u16, last as u32);
    cache.measures.plot_columns = (columns as u16, (targets - columns) as u32);
    let shown = first..first + rows;
    if is_cut {
        let part = cut_words(cx, heat_map, &grid.shown, &shown);
        foot.insert(0, Line::styled(part, cx.theme.warn()));
    }
    draw_lines(buf, map, &grid.lines(cx, heat_map, shown));
    draw_lines(buf, below, &foot);
    None
}

/// The columns of a heat map: the names of the classes, and a cell for each shown target.
struct HeatGrid {
    /// The width of the names, with a blank after them.
    names: u16,
    /// The shown targets.
    shown: Range<usize>,
}

impl HeatGrid {
    /// The names get the room that the cells leave, or at least a third.
    fn of(cx: &Cx<'_>, heat_map: &HeatMap, width: u16, across: u32) -> Self {
        let named = |class| text::width(&class_name(cx, heat_map, class)) as u16 + 1;
        let longest = heat_map.classes.iter().map(named).max().unwrap_or_default();
        let targets = heat_map.targets.len();
        let wanted = targets.saturating_mul(CELL.into());
        let free = width - wanted.min(width.into()) as u16;
        let names = longest.min(free.max(width / 3));
        let columns = targets.min(usize::from((width - names) / CELL));
        let first = (targets - columns).min(across as usize);
        Self {
            names,
            shown: first..first + columns,
        }
    }

    /// The numbers of the targets, and a line for each of these classes.
    fn lines(&self, cx: &Cx<'_>, heat_map: &HeatMap, shown: Range<usize>) -> Vec<Line<'static>> {
        let names = usize::from(self.names);
        let number = |at| format!("{:>width$}", at + 1, width = usize::from(CELL));
        let numbers: String = self.shown.clone().map(number).collect();
        let head = Line::styled(" ".repeat(names) + &numbers, cx.theme.head());
        let most = heat_map.most();
        let line = |class: &Shared| {
            let name = class_name(cx, heat_map, class);
            let name = text::start_with(&name, names - 1, cx.theme.glyphs.ellipsis);
            let pad = " ".repeat(names - text::width(&name));
            let mut line = Line::raw(name.into_owned() + &pad);
            let targets = heat_map.targets[self.shown.clone()].iter();
            line.extend(targets.map(|target| shade(cx, &heat_map.cell(class, target), most)));
            line
        };
        std::iter::once(head)
            .chain(heat_map.classes[shown].iter().map(line))
            .collect()
    }
}

fn class_name(cx: &Cx<'_>, heat_map: &HeatMap, class: &Shared) -> String {
    let title = heat_map.titles.get(class).unwrap_or(class);
    cx.shown(&text::clean(title)).into_owned()
}

/// `1=api   2=shop`
fn target_legend(
    cx: &Cx<'_>,
    heat_map: &HeatMap,
    shown: &Range<usize>,
    width: u16,
) -> Vec<Line<'static>> {
    let name = |at: usize| {
        let (id, target) = &heat_map.targets[at];
        let short = id.and_then(|id| cx.facts.short_name(id));
        let name = text::clean(short.unwrap_or(target));
        format!("{}={}", at + 1, cx.shown(&name))
    };
    let legend = shown.clone().map(name).collect::<Vec<_>>().join("   ");
    wrap(plain(&legend, cx.theme.dim()), width)
}

/// `1-20 of 45 classes, 1-12 of 30 targets · j k H L scroll`, for a map of which only a part is
/// shown.
fn cut_words(
    cx: &Cx<'_>,
    heat_map: &HeatMap,
    columns: &Range<usize>,
    rows: &Range<usize>,
) -> String {
    let part = |shown: &Range<usize>, all: usize| match shown.len() < all {
        true => format!("{}-{} of ", shown.start + 1, shown.end),
        false => String::new(),
    };
    let (classes, targets) = (heat_map.classes.len(), heat_map.targets.len());
    let label = |action| key(cx, Context::Plot, action);
    let mut keys = Vec::new();
    if rows.len() < classes {
        keys.extend([MoveAction::Down, MoveAction::Up].map(|it| label(Action::Move(it))));
    }
    if columns.len() < targets {
        let sideways = [TextAction::ScrollLeft, TextAction::ScrollRight];
        keys.extend(sideways.map(|it| label(Action::Text(it))));
    }
    format!(
        "{}{}, {}{} {} {} scroll",
        part(rows, classes),
        plural(classes, "class"),
        part(columns, targets),
        plural(targets, "target"),
        cx.theme.glyphs.separator,
        keys.join(" "),
    )
}

/// A cell: darker with more findings, in the colour of the highest risk.
fn shade(cx: &Cx<'_>, cell: &PlotCounts, most: u64) -> Span<'static> {
    let count: u64 = cell.iter().sum();
    let Some(worst) = cell.iter().position(|count| *count > 0) else {
        return Span::styled(
            format!(
                "{:>width$}",
                cx.theme.glyphs.separator,
                width = usize::from(CELL)
            ),
            cx.theme.dim(),
        );
    };
    let shades = cx.theme.glyphs.shades;
    let shade = shades
        [((count * shades.len() as u64 - 1) / most.max(1)).min(shades.len() as u64 - 1) as usize];
    Span::styled(
        format!(" {shade}{:>3}", count.min(999)),
        cx.theme.risk(Risk::DOWN[worst]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn numbers_are_computed_again_only_when_their_own_data_changes() {
        let mut app = TestDashboard::new();
        app.keys("3");
        let keys = |app: &TestDashboard| {
            Plot::ALL.map(|plot| PlotKey::of(&app.model, data::of_scope(&app.model, plot)))
        };
        let changed = |before: &[PlotKey; 5], app: &TestDashboard| -> Vec<Plot> {
            let now = keys(app);
            Plot::ALL
                .into_iter()
                .filter(|&plot| before[plot as usize] != now[plot as usize])
                .collect()
        };
        let before = keys(&app);
        app.keys("j k");
        assert_eq!(changed(&before, &app), []);
        app.keys("c");
        assert_eq!(changed(&before, &app), [Plot::Decisions]);
        let before = keys(&app);
        app.capture(1, 90..=91);
        assert_eq!(changed(&before, &app), [Plot::Captures]);
        let before = keys(&app);
        app.feed(Snapshot::Findings(table([finding(
            900,
            1,
            "New",
            Risk::Low,
        )])));
        assert_eq!(changed(&before, &app), [Plot::Findings, Plot::HeatMap]);
        let before = keys(&app);
        app.feed(Snapshot::Scans(table([scan(
            101,
            1,
            ScanStatus::Running,
            77,
        )])));
        assert_eq!(
            changed(&before, &app),
            [Plot::Findings, Plot::HeatMap, Plot::Progress],
            "findings depend on scans"
        );
    }
}
