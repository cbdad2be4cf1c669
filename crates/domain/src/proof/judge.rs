//! Compares the answer in the evidence with the answer now.
//!
//! ```text
//!   rate limit, cache, redirect, error, refused access ─► cannot tell
//!   the matched text or header is there ────────────────► still there
//!   not found, or the same page without it ─────────────► gone
//!   log-in page, soft 404, other host, language, page ──► cannot tell
//! ```

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::{ExpectedAnswer, ProofAnswer, ProofReason};
use crate::finding::without_volatile;

/// Fewest letters of a matched text without its volatile parts.
const FEWEST_LETTERS: usize = 4;
/// Part of the words of two pages that are equal if they are the same page, in percent.
const ALIKE: usize = 60;

static PASSWORD_FIELD: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)<input[^>]+type\s*=\s*["']?password"#).ok());
static LANGUAGE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)<html[^>]+lang\s*=\s*["']?([a-z]{2})"#).ok());
/// A page that says that it does not exist, in its title or its first heading.
static NOT_FOUND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let english = "404|not found|does not exist|no longer (?:exists|available)";
    let others = "nicht gefunden|introuvable|no encontrad";
    Regex::new(&format!(
        r"(?i)<(?:title|h1)[^>]*>[^<]*(?:{english}|{others})"
    ))
    .ok()
});

/// Why the finding is still there, gone, or neither can be told. `is_anonymous`: credentials of the
/// request in the evidence were not sent.
pub fn judge(expected: &ExpectedAnswer, now: &ProofAnswer, is_anonymous: bool) -> ProofReason {
    if let Some(doubt) = doubt(expected, now) {
        return doubt;
    }
    let then = &expected.answer;
    let has_same_status = match then.status {
        Some(status) => now.status == Some(status),
        None => now.is_success(),
    };
    if has_same_status {
        proven(expected, now).unwrap_or_else(|| absent(expected, now, is_anonymous))
    } else {
        other_status(expected, now, is_anonymous)
    }
}

/// What makes an answer worthless, whatever it contains.
fn doubt(expected: &ExpectedAnswer, now: &ProofAnswer) -> Option<ProofReason> {
    let then = &expected.answer;
    let is_new = then.status != now.status;
    let status = now.status.unwrap_or_default();
    Some(match status {
        429 => ProofReason::RateLimited,
        503 if now.header("retry-after").is_some() => ProofReason::RateLimited,
        _ if !expected.is_comparable() => ProofReason::NoAnswer,
        304 => ProofReason::Cached,
        _ if is_cached(now) => ProofReason::Cached,
        300..=399 if is_new || now.header("location") != then.header("location") => {
            ProofReason::Redirects
        }
        500..=599 if is_new => ProofReason::ServerError,
        401 | 403 | 407 | 451 if is_new => ProofReason::AccessRefused,
        _ => return None,
    })
}

/// Whether a cache answered.
fn is_cached(answer: &ProofAnswer) -> bool {
    let age = answer.header("age").and_then(|age| age.parse::<u64>().ok());
    let is_hit = |name: &&str| {
        let value = answer.header(name).unwrap_or_default();
        value.to_ascii_lowercase().contains("hit")
    };
    age.is_some_and(|seconds| seconds > 0)
        || ["x-cache", "x-cache-status", "cf-cache-status"]
            .iter()
            .any(is_hit)
}

/// Why it is still there, if the answer shows it.
fn proven(expected: &ExpectedAnswer, now: &ProofAnswer) -> Option<ProofReason> {
    if let Some(matched) = expected.proof() {
        return contains(now, matched).then_some(ProofReason::MatchedText);
    }
    if !expected.headers.is_empty() {
        let is_same = |name: &str, value: &str| {
            let found = now.header(name).map(joined);
            found.is_some_and(|found| found == joined(value))
        };
        return expected
            .headers
            .iter()
            .all(|header| is_same(&header.name, &header.value))
            .then_some(ProofReason::SameHeader);
    }
    let then = &expected.answer;
    let is_same = !then.body.is_empty()
        && !then.is_cut
        && !now.is_cut
        && then.header("server") == now.header("server")
        && without_volatile(&then.body) == without_volatile(&now.body);
    is_same.then_some(ProofReason::SameAnswer)
}

/// The answer has another status than that in the evidence.
fn other_status(expected: &ExpectedAnswer, now: &ProofAnswer, is_anonymous: bool) -> ProofReason {
    let then = &expected.answer;
    let is_echoed = expected
        .proof()
        .is_some_and(|matched| contains(now, matched));
    match now.status {
        Some(404 | 410) if is_other_server(then, now) => ProofReason::OtherHost,
        Some(404 | 410) if is_anonymous => ProofReason::CredentialsLeftOut,
        Some(404 | 410) if !is_echoed && (then.status.is_none() || then.is_success()) => {
            ProofReason::NotFound
        }
        _ => ProofReason::OtherStatus,
    }
}

