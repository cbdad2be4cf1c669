//! Tables that Excel and LibreOffice open as they are meant: no formulas, UTF-8, and the limits of
//! a sheet.
//!
//! The limits are those of "Excel specifications and limits" by Microsoft; LibreOffice has the same
//! or higher ones.

use std::io::{self, Write};

use csv::{QuoteStyle, Terminator, WriterBuilder};

use super::RenderError;
use scandeck_wire::text;

/// Longest text of a cell, in UTF-16 units.
const CELL: usize = 32_767;
/// Most rows of a sheet, header row included.
const ROWS: usize = 1_048_576;
/// Bytes that wait for the decision about the byte order mark.
const HELD: usize = 1 << 20;

/// A CSV file (RFC 4180, UTF-8) for spreadsheets. Every cell below the header is quoted; the names
/// of the columns need no quotes.
pub struct CsvTable<W: Write> {
    writer: csv::Writer<ByteOrderMark<W>>,
    rows: usize,
}

impl<W: Write> CsvTable<W> {
    /// A table with these columns.
    ///
    /// # Errors
    /// When the header cannot be written.
    pub fn new<'a>(
        out: W,
        columns: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, RenderError> {
        let mut out = ByteOrderMark {
            out,
            held: Some(Vec::new()),
        };
        write!(
            out,
            "{}\r\n",
            columns.into_iter().collect::<Vec<_>>().join(",")
        )?;
        let mut style = WriterBuilder::new();
        style
            .terminator(Terminator::CRLF)
            .quote_style(QuoteStyle::Always);
        Ok(Self {
            writer: style.from_writer(out),
            rows: 1,
        })
    }

    /// Writes a row of cells that are clean text.
    ///
    /// # Errors
    /// When the table is full, or cannot be written.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) -> Result<(), RenderError> {
        require_room(self.rows)?;
        self.rows += 1;
        Ok(self
            .writer
            .write_record(cells.into_iter().map(|cell| within_cell(&neutral(&cell))))?)
    }

    /// The complete file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> Result<W, RenderError> {
        let written = self
            .writer
            .into_inner()
            .map_err(|error| error.into_error())?;
        Ok(written.finish()?)
    }
}

/// Fails when a table with this number of rows is full.
pub(super) fn require_room(rows: usize) -> Result<(), RenderError> {
    if rows < ROWS {
        Ok(())
    } else {
        Err(RenderError::Rows)
    }
}

/// Prefixes an apostrophe where a spreadsheet would read a formula: at the start of a cell, and in
/// a cell behind line breaks and separators, because Excel splits a comma file at the separator of
/// its language, whatever the quotes. A negative number remains a number.
pub fn neutral(cell: &str) -> String {
    if is_negative_number(cell) {
        return cell.to_owned();
    }
    let mut out = String::with_capacity(cell.len() + 1);
    for (at, part) in cell.split_inclusive([';', '\t', '\n', '\r']).enumerate() {
        if is_formula(part) || at == 0 && part.starts_with(['\t', '\n', '\r']) {
            out.push('\'');
        }
        out.push_str(part);
    }
    out
}

