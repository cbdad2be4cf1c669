//! Output of the commands: aligned tables or JSON. Outside text is sanitised here.

mod table;

use std::borrow::Cow;
use std::io::{IsTerminal, stderr, stdout};

use serde::Serialize;
use serde_json::Value;

pub use table::PrintTable;

use crate::cli::stdio;
use scandeck_wire::text;

/// Spaces between two columns.
const GAP: usize = 2;

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
        if !table.is_empty() {
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