/// The answer has the status of that in the evidence, but not what proved the finding.
fn absent(expected: &ExpectedAnswer, now: &ProofAnswer, is_anonymous: bool) -> ProofReason {
    let then = &expected.answer;
    let is_alike = is_alike(&then.body, &now.body);
    let is_other_page = !then.body.is_empty() && !is_alike;
    let is_new =
        |pattern: Option<&Regex>| matches(pattern, &now.body) && !matches(pattern, &then.body);
    if is_new(PASSWORD_FIELD.as_ref()) {
        return ProofReason::LoginPage;
    }
    if is_anonymous {
        return ProofReason::CredentialsLeftOut;
    }
    if now.is_success() && is_new(NOT_FOUND.as_ref()) {
        return ProofReason::SoftNotFound;
    }
    if is_other_page && is_other_server(then, now) {
        return ProofReason::OtherHost;
    }
    if is_other_language(then, now) {
        return ProofReason::OtherLanguage;
    }
    if let Some(matched) = expected.proof() {
        return match () {
            () if !expected.has_message() => ProofReason::NoAnswer,
            () if now.is_cut => ProofReason::CutAnswer,
            () if is_other_page => ProofReason::OtherPage,
            // Another token in the same place may be the same weakness.
            () if !has_letters(matched) && is_same_text(then, now) => ProofReason::MatchedUnknown,
            () => ProofReason::NoMatchedText,
        };
    }
    if !expected.headers.is_empty() {
        let is_there = |name: &str| now.header(name).is_some();
        return match () {
            () if is_other_page => ProofReason::OtherPage,
            () if expected.headers.iter().any(|header| is_there(&header.name)) => {
                ProofReason::OtherValue
            }
            () => ProofReason::NoHeader,
        };
    }
    match then.body.is_empty() && expected.matched.is_empty() {
        true => ProofReason::NoAnswer,
        false => ProofReason::MatchedUnknown,
    }
}

/// Whether an answer contains a text, apart from blanks and parts that vary in every answer.
fn contains(answer: &ProofAnswer, matched: &str) -> bool {
    let (text, part) = (one_line(&answer.text()), one_line(matched));
    text.contains(&part)
        || has_letters(&part) && without_volatile(&text).contains(&*without_volatile(&part))
}

/// Scanners keep a text of several lines as one.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// Whether letters remain of a text without its volatile parts.
fn has_letters(text: &str) -> bool {
    let steady = without_volatile(text);
    let letters = steady.chars().filter(|letter| letter.is_alphabetic());
    letters.count() >= FEWEST_LETTERS
}

fn is_same_text(then: &ProofAnswer, now: &ProofAnswer) -> bool {
    without_volatile(&then.body) == without_volatile(&now.body)
}

/// The parts of a value in lower case, without blanks between them.
fn joined(value: &str) -> String {
    let parts: Vec<&str> = value.split(',').map(str::trim).collect();
    parts.join(",").to_ascii_lowercase()
}

fn matches(pattern: Option<&Regex>, text: &str) -> bool {
    pattern.is_some_and(|pattern| pattern.is_match(text))
}

/// Whether both answers name a server, and another one.
fn is_other_server(then: &ProofAnswer, now: &ProofAnswer) -> bool {
    let product = |answer: &ProofAnswer| {
        let value = answer.header("server")?;
        let name = value.split(['/', ' ']).next().unwrap_or_default();
        Some(name.to_ascii_lowercase())
    };
    product(then)
        .zip(product(now))
        .is_some_and(|(then, now)| then != now)
}

/// Whether both answers name a language, and another one.
fn is_other_language(then: &ProofAnswer, now: &ProofAnswer) -> bool {
    let language = |answer: &ProofAnswer| {
        let named = answer.header("content-language").and_then(|it| it.get(..2));
        let in_page = || {
            let found = LANGUAGE.as_ref()?.captures(&answer.body)?;
            Some(found.get(1)?.as_str())
        };
        named.or_else(in_page).map(str::to_ascii_lowercase)
    };
    language(then)
        .zip(language(now))
        .is_some_and(|(then, now)| then != now)
}

/// Whether most words of the earlier text are in the later one, those of the markup included. The
/// evidence may have the beginning of the page alone.
fn is_alike(then: &str, now: &str) -> bool {
    let (steady_then, steady_now) = (without_volatile(then), without_volatile(now));
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in words(&steady_now) {
        *counts.entry(word).or_default() += 1;
    }
    let (mut all, mut equal) = (0, 0);
    for word in words(&steady_then) {
        all += 1;
        if let Some(count) = counts.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            equal += 1;
        }
    }
    equal * 100 >= ALIKE * all
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_alphabetic());
    words.filter(|word| !word.is_empty())
}
