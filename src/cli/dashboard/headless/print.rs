//! Output of the commands: aligned tables or JSON. Outside text is sanitised here.

use std::borrow::Cow;
use std::io::{IsTerminal, stderr, stdout};

use serde::Serialize;
use serde_json::Value;

use crate::cli::stdio;
use scandeck_wire::text;

/// Spaces between two columns.
const GAP: usize = 2;
/// Columns are not truncated below this width.
const MIN_WIDTH: usize = 12;

/// Standard output.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Whether to print JSON instead of tables.
    pub json: bool,
    /// Width of the terminal, if the output is one.
    columns: Option<usize>,
    /// Whether to print text of the service unchanged on a terminal too.
    raw: bool,
}

impl Output {
    pub fn new(json: bool) -> Self {
        let columns = || {
            crossterm::terminal::size()
                .ok()
                .map(|(columns, _)| usize::from(columns))
        };
        Self {
            json,
            columns: if stdout().is_terminal() {
                columns()
            } else {
                None
            },
            raw: false,
        }
    }

    /// Columns of the terminal, if the output is one.
    pub fn columns(self) -> Option<u16> {
        self.columns.and_then(|columns| u16::try_from(columns).ok())
    }

    /// With `raw`, text of the service is printed unchanged on a terminal too.
    pub fn with_raw(self, raw: bool) -> Self {
        Self { raw, ..self }
    }

    /// Prints a list as a JSON array or a table.
    ///
    /// # Errors
    /// When an item cannot be serialised, and when the output cannot be written.
    pub fn list<T: Serialize>(
        self,
        items: &[T],
        table: impl FnOnce() -> PrintTable,
    ) -> anyhow::Result<()> {
        if self.json {
            return self.value(&items);
        }
        self.table(&table())
    }

    /// Prints a table.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn table(self, table: &PrintTable) -> anyhow::Result<()> {
        if !table.rows.is_empty() {
            return stdio::print(table.text(self.columns).as_bytes());
        }
        if stderr().is_terminal() {
            // Scripts read an empty output; people read a message.
            note!("no results");
        }
        Ok(())
    }

    /// Prints an item as a JSON object, or with one field per line.
    ///
    /// # Errors
    /// When the item cannot be serialised, and when the output cannot be written.
    pub fn single<T: Serialize>(self, item: &T) -> anyhow::Result<()> {
        if self.json {
            return self.value(item);
        }
        let value = serde_json::to_value(item)?;
        stdio::print(fields(&value).as_bytes())
    }

    /// As [`single`](Self::single), with labels in place of the field names outside JSON. A field
    /// without a label is named in words.
    ///
    /// # Errors
    /// Those of [`single`](Self::single).
    pub fn labelled<T: Serialize>(self, item: &T, labels: &[(&str, &str)]) -> anyhow::Result<()> {
        if self.json {
            return self.value(item);
        }
        stdio::print(fields(&with_labels(serde_json::to_value(item)?, labels)).as_bytes())
    }

    /// Prints the id of a new object for `id=$(scandeck … create …)`, or a JSON object with the id.
    ///
    /// # Errors
    /// Those of [`value`](Self::value).
    pub fn created(self, name: &str, id: i64) -> anyhow::Result<()> {
        if self.json {
            return self.value(&serde_json::json!({ name: id }));
        }
        stdio::print(format!("{id}\n").as_bytes())
    }

    /// Prints a value as JSON.
    ///
    /// # Errors
    /// When the item cannot be serialised, and when the output cannot be written.
    pub fn value<T: Serialize>(self, value: &T) -> anyhow::Result<()> {
        let json = serde_json::to_string_pretty(value)?;
        stdio::print(format!("{}\n", text::escaped_json(&json)).as_bytes())
    }

    /// Prints text of the service: sanitised on a terminal unless `--raw`, unchanged in a file or a
    /// pipe.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn outside(self, bytes: &[u8]) -> anyhow::Result<()> {
        if self.columns.is_some() && !self.raw {
            stdio::print(format!("{}\n", text::clean_bytes(bytes)).as_bytes())
        } else {
            stdio::print(bytes)
        }
    }

    /// Prints a command that acts on no terminal, as [`text::quoted`] makes it. Its bytes are not
    /// changed, also on a terminal, because they are copied from there.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn command(self, command: &str) -> anyhow::Result<()> {
        stdio::print(format!("{command}\n").as_bytes())
    }

    /// Prints one line.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn line(self, line: &str) -> anyhow::Result<()> {
        stdio::print(format!("{}\n", text::clean(line)).as_bytes())
    }
}

