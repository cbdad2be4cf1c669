//! Laid-out JSON in the lines of a text: the path of each line, and folded members.
//!
//! ```text
//!   {                      $                          {
//!     "roles": [           roles       folded ─►        "roles": [ … 2 ],
//!       "admin",           roles[0]
//!       "guest"            roles[1]
//!     ],                   roles
//!   }                      $                          }
//! ```
//!
//! JSON is found by its lines alone: it begins with a line `{` or `[` and has one member per line
//! up to the closing bracket. A text that breaks this rule anywhere, such as a program, has no
//! paths and does not fold.

use crate::ui::Theme;
use ratatui::text::{Line, Span};
use scandeck_wire::text;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The place of a line in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPlace {
    /// Such as `user.roles[2].name`; `$` is the whole value.
    pub path: Arc<str>,
    /// The object or array that folds at this line, by its first line: its own, or the one that
    /// contains it.
    pub fold: u32,
    /// Whether the line begins this object or array.
    pub is_first: bool,
}

/// An object or array that is not closed yet.
struct OpenContainer {
    line: usize,
    is_array: bool,
    members: usize,
    path: Arc<str>,
}

/// A line of JSON. The first line of an object or array has the number of its further lines and of
/// its members.
struct JsonLine {
    place: JsonPlace,
    closed: Option<(usize, usize)>,
}

/// Deeper JSON does not fold. Together with the length of a key, this limits the paths.
const DEEPEST: usize = 32;
/// Longest part of a key in a path.
const LONGEST: usize = 40;

/// The lines without folded members, and the place of each line. Places are empty if the text has
/// no JSON.
pub fn fold(
    theme: Theme,
    lines: Vec<Line<'static>>,
    folded: &BTreeSet<u32>,
) -> (Vec<Line<'static>>, Vec<Option<JsonPlace>>) {
    let mut found: Vec<Option<JsonLine>> = Vec::new();
    while found.len() < lines.len() {
        // Lines of broken JSON are not tried again: the time is linear.
        match json_at(&lines, found.len()) {
            Ok(json) => found.extend(json.into_iter().map(Some)),
            Err(end) => found.resize_with(end.clamp(found.len() + 1, lines.len()), || None),
        }
    }
    if found.iter().all(Option::is_none) {
        return (lines, Vec::new());
    }
    let (mut shown, mut places) = (Vec::new(), Vec::new());
    let mut rest = lines.iter().zip(&found);
    while let Some((line, json)) = rest.next() {
        let mut line = line.clone();
        let is_folded = |json: &&JsonLine| json.place.is_first && folded.contains(&json.place.fold);
        if let Some((lines, members)) = json.as_ref().filter(is_folded).and_then(|json| json.closed)
        {
            line.push_span(Span::styled(
                format!(" {} {members} ", theme.glyphs.ellipsis),
                theme.dim(),
            ));
            let last = rest
                .nth(lines - 1)
                .map(|(last, _)| last.to_string())
                .unwrap_or_default();
            line.push_span(Span::raw(last.trim_start().to_owned()));
        }
        shown.push(line);
        places.push(json.as_ref().map(|json| json.place.clone()));
    }
    (shown, places)
}

