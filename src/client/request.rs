//! A request as plain data: built by the endpoints, sent by `exchange`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hash;

use reqwest::Method;
use serde::Serialize;

use super::Lane;

/// What an endpoint asks for.
#[derive(Clone, Debug)]
pub(super) struct ApiRequest {
    pub method: Method,
    /// Below the base URL, beginning with a slash.
    pub path: String,
    pub query: Vec<(Cow<'static, str>, String)>,
    pub body: Body,
    pub accept: &'static str,
    pub lane: Lane,
    pub size: AnswerSize,
    /// A file is expected, so a page of HTML is as good as anything.
    pub any_content: bool,
}

/// What is sent along.
#[derive(Clone, Debug)]
pub(super) enum Body {
    Nothing,
    /// `application/x-www-form-urlencoded`.
    Form(Vec<(Cow<'static, str>, String)>),
    Json(serde_json::Value),
}

/// How much of an answer is read, and how long that may take (`quality.md`: limits of one answer).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerSize {
    /// Single things and short lists.
    Small,
    /// Findings, captures and files.
    Big,
}

impl AnswerSize {
    /// Decoded bytes.
    pub fn limit(self) -> usize {
        match self {
            AnswerSize::Small => 32 << 20,
            AnswerSize::Big => 512 << 20,
        }
    }

    /// Times the total timeout.
    pub fn patience(self) -> u32 {
        match self {
            AnswerSize::Small => 1,
            AnswerSize::Big => 4,
        }
    }
}

impl ApiRequest {
    pub fn new(method: Method, path: impl Into<String>, lane: Lane) -> Self {
        Self {
            method,
            path: path.into(),
            query: Vec::new(),
            body: Body::Nothing,
            accept: "application/json",
            lane,
            size: AnswerSize::Small,
            any_content: false,
        }
    }

    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path, Lane::Read)
    }

    pub fn post(path: impl Into<String>) -> Self {
        Self::new(Method::POST, path, Lane::Write)
    }

    pub fn put(path: impl Into<String>) -> Self {
        Self::new(Method::PUT, path, Lane::Write)
    }

    pub fn delete(path: impl Into<String>) -> Self {
        Self::new(Method::DELETE, path, Lane::Write)
    }

    /// Adds a parameter where there is a value.
    pub fn with(mut self, name: &'static str, value: Option<impl Display>) -> Self {
        self.query.extend(value.map(|value| (name.into(), value.to_string())));
        self
    }

    /// A form body of the fields that have a value.
    pub fn with_form<const N: usize>(mut self, fields: [(&'static str, Option<String>); N]) -> Self {
        self.body = Body::Form(fields.into_iter().filter_map(|(name, value)| Some((name.into(), value?))).collect());
        self
    }

    /// A JSON body. The bodies of the contract are maps with string keys, so they always have a JSON form.
    pub fn with_json(mut self, body: &impl Serialize) -> Self {
        self.body = Body::Json(serde_json::to_value(body).unwrap_or_default());
        self
    }

    pub fn accepting(mut self, accept: &'static str) -> Self {
        self.accept = accept;
        self
    }

    pub fn with_size(mut self, size: AnswerSize) -> Self {
        self.size = size;
        self
    }

    pub fn in_lane(mut self, lane: Lane) -> Self {
        self.lane = lane;
        self
    }

    /// Takes any kind of content as the answer.
    pub fn for_a_file(mut self) -> Self {
        self.any_content = true;
        self
    }

    /// Whether sending it twice does no more than sending it once (RFC 9110 §9.2.2).
    pub fn is_idempotent(&self) -> bool {
        self.method != Method::POST
    }
}

/// Walks a paged list: a page shorter than its limit is the last, and a page that brings nothing new ends the walk
/// too, for services that do not know `page` (`hosted-service.md`, Lists). A service that never comes to an end is left
/// after [`MOST_PAGES`](Self::MOST_PAGES): what it makes up must not fill the memory.
pub(super) struct Pages<T, I> {
    items: Vec<T>,
    ids: HashSet<I>,
    next: Option<u32>,
}

impl<T, I: Eq + Hash> Pages<T, I> {
    const LIMIT: u32 = 1000;
    const MOST_PAGES: u32 = 500;

    pub fn new() -> Self {
        Self { items: Vec::new(), ids: HashSet::new(), next: Some(1) }
    }

    /// Limit and number of the next page to ask for.
    pub fn next(&self) -> Option<(u32, u32)> {
        self.next.map(|page| (Self::LIMIT, page))
    }

    pub fn take(&mut self, page: Vec<T>, id: impl Fn(&T) -> I) {
        let full = page.len() >= Self::LIMIT as usize;
        let before = self.items.len();
        for item in page {
            if self.ids.insert(id(&item)) {
                self.items.push(item);
            }
        }
        let grew = self.items.len() > before;
        self.next = self.next.filter(|page| full && grew && *page < Self::MOST_PAGES).map(|page| page + 1);
    }

    pub fn into_items(self) -> Vec<T> {
        self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_page_is_the_last_and_a_service_that_repeats_its_page_ends_the_walk() {
        let mut pages = Pages::new();
        assert_eq!(pages.next(), Some((1000, 1)));
        pages.take((0..1000).collect(), |item| *item);
        assert_eq!(pages.next(), Some((1000, 2)));
        pages.take((900..1100).collect(), |item| *item);
        assert_eq!((pages.next(), pages.into_items().len()), (None, 1100));

        let mut same = Pages::new();
        same.take((0..1000).collect(), |item| *item);
        same.take((0..1000).collect(), |item| *item);
        assert_eq!((same.next(), same.into_items().len()), (None, 1000));

        let mut endless = Pages::new();
        while let Some((limit, page)) = endless.next() {
            assert!(page < 10_000, "it never ends");
            endless.take((page * limit..(page + 1) * limit).collect(), |item| *item);
        }
        assert_eq!(endless.into_items().len(), 500_000);
    }
}
