//! Whether an answer is that of the page in the evidence, and whether both are the same.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::answer::{CUT, one_line};
use super::{ExpectedAnswer, ProofAnswer, ProofReason};
use crate::finding::{steady_line, without_volatile};
use scandeck_wire::contract::entities::decode_entities;

/// Part of the words of two pages that are equal if they are the same page, in percent.
const ALIKE: usize = 90;

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

/// Why the answer may be that of another page than the evidence shows.
pub(super) fn page_doubt(expected: &ExpectedAnswer, now: &ProofAnswer) -> Option<ProofReason> {
    let then = &expected.answer;
    let is_new =
        |pattern: Option<&Regex>| matches(pattern, &now.body) && !matches(pattern, &then.body);
    Some(match () {
        () if is_new(PASSWORD_FIELD.as_ref()) => ProofReason::LoginPage,
        () if now.is_success() && is_new(NOT_FOUND.as_ref()) => ProofReason::SoftNotFound,
        () if is_other_server(then, now) => ProofReason::OtherHost,
        () if is_other_language(then, now) => ProofReason::OtherLanguage,
        () if !then.body.is_empty() && !is_alike(expected, now) => ProofReason::OtherPage,
        () => return None,
    })
}

/// Whether both answers name a server, and another one.
pub(super) fn is_other_server(then: &ProofAnswer, now: &ProofAnswer) -> bool {
    let product = |answer: &ProofAnswer| {
        let value = answer.header("server")?;
        let name = value.split(['/', ' ']).next().unwrap_or_default();
        Some(name.to_ascii_lowercase())
    };
    product(then)
        .zip(product(now))
        .is_some_and(|(then, now)| then != now)
}

/// Whether both answers are equal, apart from what differs between any two answers.
pub(super) fn is_same_answer(then: &ProofAnswer, now: &ProofAnswer) -> bool {
    !then.body.is_empty()
        && !then.is_cut
        && !now.is_cut
        && is_same_text(then, now)
        && steady_headers(then) == steady_headers(now)
}

/// Whether both bodies are equal, apart from volatile parts and blanks: the last line end of a page
/// is not in the evidence.
pub(super) fn is_same_text(then: &ProofAnswer, now: &ProofAnswer) -> bool {
    let steady = |answer: &ProofAnswer| one_line(&without_volatile(&answer.body));
    steady(then) == steady(now)
}

/// The headers in lower case and in order, without dates and those of the connection.
fn steady_headers(answer: &ProofAnswer) -> Vec<String> {
    let mut lines: Vec<String> = answer
        .steady_values()
        .map(|(name, value)| steady_line(&format!("{name}: {value}")).to_lowercase())
        .collect();
    lines.sort();
    lines
}

fn matches(pattern: Option<&Regex>, text: &str) -> bool {
    pattern.is_some_and(|pattern| pattern.is_match(text))
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

/// Whether most words of each page are in the other one, those of the markup included. The matched
/// text does not count: a fix removes it, or encodes it, perhaps with the message around it. Of a
/// page that the evidence has in part, the beginnings are compared.
fn is_alike(expected: &ExpectedAnswer, now: &ProofAnswer) -> bool {
    let then = &expected.answer;
    if then.body == now.body {
        return true;
    }
    let readable = |text: &str| one_line(&decode_entities(text));
    let matched = readable(&expected.matched);
    let [then_rest, now_rest] =
        [then, now].map(|answer| readable(&answer.body).replace(&matched, ""));
    let known = match then.is_cut {
        true => then_rest.split(CUT).next().unwrap_or_default(),
        false => &then_rest,
    };
    let (steady_then, steady_now) = (without_volatile(known), without_volatile(&now_rest));
    let then_words: Vec<&str> = words(&steady_then).collect();
    let mut now_words: Vec<&str> = words(&steady_now).collect();
    if then.is_cut {
        now_words.truncate(then_words.len());
    }
    are_alike(&then_words, &now_words)
        || (!then.is_cut && has_lost_message(&readable(&then.body), &matched, &now_words))
}

/// Whether these are the words of the page without the message around the matched text. With words
/// of the message elsewhere, they may have it in another place or form.
fn has_lost_message(page: &str, matched: &str, now_words: &[&str]) -> bool {
    without_message(page, matched).is_some_and(|rest| {
        let (steady_page, steady_rest) = (without_volatile(page), without_volatile(&rest));
        let page_words: Vec<&str> = words(&steady_page).collect();
        let rest_words: Vec<&str> = words(&steady_rest).collect();
        are_alike(&rest_words, now_words)
            && equal_words(&page_words, now_words) == equal_words(&rest_words, now_words)
    })
}

/// The page without the text between two tags that has the matched text; none if that is most of
/// the page.
fn without_message(page: &str, matched: &str) -> Option<String> {
    let at = page.find(matched).filter(|_| !matched.is_empty())?;
    let end = at + matched.len();
    let start = page[..at].rfind('>').map_or(0, |tag| tag + 1);
    let next = page[end..].find('<').map_or(page.len(), |tag| end + tag);
    let rest = format!("{} {}", &page[..start], &page[next..]);
    (words(&rest).count() * 2 >= words(page).count()).then_some(rest)
}

fn are_alike(then: &[&str], now: &[&str]) -> bool {
    let most = then.len().max(now.len());
    most > 0 && equal_words(then, now) * 100 >= ALIKE * most
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_alphabetic());
    words.filter(|word| !word.is_empty())
}

/// The number of words that both have.
fn equal_words(then: &[&str], now: &[&str]) -> usize {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for &word in now {
        *counts.entry(word).or_default() += 1;
    }
    let mut equal = 0;
    for &word in then {
        if let Some(count) = counts.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            equal += 1;
        }
    }
    equal
}
