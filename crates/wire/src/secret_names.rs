//! Names whose values are secrets: of headers, and of the parameters of a URL.

use crate::contract::scan::HIDDEN;

/// Parts of words in names that hold secrets.
const PARTS: [&str; 13] = [
    "auth",
    "cookie",
    "token",
    "secret",
    "session",
    "key",
    "passw",
    "pwd",
    "jwt",
    "assertion",
    "signature",
    "credential",
    "csrf",
];
/// Whole words in such names.
const WORDS: [&str; 4] = ["sid", "sig", "pass", "passphrase"];
/// Words that contain such a part and name no secret.
const OTHERS: [&str; 8] = [
    "author",
    "authors",
    "authority",
    "authenticate",
    "authenticated",
    "keyword",
    "keywords",
    "keyboard",
];
/// Headers that every visitor may read.
const PUBLIC: [&str; 3] = [
    "access-control-allow-credentials",
    "public-key-pins",
    "public-key-pins-report-only",
];
/// What stands before a parameter of a URL.
const BEFORE: [char; 4] = ['?', '&', '#', ';'];

/// Whether the value of a header or parameter with this name is a secret.
pub fn is_secret_name(name: &str) -> bool {
    let lower = name.trim().to_lowercase();
    let is_secret = |word: &str| {
        let has_part = || PARTS.iter().any(|part| word.contains(part));
        !OTHERS.contains(&word) && (WORDS.contains(&word) || has_part())
    };
    let mut words = lower.split(|letter: char| !letter.is_alphanumeric());
    !PUBLIC.contains(&lower.as_str()) && words.any(is_secret)
}

/// A text with [`HIDDEN`] in place of the values of secret parameters of its URL. An encoded name
/// may be that of a secret.
pub fn hide_parameters(text: &str) -> String {
    let Some(begin) = text.find(['?', '#']) else {
        return text.to_owned();
    };
    let (path, parameters) = text.split_at(begin);
    let mut shown = path.to_owned();
    let mut is_hidden = false;
    for part in parameters.split_inclusive(BEFORE) {
        let (pair, after) = part.split_at(part.trim_end_matches(BEFORE).len());
        let name = pair.split_once('=').map(|(name, _)| name);
        match name.filter(|name| name.contains('%') || is_secret_name(name)) {
            _ if is_hidden => {}
            Some(secret) => {
                shown.extend([secret, "=", HIDDEN]);
                is_hidden = true;
            }
            None => shown.push_str(pair),
        }
        // The other characters may be part of a value.
        is_hidden &= !after.ends_with(['&', '#']);
        if !is_hidden {
            shown.push_str(after);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_recognised_by_their_words() {
        for name in [
            "Authorization",
            "Set-Cookie",
            "X-Api-Key",
            "access_token",
            "sig",
            "connect.sid",
            "PHPSESSID_session",
            "user_pwd",
            "X-Amz-Signature",
            "X-CSRF",
            "client_assertion",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "Server",
            "author",
            "keyword",
            "WWW-Authenticate",
            "side",
            "Access-Control-Allow-Credentials",
            "page",
            "",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn values_of_secret_parameters_are_hidden() {
        for (text, shown) in [
            (
                "http://a.test/?a=1&sig=x&b=2",
                "http://a.test/?a=1&sig=•••&b=2",
            ),
            ("/cb#access_token=x=y", "/cb#access_token=•••"),
            ("/?t%6Fken=x&y", "/?t%6Fken=•••&y"),
            ("/?token=a?b;c=d&e=f", "/?token=•••&e=f"),
            ("/?next=/x?token=s", "/?next=/x?token=•••"),
            ("/key=1?page=2", "/key=1?page=2"),
            ("text/html; token=1", "text/html; token=1"),
        ] {
            assert_eq!(hide_parameters(text), shown);
        }
    }
}