/// The JSON that begins at a line.
///
/// # Errors
/// The first line that is not JSON.
fn json_at(lines: &[Line<'static>], first: usize) -> Result<Vec<JsonLine>, usize> {
    let mut open: Vec<OpenContainer> = Vec::new();
    let mut found: Vec<JsonLine> = Vec::new();
    for (at, line) in lines.iter().enumerate().skip(first) {
        let text = line.to_string();
        let text = text.trim();
        let text = text.strip_suffix(',').unwrap_or(text);
        let (path, value): (Arc<str>, &str) = match open.last_mut() {
            None if at == first && matches!(text, "{" | "[") => ("$".into(), text),
            None => return Err(at),
            Some(_) if matches!(text, "}" | "]") => {
                let closed = open
                    .pop()
                    .filter(|open| open.is_array == (text == "]"))
                    .ok_or(at)?;
                found[closed.line - first].closed = Some((at - closed.line, closed.members));
                let place = JsonPlace {
                    path: closed.path,
                    fold: closed.line as u32,
                    is_first: false,
                };
                found.push(JsonLine {
                    place,
                    closed: None,
                });
                if open.is_empty() {
                    return Ok(found);
                }
                continue;
            }
            Some(parent) => {
                let member = member(parent, text).ok_or(at)?;
                parent.members += 1;
                member
            }
        };
        let is_first = matches!(value, "{" | "[");
        if (!is_first && !is_scalar(value)) || open.len() > DEEPEST {
            return Err(at);
        }
        let fold = if is_first {
            at
        } else {
            open.last().map_or(at, |open| open.line)
        } as u32;
        found.push(JsonLine {
            place: JsonPlace {
                path: Arc::clone(&path),
                fold,
                is_first,
            },
            closed: None,
        });
        if is_first {
            open.push(OpenContainer {
                line: at,
                is_array: value == "[",
                members: 0,
                path,
            });
        }
    }
    Err(lines.len())
}

/// Path and value of a member.
fn member<'a>(parent: &OpenContainer, line: &'a str) -> Option<(Arc<str>, &'a str)> {
    let within = if &*parent.path == "$" {
        ""
    } else {
        &*parent.path
    };
    if parent.is_array {
        return Some((format!("{within}[{}]", parent.members).into(), line));
    }
    let rest = line.strip_prefix('"')?;
    let mut escaped = false;
    let end = rest.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    let (key, value) = (&rest[..end], rest[end + 1..].strip_prefix(": ")?);
    let is_name = !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let key = text::start(key, LONGEST);
    let path = match (is_name, within) {
        (true, "") => key.into_owned(),
        (true, within) => format!("{within}.{key}"),
        (false, within) => format!("{within}[\"{key}\"]"),
    };
    Some((path.into(), value))
}

/// A text, a number, a word, or an empty object or array.
fn is_scalar(value: &str) -> bool {
    let is_text = value.len() > 1 && value.starts_with('"') && value.ends_with('"');
    let is_number = value.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && !value.contains([' ', ';', '(']);
    is_text || is_number || matches!(value, "true" | "false" | "null" | "{}" | "[]")
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = "head\n  {\n    \"user\": {\n      \"roles\": [\n        \"a\",\n        {\n          \"na me\": 1\n        }\n      ],\n      \"e\": []\n    },\n    \"n\": -1.5\n  }\ntail";

    fn folded(text: &str, first: &[u32]) -> (Vec<String>, Vec<Option<JsonPlace>>) {
        let lines = text
            .lines()
            .map(|line| Line::raw(line.to_owned()))
            .collect();
        let (lines, places) = fold(Theme::default(), lines, &first.iter().copied().collect());
        (lines.iter().map(Line::to_string).collect(), places)
    }

    #[test]
    fn each_line_of_json_has_its_path() {
        let (lines, places) = folded(JSON, &[]);
        assert_eq!(lines.join("\n"), JSON);
        let paths: Vec<&str> = places
            .iter()
            .map(|place| place.as_ref().map_or("", |place| &*place.path))
            .collect();
        let expected = [
            "",
            "$",
            "user",
            "user.roles",
            "user.roles[0]",
            "user.roles[1]",
            "user.roles[1][\"na me\"]",
            "user.roles[1]",
            "user.roles",
            "user.e",
            "user",
            "n",
            "$",
            "",
        ];
        assert_eq!(paths, expected);
        let fold = |at: usize| {
            places[at]
                .as_ref()
                .map(|place| (place.fold, place.is_first))
                .unwrap()
        };
        assert_eq!(
            (fold(3), fold(4), fold(8)),
            ((3, true), (3, false), (3, false))
        );
    }

    #[test]
    fn folded_member_is_one_line_with_its_number_of_members() {
        let (lines, places) = folded(JSON, &[3]);
        assert_eq!(lines[3], "      \"roles\": [ … 2 ],");
        assert_eq!(
            (lines[4].trim(), lines.len(), places.len()),
            ("\"e\": []", 9, 9)
        );
        assert_eq!(folded(JSON, &[1]).0, ["head", "  { … 2 }", "tail"]);
    }

    #[test]
    fn text_without_json_has_no_places() {
        for text in [
            "{\n  var x = 1;\n}",
            "{\n  \"a\": 1",
            "[\n  1\n}",
            "if (x)\n{\n  f();\n}",
            "{}",
        ] {
            assert_eq!(
                folded(text, &[0]),
                (text.lines().map(str::to_owned).collect(), Vec::new()),
                "{text}"
            );
        }
    }
}
