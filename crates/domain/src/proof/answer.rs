//! An answer of a target: that in the evidence, or that to a request that was sent again.

use serde::{Deserialize, Serialize};

use crate::finding::is_stamped;
use scandeck_wire::contract::Shared;
use scandeck_wire::contract::scan::HIDDEN;
use scandeck_wire::secret_names::{hide_parameters, is_secret_name};
use scandeck_wire::text::plural;

/// The end of a text that was cut when it was stored.
pub(super) const CUT: char = '…';
/// Stands between the beginning of a body and a later part.
const GAP: &str = "…\n";
/// Headers of the connection, which say nothing about the page.
const OF_CONNECTION: [&str; 4] = [
    "content-encoding",
    "transfer-encoding",
    "connection",
    "keep-alive",
];
/// Most headers of a stored answer.
pub(super) const MOST_HEADERS: usize = 40;
/// Most bytes of a header of a stored answer.
pub(super) const MOST_HEADER: usize = 300;
/// Most bytes of the body of a stored answer.
const MOST_BODY: usize = 4 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProofAnswer {
    /// Unknown if the evidence does not name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Each `Name: value`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<Shared>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub body: Shared,
    /// Only the beginning of the body is known.
    pub is_cut: bool,
}

impl ProofAnswer {
    /// Reads a message: status line, headers, body.
    pub fn parse(message: &str) -> Self {
        let message = message.replace("\r\n", "\n");
        let (head, body) = message.split_once("\n\n").unwrap_or((&message, ""));
        let mut lines = head.lines();
        let first = lines.next().unwrap_or_default();
        let status = first
            .strip_prefix("HTTP/")
            .and_then(|rest| rest.split(' ').nth(1)?.parse::<u16>().ok());
        let is_cut = message.ends_with(CUT) || body.contains(GAP);
        match status {
            Some(_) => Self {
                status,
                headers: lines.map(Shared::from).collect(),
                body: body.into(),
                is_cut,
            },
            // Some tools keep the body alone.
            None => Self {
                body: message.as_str().into(),
                is_cut,
                ..Self::default()
            },
        }
    }

    /// The value of the first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.named_values();
        let found = all.find(|(one, _)| one.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }

    /// Names and values of all headers.
    pub fn named_values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.iter().filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.trim(), value.trim()))
        })
    }

    /// Names and values of the headers that say something about the page: without dates and those
    /// of the connection.
    pub fn steady_values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.named_values().filter(|(name, _)| {
            let mut others = OF_CONNECTION.iter();
            !is_stamped(name) && !others.any(|one| name.eq_ignore_ascii_case(one))
        })
    }

    /// Headers and body as one text.
    pub fn text(&self) -> String {
        let lines = self.headers.iter().map(Shared::as_str);
        let lines: Vec<&str> = lines.chain(["", self.body.as_str()]).collect();
        lines.join("\n")
    }

    /// Whether it has this text, apart from blanks: scanners keep a text of several lines as one.
    pub fn contains(&self, text: &str) -> bool {
        one_line(&self.text()).contains(&one_line(text))
    }

    pub fn is_success(&self) -> bool {
        matches!(self.status, Some(200..=299))
    }

    /// The answer with the limits of stored ones, and without the values of secrets in its headers.
    #[must_use]
    pub fn bounded(&self) -> Self {
        let body = start(&self.body, MOST_BODY);
        let headers = self.headers.iter().take(MOST_HEADERS);
        Self {
            status: self.status,
            headers: headers
                .map(|line| Shared::from(start(&hidden(line), MOST_HEADER)))
                .collect(),
            body: body.into(),
            is_cut: self.is_cut || body.len() < self.body.len(),
        }
    }

    /// The answer without its body.
    #[must_use]
    pub fn without_body(self) -> Self {
        Self {
            is_cut: self.is_cut || !self.body.is_empty(),
            body: Shared::default(),
            ..self
        }
    }

    /// `200, nginx, text/html, 1,234 bytes`
    pub fn summary(&self) -> String {
        let status = self
            .status
            .map_or_else(|| "status unknown".to_owned(), |code| code.to_string());
        let mut words = vec![status];
        for name in ["location", "server", "content-type"] {
            words.extend(self.header(name).map(hide_parameters));
        }
        if !self.body.is_empty() {
            let at_least = if self.is_cut { "at least " } else { "" };
            let bytes = plural(self.body.len(), "byte");
            words.push(format!("{at_least}{bytes}"));
        }
        words.join(", ")
    }
}

pub(super) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

pub(super) fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// The line of a header without its secrets; of a cookie, the name alone.
fn hidden(line: &str) -> String {
    match line.split_once(':') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("set-cookie") => {
            let cookie = value.split(['=', ';']).next().unwrap_or_default().trim();
            format!("{name}: {cookie}={HIDDEN}")
        }
        Some((name, _)) if is_secret_name(name) => format!("{name}: {HIDDEN}"),
        _ => hide_parameters(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_is_read_and_a_body_alone_too() {
        let answer = ProofAnswer::parse("HTTP/1.1 200 OK\r\nServer: nginx\r\n\r\nhello\r\n\r\nx");
        assert_eq!(answer.status, Some(200));
        assert_eq!(answer.header("SERVER"), Some("nginx"));
        assert_eq!(answer.body.as_str(), "hello\n\nx");
        assert_eq!(answer.summary(), "200, nginx, 8 bytes");
        let excerpt = ProofAnswer::parse("HTTP/1.1 200 OK\n\nhello…\nthe end");
        assert!(excerpt.is_cut && !answer.is_cut);
        let body = ProofAnswer::parse("hello…");
        assert!(body.status.is_none() && body.is_cut);
        assert_eq!(ProofAnswer::parse(""), ProofAnswer::default());
    }

    #[test]
    fn stored_answer_is_bounded_and_has_no_secret() {
        let answer = ProofAnswer {
            headers: vec![
                "Set-Cookie: sid=s3cret; Path=/".into(),
                "A: b".into(),
                "X-Csrf-Token: s3cret".into(),
                "Location: /cb?code=1&access_token=s3cret".into(),
            ],
            body: "é".repeat(MOST_BODY).into(),
            ..ProofAnswer::default()
        };
        let stored = answer.bounded();
        assert_eq!(
            stored.headers,
            [
                "Set-Cookie: sid=•••",
                "A: b",
                "X-Csrf-Token: •••",
                "Location: /cb?code=1&access_token=•••"
            ]
        );
        assert!(stored.is_cut && stored.body.len() <= MOST_BODY);
        assert_eq!(stored.bounded(), stored);
        let bare = answer.without_body();
        assert!(bare.is_cut && bare.body.is_empty());
    }
}
