//! The explanation of a finding over the panes: headings left, their lines beside them. In a wide
//! box, a later value is beside the earlier one.

use crate::model::WhyBox;
use crate::ui::{BESIDE_FROM, Cx, LineBox, Theme, ViewCache, format, words, wrap_hanging};
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
        let mut rest = lines;
        while let Some((line, after)) = rest.split_first() {
            if is_spaced && !line.label.is_empty() && !all.is_empty() {
                all.push(Line::default());
            }
            let pair = after.first().and_then(|next| beside(cx, line, next, width));
            rest = match &pair {
                Some(_) => &after[1..],
                None => after,
            };
            let shown = pair.unwrap_or_else(|| drawn(cx, line));
            all.extend(wrap_hanging(shown, width, ExplanationLine::LABEL));
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

/// A line with the next one beside it, if that has its later value and each fits into half of the
/// box.
fn beside(
    cx: &Cx<'_>,
    line: &ExplanationLine,
    next: &ExplanationLine,
    width: u16,
) -> Option<Line<'static>> {
    if next.tone != LineTone::Beside || width < BESIDE_FROM {
        return None;
    }
    let columns = usize::from(width);
    let middle = ExplanationLine::LABEL + (columns - ExplanationLine::LABEL) / 2;
    let mut both = drawn(cx, line);
    let later = Line::from(value_spans(cx, next));
    if both.width() >= middle || middle + later.width() > columns {
        return None;
    }
    let gap = " ".repeat(middle - both.width());
    both.push_span(Span::raw(gap));
    both.extend(later);
    Some(both)
}

fn drawn(cx: &Cx<'_>, line: &ExplanationLine) -> Line<'static> {
    let label = format!("{:width$}", line.label, width = ExplanationLine::LABEL);
    let mut drawn = Line::from(Span::styled(label, cx.theme.head()));
    drawn.extend(value_spans(cx, line));
    drawn
}

fn value_spans(cx: &Cx<'_>, line: &ExplanationLine) -> Vec<Span<'static>> {
    let theme = cx.theme;
    let shown = cx.shown(&line.text).into_owned();
    match shown.split_once(' ') {
        Some((key, rest)) if line.tone == LineTone::Step => vec![
            Span::styled(key.to_owned(), theme.key()),
            Span::styled(format!(" {rest}"), theme.text()),
        ],
        _ => vec![Span::styled(shown, style(theme, line.tone))],
    }
}

fn style(theme: Theme, tone: LineTone) -> Style {
    match tone {
        LineTone::Plain | LineTone::Step => theme.text(),
        LineTone::Strong => theme.strong(),
        LineTone::Then => theme.bad(),
        LineTone::Now | LineTone::Beside => theme.good(),
    }
}
