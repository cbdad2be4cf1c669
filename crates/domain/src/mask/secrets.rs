//! Secrets that their name reveals: headers, cookies, parameters and fields of JSON.
//!
//! ```text
//!   x-api-key: VALUE    ?password=VALUE    "clientSecret":"VALUE"    \"token\":\"VALUE\"    ""auth"":""VALUE""
//! ```
//!
//! The quotes of JSON are recognised in JSON strings and in cells of CSV too, so that a file can be
//! masked as a text. The value ends where its quotes or its line end.

use super::compiled;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Parts of names that hold secrets.
const PARTS: [&str; 10] = [
    "key",
    "token",
    "secret",
    "auth",
    "session",
    "sessid",
    "cookie",
    "passw",
    "passphrase",
    "credential",
];
/// Words that contain such a part and name no secret.
#[rustfmt::skip]
const OTHERS: [&str; 15] = [
    "author", "authors", "authored", "authority", "authorities", "authenticate", "authenticated", "authenticity",
    "keyword", "keywords", "keyboard", "keyboards", "keymap", "hotkey", "monkey",
];
/// Words that are common before a colon, where no secret follows: `Key: RSA`.
#[rustfmt::skip]
const COMMON: [&str; 11] = [
    "key", "keys", "auth", "session", "sessions", "tokens", "secrets", "cookies", "passwords", "credential", "credentials",
];
/// Values that hold no secret.
const PLAIN: [&str; 8] = ["true", "false", "null", "none", "yes", "no", "on", "off"];
/// Shortest value behind a colon without quotes.
const SHORTEST: usize = 4;
/// Values that begin like this are structures or code.
const NO_VALUE: [char; 4] = ['[', '{', '(', ')'];
/// Longest value in quotes. A sender chooses the text: without a limit, each of its names could
/// search the whole text for quotes that never close.
const LONGEST_QUOTED: usize = 8192;

/// Whether the value of a header, parameter or field with this name is secret.
pub(super) fn is_name(name: &str) -> bool {
    words(name)
        .iter()
        .any(|word| !OTHERS.contains(&&**word) && PARTS.iter().any(|part| word.contains(part)))
}

/// The place of the secret in a value, without the scheme of credentials.
pub(super) fn place_in(name: &str, value: &str) -> Option<Range<usize>> {
    let end = value.trim_end().len();
    let start = end - value[..end].trim_start().len();
    let start = start + scheme(&value[start..end]);
    (is_name(name) && start < end && !is_plain(&value[start..end])).then_some(start..end)
}

/// The place of the secret behind a name in a text.
pub(super) fn place_after(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let closing = quotes(&text[name.end..], 2);
    let at = name.end + closing.len();
    let separator = SEPARATOR.find(&text[at..])?;
    let is_colon = separator.as_str().contains(':') && !separator.as_str().contains('=');
    let name = &text[name.clone()];
    if !is_name(name)
        || closing.is_empty()
            && is_colon
            && (name.contains('.') || COMMON.contains(&&*name.to_lowercase()))
    {
        return None;
    }
    let at = at + separator.end();
    let opening = match &text[at..] {
        rest if !closing.is_empty() && rest.starts_with(closing) => closing,
        rest => quotes(rest, 1),
    };
    let start = at + opening.len();
    if let Some(length) = (!opening.is_empty())
        .then(|| quoted(&text[start..], opening))
        .flatten()
    {
        let secret = start + scheme(&text[start..start + length])..start + length;
        return (!secret.is_empty() && !is_plain(&text[secret.clone()])).then_some(secret);
    }
    if text[start..].starts_with(NO_VALUE) {
        return None;
    }
    let secret = unquoted(text, start, name, !closing.is_empty());
    let value = &text[secret.clone()];
    let shortest = if is_colon && closing.is_empty() {
        SHORTEST
    } else {
        1
    };
    // A number without quotes: a stand-in would make the JSON invalid.
    let is_number = !closing.is_empty()
        && value
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_other = is_number || is_plain(value) || value.starts_with(NO_VALUE);
    (value.len() >= shortest && !is_other).then_some(secret)
}

