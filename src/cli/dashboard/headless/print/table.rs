//! A table of text with aligned columns.

use super::GAP;
use scandeck_domain::table::columns::NounColumn;
use scandeck_wire::text;

/// Columns are not truncated below this width.
const MIN_WIDTH: usize = 12;

/// Rows with a header line.
#[derive(Clone, Debug)]
pub struct PrintTable {
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl PrintTable {
    /// One row per item; every cell is sanitised to one line.
    pub fn of<T, const N: usize>(
        header: [&'static str; N],
        items: impl IntoIterator<Item = T>,
        cells: impl Fn(T) -> [String; N],
    ) -> Self {
        let row = |item| {
            cells(item)
                .iter()
                .map(|cell| text::clean(cell).into_owned())
                .collect()
        };
        Self {
            header: header.to_vec(),
            rows: items.into_iter().map(row).collect(),
        }
    }

    /// Adds a column, if an item has a text in it.
    #[must_use]
    pub fn with_column<T>(
        mut self,
        title: &'static str,
        items: &[T],
        cell: impl Fn(&T) -> String,
    ) -> Self {
        let cells: Vec<String> = items.iter().map(cell).collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            self.header.push(title);
            for (row, cell) in self.rows.iter_mut().zip(&cells) {
                row.push(text::clean(cell).into_owned());
            }
        }
        self
    }

    /// One row per item, with columns of its noun.
    pub fn of_noun<T, const N: usize>(columns: [NounColumn<T>; N], items: &[T]) -> Self {
        let header = columns.each_ref().map(|column| column.title);
        Self::of(header, items, |item| {
            columns
                .each_ref()
                .map(|column| (column.text)(item).into_owned())
        })
    }

    /// The aligned table. On a terminal the widest columns are truncated to fit, and the last ones
    /// are left out where that is not enough; a file or a pipe gets everything.
    pub fn text(&self, columns: Option<usize>) -> String {
        let header: Vec<String> = self.header.iter().map(|&name| name.to_owned()).collect();
        let rows: Vec<&[String]> = [&header]
            .into_iter()
            .chain(&self.rows)
            .map(|row| &row[..])
            .collect();
        let widths = widths(&rows, columns);
        let is_right: Vec<bool> = (0..header.len()).map(|at| self.is_number(at)).collect();
        let mut out = String::new();
        for row in rows {
            let mut line = String::new();
            for (at, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let cell = text::start(cell, width);
                let pad = " ".repeat(width.saturating_sub(text::width(&cell)));
                let gap = if at == 0 { "" } else { &" ".repeat(GAP) };
                line.push_str(&match is_right[at] {
                    true => format!("{gap}{pad}{cell}"),
                    false => format!("{gap}{cell}{pad}"),
                });
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    /// Whether all cells of a column are numbers, which are aligned right.
    fn is_number(&self, column: usize) -> bool {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'-' | b'.' | b'%');
        let is_number = |row: &Vec<String>| {
            row.get(column)
                .is_some_and(|cell| cell.bytes().all(is_digit))
        };
        !self.rows.is_empty() && self.rows.iter().all(is_number)
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// The width of each column of rows, of which the first is the header.
fn widths(rows: &[&[String]], columns: Option<usize>) -> Vec<usize> {
    let width = |row: &[String], at: usize| row.get(at).map_or(0, |cell| text::width(cell));
    let widest = |at| rows.iter().map(|row| width(row, at)).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..rows[0].len()).map(widest).collect();
    if let Some(columns) = columns {
        widths.truncate(with_room(&widths, columns));
        fit(&mut widths, columns);
    }
    widths
}

/// The number of columns that fit when the wide ones are narrowed as far as possible; at least one.
fn with_room(widths: &[usize], columns: usize) -> usize {
    let least = |count: usize| {
        widths[..count]
            .iter()
            .map(|&width| width.min(MIN_WIDTH))
            .sum::<usize>()
            + GAP * count.saturating_sub(1)
    };
    (1..=widths.len())
        .rev()
        .find(|&count| least(count) <= columns)
        .unwrap_or(1)
}

/// Narrows the widest columns until all fit.
fn fit(widths: &mut [usize], columns: usize) {
    let gaps = GAP * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > columns {
        match widths.iter_mut().max() {
            Some(widest) if *widest > MIN_WIDTH => *widest -= 1,
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> PrintTable {
        let rows = [
            ["7", "shop\x1b[31m", ""],
            ["112", "a name that is far longer than others", "x"],
        ];
        PrintTable::of(["ID", "NAME", "NOTE"], rows, |row| row.map(str::to_owned))
    }

    #[test]
    fn piped_table_aligns_numbers_right_and_truncates_nothing() {
        let text = table().text(None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "ID   NAME                                   NOTE".replacen("ID ", " ID", 1)
        );
        assert_eq!(lines[1], "  7  shop␛[31m");
        assert!(lines[2].ends_with("longer than others  x"), "{text}");
    }

    #[test]
    fn terminal_table_fits_the_width() {
        let text = table().text(Some(40));
        assert!(text.lines().all(|line| text::width(line) <= 40), "{text}");
        assert!(text.contains("a name that") && text.contains('…'), "{text}");
    }

    #[test]
    fn terminal_table_leaves_out_last_columns_without_room() {
        let cells = [[
            "4711",
            "critical",
            "https://shop.acme.test/",
            "8443",
            "Untrusted certificate",
            "2026-11-26 12:00:00",
        ]];
        let table = PrintTable::of(
            ["ID", "RISK", "TARGET", "PORT", "FINDING", "LAST SEEN"],
            cells,
            |row| row.map(str::to_owned),
        );
        let text = table.text(Some(50));
        assert!(text.lines().all(|line| text::width(line) <= 50), "{text}");
        assert!(
            text.contains("FINDING") && !text.contains("LAST SEEN"),
            "{text}"
        );
        assert!(
            table
                .text(Some(3))
                .lines()
                .all(|line| text::width(line) <= 4),
            "the first column remains"
        );
    }
}
