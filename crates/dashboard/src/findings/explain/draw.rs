//! The explanation of a finding over the panes: headings left, their lines beside them.

use crate::model::WhyBox;
use crate::ui::{Cx, LineBox, Theme, ViewCache, format, words, wrap_hanging};
use ratatui::prelude::{Buffer, Line, Rect, Span, Style};
use scandeck_domain::triage::explain::{ExplanationLine, LineTone};
use scandeck_wire::text;

pub(crate) fn draw_why(
    cx: &Cx<'_>,
    buf: &mut Buffer,
    area: Rect,
    open: &WhyBox,
    cache: &mut ViewCache,
) {
    let room = LineBox::room(area);
    let lines = spaced_lines(cx, &open.lines, room.width, room.height);
    let last = lines.len().saturating_sub(usize::from(room.height));
    let first = last.min(open.scroll as usize);
    let below = if last > 0 {
        let count = format::plural(lines.len(), "line");
        words(format!(" {} of {count} ", first + 1), cx.theme.dim())
    } else {
        Line::default()
    };
    let title = text::clean(&open.title).into_owned();
    let shown = LineBox {
        title: &cx.shown(&title),
        below,
        lines: &lines,
        first,
    };
    let inner = shown.draw(buf, area, cx.theme);
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