/// The object with labels as keys.
fn with_labels(value: Value, labels: &[(&str, &str)]) -> Value {
    let Value::Object(fields) = value else {
        return value;
    };
    let label = |name: &str| match labels.iter().find(|(field, _)| *field == name) {
        Some((_, label)) => (*label).to_owned(),
        None => {
            let mut words = name.replace('_', " ");
            if let Some(first) = words.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            words
        }
    };
    fields
        .into_iter()
        .map(|(name, value)| (label(&name), value))
        .collect()
}

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

    /// The aligned table. On a terminal the widest columns are truncated to fit, and the last ones
    /// are left out where that is not enough; a file or a pipe gets everything.
    pub fn text(&self, columns: Option<usize>) -> String {
        let header: Vec<String> = self.header.iter().map(|name| (*name).to_owned()).collect();
        let width = |at: usize, row: &Vec<String>| row.get(at).map_or(0, |cell| text::width(cell));
        let mut widths: Vec<usize> = (0..header.len())
            .map(|at| {
                self.rows
                    .iter()
                    .chain([&header])
                    .map(|row| width(at, row))
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        if let Some(columns) = columns {
            widths.truncate(with_room(&widths, columns));
            fit(&mut widths, columns);
        }
        let is_number = |cell: &String| {
            cell.bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'.' | b'%'))
        };
        let right: Vec<bool> = (0..header.len())
            .map(|at| {
                !self.rows.is_empty()
                    && self
                        .rows
                        .iter()
                        .all(|row| row.get(at).is_some_and(is_number))
            })
            .collect();
        let mut out = String::new();
        for row in [&header].into_iter().chain(&self.rows) {
            let mut line = String::new();
            for (at, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let cell = text::start(cell, width);
                let pad = " ".repeat(width.saturating_sub(text::width(&cell)));
                let gap = if at == 0 { "" } else { &" ".repeat(GAP) };
                line.push_str(&if right[at] {
                    format!("{gap}{pad}{cell}")
                } else {
                    format!("{gap}{cell}{pad}")
                });
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
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

/// One field per line; further lines of a text or list are indented.
fn fields(value: &Value) -> String {
    let Value::Object(fields) = value else {
        return format!("{}\n", text::clean_text(&plain(value)));
    };
    let widest = fields
        .keys()
        .map(|name| text::width(name))
        .max()
        .unwrap_or(0);
    let mut out = String::new();
    for (name, value) in fields {
        let shown = plain(value);
        let shown = if shown.is_empty() {
            text::clean_text("–")
        } else {
            text::clean_text(&shown)
        };
        let pad = " ".repeat(widest.saturating_sub(text::width(name)) + GAP);
        let indent = format!("\n{}", " ".repeat(widest + GAP));
        out.push_str(
            format!("{}{pad}{}", text::clean(name), shown.replace('\n', &indent)).trim_end(),
        );
        out.push('\n');
    }
    out
}

/// Whether a value is an object without further objects or lists.
fn is_flat(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| {
        !fields
            .values()
            .any(|field| field.is_object() || field.is_array())
    })
}

fn plain(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed("–"),
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(items) if items.iter().all(Value::is_string) => Cow::Owned(
            items
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join("\n"),
        ),
        Value::Array(items) if !items.iter().any(|item| item.is_object() || item.is_array()) => {
            Cow::Owned(items.iter().map(plain).collect::<Vec<_>>().join(", "))
        }
        // Such as notes: text, author and time.
        Value::Array(items) if items.iter().all(is_flat) => {
            let line = |item: &Value| {
                let values = item
                    .as_object()
                    .into_iter()
                    .flat_map(|fields| fields.values());
                values.map(plain).collect::<Vec<_>>().join("  ")
            };
            Cow::Owned(items.iter().map(line).collect::<Vec<_>>().join("\n"))
        }
        other => Cow::Owned(format!("{other:#}")),
    }
}

/// The value, or a dash if it is unknown.
pub fn or_dash<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| value.to_string())
}

/// The cells of a table row, as texts.
macro_rules! cells {
    ($($cell:expr),* $(,)?) => { [$($cell.to_string()),*] };
}
pub(super) use cells;

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

    #[test]
    fn labels_replace_field_names() {
        let value = serde_json::json!({"vuln_id": "K", "first_seen": "now"});
        assert_eq!(
            fields(&with_labels(value, &[("vuln_id", "Kind")])),
            "Kind        K\nFirst seen  now\n"
        );
    }

    #[test]
    fn single_item_has_one_field_per_line() {
        let value = serde_json::json!({"id": 4, "name": "a\x07", "lines": ["one", "two"], "none": null, "ids": [3, 5], "tags": [],
            "notes": [{"text": "checked", "who": "ann"}, {"text": "again", "who": "bob"}]});
        assert_eq!(
            fields(&value),
            "id     4\nname   a␇\nlines  one\n       two\nnone   –\nids    3, 5\ntags   –\nnotes  checked  ann\n       again  bob\n"
        );
    }
}
