//! A response of a web server.

use std::borrow::Cow;
use std::sync::Arc;

use reqwest::header::HeaderMap;
use url::Url;

use crate::engine::body::BodyFault;
use crate::engine::exchange::SentHead;
use scandeck_wire::body_text::{self, BodyHeaders};

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

#[cfg(test)]
impl HttpPage {
    /// A response with the status 200 and no headers.
    pub fn for_tests(url: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            url: Url::parse(url).unwrap(),
            status: 200,
            headers: HeaderMap::new(),
            body: body.into(),
            fault: None,
            request: Arc::default(),
        }
    }
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
        let [kind, options] = self.body_headers();
        body_text::text(&self.body, body_headers(&kind, &options))
    }

    /// The media type without parameters, in lower case; empty if there is none.
    pub fn media_type(&self) -> String {
        body_text::media_type(&self.header("content-type"))
    }

    /// Whether the content type is HTML; without a type, whether a browser would take the body for
    /// HTML.
    pub fn is_html(&self) -> bool {
        let [kind, options] = self.body_headers();
        body_text::is_html(&self.body, body_headers(&kind, &options))
    }

    /// Type and options of the body.
    fn body_headers(&self) -> [Cow<'_, str>; 2] {
        ["content-type", "x-content-type-options"].map(|name| self.header(name))
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

fn body_headers<'h>(content_type: &'h str, content_type_options: &'h str) -> BodyHeaders<'h> {
    BodyHeaders {
        content_type,
        content_type_options,
    }
}
