//! A JSON value as an indented tree, one line per value.

use crate::ui::Theme;
use ratatui::text::{Line, Span};
use scandeck_wire::text;
use serde_json::Value;

/// Deepest level of the tree; deeper values are shown as JSON on one line.
const DEEPEST: usize = 12;

/// The lines of a value. The lines of a multi-line string are indented below its key.
pub fn tree_lines(theme: Theme, value: &Value) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    match value {
        Value::Object(_) | Value::Array(_) => put_children(theme, value, 0, &mut lines),
        scalar => put_scalar(theme, Vec::new(), scalar, 0, &mut lines),
    }
    lines
}

fn put_children(theme: Theme, value: &Value, depth: usize, lines: &mut Vec<Line<'static>>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let head = vec![
                    indent(depth),
                    Span::styled(text::clean(key).into_owned(), theme.key()),
                ];
                put_value(theme, head, value, depth, lines);
            }
        }
        Value::Array(items) => {
            for value in items {
                put_value(
                    theme,
                    vec![indent(depth), Span::styled("-", theme.dim())],
                    value,
                    depth,
                    lines,
                );
            }
        }
        _ => {}
    }
}

fn put_value(
    theme: Theme,
    mut head: Vec<Span<'static>>,
    value: &Value,
    depth: usize,
    lines: &mut Vec<Line<'static>>,
) {
    let size = match value {
        Value::Object(fields) => fields.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    };
    if size > 0 && depth < DEEPEST {
        head.push(Span::styled(
            if value.is_array() {
                format!(" [{size}]")
            } else {
                String::new()
            },
            theme.dim(),
        ));
        lines.push(Line::from(head));
        put_children(theme, value, depth + 1, lines);
    } else {
        head.push(Span::raw(" "));
        put_scalar(theme, head, value, depth + 1, lines);
    }
}

fn put_scalar(
    theme: Theme,
    mut head: Vec<Span<'static>>,
    value: &Value,
    depth: usize,
    lines: &mut Vec<Line<'static>>,
) {
    match value {
        Value::String(words) => {
            let words = text::clean_text(words);
            let mut parts = words.split('\n');
            head.push(Span::raw(parts.next().unwrap_or_default().to_owned()));
            lines.push(Line::from(head));
            lines.extend(
                parts.map(|part| Line::from(vec![indent(depth), Span::raw(part.to_owned())])),
            );
        }
        other => {
            head.push(Span::styled(
                text::clean(&other.to_string()).into_owned(),
                theme.active(),
            ));
            lines.push(Line::from(head));
        }
    }
}

fn indent(depth: usize) -> Span<'static> {
    Span::raw("  ".repeat(depth))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nested_values_are_indented_below_key() {
        let value = json!({"ip": "127.0.0.1", "ports": [{"number": 80, "state": "open"}, "a\nb"], "none": null, "e": []});
        let text: Vec<String> = tree_lines(Theme::default(), &value)
            .iter()
            .map(Line::to_string)
            .collect();
        let expected = [
            "ip 127.0.0.1",
            "ports [2]",
            "  -",
            "    number 80",
            "    state open",
            "  - a",
            "    b",
            "none null",
            "e []",
        ];
        assert_eq!(text, expected);
    }

    #[test]
    fn deeply_nested_value_ends_at_deepest_level() {
        let mut value = json!("end");
        for _ in 0..100 {
            value = json!([value]);
        }
        assert_eq!(tree_lines(Theme::default(), &value).len(), DEEPEST + 1);
    }
}
