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
//!
//! `Content-Type` is read by `scandeck_wire::body_text`. The functions are pure; they take the
//! lines of one header as text.

use std::collections::BTreeSet;

use scandeck_wire::body_text::values;

/// Referrer policies that browsers know.
#[rustfmt::skip]
const REFERRER_POLICIES: &[&str] = &[
    "no-referrer", "no-referrer-when-downgrade", "origin", "origin-when-cross-origin", "same-origin", "strict-origin",
    "strict-origin-when-cross-origin", "unsafe-url",
];

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
