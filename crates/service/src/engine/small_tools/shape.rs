//! Whether a response is like those for made-up names: servers answer these in many ways (soft
//! 404).
//!
//! ```text
//!   some made-up names of one form ──► their shapes: what agrees is the template, what differs is variable
//!   another name ──► its shape ──► fits a template: nothing distinguishes it from a made-up name
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use regex::Regex;
use url::Url;

use crate::engine::http::HttpPage;

static TITLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?is)<title[^>]*>(.{0,200}?)</title>").ok());
static TAG: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"<([A-Za-z][A-Za-z0-9-]{0,30})").ok());

/// The requested name in a label.
const NAME: &str = "{}";

/// The features that distinguish the answer for an existing path from that for any path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerShape {
    status: u16,
    is_redirect: bool,
    /// The parts of the destination of a redirect, or the words of the title: as they are, and with
    /// [`NAME`] for the requested name. A destination such as `/login` may have the name by chance.
    labels: [Vec<String>; 2],
    /// Length of the text without the requested name.
    length: usize,
    /// The number of elements of each kind.
    tags: BTreeMap<String, usize>,
}

impl AnswerShape {
    pub fn of(page: &HttpPage, name: &str) -> Self {
        let text = page.text();
        let mentions = if name.len() > 2 {
            text.matches(name).count() * name.len()
        } else {
            0
        };
        let mut tags = BTreeMap::new();
        for tag in TAG.iter().flat_map(|tag| tag.captures_iter(&text)) {
            *tags.entry(tag[1].to_ascii_lowercase()).or_default() += 1;
        }
        let label = |name: &str| match page.redirect() {
            Some(to) => redirect_parts(&to, name),
            None => title(&text)
                .split_whitespace()
                .map(|word| without_name(word, name))
                .collect(),
        };
        let is_redirect = page.redirect().is_some();
        let length = text.len().saturating_sub(mentions);
        Self {
            status: page.status,
            is_redirect,
            labels: [label(""), label(name)],
            length,
            tags,
        }
    }
}

/// The shapes of answers for made-up names, in groups of one form of name.
#[derive(Debug, Default)]
pub struct MissingAnswers(Vec<Vec<AnswerShape>>);

