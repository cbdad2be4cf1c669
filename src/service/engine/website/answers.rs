//! Responses to unusual requests: a foreign origin, OPTIONS, missing pages, robots.txt, security.txt.

use std::sync::LazyLock;

use regex::Regex;
use reqwest::Method;
use reqwest::header::HeaderMap;
use url::Url;

use super::site::Site;
use crate::service::engine::http::{HttpPage, headers};
use crate::service::engine::kinds::web;
use crate::service::engine::{NewFinding, blocking};

/// Methods that write or delete files.
const WRITING: &[&str] = &["PUT", "DELETE", "MKCOL", "COPY", "MOVE", "PROPPATCH"];

/// Words in sensitive paths.
#[rustfmt::skip]
const SENSITIVE: &[&str] = &[
    "admin", "backup", "private", "secret", "internal", "intern", "config", "database", "db", "sql", "dump", "old",
    "test", "staging", "dev", "debug", "log", "logs", "tmp", "temp", "upload", "uploads", "user", "users", "account",
    "invoice", "invoices", "export", "exports", "api", "cgi-bin", "phpmyadmin", "console", "manage", "manager",
];

/// Patterns of internals in a page, each with its name.
const INTERNALS: &[(&str, &str)] = &[
    (r"Traceback \(most recent call last\)", "Python stack trace"),
    (r"(?m)^\s*at [\w.$]+\([\w.$]+\.(java|kt|scala):\d+\)", "Java stack trace"),
    (r"(?m)^\s*at .+ \((/|[A-Z]:\\).+\.js:\d+:\d+\)", "JavaScript stack trace"),
    (r"(?m)^\s*at .+ in .+\.cs:line \d+", ".NET stack trace"),
    (r"(Fatal error|Warning|Parse error|Notice)(</b>)?: .{0,300} on line (<b>)?\d+", "PHP error with path and line"),
    (
        r"SQLSTATE\[\w+\]|You have an error in your SQL syntax|ORA-\d{5}:|PG::\w+Error|SQLite3?::\w*Exception|psycopg2\.",
        "database message",
    ),
    (r"goroutine \d+ \[running\]", "Go stack trace"),
    (r"thread '.{1,80}' panicked at", "Rust panic"),
    (r"\.rb:\d+:in [`'].{1,80}'", "Ruby stack trace"),
    (r"DEBUG = True|Werkzeug Debugger|Whoops, looks like something went wrong|Unhandled Exception:", "debug page"),
];

static INTERNAL: LazyLock<Vec<(Regex, &str)>> =
    LazyLock::new(|| INTERNALS.iter().filter_map(|(pattern, what)| Some((Regex::new(pattern).ok()?, *what))).collect());

/// Access-Control-Allow-Origin that reflects a foreign origin.
pub async fn cors(site: &Site<'_>) -> Vec<NewFinding> {
    let origin = format!("https://{}.example", site.nonsense);
    let mut with_credentials = Vec::new();
    let mut without = Vec::new();
    for page in site.pages().filter(|page| page.is_success()).take(3) {
        let request = headers([("origin", origin.as_str())]);
        let Ok(answer) = site.web.send(Method::GET, &page.url, request).await else { continue };
        let allowed = answer.header("access-control-allow-origin");
        if allowed != origin {
            continue;
        }
        let credentials = answer.header("access-control-allow-credentials").eq_ignore_ascii_case("true");
        let word = if credentials { "true" } else { "absent" };
        let row = vec![format!("GET {}", page.url), origin.clone(), allowed.to_owned(), word.to_owned()];
        if credentials { with_credentials.push(row) } else { without.push(row) }
    }
    let headers = &["Request", "Origin sent", "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials"];
    let mut found = site.finding_of_rows(web::CORS_CREDENTIALS, headers, with_credentials);
    found.extend(site.finding_of_rows(web::CORS_REFLECTED, headers, without));
    found
}

/// Methods in the `Allow` header of the response to OPTIONS; the scan does not use them.
pub async fn methods(site: &Site<'_>) -> Vec<NewFinding> {
    let Ok(answer) = site.web.send(Method::OPTIONS, &site.start.url, HeaderMap::new()).await else { return Vec::new() };
    let allowed: Vec<String> =
        answer.all("allow").flat_map(|value| value.split(',')).map(|one| one.trim().to_ascii_uppercase()).collect();
    let row = || vec![format!("OPTIONS {}", answer.url), answer.status.to_string(), allowed.join(", ")];
    let headers = &["Request", "Status", "Allow"];
    let mut found = Vec::new();
    if allowed.iter().any(|method| method == "TRACE") {
        found.push(site.finding(web::METHOD_TRACE, headers, vec![row()]));
    }
    if allowed.iter().any(|method| WRITING.contains(&method.as_str())) {
        found.push(site.finding(web::METHOD_WRITE, headers, vec![row()]));
    }
    // A header does not prove that the server supports the method.
    found.into_iter().map(|finding| NewFinding { confirmed: false, ..finding }).collect()
}

