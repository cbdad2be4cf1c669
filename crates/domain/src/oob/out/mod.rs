//! Captured requests for other tools: curl, raw HTTP, JSON, HAR 1.2, JSON lines. Data in, text out.
//!
//! The sender of a request controls every character of it. The output is pasted into shells and
//! read by programs, so it must not act on either. An unknown path is marked as unknown.

mod curl;
mod har;
mod json;
mod raw;

use std::io;
use std::sync::Arc;

use url::Url;

use super::{Mention, StoredBody, with_body};
use crate::finding::named_enum;
use crate::mask::Mask;
use scandeck_wire::contract::{Capture, LoggerId, Shared};

pub use curl::{body_file, curl};
pub use har::har;
pub use json::{jsonl, value};
pub use raw::{raw, raw_bytes};

/// A captured request with its logger and the tokens in it.
#[derive(Clone, Debug, PartialEq)]
pub struct CaptureRecord {
    /// The request.
    pub capture: Arc<Capture>,
    /// The place of its body, if the request lacks it.
    pub body: Option<Arc<StoredBody>>,
    pub logger: LoggerId,
    pub label: Shared,
    /// URL of the logger when the request was recorded.
    pub handler_url: Shared,
    /// Tokens found in the request.
    pub mentions: Arc<[Mention]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestUrl {
    /// The URL of the logger with path and query of the request. Only path and query if the URL of
    /// the logger is invalid.
    pub url: String,
    /// True if the path was recorded; otherwise the path of the logger is used.
    pub path_known: bool,
}

impl CaptureRecord {
    /// The same request with its body.
    ///
    /// # Errors
    /// When the body cannot be read.
    pub fn whole(&self) -> io::Result<Self> {
        let capture = with_body(&self.capture, self.body.as_deref())?;
        Ok(Self {
            capture,
            body: None,
            ..self.clone()
        })
    }

    pub fn request_url(&self) -> RequestUrl {
        let capture = &*self.capture;
        let base = self.handler_url.as_str();
        let path = capture.path.as_deref().filter(|path| path.starts_with('/'));
        let mut url = match (path, Url::parse(base)) {
            (Some(path), Ok(parsed)) => format!("{}{path}", parsed.origin().ascii_serialization()),
            (Some(path), Err(_)) => path.to_owned(),
            (None, _) => base.to_owned(),
        };
        if !capture.url_params.is_empty() {
            url.push(if url.contains('?') { '&' } else { '?' });
            url.push_str(&capture.url_params);
        }
        RequestUrl {
            url,
            path_known: path.is_some(),
        }
    }
}

named_enum! {
    /// Export format for several captures.
    CaptureFormat {
        /// HTTP Archive 1.2.
        Har "har",
        /// JSON lines with the fields of the service.
        Jsonl "jsonl",
    }
}

impl CaptureFormat {
    /// Captures in this format, with stand-ins for the names and secrets in them.
    pub fn written(self, sent: &[CaptureRecord], mask: Option<&Mask>) -> String {
        match self {
            Self::Har => har(sent, mask),
            Self::Jsonl => jsonl(sent, mask),
        }
    }
}

/// True for headers of one connection (RFC 9110 §7.6.1) and headers that the sender computes: they
/// are not replayed.
fn is_hop_by_hop(name: &str, capture: &Capture) -> bool {
    #[rustfmt::skip]
    const OWN: &[&str] = &[
        "host", "content-length", "connection", "keep-alive", "proxy-connection", "proxy-authorization", "te",
        "trailer", "transfer-encoding", "upgrade", "expect",
    ];
    let named = super::request::header(capture, "connection").unwrap_or_default();
    OWN.iter().any(|own| own.eq_ignore_ascii_case(name))
        || named
            .split(',')
            .any(|other| other.trim().eq_ignore_ascii_case(name))
}

/// The headers to replay: in order, with duplicates, without invalid names.
pub fn sent_again(capture: &Capture) -> impl Iterator<Item = (&str, &str)> {
    super::request::headers(capture).filter(move |(name, _)| is_sent_again(name, capture))
}

/// The same headers with the bytes that arrived, if the service reports them.
fn bytes_sent_again(capture: &Capture) -> Vec<(String, Vec<u8>)> {
    let Some(arrived) = super::request::raw(capture) else {
        return sent_again(capture)
            .map(|(name, value)| (name.to_owned(), value.as_bytes().to_owned()))
            .collect();
    };
    let lines = arrived
        .split(|byte| *byte == b'\n')
        .skip(1)
        .map(<[u8]>::trim_ascii)
        .take_while(|line| !line.is_empty());
    let header = |line: &[u8]| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let name = std::str::from_utf8(&line[..colon]).ok()?.trim().to_owned();
        is_sent_again(&name, capture).then(|| (name, line[colon + 1..].trim_ascii().to_owned()))
    };
    lines.filter_map(header).collect()
}