impl MissingAnswers {
    pub fn add(&mut self, group: Vec<AnswerShape>) {
        self.0.push(group);
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    /// Whether nothing distinguishes an answer from those for made-up names.
    pub fn covers(&self, answer: &AnswerShape) -> bool {
        self.0.iter().any(|group| {
            let is_alike = |one: &&AnswerShape| {
                one.status == answer.status && one.is_redirect == answer.is_redirect
            };
            let group: Vec<&AnswerShape> = group.iter().filter(is_alike).collect();
            !group.is_empty()
                && has_label(answer, &group)
                && (answer.is_redirect || has_form(answer, &group))
        })
    }
}

/// Whether a label agrees with those of the group where they agree with each other.
fn has_label(answer: &AnswerShape, group: &[&AnswerShape]) -> bool {
    // A made-up name is in no label by chance.
    let group: Vec<&[String]> = group.iter().map(|one| &one.labels[1][..]).collect();
    let count = group[0].len();
    if group.iter().any(|label| label.len() != count) {
        return true;
    }
    let is_variable = |at: usize| group.iter().any(|label| label[at] != group[0][at]);
    let labels: Vec<&Vec<String>> = answer
        .labels
        .iter()
        .filter(|label| label.len() == count)
        .collect();
    let fits = |at: usize| is_variable(at) || labels.iter().any(|label| label[at] == group[0][at]);
    !labels.is_empty() && (0..count).all(fits)
}

/// Whether elements and length are within those of the group: an error page varies by a few words.
fn has_form(answer: &AnswerShape, group: &[&AnswerShape]) -> bool {
    let names: BTreeSet<&String> = group
        .iter()
        .chain([&answer])
        .flat_map(|one| one.tags.keys())
        .collect();
    let of = |shape: &AnswerShape, name: &str| shape.tags.get(name).copied().unwrap_or_default();
    let has_tags = names.iter().all(|name| {
        let counts = range(group.iter().map(|one| of(one, name)));
        let slack = 1 + counts.end() / 10;
        (counts.start().saturating_sub(slack)..=counts.end() + slack).contains(&of(answer, name))
    });
    let lengths = range(group.iter().map(|one| one.length));
    let slack = 32 + lengths.end() / 20;
    let is_random = lengths.end() - lengths.start() > slack;
    has_tags
        && (is_random
            || (lengths.start().saturating_sub(slack)..=lengths.end() + slack)
                .contains(&answer.length))
}

fn range(values: impl Iterator<Item = usize> + Clone) -> RangeInclusive<usize> {
    values.clone().min().unwrap_or_default()..=values.max().unwrap_or_default()
}

/// The destination of a redirect, or the title of a page.
pub fn label(page: &HttpPage) -> String {
    let label = page
        .redirect()
        .map_or_else(|| title(&page.text()), |to| format!("redirect to {to}"));
    label.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn title(text: &str) -> String {
    TITLE
        .as_ref()
        .and_then(|title| title.captures(text))
        .map(|title| title[1].to_owned())
        .unwrap_or_default()
}

/// Origin, segments of the path, names and values of the query.
fn redirect_parts(to: &Url, name: &str) -> Vec<String> {
    let mut path = to.path().to_owned();
    if name.len() > 2 {
        // A name may have several segments.
        path = path.replace(name, NAME);
    }
    let segments = path.split('/').map(|segment| without_name(segment, name));
    let pairs: Vec<String> = to
        .query_pairs()
        .flat_map(|(key, value)| [key.into_owned(), without_name(&value, name)])
        .collect();
    [to.origin().ascii_serialization()]
        .into_iter()
        .chain(segments)
        .chain(pairs)
        .collect()
}

/// A part of a label with [`NAME`] instead of the requested name; a short name counts as a whole
/// word only.
fn without_name(part: &str, name: &str) -> String {
    if name.is_empty() {
        return part.to_owned();
    }
    let is_word = |at: usize| {
        let (before, after) = (
            part[..at].chars().next_back(),
            part[at + name.len()..].chars().next(),
        );
        name.len() > 2 || !before.into_iter().chain(after).any(char::is_alphanumeric)
    };
    let (mut text, mut from) = (String::new(), 0);
    for (at, _) in part.match_indices(name).filter(|(at, _)| is_word(*at)) {
        text.push_str(&part[from..at]);
        text.push_str(NAME);
        from = at + name.len();
    }
    text + &part[from..]
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderMap;

    use super::*;

    fn page(status: u16, body: &str) -> HttpPage {
        HttpPage {
            status,
            ..HttpPage::for_tests("http://a.test/x", body)
        }
    }

    fn redirect(to: &str) -> HttpPage {
        let headers = HeaderMap::from_iter([(reqwest::header::LOCATION, to.parse().unwrap())]);
        HttpPage {
            headers,
            ..page(302, "")
        }
    }

    /// Whether the answer for a name is like the answers of this server for made-up names.
    fn is_covered(server: fn(&str, usize) -> HttpPage, name: &str, answer: HttpPage) -> bool {
        let mut missing = MissingAnswers::default();
        let names = ["sd01aa77", "sd55b0c2", "sd9e31f4"];
        missing.add(
            names
                .iter()
                .enumerate()
                .map(|(at, name)| AnswerShape::of(&server(name, at), name))
                .collect(),
        );
        missing.covers(&AnswerShape::of(&answer, name))
    }

    #[test]
    fn error_page_is_recognised_by_what_does_not_vary() {
        let soft =
            |name: &str, _: usize| page(200, &format!("<title>Oops</title>No page {name} here"));
        let random_word = |_: &str, at: usize| {
            page(
                200,
                &format!(
                    "<title>Oops {} - Shop</title><h1>Not found</h1><p>ref {}",
                    ["x", "y", "z", "w"][at],
                    at * 7919
                ),
            )
        };
        let random_text = |_: &str, at: usize| {
            page(
                200,
                &format!("<title>a{at}</title><p>{}", "text ".repeat(at * 900)),
            )
        };
        let to_error =
            |_: &str, at: usize| redirect(&format!("/error/{}", ["ab", "cd", "ef", "gh"][at]));
        let to_login = |name: &str, _: usize| redirect(&format!("/login?return=/{name}"));
        let slash = |name: &str, _: usize| redirect(&format!("/{name}/"));
        let status = |_: &str, at: usize| page([403, 500, 404, 403][at], "");
        for (server, name) in [
            (soft as fn(&str, usize) -> HttpPage, "administration-area"),
            (random_word, "admin"),
            (random_text, "admin"),
            (to_error, "admin"),
            (to_login, "admin"),
            (to_login, "qa"),
            (to_login, "!x"),
            (to_login, "login"),
            (to_login, "api/v1"),
            (slash, "admin"),
            (slash, "a"),
            (slash, "api/v1"),
            (status, "admin"),
        ] {
            assert!(is_covered(server, name, server(name, 3)), "{name}");
        }
        for (server, answer) in [
            (
                soft as fn(&str, usize) -> HttpPage,
                page(200, "<title>Admin</title>No page"),
            ),
            (soft, page(403, "<title>Oops</title>No page admin here")),
            (soft, redirect("/admin/")),
            (
                random_word,
                page(
                    200,
                    "<title>Administration</title><h1>Not found</h1><p>ref 0",
                ),
            ),
            (
                random_text,
                page(200, "<title>x</title><form><input><input><input></form><p>"),
            ),
            (to_error, redirect("/admin/")),
            (to_error, redirect("/warning/ab")),
            (to_login, redirect("/admin/")),
            (to_login, redirect("/login?next=/admin")),
            (to_login, redirect("/setup?return=/admin")),
            (slash, redirect("/new/")),
            (slash, page(200, "")),
        ] {
            assert!(!is_covered(server, "admin", answer.clone()), "{answer:?}");
        }
    }
}
