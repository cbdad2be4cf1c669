//! Compares the answer in the evidence with the answer now.
//!
//! ```text
//!   rate limit, cache, redirect, error, refused access ─► cannot tell
//!   log-in page, soft 404, other host, language, page ──► cannot tell
//!   the matched text or header is there ────────────────► still there
//!   not found, or the same page without it ─────────────► gone, if the evidence has no other place
//! ```

use std::sync::LazyLock;

use regex::Regex;

use super::page::{is_other_server, is_same_answer, is_same_text, page_doubt};
use super::{ExpectedAnswer, ProofAnswer, ProofOutcome, ProofReason};
use crate::finding::without_volatile;
use crate::finding_request::RequestHeader;

/// Fewest letters of a matched text without its volatile parts.
const FEWEST_LETTERS: usize = 4;
/// Headers that say that a cache answered, in addition to those that begin with `x-cache`.
const CACHES: [&str; 4] = [
    "cache-status",
    "cf-cache-status",
    "x-proxy-cache",
    "x-vercel-cache",
];
/// Headers that protect: an answer without them is no better than one with a wrong value.
const PROTECTING: [&str; 5] = [
    "content-security-policy",
    "strict-transport-security",
    "x-content-type-options",
    "referrer-policy",
    "x-frame-options",
];

/// Elements that replace the header whose name begins like this.
static META: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)<meta[^>]+(content-security-policy|referrer)").ok());

/// Why the finding is still there, gone, or neither is certain. `is_anonymous`: credentials of the
/// request in the evidence were not sent.
pub fn judge(expected: &ExpectedAnswer, now: &ProofAnswer, is_anonymous: bool) -> ProofReason {
    let reason = judge_place(expected, now, is_anonymous);
    match reason.outcome() {
        ProofOutcome::Gone if expected.has_other_places => ProofReason::OtherPlaces,
        _ => reason,
    }
}