fn is_sent_again(name: &str, capture: &Capture) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_letter) && !is_hop_by_hop(name, capture)
}

#[cfg(test)]
mod testing {
    use super::*;
    use crate::oob::recognize::testing;
    use crate::oob::{Token, mentions};

    /// A request with a token, from a service that records paths.
    pub fn sent() -> CaptureRecord {
        let token: Token = "k7f2aaaabbbb".parse().unwrap();
        let capture = Capture {
            id: 118.into(),
            ip_address: "203.0.113.9".into(),
            request_method: "POST".into(),
            url_params: format!("t={token}/latest&t=2").into(),
            user_agent: "curl/8.5.0".into(),
            http_headers: vec![
                "Host: 127.0.0.1:8081".into(),
                "User-Agent: curl/8.5.0".into(),
                "Connection: close, X-Hop".into(),
                "X-Hop: 1".into(),
                "Cookie: a=1; b=it's".into(),
                "Content-Type: application/json".into(),
                "X-Empty:".into(),
                "@/etc/passwd: x".into(),
                "X-Twice: 1".into(),
                "X-Twice: 2".into(),
            ],
            request_body_type: "application/json".into(),
            request_body_base64: testing::base64(br#"{"a":"it's"}"#),
            request_date: scandeck_wire::contract::Stamp::parse("2026-11-21 14:02:08"),
            path: Some("/l/x/y".into()),
            http_version: Some("HTTP/1.1".into()),
            remote_port: Some(40_000),
            ..Capture::default()
        };
        let mentions = mentions(&capture, &testing::book([token])).into();
        CaptureRecord {
            capture: Arc::new(capture),
            body: None,
            logger: LoggerId(3),
            label: "blind-ssrf".into(),
            handler_url: "http://127.0.0.1:8081/l/x/".into(),
            mentions,
        }
    }

    /// The same with another capture.
    pub fn with(change: impl FnOnce(&mut Capture)) -> CaptureRecord {
        let mut sent = sent();
        change(Arc::make_mut(&mut sent.capture));
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_url_uses_known_parts() {
        let request_url =
            |sent: CaptureRecord| (sent.request_url().url, sent.request_url().path_known);
        let query = "t=k7f2aaaabbbb/latest&t=2";
        assert_eq!(
            request_url(testing::sent()),
            (format!("http://127.0.0.1:8081/l/x/y?{query}"), true)
        );
        let unknown = testing::with(|capture| capture.path = None);
        assert_eq!(
            request_url(unknown),
            (format!("http://127.0.0.1:8081/l/x/?{query}"), false)
        );
        let keyed = CaptureRecord {
            handler_url: "http://h/?k=1".into(),
            ..testing::with(|capture| capture.path = None)
        };
        assert_eq!(request_url(keyed).0, format!("http://h/?k=1&{query}"));
        let homeless = CaptureRecord {
            handler_url: "".into(),
            ..testing::sent()
        };
        assert_eq!(request_url(homeless), (format!("/l/x/y?{query}"), true));
    }

    #[test]
    fn replayed_headers_omit_connection_headers() {
        let sent = testing::sent();
        let names: Vec<_> = sent_again(&sent.capture).map(|(name, _)| name).collect();
        assert_eq!(
            names,
            [
                "User-Agent",
                "Cookie",
                "Content-Type",
                "X-Empty",
                "X-Twice",
                "X-Twice"
            ]
        );
    }
}
