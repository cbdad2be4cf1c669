//! The address of a service, checked once: `{scheme}://{host}[:port][/prefix]/api/v2`.
//!
//! People type it, so `/api/v2` and a trailing slash are optional. The client sends requests only
//! below it. Plain `http` is for loopback; to other machines it would send the key in clear text,
//! so it must be allowed explicitly.

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

use scandeck_wire::contract::team::TEAM_ROOT;

/// Prefix of every path of the API (`api-v2.md §1`).
const PREFIX: &str = "/api/v2";
const EXAMPLE: &str = "example: https://api.example.com/api/v2";

/// A checked base URL; ends in `/api/v2` without a slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    text: String,
    loopback: bool,
}

/// Why a text is not a base URL, with a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("base URL {given:?}: {why}")]
pub struct BaseUrlError {
    given: String,
    why: String,
    hint: String,
}

impl BaseUrlError {
    fn new(given: &str, why: impl Into<String>, hint: impl Into<String>) -> Self {
        // User info may contain a password, so it is not repeated.
        let given = match given.rsplit_once('@') {
            Some((_, rest)) => format!("…@{rest}"),
            None => given.to_owned(),
        };
        Self {
            given,
            why: why.into(),
            hint: hint.into(),
        }
    }

    /// The remedy.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

impl BaseUrl {
    /// Checks and completes an address.
    ///
    /// # Errors
    /// When it is not an `http` or `https` URL, contains user info, a query or a fragment, or is
    /// plain `http` to another machine while `insecure_http` is false.
    pub fn parse(text: &str, insecure_http: bool) -> Result<Self, BaseUrlError> {
        let given = without_doubled_scheme(text.trim());
        let invalid = |why: &str, hint: &str| Err(BaseUrlError::new(given, why, hint));
        if given.is_empty() {
            return invalid("empty", EXAMPLE);
        }
        if !given.contains("://") {
            return invalid("scheme is missing", &format!("enter https://{given}"));
        }
        let url = match Url::parse(given) {
            Ok(url) => url,
            Err(error) => return invalid(&error.to_string(), EXAMPLE),
        };
        if !matches!(url.scheme(), "http" | "https") {
            return invalid(
                "only http and https are supported",
                "start the URL with https://",
            );
        }
        if !url.username().is_empty() || url.password().is_some() {
            let hint =
                "remove everything before the @; set the key in SCANDECK_API_KEY or the profile";
            return invalid("contains user info", hint);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return invalid(
                "contains a query or a fragment",
                "end the URL after the path",
            );
        }
        let loopback = is_loopback(&url);
        if url.scheme() == "http" && !loopback && !insecure_http {
            let hint = "use https, or --insecure-http (insecure_http = true in the profile)";
            return invalid(
                "plain http to another machine would send the key in clear text",
                hint,
            );
        }
        Ok(Self {
            text: completed(&url),
            loopback,
        })
    }

    /// The URL of a path: below the base, or beside the API for the paths of its extension.
    pub(super) fn join(&self, path: &str) -> String {
        let root = match path.strip_prefix(TEAM_ROOT) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                self.text.strip_suffix(PREFIX).unwrap_or(&self.text)
            }
            _ => &self.text,
        };
        format!("{root}{path}")
    }

    /// Whether the host is this machine, for which no proxy is used.
    pub fn is_loopback(&self) -> bool {
        self.loopback
    }

    /// Whether the scheme is `https`.
    pub fn is_tls(&self) -> bool {
        self.text.starts_with("https:")
    }

    /// Host and port, for titles.
    pub fn host(&self) -> &str {
        let rest = self
            .text
            .split_once("://")
            .map_or(self.text.as_str(), |(_, rest)| rest);
        rest.split('/').next().unwrap_or(rest)
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// Removes a scheme that was typed before a whole URL was pasted.
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

pub(super) fn is_loopback(url: &Url) -> bool {
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
    fn prefix_and_trailing_slash_are_optional() {
        for (given, base) in [
            ("http://127.0.0.1:8765", "http://127.0.0.1:8765/api/v2"),
            (" http://127.0.0.1:8765/ ", "http://127.0.0.1:8765/api/v2"),
            ("http://localhost/api/v2/", "http://localhost/api/v2"),
            ("https://http://localhost", "http://localhost/api/v2"),
            ("http://[::1]:9/api/v2", "http://[::1]:9/api/v2"),
            ("https://api.example.com", "https://api.example.com/api/v2"),
            (
                "https://gw.example.com/scanner//",
                "https://gw.example.com/scanner/api/v2",
            ),
        ] {
            assert_eq!(
                BaseUrl::parse(given, false).unwrap().to_string(),
                base,
                "{given}"
            );
        }
    }

    #[test]
    fn paths_of_the_extension_are_beside_the_api() {
        let base = BaseUrl::parse("https://gw.example.com/scanner/api/v2", false).unwrap();
        for (path, url) in [
            ("/scans/7", "https://gw.example.com/scanner/api/v2/scans/7"),
            (
                "/scandeck/v1/me",
                "https://gw.example.com/scanner/scandeck/v1/me",
            ),
            (
                "/scandeck/v10",
                "https://gw.example.com/scanner/api/v2/scandeck/v10",
            ),
        ] {
            assert_eq!(base.join(path), url);
        }
    }

    #[test]
    fn invalid_url_has_a_cause_and_a_remedy() {
        for (given, why, hint) in [
            ("", "empty", "https://"),
            ("api.example.com", "scheme", "https://api.example.com"),
            ("ftp://api.example.com", "only http", "https://"),
            ("https://", "empty host", "https://"),
            (
                "https://u:secret@api.example.com",
                "user info",
                "SCANDECK_API_KEY",
            ),
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
    fn plain_http_to_another_machine_needs_permission() {
        assert!(BaseUrl::parse("http://10.0.0.1", true).is_ok_and(|base| !base.is_loopback()));
        for loopback in [
            "http://localhost.",
            "http://127.9.9.9",
            "http://[::1]",
            "http://[::ffff:127.0.0.1]",
        ] {
            assert!(
                BaseUrl::parse(loopback, false).is_ok_and(|base| base.is_loopback()),
                "{loopback}"
            );
        }
        assert_eq!(
            BaseUrl::parse("http://127.0.0.1:8765", false)
                .unwrap()
                .host(),
            "127.0.0.1:8765"
        );
    }
}