fn is_negative_number(cell: &str) -> bool {
    cell.strip_prefix('-').is_some_and(|digits| {
        digits.starts_with(|c: char| c.is_ascii_digit())
            && digits
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

/// Whether a cell with this text would be a formula. Spreadsheets skip blanks, and those of East
/// Asian languages also read wide and small forms of the signs.
fn is_formula(part: &str) -> bool {
    let text = part.trim_start_matches(|c: char| c.is_whitespace() || c == '"');
    text.starts_with([
        '=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫',
    ])
}

/// Text that fits into a cell; a mark counts the characters that do not.
pub(super) fn within_cell(text: &str) -> String {
    // A character has at most as many UTF-16 units as bytes.
    if text.len() <= CELL || text.encode_utf16().count() <= CELL {
        return text.to_owned();
    }
    let mark = |dropped| format!(" […{} more characters]", text::thousands(dropped as u64));
    let room = CELL - mark(text.len()).len();
    let (mut units, mut end) = (0, text.len());
    for (at, c) in text.char_indices() {
        units += c.len_utf16();
        if units > room {
            end = at;
            break;
        }
    }
    let dropped = text[end..].chars().count();
    format!("{}{}", &text[..end], mark(dropped))
}

/// Starts a file with a byte order mark unless it is short and all of it is ASCII: without the
/// mark, Excel reads the encoding of its system. Many programs read the mark as part of the first
/// name, so a file that needs none has none.
struct ByteOrderMark<W> {
    out: W,
    /// The start of the file, until it contains other than ASCII or is too long to hold.
    held: Option<Vec<u8>>,
}

impl<W: Write> ByteOrderMark<W> {
    fn finish(mut self) -> io::Result<W> {
        self.out.write_all(&self.held.take().unwrap_or_default())?;
        self.out.flush()?;
        Ok(self.out)
    }
}

impl<W: Write> Write for ByteOrderMark<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(held) = &mut self.held else {
            return self.out.write(bytes);
        };
        held.extend_from_slice(bytes);
        if !bytes.is_ascii() || held.len() > HELD {
            let held = self.held.take().unwrap_or_default();
            self.out.write_all("\u{feff}".as_bytes())?;
            self.out.write_all(&held)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_neutralised_wherever_a_cell_can_start() {
        for (cell, expected) in [
            ("=1+1", "'=1+1"),
            (" =1+1", "' =1+1"),
            ("\u{a0}=1", "'\u{a0}=1"),
            ("\u{3000}＝1", "'\u{3000}＝1"),
            ("＋1", "'＋1"),
            ("﹫SUM(1)", "'﹫SUM(1)"),
            ("@SUM(1)", "'@SUM(1)"),
            ("x;=HYPERLINK(1)", "x;'=HYPERLINK(1)"),
            ("x\"; \"=1", "x\";' \"=1"),
            ("a\n=1\n- b", "a\n'=1\n'- b"),
            ("\tx", "'\tx"),
            ("\rx", "'\rx"),
            ("-1+cmd|'/C calc'!A0", "'-1+cmd|'/C calc'!A0"),
            ("+49 30 1", "'+49 30 1"),
            ("-5", "-5"),
            ("-0.25", "-0.25"),
            ("1;-7", "1;'-7"),
            ("-1..cmd", "'-1..cmd"),
            ("-", "'-"),
            ("a=1; b=2", "a=1; b=2"),
            ("", ""),
        ] {
            assert_eq!(neutral(cell), expected, "{cell:?}");
        }
    }

    fn table(cells: &[&str]) -> String {
        let mut table = CsvTable::new(Vec::new(), ["id", "name"]).unwrap();
        table
            .row(cells.iter().map(|cell| (*cell).to_owned()))
            .unwrap();
        String::from_utf8(table.finish().unwrap()).unwrap()
    }

    #[test]
    fn csv_file_has_byte_order_mark_unless_it_is_ascii() {
        assert_eq!(
            table(&["1", "a \"b\""]),
            "id,name\r\n\"1\",\"a \"\"b\"\"\"\r\n"
        );
        assert_eq!(
            table(&["1", "Büro"]),
            "\u{feff}id,name\r\n\"1\",\"Büro\"\r\n"
        );
        let long = "x".repeat(30_000);
        let mut table = CsvTable::new(Vec::new(), ["id"]).unwrap();
        (0..40).for_each(|_| table.row([long.clone()]).unwrap());
        let bytes = table.finish().unwrap();
        assert!(bytes.starts_with("\u{feff}id\r\n".as_bytes()) && bytes.ends_with(b"x\"\r\n"));
        assert_eq!(bytes.len(), 3 + 4 + 40 * (long.len() + 4));
    }

    #[test]
    fn full_table_is_an_error_with_the_limit() {
        require_room(ROWS - 1).unwrap();
        let error = require_room(ROWS).unwrap_err().to_string();
        assert!(error.contains("1,048,576 rows"), "{error}");
    }

    #[test]
    fn long_text_is_cut_at_the_limit_of_a_cell_with_a_mark() {
        let long = "😀".repeat(20_000);
        let cut = within_cell(&long);
        assert!(
            cut.encode_utf16().count() <= CELL,
            "{}",
            cut.encode_utf16().count()
        );
        assert!(
            cut.ends_with(" more characters]"),
            "{}",
            &cut[cut.len() - 40..]
        );
        let exact = "x".repeat(CELL);
        assert_eq!(within_cell(&exact), exact);
        assert!(table(&["=", &"x".repeat(CELL)]).contains("\"'=\",\"x"));
    }
}
