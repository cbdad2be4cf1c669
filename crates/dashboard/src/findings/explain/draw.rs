//! The explanation of a finding over the panes: headings left, their lines beside them.

use crate::model::WhyBox;
use crate::ui::{Cx, Theme, ViewCache, draw_box, draw_lines, format, popup, words, wrap_hanging};
use ratatui::prelude::{Buffer, Line, Rect, Span, Style};
use scandeck_domain::triage::explain::{ExplanationLine, LineTone};
use scandeck_wire::text;

/// Columns and rows of the frame, and the blanks inside it.
const FRAME: (u16, u16) = (4, 2);

pub(crate) fn draw_why(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    area: Rect,
    open: &WhyBox,
    cache: &mut ViewCache,
) {
    let most = popup(area, area.width, area.height.saturating_sub(2));
    let (width, rows) = (
        most.width.saturating_sub(FRAME.0),
        most.height.saturating_sub(FRAME.1),
    );
    let lines = spaced_lines(cx, &open.lines, width, rows);
    let last = lines.len().saturating_sub(usize::from(rows));
    let first = last.min(open.scroll as usize);
    let below = if last > 0 {
        let count = format::plural(lines.len(), "line");
        words(format!(" {} of {count} ", first + 1), cx.theme.dim())
    } else {
        Line::default()
    };
    let height = (lines.len() as u16).saturating_add(FRAME.1);
    let title = text::clean(&open.title).into_owned();
    let spot = popup(area, area.width, height);
    let inner = draw_box(buf, spot, cx.theme, &cx.shown(&title), below);
    draw_lines(buf, inner, &lines[first..]);
    cache.measures.plot_rows = (inner.height, last as u32);
}

/// The lines, with a blank one before each heading where all of them have room.
fn spaced_lines(
    cx: &Cx<'_>,
    lines: &[ExplanationLine],
    width: u16,
    rows: u16,
) -> Vec<Line<'static>> {
    let wrapped = |is_spaced: bool| {
        let mut all: Vec<Line<'static>> = Vec::new();
        for line in lines {
            if is_spaced && !line.label.is_empty() && !all.is_empty() {
                all.push(Line::default());
            }
            all.extend(wrap_hanging(drawn(cx, line), width, ExplanationLine::LABEL));
        }
        all
    };
    let spaced = wrapped(true);
    if spaced.len() <= usize::from(rows) {
        spaced
    } else {
        wrapped(false)
    }
}

fn drawn(cx: &Cx<'_>, line: &ExplanationLine) -> Line<'static> {
    let theme = cx.theme;
    let label = format!("{:width$}", line.label, width = ExplanationLine::LABEL);
    let shown = cx.shown(&line.text).into_owned();
    let mut drawn = Line::from(Span::styled(label, theme.head()));
    match shown.split_once(' ') {
        Some((key, rest)) if line.tone == LineTone::Step => drawn.extend([
            Span::styled(key.to_owned(), theme.key()),
            Span::styled(format!(" {rest}"), theme.text()),
        ]),
        _ => drawn.push_span(Span::styled(shown, style(theme, line.tone))),
    }
    drawn
}

fn style(theme: Theme, tone: LineTone) -> Style {
    match tone {
        LineTone::Plain | LineTone::Step => theme.text(),
        LineTone::Strong => theme.strong(),
        LineTone::Then => theme.bad(),
        LineTone::Now => theme.good(),
    }
}
