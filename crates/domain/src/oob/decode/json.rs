//! JSON formatting without parsing into values: numbers, escapes and duplicate keys remain as sent.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::DecodedPart;

/// Maximum indentation depth.
const INDENTED: usize = 24;
/// Maximum number of strings that are decoded.
const MOST: usize = 200;

/// An object or array with one member per line, at most about `limit` bytes; `None` for anything
/// else.
pub fn laid_out(text: &str, limit: usize) -> Option<String> {
    if !text.starts_with(['{', '[']) || serde_json::from_str::<IgnoredAny>(text).is_err() {
        return None;
    }
    let mut out = String::with_capacity(text.len() * 2);
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    let mut chars = text
        .chars()
        .filter(|c| !c.is_ascii_whitespace() || *c == ' ')
        .peekable();
    while let Some(c) = chars.next() {
        if out.len() > limit {
            break;
        }
        match c {
            _ if in_string => {
                out.push(c);
                in_string = escaped || c != '"';
                escaped = c == '\\' && !escaped;
            }
            ' ' => {}
            '{' | '[' => {
                depth += 1;
                out.push(c);
                while chars.next_if_eq(&' ').is_some() {}
                match chars.next_if(|&next| next == '}' || next == ']') {
                    Some(close) => {
                        depth -= 1;
                        out.push(close);
                    }
                    None => new_line(&mut out, depth),
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c => {
                in_string = c == '"';
                out.push(c);
            }
        }
    }
    Some(out)
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.push_str(&"  ".repeat(depth.min(INDENTED)));
}

/// The strings in a document by path, such as `user.names[0]`.
pub fn strings(text: &str) -> Vec<DecodedPart> {
    let mut parts = Vec::new();
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        collect(&value, "", &mut parts);
    }
    parts
}

fn collect(value: &Value, place: &str, parts: &mut Vec<DecodedPart>) {
    if parts.len() >= MOST {
        return;
    }
    match value {
        Value::String(text) => {
            parts.push(DecodedPart {
                name: place.to_owned(),
                value: text.as_bytes().to_vec(),
                steps: Vec::new(),
            });
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(at, item)| collect(item, &format!("{place}[{at}]"), parts));
        }
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            let dot = if place.is_empty() { "" } else { "." };
            collect(member, &format!("{place}{dot}{name}"), parts);
        }),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formatted_json_keeps_duplicates_numbers_and_escapes() {
        let text = r#"{"a":1.50,"a" : [ ],"b":[{"c\"}":"\u0041, x: {"}, 12345678901234567890123]}"#;
        let lines = [
            "{",
            r#"  "a": 1.50,"#,
            r#"  "a": [],"#,
            r#"  "b": ["#,
            "    {",
            r#"      "c\"}": "\u0041, x: {""#,
            "    },",
            "    12345678901234567890123",
            "  ]",
            "}",
        ];
        assert_eq!(laid_out(text, 10_000).unwrap(), lines.join("\n"));
        assert_eq!(laid_out("{\"a\":", 100), None);
        assert_eq!(laid_out("12", 100), None);
    }

    #[test]
    fn json_strings_are_named_by_path() {
        let names: Vec<_> = strings(r#"{"a":{"b":["x",1,"y"]},"c":"z"}"#)
            .into_iter()
            .map(|part| part.name)
            .collect();
        assert_eq!(names, ["a.b[0]", "a.b[2]", "c"]);
    }

    #[test]
    fn deeply_nested_json_has_bounded_size() {
        let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
        assert!(laid_out(&deep, 1_000).unwrap().len() < 1_200);
        assert!(strings(&deep).is_empty());
    }

    proptest! {
        #[test]
        fn formatted_json_has_the_same_value(names: Vec<String>, number: i64) {
            let value = serde_json::json!({"names": names, "nested": {"number": number, "none": null}});
            let text = value.to_string();
            prop_assert_eq!(serde_json::from_str::<Value>(&laid_out(&text, 1 << 20).unwrap()).unwrap(), value);
        }
    }
}
