//! Streams CSV: rows by the names of their columns.

use std::cell::Cell;
use std::io::{Read, Result as IoResult};
use std::rc::Rc;

use csv::{ReaderBuilder, StringRecord};

use crate::input::{ImportInput, ReadFault};

const UNCLOSED: &str =
    "the table ends inside a quoted cell; the last row contains the rest of the file";

/// A row; columns are found by name, whatever their case.
pub struct ImportRow<'a> {
    columns: &'a [String],
    cells: &'a StringRecord,
}

impl ImportRow<'_> {
    /// The first cell that is not empty of the named columns.
    pub fn get(&self, names: &[&str]) -> &str {
        let cell = |name: &&str| {
            let column = self.columns.iter().position(|column| column == name)?;
            self.cells.get(column).map(str::trim)
        };
        let mut cells = names.iter().filter_map(cell);
        cells.find(|cell| !cell.is_empty()).unwrap_or_default()
    }
}

/// Calls `each` for every row.
pub fn each_row(
    input: &mut ImportInput<'_>,
    mut each: impl FnMut(&ImportRow<'_>) -> Result<(), ReadFault>,
) -> Result<(), ReadFault> {
    let delimiter = delimiter(input.peek()?) as u8;
    let allowance = input.allowance();
    let is_quoted = Rc::new(Cell::new(false));
    let watched = QuoteWatch {
        input,
        delimiter,
        cell: CellPart::Start,
        is_quoted: Rc::clone(&is_quoted),
    };
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .from_reader(watched);
    let headers = reader.headers().map_err(fault)?;
    let columns: Vec<String> = headers.iter().map(column_name).collect();
    let mut cells = StringRecord::new();
    loop {
        allowance.renew();
        if !reader.read_record(&mut cells).map_err(fault)? {
            return match is_quoted.get() {
                true => Err(ReadFault::Damaged(UNCLOSED.to_owned())),
                false => Ok(()),
            };
        }
        // Joined files repeat the names of the columns.
        let is_header = cells.iter().map(column_name).eq(columns.iter().cloned());
        if is_header || cells.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        let row = ImportRow {
            columns: &columns,
            cells: &cells,
        };
        each(&row)?;
    }
}

/// A column as recognisers and readers name it.
pub fn column_name(text: &str) -> String {
    text.trim().trim_matches('"').to_lowercase()
}

/// The text before the first end of a line, also that of old Macs.
pub fn first_line(text: &str) -> &str {
    text.split(['\r', '\n']).next().unwrap_or_default()
}

/// The most frequent separator of the first line.
pub fn delimiter(text: &str) -> char {
    let line = first_line(text);
    let count = |separator: char| line.matches(separator).count();
    [',', ';', '\t', '|']
        .into_iter()
        .max_by_key(|one| (count(*one), *one == ','))
        .unwrap_or(',')
}

/// Where a byte is in its cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellPart {
    Start,
    Bare,
    Quoted,
    /// Behind a quote in a quoted cell: the end of the cell, or the first of two.
    Quote,
}

/// Passes a table on, and watches whether a quoted cell is open: the reader of CSV ends such a cell
/// with the file and reports nothing.
struct QuoteWatch<'a, 'b> {
    input: &'a mut ImportInput<'b>,
    delimiter: u8,
    cell: CellPart,
    is_quoted: Rc<Cell<bool>>,
}

impl Read for QuoteWatch<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        let read = self.input.read(buffer)?;
        for byte in &buffer[..read] {
            let is_end = *byte == self.delimiter || matches!(byte, b'\r' | b'\n');
            self.cell = match (self.cell, *byte) {
                (CellPart::Start | CellPart::Quote, b'"') => CellPart::Quoted,
                (CellPart::Quoted, b'"') => CellPart::Quote,
                (CellPart::Quoted, _) => CellPart::Quoted,
                _ if is_end => CellPart::Start,
                _ => CellPart::Bare,
            };
        }
        self.is_quoted.set(self.cell == CellPart::Quoted);
        Ok(read)
    }
}

fn fault(error: csv::Error) -> ReadFault {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => ReadFault::from(error),
        kind => ReadFault::Damaged(format!("the table is damaged: {kind:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_frequent_separator_of_the_first_line_divides_a_table() {
        for (text, expected) in [
            ("Title,Severity,Url\nA|B|C|D,High,x", ','),
            ("Title;Severity;Description, long", ';'),
            ("Title\tSeverity\tUrl", '\t'),
            ("Title|Severity|Description|Url\nA|High|d, e|x", '|'),
            ("Title", ','),
        ] {
            assert_eq!(delimiter(text), expected, "{text}");
        }
    }
}