fn judge_place(expected: &ExpectedAnswer, now: &ProofAnswer, is_anonymous: bool) -> ProofReason {
    if let Some(doubt) = doubt(expected, now) {
        return doubt;
    }
    let then = &expected.answer;
    let has_same_status = match then.status {
        Some(status) => now.status == Some(status),
        None => now.is_success(),
    };
    if !has_same_status {
        return other_status(expected, now, is_anonymous);
    }
    let other_page = page_doubt(expected, now);
    match proven(expected, now) {
        Some(reason) => other_page.unwrap_or(reason),
        None => other_page
            .or(is_anonymous.then_some(ProofReason::CredentialsLeftOut))
            .unwrap_or_else(|| absent(expected, now)),
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
    let is_hit = |(name, value): (&str, &str)| {
        let lower = name.to_ascii_lowercase();
        let is_of_cache = lower.starts_with("x-cache") || CACHES.contains(&lower.as_str());
        is_of_cache && value.to_ascii_lowercase().contains("hit")
    };
    age.is_some_and(|seconds| seconds > 0) || answer.named_values().any(is_hit)
}

/// Why it is still there, if the answer shows it.
fn proven(expected: &ExpectedAnswer, now: &ProofAnswer) -> Option<ProofReason> {
    if let Some(matched) = expected.proof() {
        return now.contains(matched).then_some(ProofReason::MatchedText);
    }
    if let Some(name) = &expected.missing {
        let is_missing = !has_header(now, name) && !is_replaced(name, now);
        return is_missing.then_some(ProofReason::StillMissing);
    }
    if !expected.headers.is_empty() {
        let mut headers = expected.headers.iter();
        return headers
            .all(|header| is_same_header(header, now))
            .then_some(ProofReason::SameHeader);
    }
    is_same_answer(&expected.answer, now).then_some(ProofReason::SameAnswer)
}

/// The answer has another status than that in the evidence.
fn other_status(expected: &ExpectedAnswer, now: &ProofAnswer, is_anonymous: bool) -> ProofReason {
    let then = &expected.answer;
    let is_echoed = expected
        .proof()
        .is_some_and(|matched| now.contains(matched));
    let has_lost_server = then.header("server").is_some() && now.header("server").is_none();
    match now.status {
        Some(404 | 410) if has_lost_server || is_other_server(then, now) => ProofReason::OtherHost,
        Some(404 | 410) if is_anonymous => ProofReason::CredentialsLeftOut,
        Some(404 | 410) if !is_echoed && (then.status.is_none() || then.is_success()) => {
            ProofReason::NotFound
        }
        _ => ProofReason::OtherStatus,
    }
}

/// The answer has the status and the page of that in the evidence, but not what proved the finding.
fn absent(expected: &ExpectedAnswer, now: &ProofAnswer) -> ProofReason {
    let then = &expected.answer;
    if let Some(matched) = expected.proof() {
        return match () {
            () if !expected.has_message() => ProofReason::NoAnswer,
            () if now.is_cut => ProofReason::CutAnswer,
            () if is_unreadable(now) => ProofReason::Unreadable,
            // The evidence does not show that this text was ever in an answer.
            () if !then.contains(matched) => ProofReason::MatchedUnknown,
            // Another token in the same place may be the same weakness.
            () if has_similar(now, matched) => ProofReason::MatchedUnknown,
            () if !has_letters(matched) && is_same_text(then, now) => ProofReason::MatchedUnknown,
            () => ProofReason::NoMatchedText,
        };
    }
    if let Some(name) = &expected.missing {
        return match has_header(now, name) {
            true => ProofReason::HeaderAdded,
            false => ProofReason::HeaderReplaced,
        };
    }
    if !expected.headers.is_empty() {
        let mut headers = expected.headers.iter();
        let is_there = headers.any(|header| has_header(now, &header.name));
        return match () {
            () if is_there => ProofReason::OtherValue,
            () if expected.headers.iter().any(is_protecting) => ProofReason::HeaderRemoved,
            () => ProofReason::NoHeader,
        };
    }
    match then.body.is_empty() && expected.matched.is_empty() {
        true => ProofReason::NoAnswer,
        false => ProofReason::MatchedUnknown,
    }
}

fn is_protecting(header: &RequestHeader) -> bool {
    PROTECTING.contains(&header.name.to_ascii_lowercase().as_str())
}

fn has_header(answer: &ProofAnswer, name: &str) -> bool {
    answer.header(name).is_some_and(|value| !value.is_empty())
}

/// Whether the answer has this header with this value. Own checks add the reason in parentheses to
/// the value of headers that protect: `max-age=300 (…)`.
fn is_same_header(header: &RequestHeader, now: &ProofAnswer) -> bool {
    let of_name = |(name, _): &(&str, &str)| name.eq_ignore_ascii_case(&header.name);
    let found: Vec<&str> = now
        .named_values()
        .filter(of_name)
        .map(|(_, value)| value)
        .collect();
    let (wanted, all) = (joined(&header.value), joined(&found.join(",")));
    let reason = wanted.strip_prefix(&all).filter(|_| is_protecting(header));
    !found.is_empty()
        && (wanted == all
            || reason.is_some_and(|rest| rest.starts_with(" (") && rest.ends_with(')')))
}

/// Whether something else may do what a missing header does.
fn is_replaced(name: &str, now: &ProofAnswer) -> bool {
    let has_ancestors = |(one, value): (&str, &str)| {
        one.eq_ignore_ascii_case("content-security-policy")
            && value.to_ascii_lowercase().contains("frame-ancestors")
    };
    let lower = name.to_ascii_lowercase();
    let is_named = |word: &str| lower.starts_with(&word.to_ascii_lowercase());
    let has_element = |pattern: &Regex| {
        let mut elements = pattern.captures_iter(&now.body);
        elements.any(|found| found.get(1).is_some_and(|word| is_named(word.as_str())))
    };
    match lower.as_str() {
        "x-frame-options" => now.named_values().any(has_ancestors),
        _ => META.as_ref().is_some_and(has_element),
    }
}

/// Whether the body is compressed, or no text in the encoding that it names.
fn is_unreadable(answer: &ProofAnswer) -> bool {
    let coding = answer.header("content-encoding");
    coding.is_some_and(|coding| !coding.eq_ignore_ascii_case("identity"))
        || answer.body.contains(['\u{fffd}', '\0'])
}

/// Whether the answer has the text apart from parts that vary in every answer.
fn has_similar(answer: &ProofAnswer, matched: &str) -> bool {
    let steady = ProofAnswer {
        body: without_volatile(&answer.text()).into_owned().into(),
        ..ProofAnswer::default()
    };
    has_letters(matched) && steady.contains(&without_volatile(matched))
}

/// Whether letters remain of a text without its volatile parts.
fn has_letters(text: &str) -> bool {
    let steady = without_volatile(text);
    let letters = steady.chars().filter(|letter| letter.is_alphabetic());
    letters.count() >= FEWEST_LETTERS
}

/// The parts of a value in lower case, without blanks between them.
fn joined(value: &str) -> String {
    let parts: Vec<&str> = value.split(',').map(str::trim).collect();
    parts.join(",").to_ascii_lowercase()
}