/// Internals in fetched pages, and in the error pages for missing and malformed paths.
pub async fn error_pages(site: &Site<'_>) -> Vec<NewFinding> {
    let pages = site.pages.clone();
    let mut rows: Vec<Vec<String>> = blocking::run(move |stop| {
        pages.iter().take_while(|_| !stop.is_set()).filter_map(|page| internals(page)).collect()
    })
    .await;
    for path in [format!("/{}", site.nonsense), format!("/{}.php", site.nonsense), "/%ff%fe".to_owned()] {
        let Some(url) = site.at(&path) else { continue };
        if let Ok(page) = site.web.get(&url).await {
            rows.extend(blocking::run(move |_| internals(&page)).await);
        }
    }
    site.finding_of_rows(web::ERROR_PAGE, &["URL", "Status", "What", "Text"], rows)
}

fn internals(page: &HttpPage) -> Option<Vec<String>> {
    let text = page.text();
    INTERNAL.iter().find_map(|(pattern, what)| {
        let found = pattern.find(&text)?;
        let shown: String = found.as_str().split_whitespace().collect::<Vec<_>>().join(" ").chars().take(160).collect();
        Some(vec![page.url.to_string(), page.status.to_string(), (*what).to_owned(), shown])
    })
}

/// Sensitive paths in robots.txt.
pub async fn robots(site: &Site<'_>) -> Vec<NewFinding> {
    let Some(page) = text_file(site, "/robots.txt").await else { return Vec::new() };
    let text = page.text();
    let rows = sensitive_paths(&text).map(|path| vec![page.url.to_string(), "Disallow".to_owned(), path]).collect();
    site.finding_of_rows(web::ROBOTS_PATHS, &["URL", "Rule", "Path"], rows)
}

fn sensitive_paths(robots: &str) -> impl Iterator<Item = String> {
    let paths = robots.lines().filter_map(|line| {
        let (rule, path) = line.split('#').next()?.split_once(':')?;
        rule.trim().eq_ignore_ascii_case("disallow").then(|| path.trim())
    });
    paths
        .filter(|path| {
            let path = path.to_ascii_lowercase();
            path.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').any(|word| SENSITIVE.contains(&word))
        })
        .map(|path| path.chars().take(200).collect())
}

/// No security.txt with a Contact line (RFC 9116 §2.5.3).
pub async fn security_txt(site: &Site<'_>) -> Vec<NewFinding> {
    let mut rows = Vec::new();
    for path in ["/.well-known/security.txt", "/security.txt"] {
        let Some(url) = site.at(path) else { continue };
        let Ok(page) = site.web.get(&url).await else { return Vec::new() };
        let has_contact = page.text().lines().any(|line| line.to_ascii_lowercase().starts_with("contact:"));
        if page.is_success() && !page.is_html() && has_contact {
            return Vec::new();
        }
        rows.push(vec![url.to_string(), page.status.to_string(), "no Contact line".to_owned()]);
    }
    site.finding_of_rows(web::SECURITY_TXT, &["URL", "Status", "What"], rows)
}

/// A file that exists and is not a web page.
async fn text_file(site: &Site<'_>, path: &str) -> Option<HttpPage> {
    let url: Url = site.at(path)?;
    let page = site.web.get(&url).await.ok()?;
    (page.is_success() && !page.is_html()).then_some(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(body: &str) -> HttpPage {
        let url = Url::parse("http://a.test/x").unwrap();
        HttpPage { url, status: 500, headers: HeaderMap::new(), body: body.into() }
    }

    #[test]
    fn internals_match_traces_and_no_ordinary_pages() {
        for (body, what) in [
            ("<pre>Traceback (most recent call last):\n  File", "Python"),
            ("x\n\tat org.acme.Shop.run(Shop.java:42)\n", "Java"),
            ("    at open (/srv/app/index.js:12:7)", "JavaScript"),
            ("<b>Warning</b>: include(): failed in /var/www/a.php on line <b>3</b>", "PHP"),
            ("SQLSTATE[42000]: Syntax error", "database"),
            ("thread 'main' panicked at src/main.rs", "Rust"),
        ] {
            assert!(internals(&page(body)).is_some_and(|row| row[2].contains(what)), "{body}");
        }
        for body in ["Page not found", "Warning: wet floor", "We met at Acme (Shop) on line 3", ""] {
            assert_eq!(internals(&page(body)), None, "{body}");
        }
        assert_eq!(INTERNAL.len(), INTERNALS.len(), "every pattern is valid");
    }

    #[test]
    fn sensitive_paths_match_whole_words() {
        let robots = "User-agent: *\nDisallow: /admin/ # x\ndisallow:/old-backup\nDisallow: /shop/db/\nDisallow: /adminton\nAllow: /secret\nDisallow:\n";
        assert_eq!(sensitive_paths(robots).collect::<Vec<_>>(), ["/admin/", "/shop/db/"]);
    }
}
