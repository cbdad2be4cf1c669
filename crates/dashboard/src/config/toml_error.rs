//! Errors of a TOML file in the words of the manual: the parser names Rust types and its own
//! grammar.

use toml::de::Error;

use scandeck_domain::query::error::{did_you_mean, nearest};

const REMEDY: &str = "correct or remove this line";

/// An error of a TOML file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TomlProblem {
    /// Starts at 1.
    pub line: usize,
    pub message: String,
    pub hint: String,
}

impl TomlProblem {
    /// The error of parsing this text.
    pub fn new(text: &str, error: &Error) -> Self {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text[..at].matches('\n').count() + 1;
        let whole = text.lines().nth(line - 1).unwrap_or_default();
        let why = error.message().lines().next().unwrap_or_default();
        let (name, value) = whole
            .split_once('=')
            .map_or((whole.trim(), ""), |(name, value)| {
                (name.trim(), value.trim())
            });
        let is_outside_context = split(why, "invalid type: ", ", expected ")
            .is_some_and(|(_, expected)| expected == "a map")
            && table_of(text, at) == Some("keys");
        if is_outside_context {
            return Self {
                line,
                message: format!("`{name}` is outside a context"),
                hint: "write it below a table such as [keys.findings]".to_owned(),
            };
        }
        Self {
            line,
            message: unknown_setting(why)
                .or_else(|| unquoted(why, name, value))
                .or_else(|| wrong_type(why, name))
                .or_else(|| wrong_value(why, name, value))
                .unwrap_or_else(|| why.to_owned()),
            hint: REMEDY.to_owned(),
        }
    }
}

fn unknown_setting(why: &str) -> Option<String> {
    let (unknown, expected) = split(why, "unknown field `", "`, expected ")?;
    let names: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let remedy = match nearest(unknown, names.iter().copied()) {
        Some(name) => did_you_mean(name),
        None => format!("use one of {}", names.join(", ")),
    };
    Some(format!("unknown setting `{unknown}`; {remedy}"))
}

fn unquoted(why: &str, name: &str, value: &str) -> Option<String> {
    if !why.starts_with("string values must be quoted") {
        return None;
    }
    let example = match is_secret(name) {
        true => "…".to_owned(),
        false => value
            .split('#')
            .next()
            .unwrap_or_default()
            .trim_end()
            .replace(['"', '\''], ""),
    };
    Some(format!(
        "value of `{name}` must be quoted: {name} = \"{example}\""
    ))
}

fn wrong_type(why: &str, name: &str) -> Option<String> {
    let (given, expected) = split(why, "invalid type: ", ", expected ")
        .or_else(|| split(why, "invalid value: ", ", expected "))
        .or_else(|| split(why, "unknown variant ", ", expected "))?;
    let not = if is_secret(name) {
        String::new()
    } else {
        format!(", not {}", describe_given(given))
    };
    let expected = describe_expected(expected);
    Some(format!("`{name}` must be {expected}{not}"))
}

fn wrong_value(why: &str, name: &str, value: &str) -> Option<String> {
    if value.is_empty() {
        return None;
    }
    if why.starts_with("duplicate key") {
        return Some(format!("`{name}` is set twice"));
    }
    let expected = why.strip_prefix("expected a ")?;
    Some(format!("`{name}` must be a {expected}"))
}

/// Whether the value may contain a secret, as the URL of a webhook and the arguments of a command
/// may.
fn is_secret(name: &str) -> bool {
    name.starts_with("api_key") || name.starts_with("url") || name.ends_with("command")
}

/// The texts between two words, and after the second one.
fn split<'a>(text: &'a str, first: &str, second: &str) -> Option<(&'a str, &'a str)> {
    text.strip_prefix(first)?.split_once(second)
}

/// The name of the last table header before this position.
fn table_of(text: &str, at: usize) -> Option<&str> {
    let mut headers = text[..at]
        .lines()
        .filter_map(|line| line.trim().strip_prefix('[')?.split_once(']'));
    headers.next_back().map(|(name, _)| name.trim())
}

/// `a boolean`, or the names in "one of `a`, `b`".
fn describe_expected(expected: &str) -> String {
    match expected {
        "a boolean" => "true or false".to_owned(),
        "u16" => "a whole number from 0 to 65535".to_owned(),
        "a string" => "a string in quotes".to_owned(),
        "a map" => "a table".to_owned(),
        "a sequence" => "a list".to_owned(),
        names => names
            .replace('`', "")
            .trim_start_matches("one of ")
            .to_owned(),
    }
}

/// `string "yes"`, ``integer `-1` ``, `map` or a name in backticks.
fn describe_given(given: &str) -> String {
    match given {
        "map" => "a table".to_owned(),
        "sequence" => "a list".to_owned(),
        given if given.starts_with('`') => format!("{:?}", given.trim_matches('`')),
        given => match given.find(['"', '`']) {
            Some(at) => given[at..].trim_matches('`').to_owned(),
            None => given.to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::file::ConfigFile;

    #[test]
    fn errors_name_setting_cause_and_remedy() {
        for (text, message) in [
            (
                "mous = true",
                "1: unknown setting `mous`; did you mean `mouse`?",
            ),
            (
                "[captures]\nzzz = 1",
                "2: unknown setting `zzz`; use one of keep_days",
            ),
            (
                "theme = light",
                "1: value of `theme` must be quoted: theme = \"light\"",
            ),
            (
                "theme = light # dark",
                "1: value of `theme` must be quoted: theme = \"light\"",
            ),
            (
                "[profiles.a]\napi_key_command = vault -t s3cret",
                "2: value of `api_key_command` must be quoted: api_key_command = \"…\"",
            ),
            (
                "\nmouse = \"yes\"",
                "2: `mouse` must be true or false, not \"yes\"",
            ),
            (
                "[captures]\nkeep_days = -1",
                "2: `keep_days` must be a whole number from 0 to 65535, not -1",
            ),
            (
                "[captures]\nkeep_days = \"30\"",
                "2: `keep_days` must be a whole number from 0 to 65535, not \"30\"",
            ),
            ("mouse = true\nmouse = false", "2: `mouse` is set twice"),
            (
                "user = true",
                "1: `user` must be a string in quotes, not true",
            ),
            (
                "[[commands]]\noutput = \"loud\"",
                "2: `output` must be text or background, not \"loud\"",
            ),
            ("[keys]\nretest = \"x\"", "2: `retest` is outside a context"),
            (
                "[keys.findings]\nretest = 5",
                "2: `retest` must be a key or a list of keys",
            ),
            (
                "[alerts]\ncommand = 5",
                "2: `command` must be a program, or a list such as [\"notify-send\", \"scandeck\"]",
            ),
        ] {
            let error = toml::from_str::<ConfigFile>(text).unwrap_err();
            let problem = TomlProblem::new(text, &error);
            assert_eq!(format!("{}: {}", problem.line, problem.message), message);
            assert!(!problem.hint.is_empty());
        }
    }
}
