//! A small table inside a text, such as evidence: columns side by side with the widest one wrapped
//! if necessary, or a block per row where that leaves too little width.

use crate::ui::{Theme, plain, wrap};
use ratatui::prelude::{Line, Span, Style};
use scandeck_wire::text;

/// Blank columns between two cells.
const GAP: usize = 2;
/// Least width to which the widest column is wrapped.
const NARROWEST: usize = 24;
/// The widths are measured on at most so many rows.
const MEASURED: usize = 2_000;

/// The lines of a table in `width` columns. Rows can be ragged, and cells can have several lines.
pub fn grid_lines(
    theme: Theme,
    headers: &[String],
    rows: &[Vec<String>],
    width: u16,
) -> Vec<Line<'static>> {
    let columns = rows
        .iter()
        .map(Vec::len)
        .chain([headers.len()])
        .max()
        .unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|i| column_width(headers, rows, i))
        .collect();
    let total: usize = widths.iter().sum::<usize>() + GAP * columns.saturating_sub(1);
    let over = total.saturating_sub(usize::from(width));
    let mut widths = widths;
    if let Some(widest) = widths.iter_mut().max_by_key(|width| **width) {
        *widest = widest.saturating_sub(over);
        if over == 0 || *widest >= NARROWEST {
            return side_by_side(theme, headers, rows, &widths);
        }
    }
    blocks(theme, headers, rows, width)
}

fn column_width(headers: &[String], rows: &[Vec<String>], column: usize) -> usize {
    let cells = rows.iter().take(MEASURED).filter_map(|row| row.get(column));
    let lines = cells
        .chain(headers.get(column))
        .flat_map(|cell| cell.split('\n'));
    lines.map(text::width).max().unwrap_or(0)
}

fn side_by_side(
    theme: Theme,
    headers: &[String],
    rows: &[Vec<String>],
    widths: &[usize],
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if headers.iter().any(|head| !head.is_empty()) {
        lines.extend(
            row_lines(headers, widths)
                .into_iter()
                .map(|line| Line::styled(line, theme.head())),
        );
    }
    lines.extend(
        rows.iter()
            .flat_map(|row| row_lines(row, widths))
            .map(Line::raw),
    );
    lines
}

/// The lines of one row, as many as its tallest cell has.
fn row_lines(cells: &[String], widths: &[usize]) -> Vec<String> {
    let wrapped = |(cell, &width): (&String, &usize)| -> Vec<String> {
        let width = u16::try_from(width).unwrap_or(u16::MAX);
        wrap(plain(cell, Style::new()), width)
            .iter()
            .map(Line::to_string)
            .collect()
    };
    let cells: Vec<Vec<String>> = cells.iter().zip(widths).map(wrapped).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(1);
    let line = |at: usize| {
        let mut out = String::new();
        for (cell, &width) in cells.iter().zip(widths) {
            let part = cell.get(at).map(|part| part.trim_end()).unwrap_or_default();
            out.push_str(part);
            out.push_str(&" ".repeat(width.saturating_sub(text::width(part)) + GAP));
        }
        out.truncate(out.trim_end().len());
        out
    };
    (0..height).map(line).collect()
}

fn blocks(
    theme: Theme,
    headers: &[String],
    rows: &[Vec<String>],
    width: u16,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        if i > 0 {
            lines.push(Line::default());
        }
        for (column, cell) in row.iter().enumerate() {
            let head = headers.get(column).map(String::as_str).unwrap_or_default();
            put_cell(theme, head, cell, &mut lines);
        }
    }
    wrap(lines, width)
}

/// A cell of one line is beside its header, a cell of several lines below it.
fn put_cell(theme: Theme, head: &str, cell: &str, lines: &mut Vec<Line<'static>>) {
    let head = (!head.is_empty()).then(|| Span::styled(head.to_owned(), theme.head()));
    if !cell.contains('\n') {
        let mut line: Line<'static> = head
            .into_iter()
            .chain([Span::raw("  "), Span::raw(cell.to_owned())])
            .collect();
        if line.spans.len() == 2 {
            line.spans.remove(0);
        }
        lines.push(line);
        return;
    }
    lines.extend(head.map(Line::from));
    lines.extend(cell.split('\n').map(|part| Line::raw(format!("  {part}"))));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(rows: &[&[&str]], width: u16) -> Vec<String> {
        let own = |cells: &[&str]| {
            cells
                .iter()
                .map(|cell| (*cell).to_owned())
                .collect::<Vec<_>>()
        };
        let rows: Vec<_> = rows.iter().map(|row| own(row)).collect();
        grid_lines(Theme::default(), &own(&["PATH", "STATUS"]), &rows, width)
            .iter()
            .map(Line::to_string)
            .collect()
    }

    #[test]
    fn table_that_fits_has_cells_side_by_side() {
        assert_eq!(
            text(&[&["/.env", "200"], &["/a", "404", "x"], &[]], 30),
            ["PATH   STATUS", "/.env  200", "/a     404     x", ""]
        );
    }

    #[test]
    fn table_too_wide_wraps_widest_column() {
        let lines = text(
            &[&["/.env", "the file holds a password and a key\nand more"]],
            34,
        );
        assert_eq!(
            lines,
            [
                "PATH   STATUS",
                "/.env  the file holds a password",
                "       and a key",
                "       and more"
            ]
        );
    }

    #[test]
    fn table_much_too_wide_becomes_blocks() {
        assert_eq!(
            text(&[&["/backup/site.tgz", "200"], &["/a\n/b", "404"]], 20),
            [
                "PATH  ",
                "/backup/site.tgz",
                "STATUS  200",
                "",
                "PATH",
                "  /a",
                "  /b",
                "STATUS  404"
            ]
        );
    }
}
