//! Responses to requests with a foreign `Origin`, and whether other sites gain anything by them.
//!
//! ```text
//!   page × origin ──► Access-Control-Allow-Origin = origin? ──► credentials allowed? ──► would a browser send a cookie?
//!                                                                  no: public responses    no: info, with the reason
//! ```
//!
//! `Access-Control-Allow-Credentials` matters only where a browser sends a cookie with a request of
//! another site, and the site accepts it. Otherwise other sites read what everybody can read.

use reqwest::Method;
use url::Url;

use super::cookies;
use super::site::Site;
use crate::engine::NewFinding;
use crate::engine::http::{HttpPage, headers};
use crate::engine::kinds::{FindingKind, web};
use scandeck_wire::contract::Risk;

/// Pages whose CORS responses are requested.
pub const MAX_CORS_PAGES: usize = 40;
/// Rows of evidence; further pages show nothing new.
const MAX_CORS_ROWS: usize = 3;
const HEADERS: &[&str] = &[
    "Request",
    "Origin sent",
    "Access-Control-Allow-Origin",
    "Access-Control-Allow-Credentials",
];

/// WordPress accepts a cookie in requests to its API only together with this header (its handbook,
/// *Authentication*).
const NONCE_HEADER: &str = "x-wp-nonce";

/// What the credentials of a browser add to an allowed origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CorsCredentials {
    /// The response does not allow credentials.
    NotAllowed,
    /// Allowed, and the site uses a cookie that browsers send.
    Used,
    /// Allowed, but browsers send no cookie, or the site does not accept it: the reason.
    Unused(&'static str),
}

/// A response that allows an origin.
struct AllowedOrigin {
    /// The answer without its body.
    page: HttpPage,
    row: Vec<String>,
    credentials: CorsCredentials,
}

/// The responses of one kind of origin.
#[derive(Default)]
struct AllowedOrigins(Vec<AllowedOrigin>);

/// Access-Control-Allow-Origin that reflects a foreign origin, `null`, or an origin named like the
/// site.
pub async fn check(site: &Site<'_>) -> Vec<NewFinding> {
    let host = site.start.url.host_str().unwrap_or_default();
    let (nonsense, scheme) = (&site.nonsense, site.start.url.scheme());
    let foreign = format!("https://{nonsense}.example");
    let similar = [
        format!("{scheme}://{host}.{nonsense}.example"),
        format!("{scheme}://{nonsense}{host}"),
    ];
    let (mut reflected, mut null, mut suffix) = (
        AllowedOrigins::default(),
        AllowedOrigins::default(),
        AllowedOrigins::default(),
    );
    let pages = site
        .pages()
        .filter(|page| page.is_success() && !site.is_static(page))
        .take(MAX_CORS_PAGES);
    for page in pages {
        if reflected.is_complete() {
            break;
        }
        if let Some(answer) = allowed(site, &page.url, &foreign).await {
            reflected.0.push(answer);
            continue;
        }
        if !null.is_complete() {
            null.0.extend(allowed(site, &page.url, "null").await);
        }
        for origin in &similar {
            if !suffix.is_complete() {
                suffix.0.extend(allowed(site, &page.url, origin).await);
            }
        }
    }
    let (without, with): (Vec<_>, Vec<_>) = reflected
        .0
        .into_iter()
        .partition(|one| one.credentials == CorsCredentials::NotAllowed);
    [
        AllowedOrigins(with).finding(site, web::CORS_CREDENTIALS),
        AllowedOrigins(without).finding(site, web::CORS_REFLECTED),
        null.finding(site, web::CORS_NULL),
        suffix.finding(site, web::CORS_SUFFIX),
    ]
    .into_iter()
    .flatten()
    .collect()
}

impl AllowedOrigins {
    /// Whether further responses add nothing; those whose credentials are unused do not count.
    fn is_complete(&self) -> bool {
        let telling = self
            .0
            .iter()
            .filter(|one| !matches!(one.credentials, CorsCredentials::Unused(_)));
        telling.count() >= MAX_CORS_ROWS
    }

    /// The finding about the responses that give other sites the most.
    fn finding(self, site: &Site, kind: FindingKind) -> Option<NewFinding> {
        let has = |credentials| self.0.iter().any(|one| one.credentials == credentials);
        let worst = match () {
            () if has(CorsCredentials::Used) => CorsCredentials::Used,
            () if has(CorsCredentials::NotAllowed) => CorsCredentials::NotAllowed,
            () => self.0.first()?.credentials,
        };
        let of_worst = self.0.into_iter().filter(|one| one.credentials == worst);
        let mut shown: Vec<AllowedOrigin> = of_worst.take(MAX_CORS_ROWS).collect();
        let rows = shown.iter_mut().map(|one| std::mem::take(&mut one.row));
        let finding = site.finding(kind, HEADERS, rows.collect());
        let finding = finding.proven_by(&shown.first()?.page);
        Some(match worst {
            CorsCredentials::Used => finding,
            CorsCredentials::NotAllowed => NewFinding {
                risk: finding.risk.min(Risk::Low),
                ..finding
            },
            CorsCredentials::Unused(reason) => NewFinding {
                risk: Risk::Info,
                confirmed: false,
                risk_description: reason.to_owned(),
                vuln_description: format!("{} {reason}", finding.vuln_description),
                ..finding
            },
        })
    }
}

