//! Whether a response is like those for made-up names: servers answer these in many ways (soft 404).

use std::sync::LazyLock;

use regex::Regex;

use crate::service::engine::http::HttpPage;

static TITLE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?is)<title[^>]*>(.{0,200}?)</title>").ok());

/// The features that distinguish the answer for an existing path from that for any path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerShape {
    status: u16,
    /// Destination of a redirect, or the title, without the requested name.
    label: String,
    length: usize,
}

impl AnswerShape {
    pub fn of(page: &HttpPage, name: &str) -> Self {
        let text = page.text();
        let label = label(page);
        let mentions = if name.len() > 2 { text.matches(name).count() * name.len() } else { 0 };
        let label = if name.len() > 2 { label.replace(name, "") } else { label };
        Self { status: page.status, label, length: text.len().saturating_sub(mentions) }
    }

    /// Whether both may be the same page: an error page varies by a few words.
    pub fn is_like(&self, other: &Self) -> bool {
        let difference = self.length.abs_diff(other.length);
        self.status == other.status && self.label == other.label && difference <= 32 + other.length / 20
    }
}

/// The destination of a redirect, or the title of a page.
pub fn label(page: &HttpPage) -> String {
    let text = page.text();
    let title = TITLE.as_ref().and_then(|title| title.captures(&text)).map(|title| title[1].to_owned());
    let label = page.redirect().map(|to| format!("redirect to {to}")).or(title).unwrap_or_default();
    label.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderMap;
    use url::Url;

    use super::*;

    fn page(status: u16, body: &str) -> HttpPage {
        let url = Url::parse("http://a.test/x").unwrap();
        HttpPage { url, status, headers: HeaderMap::new(), body: body.into(), fault: None }
    }

    #[test]
    fn error_pages_that_repeat_the_name_are_alike() {
        let missing = AnswerShape::of(&page(200, "<title>Oops</title>No page sd0011 here"), "sd0011");
        let other =
            AnswerShape::of(&page(200, "<title>Oops</title>No page administration-area here"), "administration-area");
        assert!(other.is_like(&missing));
        assert!(!AnswerShape::of(&page(200, "<title>Admin</title>No page"), "admin").is_like(&missing));
    }
}
