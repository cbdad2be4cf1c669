//! Excel and LibreOffice as readers of tables. Limits: "Excel specifications and limits" by
//! Microsoft. Formulas: "CSV Injection" by OWASP, which names the separators of other languages,
//! and CWE-1236. Encoding: Excel reads UTF-8 only behind a byte order mark; RFC 4180 has the
//! quotes.

use std::io::Cursor;

use calamine::{Reader, Xlsx};

/// Longest text of a cell, in UTF-16 units.
const CELL: usize = 32_767;
const ROWS: usize = 1_048_576;
const COLUMNS: usize = 16_384;
/// Separators of lists in the languages of Excel, other than the comma, and line ends.
const OTHER_SEPARATORS: [char; 4] = [';', '\t', '\n', '\r'];

pub fn csv_refusals(file: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let text = std::str::from_utf8(file).unwrap();
    let content = text.trim_start_matches('\u{feff}');
    if content.len() == text.len() && !text.is_ascii() {
        found.push("no byte order mark".to_owned());
    }
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(content.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    check_size(
        rows.len(),
        rows.first().map_or(0, csv::StringRecord::len),
        &mut found,
    );
    rows.iter()
        .flatten()
        .for_each(|cell| check_cell(cell, &mut found));
    // Excel ignores quotes that do not begin a cell, so another separator also splits quoted text.
    let parts = content
        .split(OTHER_SEPARATORS)
        .filter(|part| is_formula(part));
    found.extend(parts.map(|part| format!("formula behind a separator: {part:?}")));
    if !content.ends_with(&quoted(&rows[1..])) {
        found.push("a cell below the header has no quotes".to_owned());
    }
    found
}

/// The rows with every cell in quotes.
fn quoted(rows: &[csv::StringRecord]) -> String {
    let cell = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
    rows.iter()
        .map(|row| row.iter().map(cell).collect::<Vec<_>>().join(",") + "\r\n")
        .collect()
}

pub fn xlsx_refusals(file: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(file)).unwrap();
    for name in book.sheet_names() {
        let sheet = book.worksheet_range(&name).unwrap();
        check_size(sheet.height(), sheet.width(), &mut found);
        for (_, _, cell) in sheet.used_cells() {
            if cell.to_string().encode_utf16().count() > CELL {
                found.push("a cell is too long".to_owned());
            }
        }
        // A text that is written as a formula would be found here.
        let formulas = book.worksheet_formula(&name).unwrap();
        found.extend(
            formulas
                .used_cells()
                .filter(|(_, _, cell)| !cell.is_empty())
                .map(|(_, _, cell)| format!("formula {cell}")),
        );
    }
    found
}

fn check_size(rows: usize, columns: usize, found: &mut Vec<String>) {
    if rows > ROWS || columns > COLUMNS {
        found.push(format!("{rows} rows of {columns} columns"));
    }
}

fn check_cell(cell: &str, found: &mut Vec<String>) {
    if cell.encode_utf16().count() > CELL {
        found.push("a cell is too long".to_owned());
    }
    if is_formula(cell) {
        found.push(format!("formula: {cell:?}"));
    }
}

/// Whether a cell with this text is a formula; a negative number is none.
fn is_formula(cell: &str) -> bool {
    let text = cell.trim_start_matches(|c: char| c.is_whitespace() || c == '"');
    let number = text.strip_prefix('-').unwrap_or_default();
    let number = &number[..number.find('"').unwrap_or(number.len())];
    text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) && number.parse::<f64>().is_err()
}

#[test]
fn rules_refuse_formulas_long_cells_and_missing_mark() {
    for file in [
        "a\r\n\"=1\"\r\n",
        "a\r\n\" =1\"\r\n",
        "a\r\n\"x;=1\"\r\n",
        "a\r\n\"x\n@SUM(1)\"\r\n",
        "a\r\n\"é\"\r\n",
        "\u{feff}a\r\n\"＝é\"\r\n",
    ] {
        assert!(!csv_refusals(file.as_bytes()).is_empty(), "{file:?}");
    }
    assert_eq!(
        csv_refusals(format!("a\r\n\"{}\"\r\n", "x".repeat(CELL + 1)).as_bytes()).len(),
        1
    );
    assert_eq!(
        csv_refusals("\u{feff}a,b\r\n\"-5\",\"é\"\r\n".as_bytes()),
        [""; 0]
    );
}
