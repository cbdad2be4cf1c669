//! The cookies of a log-in: each belongs to the host that set it, or to the domain that it names.
//!
//! Paths and times of expiry are ignored: the steps of a log-in follow each other within seconds.

use std::collections::BTreeMap;

use url::Url;

use super::HttpPage;
use crate::engine::LearnedSecret;

/// The cookies of a log-in.
#[derive(Default)]
pub(super) struct CookieJar(BTreeMap<CookieKey, JarCookie>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CookieKey {
    domain: String,
    name: String,
}

struct JarCookie {
    value: String,
    /// Not for hosts below the domain.
    is_host_only: bool,
}

/// A line `Set-Cookie`.
pub(super) struct SetCookie {
    pub name: String,
    pub value: String,
    domain: Option<String>,
    is_deleted: bool,
}

impl CookieJar {
    /// Stores the cookies of an answer.
    pub fn store(&mut self, page: &HttpPage) {
        let host = page.url.host_str().unwrap_or_default();
        for cookie in set_cookies(page) {
            let domain = cookie.domain.filter(|domain| is_within(host, domain));
            let is_host_only = domain.is_none();
            let key = CookieKey {
                domain: domain.unwrap_or_else(|| host.to_owned()),
                name: cookie.name,
            };
            match cookie.is_deleted {
                true => _ = self.0.remove(&key),
                false => {
                    let value = cookie.value;
                    self.0.insert(
                        key,
                        JarCookie {
                            value,
                            is_host_only,
                        },
                    );
                }
            }
        }
    }

    /// The header with the cookies for a URL.
    pub fn line(&self, url: &Url) -> Option<String> {
        let host = url.host_str().unwrap_or_default();
        let is_for_host = |(key, cookie): &(&CookieKey, &JarCookie)| match cookie.is_host_only {
            true => key.domain == host,
            false => is_within(host, &key.domain),
        };
        let cookies = self.0.iter().filter(is_for_host);
        let pairs: Vec<String> = cookies
            .map(|(key, cookie)| format!("{}={}", key.name, cookie.value))
            .collect();
        Some(pairs.join("; ")).filter(|line| !line.is_empty())
    }

    pub fn secrets(&self) -> impl Iterator<Item = LearnedSecret> {
        self.0.iter().map(|(key, cookie)| LearnedSecret {
            name: key.name.clone(),
            value: cookie.value.clone(),
        })
    }
}

/// The cookies that an answer sets.
pub(super) fn set_cookies(page: &HttpPage) -> impl Iterator<Item = SetCookie> {
    page.all("set-cookie").filter_map(|line| {
        let mut parts = line.split(';');
        let (name, value) = parts.next()?.split_once('=')?;
        let mut cookie = SetCookie {
            name: name.trim().to_owned(),
            value: value.trim().to_owned(),
            domain: None,
            is_deleted: value.trim().is_empty(),
        };
        for attribute in parts {
            let (key, text) = attribute.split_once('=').unwrap_or((attribute, ""));
            match key.trim().to_ascii_lowercase().as_str() {
                "domain" => {
                    let domain = text.trim().trim_start_matches('.').to_ascii_lowercase();
                    cookie.domain = Some(domain).filter(|domain| domain.contains('.'));
                }
                "max-age" => {
                    let seconds = text.trim().parse::<i64>();
                    cookie.is_deleted |= seconds.is_ok_and(|seconds| seconds <= 0);
                }
                _ => {}
            }
        }
        Some(cookie)
    })
}

/// Whether a host is a domain, or below it.
fn is_within(host: &str, domain: &str) -> bool {
    let below = host.strip_suffix(domain);
    below.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderMap, HeaderValue};

    use super::*;

    fn page(url: &str, cookies: &[&str]) -> HttpPage {
        let mut headers = HeaderMap::new();
        for cookie in cookies {
            headers.append("set-cookie", HeaderValue::from_str(cookie).unwrap());
        }
        HttpPage {
            headers,
            ..HttpPage::for_tests(url, "")
        }
    }

    #[test]
    fn cookies_belong_to_their_host_or_domain() {
        let mut jar = CookieJar::default();
        let set = [
            "sid=1; Path=/; HttpOnly",
            "sso=2; Domain=.acme.test",
            "evil=3; Domain=other.test",
            "old=4",
        ];
        jar.store(&page("https://login.acme.test/", &set));
        jar.store(&page("https://login.acme.test/", &["old=; Max-Age=0"]));
        let line = |url: &str| jar.line(&Url::parse(url).unwrap());
        assert_eq!(
            line("https://login.acme.test/a").as_deref(),
            Some("sso=2; evil=3; sid=1")
        );
        assert_eq!(line("https://shop.acme.test/").as_deref(), Some("sso=2"));
        assert_eq!(line("https://other.test/"), None);
        assert_eq!(line("https://badacme.test/"), None);
    }
}