/// The response to this origin, if it allows the origin.
async fn allowed(site: &Site<'_>, url: &Url, origin: &str) -> Option<AllowedOrigin> {
    let answer = site
        .web
        .send(Method::GET, url, headers([("origin", origin)]))
        .await
        .ok()?;
    if answer.header("access-control-allow-origin") != origin {
        return None;
    }
    // Browsers compare these two letter by letter.
    let credentials = match answer.header("access-control-allow-credentials") == "true" {
        true => use_of_cookies(site, &answer),
        false => CorsCredentials::NotAllowed,
    };
    let word = if credentials == CorsCredentials::NotAllowed {
        "absent"
    } else {
        "true"
    };
    let row = vec![
        format!("GET {url}"),
        origin.to_owned(),
        origin.to_owned(),
        word.to_owned(),
    ];
    let page = HttpPage {
        body: Vec::new(),
        ..answer
    };
    Some(AllowedOrigin {
        page,
        row,
        credentials,
    })
}

/// Whether browsers send a cookie that the site accepts with a request of another site.
fn use_of_cookies(site: &Site, answer: &HttpPage) -> CorsCredentials {
    let allowed = answer
        .header("access-control-allow-headers")
        .to_ascii_lowercase();
    if allowed.split(',').any(|name| name.trim() == NONCE_HEADER) {
        return CorsCredentials::Unused(
            "WordPress accepts its cookies here only with a nonce that other sites cannot read, so other sites read what \
             everybody can read.",
        );
    }
    if site.with_login {
        return CorsCredentials::Used;
    }
    let sessions = site
        .pages()
        .chain([answer])
        .flat_map(cookies::sessions)
        .collect::<Vec<_>>();
    match sessions
        .iter()
        .find(|cookie| cookie.is_sent_by_other_sites())
    {
        Some(_) => CorsCredentials::Used,
        None if sessions.is_empty() => CorsCredentials::Unused(
            "No page of the scan set a session cookie, so other sites read what everybody can read. Scan with credentials \
             if the site has a log-in.",
        ),
        None => CorsCredentials::Unused(
            "The session cookies have SameSite Lax or Strict, so browsers do not send them with the requests of other \
             sites. Hosts of the same domain still read responses as the user.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::hostile_tests::{web as server, website};

    /// A site whose pages reflect any origin with credentials, with these further headers.
    async fn reflecting(headers: &'static str) -> u16 {
        server(move |_, head| {
            let origin = head
                .lines()
                .find_map(|line| line.strip_prefix("origin: "))
                .unwrap_or("*");
            format!(
                "HTTP/1.1 200 OK\r\naccess-control-allow-origin: {origin}\r\n\
                 access-control-allow-credentials: true\r\n{headers}content-type: text/html\r\n\
                 content-length: 4\r\nconnection: close\r\n\r\n<p>x"
            )
        })
        .await
    }

    #[tokio::test]
    async fn credentials_count_only_where_browsers_send_a_cookie_that_the_site_accepts() {
        const WORDPRESS: &str = "access-control-allow-headers: Authorization, X-WP-Nonce, Content-Type\r\n\
            set-cookie: wordpress_logged_in_1=x; Path=/\r\n";
        let cases = [
            ("set-cookie: sid=1\r\n", false, Risk::Medium, ""),
            (
                "set-cookie: sid=1; SameSite=None; Secure\r\n",
                false,
                Risk::Medium,
                "",
            ),
            ("", true, Risk::Medium, ""),
            (
                "",
                false,
                Risk::Info,
                "No page of the scan set a session cookie",
            ),
            (
                "set-cookie: lang=en\r\n",
                false,
                Risk::Info,
                "No page of the scan set a session cookie",
            ),
            (
                "set-cookie: sid=; Max-Age=0\r\n",
                false,
                Risk::Info,
                "No page of the scan set a session cookie",
            ),
            (
                "set-cookie: sid=1; SameSite=Lax\r\n",
                false,
                Risk::Info,
                "SameSite Lax or Strict",
            ),
            (WORDPRESS, false, Risk::Info, "nonce"),
            (WORDPRESS, true, Risk::Info, "nonce"),
        ];
        let scan = |case: (&'static str, bool, Risk, &'static str)| async move {
            let (headers, with_login, risk, reason) = case;
            let login = json!({"authentication": {"cookies": "sid=1"}});
            let params = if with_login { login } else { json!({}) };
            let result = website(reflecting(headers).await, params).run().await;
            result.check();
            let found = result.of("web.cors.credentials");
            assert_eq!(
                (found.len(), found[0].risk),
                (1, risk),
                "{headers:?} {with_login}"
            );
            assert_eq!(
                found[0].confirmed,
                reason.is_empty(),
                "{headers:?} {with_login}"
            );
            assert!(
                found[0].vuln_description.contains(reason),
                "{}",
                found[0].vuln_description
            );
        };
        futures::future::join_all(cases.map(scan)).await;
    }

    #[tokio::test]
    async fn null_and_similar_origins_without_credentials_are_low() {
        let port = server(move |_, head| {
            let origin = head.lines().find_map(|line| line.strip_prefix("origin: "));
            let allowed = origin.filter(|origin| *origin == "null" || origin.starts_with("http://127.0.0.1."));
            let header = allowed.map(|origin| format!("access-control-allow-origin: {origin}\r\n"));
            format!(
                "HTTP/1.1 200 OK\r\n{}content-type: text/html\r\ncontent-length: 4\r\nconnection: close\r\n\r\n<p>x",
                header.unwrap_or_default()
            )
        })
        .await;
        let result = website(port, json!({})).run().await;
        result.check();
        for kind in ["web.cors.null", "web.cors.suffix"] {
            let found = result.of(kind);
            assert_eq!(
                (found.len(), found[0].risk, found[0].confirmed),
                (1, Risk::Low, true),
                "{kind}"
            );
        }
        assert!(
            result.of("web.cors.credentials").is_empty()
                && result.of("web.cors.reflected").is_empty()
        );
    }
}
