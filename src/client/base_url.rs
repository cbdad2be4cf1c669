//! The address of a service, checked once: `{scheme}://{host}[:port][/prefix]/api/v2`.
//!
//! Typed by people, so it is taken with or without `/api/v2` and a trailing slash. Everything the client sends goes
//! below it. Plain `http` is for loopback; elsewhere the key would travel in the clear, and that has to be asked for.

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

/// What every path of the API stands below (`api-v2.md §1`).
const PREFIX: &str = "/api/v2";

/// The checked base of a service, ending in `/api/v2` without a slash after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    text: String,
    loopback: bool,
}

/// Why a text is no base URL, with what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("base URL {given:?}: {why}")]
pub struct BaseUrlError {
    given: String,
    why: String,
    hint: String,
}

impl BaseUrlError {
    fn new(given: &str, why: impl Into<String>, hint: impl Into<String>) -> Self {
        // User info can hold a password; it is not repeated.
        let given = match given.rsplit_once('@') {
            Some((_, rest)) => format!("…@{rest}"),
            None => given.to_owned(),
        };
        Self { given, why: why.into(), hint: hint.into() }
    }

    /// What to do next.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

impl BaseUrl {
    /// Checks and completes an address.
    ///
    /// # Errors
    /// When it is no `http` or `https` URL, carries user info, a query or a fragment, or is plain `http` to a host
    /// that is not loopback while `insecure_http` is false.
    pub fn parse(text: &str, insecure_http: bool) -> Result<Self, BaseUrlError> {
        let given = without_doubled_scheme(text.trim());
        let refuse = |why: &str, hint: String| Err(BaseUrlError::new(given, why, hint));
        if given.is_empty() {
            return refuse("it is empty", "write it like https://api.example.com/api/v2".into());
        }
        if !given.contains("://") {
            return refuse("the scheme is missing", format!("write https://{given}"));
        }
        let url = match Url::parse(given) {
            Ok(url) => url,
            Err(error) => {
                return refuse(&error.to_string(), "write it like https://api.example.com/api/v2".into());
            }
        };
        if !matches!(url.scheme(), "http" | "https") {
            return refuse("only http and https are spoken here", "begin it with https://".into());
        }
        if !url.username().is_empty() || url.password().is_some() {
            let hint =
                "leave out what stands before the @; the key comes from SCANDECK_API_KEY, api_key_command or a file";
            return refuse("it carries user info", hint.into());
        }
        if url.query().is_some() || url.fragment().is_some() {
            return refuse("it carries a query or a fragment", "end it at the path".into());
        }
        let loopback = is_loopback(&url);
        if url.scheme() == "http" && !loopback && !insecure_http {
            let hint =
                "use https, or allow plain http by name with --insecure-http (insecure_http = true in the profile)";
            return refuse("plain http to another machine would send the key in the clear", hint.into());
        }
        Ok(Self { text: completed(&url), loopback })
    }

    /// The base, ending in `/api/v2`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the host is this machine: then no proxy is asked.
    pub fn is_loopback(&self) -> bool {
        self.loopback
    }

    /// Whether it is `https`.
    pub fn is_tls(&self) -> bool {
        self.text.starts_with("https:")
    }

    /// The host and port, for titles.
    pub fn host(&self) -> &str {
        let rest = self.text.split_once("://").map_or(self.text.as_str(), |(_, rest)| rest);
        rest.split('/').next().unwrap_or(rest)
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// A whole URL pasted behind a scheme that stood there already.
fn without_doubled_scheme(text: &str) -> &str {
    match text.split_once("://") {
        Some((_, rest)) if rest.starts_with("http://") || rest.starts_with("https://") => rest,
        _ => text,
    }
}

fn completed(url: &Url) -> String {
    let path = url.path().trim_end_matches('/');
    let prefix = if path.ends_with(PREFIX) { "" } else { PREFIX };
    let origin = &url[..url::Position::BeforePath];
    format!("{origin}{path}{prefix}")
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).to_canonical().is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_and_the_slash_may_be_there_or_not() {
        for (given, base) in [
            ("http://127.0.0.1:8765", "http://127.0.0.1:8765/api/v2"),
            (" http://127.0.0.1:8765/ ", "http://127.0.0.1:8765/api/v2"),
            ("http://localhost/api/v2/", "http://localhost/api/v2"),
            ("https://http://localhost", "http://localhost/api/v2"),
            ("http://[::1]:9/api/v2", "http://[::1]:9/api/v2"),
            ("https://api.example.com", "https://api.example.com/api/v2"),
            ("https://gw.example.com/scanner//", "https://gw.example.com/scanner/api/v2"),
        ] {
            assert_eq!(BaseUrl::parse(given, false).unwrap().as_str(), base, "{given}");
        }
    }

    #[test]
    fn what_is_refused_says_why_and_what_to_write() {
        for (given, why, hint) in [
            ("", "empty", "https://"),
            ("api.example.com", "scheme", "https://api.example.com"),
            ("ftp://api.example.com", "only http", "https://"),
            ("https://", "empty host", "https://"),
            ("https://u:secret@api.example.com", "user info", "SCANDECK_API_KEY"),
            ("https://api.example.com/?a=1", "query", "path"),
            ("http://10.0.0.1", "clear", "--insecure-http"),
        ] {
            let error = BaseUrl::parse(given, false).unwrap_err();
            assert!(
                error.to_string().contains(why) && error.hint().contains(hint),
                "{given}: {error} / {}",
                error.hint()
            );
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn plain_http_elsewhere_has_to_be_allowed_by_name() {
        assert!(BaseUrl::parse("http://10.0.0.1", true).is_ok_and(|base| !base.is_loopback()));
        for loopback in ["http://localhost.", "http://127.9.9.9", "http://[::1]", "http://[::ffff:127.0.0.1]"] {
            assert!(BaseUrl::parse(loopback, false).is_ok_and(|base| base.is_loopback()), "{loopback}");
        }
        assert_eq!(BaseUrl::parse("http://127.0.0.1:8765", false).unwrap().host(), "127.0.0.1:8765");
    }
}
