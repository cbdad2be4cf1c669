//! Streams CSV: rows by the names of their columns.

use csv::{ReaderBuilder, StringRecord};

use crate::input::{ImportInput, ReadFault};

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
    let delimiter = delimiter(input.peek()?);
    let allowance = input.allowance();
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter as u8)
        .flexible(true)
        .from_reader(input);
    let headers = reader.headers().map_err(fault)?;
    let columns: Vec<String> = headers.iter().map(column_name).collect();
    let mut cells = StringRecord::new();
    loop {
        allowance.renew();
        if !reader.read_record(&mut cells).map_err(fault)? {
            return Ok(());
        }
        if cells.iter().all(|cell| cell.trim().is_empty()) {
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

/// The most frequent separator of the first line.
pub fn delimiter(text: &str) -> char {
    let line = text.lines().next().unwrap_or_default();
    let count = |separator: char| line.matches(separator).count();
    [',', ';', '\t']
        .into_iter()
        .max_by_key(|one| (count(*one), *one == ','))
        .unwrap_or(',')
}

fn fault(error: csv::Error) -> ReadFault {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => ReadFault::from(error),
        kind => ReadFault::Damaged(format!("the table is damaged: {kind:?}")),
    }
}
