//! The media type of a response: of several values that the lines of `Content-Type` have, the last
//! one counts (Fetch §2.2.2), and text without a slash is none.

/// The values of lines that commas separate; a comma within quotes separates nothing.
pub fn values(line: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let mut is_escaped = false;
    let parts = line.split(|character| {
        let is_separator = character == ',' && !is_quoted;
        if character == '"' && !is_escaped {
            is_quoted = !is_quoted;
        }
        is_escaped = is_quoted && character == '\\' && !is_escaped;
        is_separator
    });
    parts.map(str::trim).collect()
}

/// The media type without parameters, in lower case; empty if there is none.
pub fn media_type(joined: &str) -> String {
    content_type(joined).0
}

/// The character set of the media type, in lower case, if it names one.
pub(super) fn charset(joined: &str) -> Option<String> {
    content_type(joined).1
}

fn content_type(joined: &str) -> (String, Option<String>) {
    let (mut essence, mut charset) = (String::new(), None);
    for value in values(joined) {
        let mut parts = value.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        let is_media_type = kind
            .split_once('/')
            .is_some_and(|(left, right)| !left.is_empty() && !right.is_empty());
        if !is_media_type || kind == "*/*" {
            continue;
        }
        let named = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.trim()
                .eq_ignore_ascii_case("charset")
                .then(|| value.trim().trim_matches('"').to_ascii_lowercase())
        });
        // A later value of the same type without a character set keeps the earlier one.
        charset = if kind == essence {
            named.or(charset)
        } else {
            named
        };
        essence = kind;
    }
    (essence, charset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comma_in_quotes_separates_nothing() {
        assert_eq!(
            values("a, b ,\"c, \\\" d\",,e"),
            ["a", "b", "\"c, \\\" d\"", "", "e"]
        );
    }

    #[test]
    fn last_media_type_counts_with_its_charset() {
        for (joined, kind, set) in [
            ("text/HTML; Charset=\"UTF-16\"", "text/html", Some("utf-16")),
            (
                "text/plain, text/html;charset=utf-8",
                "text/html",
                Some("utf-8"),
            ),
            ("text/html;charset=gbk, text/html", "text/html", Some("gbk")),
            ("text/html;charset=gbk, text/plain", "text/plain", None),
            ("text/html, nonsense, */*", "text/html", None),
            ("text/html;a=\",\";charset=x", "text/html", Some("x")),
            ("nonsense", "", None),
        ] {
            let read = (media_type(joined), charset(joined));
            assert_eq!(read, (kind.to_owned(), set.map(str::to_owned)), "{joined}");
        }
    }
}
