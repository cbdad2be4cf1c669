//! The privacy mask on the screen: lines before they are cut or wrapped, and at last every row of
//! the frame.
//!
//! ```text
//!   cells of a table, lines of a detail ─► masked_line ─► cut, wrapped ─┐
//!   header, prompts, forms, completions, notices ──────────────────────┴─► mask_frame ─► terminal
//! ```
//!
//! A name that is cut or wrapped cannot be recognised any more, so long texts are masked before.
//! The pass over the frame misses no text that somebody adds to the screen later.

use crate::ui::{Cx, TableRow};
use ratatui::buffer::Cell;
use ratatui::prelude::{Buffer, Line, Rect, Span};
use scandeck_domain::mask::Mask;
use scandeck_wire::text;
use std::borrow::Cow;

impl Cx<'_> {
    /// A text as the screen shows it.
    pub fn shown<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.model
            .mask()
            .map_or(Cow::Borrowed(text), |mask| mask.text(text))
    }

    pub fn shown_lines<'a>(&self, lines: Vec<Line<'a>>) -> Vec<Line<'a>> {
        masked_lines(self.model.mask(), lines)
    }

    pub fn shown_row<'a>(&self, row: TableRow<'a>) -> TableRow<'a> {
        TableRow {
            cells: self.shown_lines(row.cells),
            ..row
        }
    }
}

/// The lines as the screen shows them.
pub(crate) fn masked_lines<'a>(mask: Option<&Mask>, lines: Vec<Line<'a>>) -> Vec<Line<'a>> {
    match mask {
        Some(mask) => lines
            .into_iter()
            .map(|line| masked_line(mask, line))
            .collect(),
        None => lines,
    }
}

/// The line with stand-ins, each in the style of the first character that it replaces.
fn masked_line<'a>(mask: &Mask, line: Line<'a>) -> Line<'a> {
    let whole: String = line
        .spans
        .iter()
        .map(|span| span.content.as_ref())
        .collect();
    let found = mask.find(&whole);
    if found.is_empty() {
        return line;
    }
    let mut spans = Vec::new();
    let mut begin = 0;
    // The names are found in their order, and a name can cover several spans.
    let mut names = found.iter().peekable();
    for span in &line.spans {
        let (end, mut at) = (begin + span.content.len(), begin);
        while let Some((place, stand_in)) = names.peek().filter(|(place, _)| place.start < end) {
            if place.start >= at {
                spans.push(Span::styled(
                    span.content[at - begin..place.start - begin].to_owned(),
                    span.style,
                ));
                spans.push(Span::styled(stand_in.clone(), span.style));
            }
            at = place.end.min(end);
            if place.end > end {
                break;
            }
            names.next();
        }
        spans.push(Span::styled(
            span.content[at - begin..].to_owned(),
            span.style,
        ));
        begin = end;
    }
    Line { spans, ..line }
}

/// Masks every row of a frame. Text behind a stand-in moves up to the next gap, so that columns and
/// frames remain.
pub(crate) fn mask_frame(mask: &Mask, buf: &mut Buffer, area: Rect) {
    for y in area.top()..area.bottom() {
        let (mut row, mut starts) = (String::new(), Vec::new());
        for x in area.left()..area.right() {
            starts.push(row.len());
            row.push_str(buf[(x, y)].symbol());
        }
        // From the right, so that the places of the others remain.
        for (place, stand_in) in mask.find(&row).into_iter().rev() {
            let column = |byte: usize| starts.partition_point(|&start| start < byte);
            replace(
                buf,
                row_of(area, y),
                column(place.start)..column(place.end),
                &stand_in,
            );
        }
    }
}

fn row_of(area: Rect, y: u16) -> Rect {
    Rect {
        y,
        height: 1,
        ..area
    }
}

/// Replaces cells of a row by a text. The cells behind them move, up to the next two blanks or the
/// next border.
fn replace(buf: &mut Buffer, row: Rect, place: std::ops::Range<usize>, stand_in: &str) {
    let at = |column: usize| (row.x + column as u16, row.y);
    let columns = usize::from(row.width);
    let is_blank = |column: usize| column >= columns || buf[at(column)].symbol() == " ";
    let is_border =
        |column: usize| column < columns && buf[at(column)].symbol().starts_with(is_box);
    let end = (place.end..columns)
        .find(|&column| {
            is_border(column) || is_blank(column) && (is_blank(column + 1) || is_border(column + 1))
        })
        .unwrap_or(columns);
    // The gap behind the text; one blank of it remains.
    let gap = (end..columns)
        .take_while(|&column| is_blank(column))
        .count();
    let room = end + gap.saturating_sub(usize::from(end + gap < columns));
    let (first, rest) = (buf[at(place.start)].clone(), place.end..end);
    let mut cells: Vec<Cell> = stand_in
        .chars()
        .map(|letter| {
            let mut cell = first.clone();
            cell.set_char(letter);
            cell
        })
        .collect();
    cells.extend(rest.map(|column| buf[at(column)].clone()));
    cells.truncate(room.saturating_sub(place.start));
    let blank = |column: usize| {
        let mut cell = buf[at(column.min(columns - 1))].clone();
        cell.set_char(' ');
        cell
    };
    while place.start + cells.len() < end {
        cells.push(blank(place.start + cells.len()));
    }
    for (column, cell) in (place.start..).zip(cells) {
        buf[at(column)] = cell;
    }
}

fn is_box(letter: char) -> bool {
    ('\u{2500}'..='\u{259f}').contains(&letter) || text::width(letter.encode_utf8(&mut [0; 4])) != 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::{Color, Style};
    use scandeck_domain::mask::KnownNames;

    fn mask() -> Mask {
        let mut known = KnownNames::default();
        known.add_host("shop.acme.test");
        known.add_host("db");
        Mask::default().with_names(known)
    }

    fn framed(mask: &Mask, line: &str) -> String {
        let area = Rect::new(0, 0, text::width(line) as u16, 1);
        let mut buf = Buffer::empty(area);
        buf.set_string(0, 0, line, Style::new());
        mask_frame(mask, &mut buf, area);
        (0..area.width).map(|x| buf[(x, 0)].symbol()).collect()
    }

    #[test]
    fn text_after_a_stand_in_moves_and_columns_remain() {
        let mask = mask();
        for (line, shown) in [
            (
                "delete shop.acme.test now?   y/N",
                "delete host-1 now?           y/N",
            ),
            (
                "│ scan of shop.acme.test│ 5 │",
                "│ scan of host-1        │ 5 │",
            ),
            ("db ok      12", "host-2 ok  12"),
            ("db  12", "hos 12"),
            ("db│12", "ho│12"),
        ] {
            assert_eq!(framed(&mask, line), shown, "{line}");
        }
    }

    #[test]
    fn stand_in_in_several_spans_has_the_first_style() {
        let red = Style::new().fg(Color::Red);
        let line = Line::from(vec![
            Span::styled("at shop.", red),
            Span::raw("acme.test"),
            Span::raw(" now"),
        ]);
        let masked = masked_line(&mask(), line);
        assert_eq!(masked.to_string(), "at host-1 now");
        let stand_in = masked
            .spans
            .iter()
            .find(|span| span.content == "host-1")
            .unwrap();
        assert_eq!(stand_in.style, red);
    }
}