/// The place of a value without quotes that begins here.
fn unquoted(text: &str, start: usize, name: &str, is_json: bool) -> Range<usize> {
    let is_cookie = name.to_lowercase().contains("cookie");
    // The search costs as much as the rest of the text is long.
    let cookies = is_cookie.then(|| COOKIES.find(&text[start..])).flatten();
    if let Some(cookies) = cookies {
        return start..start + cookies.end();
    }
    let start = start + scheme(&text[start..]);
    let value = &text[start..start + bare(&text[start..])];
    // Behind a field of JSON without quotes, the object ends.
    let ends: &[char] = if is_json { &['}', ']'] } else { &[] };
    start..start + value.trim_end_matches(ends).len()
}

/// The words of a name in lower case: `clientSecret`, `client_secret` and `Client-Secret` have the
/// same two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || was_lower && letter.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    words
}

/// A value that is no secret, or a variable of a shell.
fn is_plain(value: &str) -> bool {
    let is_variable = |rest: &str| {
        rest.bytes()
            .all(|byte| byte.is_ascii_uppercase() || b"0123456789_{}".contains(&byte))
    };
    PLAIN.contains(&&*value.to_lowercase()) || value.strip_prefix('$').is_some_and(is_variable)
}

/// Backslashes and up to two quotes at the beginning.
fn quotes(text: &str, most: usize) -> &str {
    let slashes = text.len() - text.trim_start_matches('\\').len();
    let quotes = text[slashes..]
        .bytes()
        .take(most)
        .take_while(|byte| matches!(byte, b'"' | b'\''))
        .count();
    if quotes == 0 {
        ""
    } else {
        &text[..slashes + quotes]
    }
}

/// The length of a value up to its closing quotes, if they are on the same line. Quotes in the
/// value have more backslashes.
fn quoted(text: &str, opening: &str) -> Option<usize> {
    let quotes = opening.trim_start_matches('\\');
    let level = opening.len() - quotes.len();
    let mut slashes = 0;
    for (at, letter) in text
        .char_indices()
        .take_while(|(at, _)| *at <= LONGEST_QUOTED)
    {
        match letter {
            '\n' | '│' | '┃' => return None,
            '\\' => {
                slashes += 1;
                continue;
            }
            // The backslashes before the closing quotes are no part of the value. An escaped
            // backslash before them is.
            _ if text[at..].starts_with(quotes) && slashes % (2 * (level + 1)) == level => {
                return Some(at - level);
            }
            // The outer quotes end first: the value is cut.
            '"' | '\'' if slashes < level => return None,
            _ => slashes = 0,
        }
    }
    None
}

/// The length of a value without quotes. It ends before an escaped line break or quote.
fn bare(text: &str) -> usize {
    let mut slashes = None;
    for (at, letter) in text.char_indices() {
        match (letter, slashes) {
            ('\\', _) => _ = slashes.get_or_insert(at),
            ('n' | 'r' | 't' | '"' | '\'', Some(start)) => return start,
            _ if letter.is_whitespace() || "\"'&;,<>…│┃".contains(letter) => return at,
            _ => slashes = None,
        }
    }
    text.len()
}

/// The length of the scheme before credentials.
fn scheme(text: &str) -> usize {
    SCHEME.find(text).map_or(0, |scheme| scheme.end())
}

/// An array has its first value masked.
static SEPARATOR: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"^\s*(?::=|=>|[=:]|%3[AaDd])[ \t]*(?:\[\s*)?"));

static SCHEME: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r"^(?i:bearer|basic|digest|negotiate|ntlm|token|apikey|aws4-hmac-sha256)[ \t]+")
});

static COOKIES: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r#"^[^\s;=:"'\\│┃]+=[^\s;"'\\│┃]*(?:;[ \t]*[^\s;=:"'\\│┃]+=[^\s;"'\\│┃]*)*"#)
});
