//! Scans that log in, at a site whose sessions end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::ScanOutcome;
use super::hostile_tests::{ok, redirect, request, server, website};

const PASSWORD: &str = "s3cret-pw";
const TOKEN: &str = "tok12345";

/// A site that shows its pages to a session only.
#[derive(Default)]
struct LoginSite {
    /// Requests that are left of the session.
    left: Mutex<usize>,
    /// Requests of a session.
    lifetime: usize,
    /// Pages beside the start page.
    pages: usize,
    logins: AtomicUsize,
    /// Answers to strangers.
    strangers: AtomicUsize,
}

impl LoginSite {
    async fn start(lifetime: usize, pages: usize) -> (Arc<Self>, u16) {
        let site = Arc::new(Self {
            lifetime,
            pages,
            ..Self::default()
        });
        let serving = Arc::clone(&site);
        let port = server(move |mut stream| {
            let site = Arc::clone(&serving);
            async move {
                let text = read_request(&mut stream).await;
                let _ = stream.write_all(site.answer(&text).as_bytes()).await;
            }
        });
        (site, port.await)
    }

    fn answer(&self, text: &str) -> String {
        let mut words = text.split(' ');
        match (words.next(), words.next()) {
            (Some("GET"), Some("/login")) => {
                let form = format!("<input name=\"csrf\" value=\"{TOKEN}\">");
                ok("text/html", &form)
            }
            (Some("POST"), Some("/login")) => self.log_in(text),
            (_, Some(path)) => self.page(path, text),
            _ => String::new(),
        }
    }

    fn log_in(&self, text: &str) -> String {
        let is_right = text.contains(&format!("password={PASSWORD}"))
            && text.contains(&format!("csrf={TOKEN}"));
        if !is_right {
            return "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                .to_owned();
        }
        let number = self.logins.fetch_add(1, Ordering::Relaxed) + 1;
        *self.left.lock().unwrap() = self.lifetime;
        let cookie = format!("set-cookie: sid=session-{number}-abcdefgh; Path=/; HttpOnly");
        redirect("/").replacen("\r\n", &format!("\r\n{cookie}\r\n"), 1)
    }

    fn page(&self, path: &str, text: &str) -> String {
        let number = self.logins.load(Ordering::Relaxed);
        let is_session = number > 0 && text.contains(&format!("sid=session-{number}-abcdefgh"));
        let mut left = self.left.lock().unwrap();
        if !is_session || *left == 0 {
            self.strangers.fetch_add(1, Ordering::Relaxed);
            return redirect("/login");
        }
        *left -= 1;
        let links: String = (1..=self.pages)
            .map(|number| format!("<a href=\"/p{number}\">{number}</a>"))
            .collect();
        ok("text/html", &format!("<p>{path}</p>{links}<a>Sign out</a>"))
    }
}

/// A request with its body.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut text = request(stream).await;
    let lower = text.to_ascii_lowercase();
    let length = lower
        .split("content-length: ")
        .nth(1)
        .and_then(|rest| rest.split("\r\n").next()?.parse::<usize>().ok());
    let length = length.unwrap_or(0);
    while text
        .split_once("\r\n\r\n")
        .is_some_and(|(_, body)| body.len() < length)
    {
        let mut more = [0; 1024];
        match stream.read(&mut more).await {
            Ok(count @ 1..) => text.push_str(&String::from_utf8_lossy(&more[..count])),
            _ => break,
        }
    }
    text
}

/// Reads the pages without further requests of checks.
fn params(password: &str, text: &str) -> Value {
    let csrf = json!({"name": "csrf", "from": "regex", "at": "csrf\" value=\"(\\w+)"});
    json!({
        "scan_type": "custom",
        "attack_active": [],
        "attack_passive": ["web.header.csp"],
        "discovery": [],
        "authentication": {
            "login": [
                {"url": "/login", "take": csrf},
                {"url": "/login", "body": {"user": "ann", "password": password, "csrf": "{{csrf}}"}},
            ],
            "check": {"url": "/account", "text": text},
        },
    })
}

#[tokio::test]
async fn session_that_ends_is_renewed_and_no_page_is_read_as_a_stranger() {
    let (site, port) = LoginSite::start(20, 30).await;
    let result = website(port, params(PASSWORD, "Sign out")).run().await;
    result.check();
    let logins = site.logins.load(Ordering::Relaxed);
    assert!((2..=5).contains(&logins), "{logins}: {:?}", result.info);
    let has_line = |words: &str| result.info.iter().any(|line| line.contains(words));
    assert!(has_line("Logged in by 2 steps"), "{:?}", result.info);
    assert!(has_line("logged in again (log-in 2)"), "{:?}", result.info);
    let raw = result.raw.join("\n");
    for number in 1..=site.pages {
        let page = format!("/p{number} -> 200 ");
        assert!(raw.contains(&page), "{page}: {raw}");
    }
    assert!(
        !raw.contains(PASSWORD) && !raw.contains("session-1"),
        "{raw}"
    );
}

#[tokio::test]
async fn failed_log_in_is_named_and_nothing_is_scanned() {
    let (site, port) = LoginSite::start(20, 30).await;
    let why = |result: super::testing::ScanResult| match result.outcome {
        ScanOutcome::AuthFailed(why) => why,
        other => panic!("{other:?}"),
    };
    let refused = why(website(port, params("wrong-pw", "Sign out")).run().await);
    assert_eq!(
        refused,
        format!("login failed at step 2: POST http://127.0.0.1:{port}/login responds with 403")
    );
    assert_eq!(site.strangers.load(Ordering::Relaxed), 0);
    let unchecked = why(website(port, params(PASSWORD, "No such text")).run().await);
    assert!(
        unchecked.starts_with("login failed: the check /account does not contain"),
        "{unchecked}"
    );
    let mut elsewhere = params(PASSWORD, "Sign out");
    elsewhere["authentication"]["login"][0]["url"] = json!("http://192.0.2.1/login");
    let outside = why(website(port, elsewhere).run().await);
    assert!(
        outside.starts_with("login failed at step 1: GET http://192.0.2.1/login: ")
            && outside.contains("scope"),
        "{outside}"
    );
}

#[tokio::test]
async fn session_that_ends_at_once_is_given_up_with_its_reason() {
    let (site, port) = LoginSite::start(2, 150).await;
    let result = website(port, params(PASSWORD, "Sign out")).run().await;
    assert_eq!(site.logins.load(Ordering::Relaxed), 5);
    let reason = "the session ended again after 5 log-ins";
    assert!(
        result.info.iter().any(|line| line.contains(reason)),
        "{:?}",
        result.info
    );
}
