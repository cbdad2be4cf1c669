//! Replay of a captured request to a URL that the analyst typed.

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

use super::out::sent_again;
use super::request;
use scandeck_wire::contract::Capture;

/// The request to send. Display and Debug omit header values, which may be secret.
#[derive(Clone, PartialEq)]
pub struct Replay {
    pub method: String,
    pub url: Url,
    /// Headers without those of one connection.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Replay {
    /// The request to a typed URL. The default scheme is https, and http for this machine.
    ///
    /// # Errors
    /// If the URL is invalid or the request cannot be replayed.
    pub fn new(capture: &Capture, typed: &str) -> Result<Self, String> {
        let url = read(typed.trim())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!(
                "scheme `{}` is not supported; use http or https",
                url.scheme()
            ));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(
                "remove user name and password from the URL: the screen shows the URL".to_owned(),
            );
        }
        let method = capture.request_method.as_str();
        let is_token = !method.is_empty()
            && method
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_token || method.eq_ignore_ascii_case("CONNECT") {
            return Err(format!(
                "requests with method {method:?} cannot be replayed"
            ));
        }
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Ok(Self {
            method: method.to_owned(),
            url,
            headers: sent_again(capture).map(owned).collect(),
            body: request::body(capture).into_owned(),
        })
    }

    /// True if the URL is on this machine.
    pub fn is_here(&self) -> bool {
        is_loopback(&self.url)
    }
}

fn read(typed: &str) -> Result<Url, String> {
    let wrong = |why: &dyn fmt::Display| format!("invalid URL {typed:?}: {why}");
    if typed.is_empty() {
        return Err("URL is missing; type the whole URL".to_owned());
    }
    if typed.contains("://") {
        return Url::parse(typed).map_err(|error| wrong(&error));
    }
    let url = Url::parse(&format!("https://{typed}")).map_err(|error| wrong(&error))?;
    match is_loopback(&url) {
        true => Url::parse(&format!("http://{typed}")).map_err(|error| wrong(&error)),
        false => Ok(url),
    }
}

/// True for URLs on this machine.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => IpAddr::from(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::from(address).to_canonical().is_loopback(),
        None => false,
    }
}

/// `POST to https://shop.acme.test/`
impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.method, self.url)
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Replay({self}, {} headers, {} bytes)",
            self.headers.len(),
            self.body.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oob::recognize::testing::base64;

    fn capture() -> Capture {
        Capture {
            request_method: "POST".into(),
            http_headers: vec![
                "Host: h".into(),
                "Authorization: Bearer s3cret".into(),
                "Cookie: a=s3cret".into(),
            ],
            request_body_base64: base64(b"s3cret"),
            url_params: "t=1".into(),
            ..Capture::default()
        }
    }

    #[test]
    fn replay_uses_only_the_typed_url() {
        let to = |typed: &str| Replay::new(&capture(), typed).map(|replay| replay.url.to_string());
        assert_eq!(
            to("shop.acme.test/x?y=1").unwrap(),
            "https://shop.acme.test/x?y=1"
        );
        assert_eq!(
            to("http://shop.acme.test").unwrap(),
            "http://shop.acme.test/"
        );
        for (typed, url) in [
            ("127.0.0.1:8080/x", "http://127.0.0.1:8080/x"),
            ("localhost", "http://localhost/"),
            ("[::1]:81", "http://[::1]:81/"),
            ("https://127.0.0.1/", "https://127.0.0.1/"),
            ("127.0.0.1.acme.test", "https://127.0.0.1.acme.test/"),
        ] {
            assert_eq!(to(typed).unwrap(), url);
        }
        for wrong in [
            "",
            "  ",
            "ftp://h/",
            "file:///etc/passwd",
            "http://",
            "https://ann:pw@h/",
            "a b",
        ] {
            assert!(to(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn replay_omits_connection_headers_and_hides_secrets() {
        let replay = Replay::new(&capture(), "https://h.test/").unwrap();
        let names: Vec<&str> = replay
            .headers
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(
            (names, replay.body.as_slice()),
            (vec!["Authorization", "Cookie"], &b"s3cret"[..])
        );
        let shown = format!("{replay} {replay:?}");
        assert!(
            shown.contains("POST to https://h.test/") && !shown.contains("s3cret"),
            "{shown}"
        );
        let connect = Capture {
            request_method: "CONNECT".into(),
            ..capture()
        };
        assert!(Replay::new(&connect, "https://h.test/").is_err());
    }
}
