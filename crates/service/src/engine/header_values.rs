//! What the lines of a response header mean together, by the specification of the header.
//!
//! A header may come in several lines. Most specifications join them with commas and then say which
//! value counts:
//!
//! | header | lines | value that counts | without effect |
//! |---|---|---|---|
//! | `X-Content-Type-Options` | joined | the first (Fetch §3.6) | other than `nosniff` |
//! | `X-Frame-Options` | joined | all: equal ones are one, different ones block (HTML §7.8) | one unknown value |
//! | `Referrer-Policy` | joined | the last known one (Referrer Policy §8.1) | unknown ones are skipped |
//! | `Content-Security-Policy` | joined | each is a policy, and all apply (CSP §4.1) | empty ones |
//! | `Strict-Transport-Security` | the first | – (RFC 6797 §6.1, §8.1) | repeated directive, no `max-age` |
//! | `Set-Cookie` | never joined | each is a cookie (RFC 6265 §5.2) | – |
//! | `Access-Control-Allow-*` | joined | the whole value, letter by letter (Fetch §4.9) | a list |
//! | `Content-Type` | joined | the last media type (Fetch §2.2.2) | text without a slash |
//!
//! The functions are pure; they take the lines of one header as text.

use std::collections::BTreeSet;

/// Referrer policies that browsers know.
#[rustfmt::skip]
const REFERRER_POLICIES: &[&str] = &[
    "no-referrer", "no-referrer-when-downgrade", "origin", "origin-when-cross-origin", "same-origin", "strict-origin",
    "strict-origin-when-cross-origin", "unsafe-url",
];

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

/// Whether `X-Content-Type-Options` has an effect.
pub fn is_nosniff(joined: &str) -> bool {
    values(joined)
        .first()
        .is_some_and(|value| value.eq_ignore_ascii_case("nosniff"))
}

/// Whether `X-Frame-Options` keeps other sites from framing the page.
pub fn blocks_frames(joined: &str) -> bool {
    let values: BTreeSet<String> = values(joined)
        .into_iter()
        .map(str::to_ascii_lowercase)
        .collect();
    let has = |value: &str| values.contains(value);
    match values.len() {
        1 => has("deny") || has("sameorigin"),
        _ => has("deny") || has("sameorigin") || has("allowall"),
    }
}

/// The referrer policy that applies, if any is known.
pub fn referrer_policy(joined: &str) -> Option<&'static str> {
    let known = |value: &str| {
        REFERRER_POLICIES
            .iter()
            .find(|policy| policy.eq_ignore_ascii_case(value))
            .copied()
    };
    values(joined).into_iter().rev().find_map(known)
}

/// The policies of one line of `Content-Security-Policy`.
pub fn policies(line: &str) -> impl Iterator<Item = &str> {
    line.split(',')
        .map(str::trim)
        .filter(|policy| !policy.is_empty())
}

/// The directive of a policy; of several with one name, the first counts.
pub fn directive<'p>(policy: &'p str, name: &str) -> Option<Vec<&'p str>> {
    policy.split(';').find_map(|part| {
        let mut words = part.split_ascii_whitespace();
        words
            .next()
            .filter(|word| word.eq_ignore_ascii_case(name))
            .map(|_| words.collect())
    })
}

/// The time in seconds for which a line of `Strict-Transport-Security` applies.
///
/// # Errors
/// Why browsers ignore the line.
pub fn hsts_max_age(line: &str) -> Result<u64, &'static str> {
    let mut names = BTreeSet::new();
    let mut max_age = None;
    for part in line
        .split(';')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let name = name.trim().to_ascii_lowercase();
        if name == "max-age" {
            let digits = value.trim().trim_matches('"');
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            // A number with more digits is as good as for ever.
            max_age = is_number.then(|| digits.parse().unwrap_or(u64::MAX));
        }
        if !names.insert(name) {
            return Err("invalid: a directive is repeated");
        }
    }
    max_age.ok_or("invalid: no max-age")
}

/// The media type without parameters, in lower case; empty if there is none.
pub fn media_type(joined: &str) -> String {
    content_type(joined).0
}

/// The character set of the media type, in lower case, if it names one.
pub fn charset(joined: &str) -> Option<String> {
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
    fn first_value_of_nosniff_counts() {
        for (joined, expected) in [
            ("nosniff", true),
            ("NoSniff, nosniff", true),
            ("nosniff, other", true),
            ("other, nosniff", false),
            (", nosniff", false),
            ("\"nosniff\"", false),
            ("", false),
        ] {
            assert_eq!(is_nosniff(joined), expected, "{joined}");
        }
    }

    #[test]
    fn equal_frame_options_are_one_and_a_conflict_blocks() {
        for (joined, expected) in [
            ("SAMEORIGIN, SAMEORIGIN", true),
            ("DENY, SAMEORIGIN", true),
            ("deny", true),
            ("ALLOWALL, deny", true),
            ("allow-from https://a.test/", false),
            ("allowall", false),
            ("\"deny\"", false),
            ("one, other", false),
            ("", false),
        ] {
            assert_eq!(blocks_frames(joined), expected, "{joined}");
        }
    }

    #[test]
    fn last_known_referrer_policy_counts() {
        assert_eq!(
            referrer_policy("unsafe-url, no-referrer"),
            Some("no-referrer")
        );
        assert_eq!(
            referrer_policy("Origin, a-policy-of-tomorrow"),
            Some("origin")
        );
        assert_eq!(
            referrer_policy("no-referrer, unsafe-url"),
            Some("unsafe-url")
        );
        assert_eq!(referrer_policy("never, "), None);
    }

    #[test]
    fn line_of_policies_is_split_and_first_directive_counts() {
        let all: Vec<&str> = policies("default-src 'self', , script-src 'none'").collect();
        assert_eq!(all, ["default-src 'self'", "script-src 'none'"]);
        assert_eq!(
            directive("img-src a; SCRIPT-SRC b c; script-src d", "script-src"),
            Some(vec!["b", "c"])
        );
        assert_eq!(directive("script-src-elem a", "script-src"), None);
    }

    #[test]
    fn invalid_transport_security_names_its_reason() {
        for (line, expected) in [
            ("max-age=31536000; includeSubDomains", Ok(31_536_000)),
            ("includeSubDomains; Max-Age=\"60\";", Ok(60)),
            ("max-age = 5 ;; preload", Ok(5)),
            ("max-age=99999999999999999999999", Ok(u64::MAX)),
            (
                "max-age=31536000; max-age=31536000",
                Err("invalid: a directive is repeated"),
            ),
            (
                "max-age=1; preload; PRELOAD",
                Err("invalid: a directive is repeated"),
            ),
            ("includeSubDomains", Err("invalid: no max-age")),
            ("max-age=soon", Err("invalid: no max-age")),
            ("max-age=-1", Err("invalid: no max-age")),
            ("max-age=", Err("invalid: no max-age")),
        ] {
            assert_eq!(hsts_max_age(line), expected, "{line}");
        }
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
