//! What commands print: aligned tables, or JSON. Outside text passes the one door here.

use std::borrow::Cow;
use std::io::{IsTerminal, Write, stderr, stdout};

use serde::Serialize;
use serde_json::Value;

use crate::text;

/// Columns between two of a table.
const GAP: usize = 2;
/// A column is not cut below this.
const LEAST: usize = 12;

/// Where answers go.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// JSON in place of tables.
    pub json: bool,
    /// Columns of the terminal; nothing where the output is none.
    columns: Option<usize>,
}

impl Output {
    /// Standard output.
    pub fn new(json: bool) -> Self {
        let columns = || crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns));
        Self { json, columns: if stdout().is_terminal() { columns() } else { None } }
    }

    /// Whether somebody may be looking at it.
    pub fn is_terminal(self) -> bool {
        self.columns.is_some()
    }

    /// A list: as one JSON array, or as a table.
    ///
    /// # Errors
    /// When an item has no JSON form.
    pub fn list<T: Serialize>(self, items: &[T], table: impl FnOnce() -> PrintTable) -> anyhow::Result<()> {
        if self.json {
            return self.value(&items);
        }
        let table = table();
        if table.rows.is_empty() {
            // An empty table on standard output is an answer to a script, an empty screen is none to a person.
            if stderr().is_terminal() {
                eprintln!("nothing there");
            }
            return Ok(());
        }
        self.put(table.text(self.columns).as_bytes());
        Ok(())
    }

    /// A single thing: as one JSON object, or a line a field.
    ///
    /// # Errors
    /// When it has no JSON form.
    pub fn single<T: Serialize>(self, item: &T) -> anyhow::Result<()> {
        if self.json {
            return self.value(item);
        }
        let value = serde_json::to_value(item)?;
        self.put(fields(&value).as_bytes());
        Ok(())
    }

    /// What was made: its id alone, for `id=$(scandeck … create …)`, or an object that holds it.
    ///
    /// # Errors
    /// Never in practice.
    pub fn created(self, name: &str, id: i64) -> anyhow::Result<()> {
        if self.json {
            return self.value(&serde_json::json!({ name: id }));
        }
        self.put(format!("{id}\n").as_bytes());
        Ok(())
    }

    /// Any value as JSON.
    ///
    /// # Errors
    /// When it has no JSON form.
    pub fn value<T: Serialize>(self, value: &T) -> anyhow::Result<()> {
        let json = serde_json::to_string_pretty(value)?;
        self.put(text::escaped_json(&json).as_bytes());
        self.put(b"\n");
        Ok(())
    }

    /// Text of the service: cleaned on a terminal, exactly as it came for a file or another program.
    pub fn outside(self, bytes: &[u8]) {
        if self.is_terminal() {
            self.put(text::clean_bytes(bytes).as_bytes());
            self.put(b"\n");
        } else {
            self.put(bytes);
        }
    }

    /// One line of ours.
    pub fn line(self, line: &str) {
        self.put(format!("{}\n", text::clean(line)).as_bytes());
    }

    fn put(self, bytes: &[u8]) {
        // Who closed our output has read enough.
        let _ = stdout().lock().write_all(bytes);
    }
}

/// Rows under heads.
#[derive(Clone, Debug)]
pub struct PrintTable {
    heads: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl PrintTable {
    /// Without rows yet.
    pub fn new(heads: &[&'static str]) -> Self {
        Self { heads: heads.to_vec(), rows: Vec::new() }
    }

    /// One row; every cell is made visible text of one line.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.iter().map(|cell| text::clean(cell).into_owned()).collect());
    }

    /// Aligned. In a terminal the widest columns are cut until it fits; for a file or a program nothing is.
    pub fn text(&self, columns: Option<usize>) -> String {
        let heads: Vec<String> = self.heads.iter().map(|head| (*head).to_owned()).collect();
        let width = |at: usize, row: &Vec<String>| row.get(at).map_or(0, |cell| text::width(cell));
        let mut widths: Vec<usize> = (0..heads.len())
            .map(|at| self.rows.iter().chain([&heads]).map(|row| width(at, row)).max().unwrap_or(0))
            .collect();
        if let Some(columns) = columns {
            fit(&mut widths, columns);
        }
        let is_number = |cell: &String| cell.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'.' | b'%'));
        let right: Vec<bool> = (0..heads.len())
            .map(|at| !self.rows.is_empty() && self.rows.iter().all(|row| row.get(at).is_some_and(is_number)))
            .collect();
        let mut out = String::new();
        for row in [&heads].into_iter().chain(&self.rows) {
            let mut line = String::new();
            for (at, cell) in row.iter().enumerate() {
                let cell = text::start(cell, widths[at]);
                let pad = " ".repeat(widths[at].saturating_sub(text::width(&cell)));
                let gap = if at == 0 { "" } else { &" ".repeat(GAP) };
                line.push_str(&if right[at] { format!("{gap}{pad}{cell}") } else { format!("{gap}{cell}{pad}") });
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

/// Takes columns off the widest until all fit, or nothing wide is left.
fn fit(widths: &mut [usize], columns: usize) {
    let gaps = GAP * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > columns {
        match widths.iter_mut().max() {
            Some(widest) if *widest > LEAST => *widest -= 1,
            _ => return,
        }
    }
}

/// A line a field; lists of texts and longer texts below each other, indented.
fn fields(value: &Value) -> String {
    let Value::Object(fields) = value else { return format!("{}\n", text::clean_text(&plain(value))) };
    let widest = fields.keys().map(|name| text::width(name)).max().unwrap_or(0);
    let mut out = String::new();
    for (name, value) in fields {
        let shown = plain(value);
        let shown = text::clean_text(&shown);
        let pad = " ".repeat(widest.saturating_sub(text::width(name)) + GAP);
        let indent = format!("\n{}", " ".repeat(widest + GAP));
        out.push_str(format!("{}{pad}{}", text::clean(name), shown.replace('\n', &indent)).trim_end());
        out.push('\n');
    }
    out
}

fn plain(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed("–"),
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            Cow::Owned(items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"))
        }
        other => Cow::Owned(format!("{other:#}")),
    }
}

/// A count that may be unknown.
pub fn count(number: Option<i64>) -> String {
    number.map_or_else(|| "–".to_owned(), |number| number.to_string())
}

/// A point in time that may be missing.
pub fn stamp(at: Option<crate::contract::Stamp>) -> String {
    at.map_or_else(|| "–".to_owned(), |at| at.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> PrintTable {
        let mut table = PrintTable::new(&["ID", "NAME", "NOTE"]);
        table.row(["7".into(), "shop\x1b[31m".into(), String::new()]);
        table.row(["112".into(), "a name that is far longer than others".into(), "x".into()]);
        table
    }

    #[test]
    fn numbers_stand_right_and_nothing_is_cut_for_a_program() {
        let text = table().text(None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "ID   NAME                                   NOTE".replacen("ID ", " ID", 1));
        assert_eq!(lines[1], "  7  shop␛[31m");
        assert!(lines[2].ends_with("longer than others  x"), "{text}");
    }

    #[test]
    fn a_terminal_gets_lines_that_fit() {
        let text = table().text(Some(40));
        assert!(text.lines().all(|line| text::width(line) <= 40), "{text}");
        assert!(text.contains("a name that") && text.contains('…'), "{text}");
    }

    #[test]
    fn a_single_thing_is_a_line_a_field() {
        let value = serde_json::json!({"id": 4, "name": "a\x07", "lines": ["one", "two"], "none": null});
        assert_eq!(fields(&value), "id     4\nname   a␇\nlines  one\n       two\nnone   –\n");
    }
}
