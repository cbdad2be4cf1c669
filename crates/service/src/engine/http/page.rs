//! A response of a web server.

use std::borrow::Cow;
use std::sync::Arc;

use reqwest::header::HeaderMap;
use url::Url;

use crate::engine::body::BodyFault;
use crate::engine::encoding;
use crate::engine::exchange::SentHead;
use crate::engine::header_values;

/// A response.
#[derive(Clone, Debug)]
pub struct HttpPage {
    /// The requested URL.
    pub url: Url,
    pub status: u16,
    pub headers: HeaderMap,
    /// The body, truncated at a limit.
    pub body: Vec<u8>,
    /// Why the body is not whole; what arrived is in `body`.
    pub fault: Option<BodyFault>,
    /// What was sent for it.
    pub request: Arc<SentHead>,
}

impl HttpPage {
    /// A header as text, its lines joined by commas; empty when it is absent. Bytes that are not
    /// text become `U+FFFD`.
    pub fn header(&self, name: &str) -> Cow<'_, str> {
        let mut lines = self.all(name);
        let first = lines.next().unwrap_or_default();
        lines.fold(first, |joined, line| {
            Cow::Owned(format!("{joined}, {line}"))
        })
    }

    /// The lines of a header as text.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = Cow<'a, str>> {
        self.headers
            .get_all(name)
            .iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
    }

    /// The body as text, in the encoding that a browser would choose.
    pub fn text(&self) -> Cow<'_, str> {
        let declared = header_values::charset(&self.header("content-type"));
        encoding::decode(&self.body, declared.as_deref(), self.is_html())
    }

    /// The media type without parameters, in lower case; empty if there is none.
    pub fn media_type(&self) -> String {
        header_values::media_type(&self.header("content-type"))
    }

    /// Whether the content type is HTML; without a type, whether a browser would take the body for
    /// HTML.
    pub fn is_html(&self) -> bool {
        match self.media_type().as_str() {
            "text/html" | "application/xhtml+xml" => true,
            "" | "*/*" | "unknown/unknown" | "application/unknown" => {
                let is_sniffed = !self
                    .header("x-content-type-options")
                    .trim()
                    .to_ascii_lowercase()
                    .starts_with("nosniff");
                is_sniffed && encoding::looks_like_html(&self.body)
            }
            _ => false,
        }
    }

    /// 200 or 206.
    pub fn is_success(&self) -> bool {
        matches!(self.status, 200 | 206)
    }

    /// The destination of a redirect.
    pub fn redirect(&self) -> Option<Url> {
        let is_redirect = matches!(self.status, 301 | 302 | 303 | 307 | 308);
        let location = self.headers.get("location")?;
        is_redirect
            .then(|| {
                self.url
                    .join(&String::from_utf8_lossy(location.as_bytes()))
                    .ok()
            })
            .flatten()
    }
}
