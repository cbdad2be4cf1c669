//! The output of guests as lines of the raw log.

use std::sync::LazyLock;

use regex::Regex;

use crate::engine::limits::RAW_LINE;

/// A line of output in chunks that the raw log keeps in full, cut between elements where possible.
pub fn parts(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = line;
    while rest.len() > RAW_LINE {
        let end = rest.floor_char_boundary(RAW_LINE);
        let cut = rest[..end].rfind("><").map_or(end, |at| at + 1);
        parts.push(&rest[..cut]);
        rest = &rest[cut..];
    }
    parts.push(rest);
    parts
}

static USER_OF_URL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\b((?:https?|ftps?|[a-z][a-z0-9+.]*)://)[^\s/@"'<>]+@"#).ok());

/// The text with user name and password of its URLs masked.
pub fn without_passwords(text: &str) -> String {
    match USER_OF_URL.as_ref() {
        Some(pattern) => pattern.replace_all(text, "${1}…@").into_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_urls_are_masked() {
        for (text, expected) in [
            (
                "Remote: https://user:tok@github.com/x/y.git",
                "Remote: https://…@github.com/x/y.git",
            ),
            ("https://ghp_token@github.com/x", "https://…@github.com/x"),
            (
                "http://127.0.0.1:80/a@b and ana@shop.test",
                "http://127.0.0.1:80/a@b and ana@shop.test",
            ),
        ] {
            assert_eq!(without_passwords(text), expected);
        }
    }

    #[test]
    fn long_lines_are_kept_in_parts() {
        let line = format!("<a>{}</a>", "<b c=\"é\"/>".repeat(1000));
        let all = parts(&line);
        assert!(all.len() > 2 && all.iter().all(|part| part.len() <= RAW_LINE));
        assert!(all[0].ends_with('>') && all.concat() == line);
    }
}
