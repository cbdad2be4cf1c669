//! Responses to unusual requests: a foreign origin, OPTIONS, missing pages, robots.txt,
//! security.txt.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use regex::Regex;
use reqwest::Method;
use reqwest::header::HeaderMap;
use url::Url;

use super::links::acts;
use super::recognize_consoles;
use super::site::Site;
use crate::engine::coverage::{CheckedWeb, Obstacle};
use crate::engine::http::HttpPage;
use crate::engine::kinds::web;
use crate::engine::{NewFinding, blocking};
use scandeck_wire::contract::Risk;

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
    (
        r"(?m)^\s*at [\w.$]+\([\w.$]+\.(java|kt|scala):\d+\)",
        "Java stack trace",
    ),
    (
        r"(?m)^\s*at .+ \((/|[A-Z]:\\).+\.js:\d+:\d+\)",
        "JavaScript stack trace",
    ),
    (r"(?m)^\s*at .+ in .+\.cs:line \d+", ".NET stack trace"),
    (
        r"(Fatal error|Warning|Parse error|Notice)(</b>)?: .{0,300} on line (<b>)?\d+",
        "PHP error with path and line",
    ),
    (
        r"SQLSTATE\[\w+\]|You have an error in your SQL syntax|ORA-\d{5}:|PG::\w+Error|SQLite3?::\w*Exception|psycopg2\.",
        "database message",
    ),
    (r"goroutine \d+ \[running\]", "Go stack trace"),
    (r"thread '.{1,80}' panicked at", "Rust panic"),
    (r"\.rb:\d+:in [`'].{1,80}'", "Ruby stack trace"),
    (
        r"DEBUG = True|Werkzeug Debugger|Whoops, looks like something went wrong|Unhandled Exception:",
        "debug page",
    ),
];

static INTERNAL: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    INTERNALS
        .iter()
        .filter_map(|(pattern, what)| Some((Regex::new(pattern).ok()?, *what)))
        .collect()
});

/// Elements of a page that show examples.
static EXAMPLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?is)<(?:pre|code|samp|kbd|blockquote|textarea|script)\b.*?</(?:pre|code|samp|kbd|blockquote|textarea|script)>").ok()
});
/// A place in the code: a file with a line.
static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)File ".{1,300}", line \d|on line (<b>)?\d|\.\w{1,6}:\d+|SQLSTATE\[\w+\]\s*(?:\[\d+\]|:)"#).ok()
});

/// Methods in the `Allow` header of the response to OPTIONS; the scan does not use them.
pub async fn methods(site: &Site<'_>) -> Vec<NewFinding> {
    let Ok(answer) = site
        .web
        .send(Method::OPTIONS, &site.start.url, HeaderMap::new())
        .await
    else {
        return Vec::new();
    };
    let allowed = allowed_methods(&answer);
    let row = || {
        vec![
            format!("OPTIONS {}", answer.url),
            answer.status.to_string(),
            allowed.join(", "),
        ]
    };
    let headers = &["Request", "Status", "Allow"];
    let mut found = Vec::new();
    if allowed.iter().any(|method| method == "TRACE") {
        let finding = site.finding(web::METHOD_TRACE, headers, vec![row()]);
        found.push(finding.proven_by(&answer));
    }
    if allowed
        .iter()
        .any(|method| WRITING.contains(&method.as_str()))
    {
        let finding = site
            .finding(web::METHOD_WRITE, headers, vec![row()])
            .proven_by(&answer);
        found.push(match is_list_of_server(site, &allowed).await {
            true => NewFinding {
                risk: Risk::Info,
                risk_description: GENERIC_METHODS.to_owned(),
                ..finding
            },
            false => finding,
        });
    }
    // A header does not prove that the server supports the method.
    found
        .into_iter()
        .map(|finding| NewFinding {
            confirmed: false,
            ..finding
        })
        .collect()
}

const GENERIC_METHODS: &str = "The server lists the same methods for a path that does not exist, so the list describes the \
    server software and not this site.";

fn allowed_methods(answer: &HttpPage) -> Vec<String> {
    answer
        .header("allow")
        .split(',')
        .map(|one| one.trim().to_ascii_uppercase())
        .collect()
}

/// Whether the server lists the same methods for a path that does not exist.
async fn is_list_of_server(site: &Site<'_>, allowed: &[String]) -> bool {
    let Some(url) = site.at(&format!("/{}", site.nonsense)) else {
        return false;
    };
    let answer = site.web.send(Method::OPTIONS, &url, HeaderMap::new()).await;
    answer.is_ok_and(|answer| allowed_methods(&answer) == allowed)
}

/// Internals in fetched pages, and in the error pages for missing and malformed paths.
pub async fn error_pages(site: &Site<'_>) -> Vec<NewFinding> {
    let pages = site.pages.clone();
    let judged = |page: &HttpPage| Some((internals(page)?, debug_risk(page)));
    let mut found: Vec<(Vec<String>, Option<Risk>)> = blocking::run(move |stop| {
        let pages = pages.iter().take_while(|_| !stop.is_set());
        pages.filter_map(|page| judged(page)).collect()
    })
    .await;
    let mut proof = None;
    for path in [
        format!("/{}", site.nonsense),
        format!("/{}.php", site.nonsense),
        "/%ff%fe".to_owned(),
    ] {
        let Some(url) = site.at(&path) else { continue };
        if let Ok(page) = site.web.get(&url).await {
            let page = Arc::new(page);
            let answer = Arc::clone(&page);
            let row = blocking::run(move |_| judged(&answer)).await;
            if found.is_empty() && row.is_some() {
                proof = Some(page);
            }
            found.extend(row);
        }
    }
    let debug = found.iter().filter_map(|(_, risk)| *risk).max();
    let rows = found.into_iter().map(|(row, _)| row).collect();
    let headers = &["URL", "Status", "What", "Text"];
    let findings = site.finding_of_page(web::ERROR_PAGE, headers, rows, proof.as_deref());
    findings
        .into_iter()
        .map(|finding| with_debug_mode(finding, debug))
        .collect()
}

/// The finding with the risk of the debug mode, if a page comes from one.
fn with_debug_mode(finding: NewFinding, debug: Option<Risk>) -> NewFinding {
    let Some(risk) = debug else { return finding };
    let what = match risk {
        Risk::Critical => {
            "The debugger of this page runs the Python code of every visitor on the host, without a PIN."
        }
        _ => {
            "The debug mode shows source code, settings and requests of users to everybody, and some frameworks then run \
             code that a visitor enters."
        }
    };
    NewFinding {
        risk,
        risk_description: what.to_owned(),
        recommendation:
            "Switch the debug mode of the framework off in production (Django: DEBUG = False; Flask: no --debug)."
                .to_owned(),
        ..finding
    }
}

/// The risk of an error page from the debug mode of a framework.
fn debug_risk(page: &HttpPage) -> Option<Risk> {
    has_debug_mode(page).then(|| {
        if recognize_consoles::runs_python(page) {
            Risk::Critical
        } else {
            Risk::Medium
        }
    })
}

/// Whether an error page comes from the debug mode of a framework.
fn has_debug_mode(page: &HttpPage) -> bool {
    const SIGNS: &[&str] = &[
        "you have <code>DEBUG = True</code>",
        "// Werkzeug Debugger",
        "__debugger__=yes",
        "EVALEX = true",
        "Whoops! There was an error.",
    ];
    let text = page.text();
    page.status >= 400 && SIGNS.iter().any(|sign| text.contains(sign))
}

/// A page with a status of success may explain error messages: there only a message counts that is
/// part of the page itself, with the place in the code, and not an example in `pre` or `code`.
fn internals(page: &HttpPage) -> Option<Vec<String>> {
    let text = match (page.status < 400, EXAMPLE.as_ref()) {
        (true, _) if !page.is_html() => return None,
        (true, Some(example)) => Cow::Owned(example.replace_all(&page.text(), " ").into_owned()),
        _ => page.text(),
    };
    INTERNAL.iter().find_map(|(pattern, what)| {
        let found = pattern.find(&text)?;
        let after = text.get(found.start()..).unwrap_or_default();
        if page.status < 400
            && !PLACE
                .as_ref()?
                .is_match(&after[..after.floor_char_boundary(600)])
        {
            return None;
        }
        let shown: String = found
            .as_str()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .take(160)
            .collect();
        Some(vec![
            page.url.to_string(),
            page.status.to_string(),
            (*what).to_owned(),
            shown,
        ])
    })
}

/// Sensitive paths in robots.txt.
pub async fn robots(site: &Site<'_>) -> Vec<NewFinding> {
    let Some(page) = text_file(site, "/robots.txt").await else {
        return Vec::new();
    };
    let text = page.text();
    let rows = sensitive_paths(&text)
        .map(|path| vec![page.url.to_string(), "Disallow".to_owned(), path])
        .collect();
    let headers = &["URL", "Rule", "Path"];
    site.finding_of_page(web::ROBOTS_PATHS, headers, rows, Some(&page))
}

/// The folders in robots.txt.
pub async fn robots_folders(web: &CheckedWeb<'_>, start: &Url) -> Vec<String> {
    let Some(url) = start.join("/robots.txt").ok() else {
        return Vec::new();
    };
    let Ok(page) = web.get(&url).await else {
        return Vec::new();
    };
    if !page.is_success() || page.is_html() {
        return Vec::new();
    }
    let text = page.text();
    let rules =
        robots_rules(&text).filter(|(name, _)| ["disallow", "allow"].contains(&name.as_str()));
    let paths = rules.map(|(_, path)| path.to_owned());
    let is_folder = |path: &String| {
        path.starts_with('/') && path.ends_with('/') && !path.contains(['*', '$', '?'])
    };
    let is_harmless = |path: &String| start.join(path).is_ok_and(|url| !acts(&url));
    paths
        .filter(is_folder)
        .filter(is_harmless)
        .take(MAX_ROBOTS_FOLDERS)
        .collect()
}

/// Folders of robots.txt that are searched.
const MAX_ROBOTS_FOLDERS: usize = 40;

/// The rules of robots.txt: a name in lower case and its value. A line ends with CR, LF or both
/// (RFC 9309 §2.2).
fn robots_rules(robots: &str) -> impl Iterator<Item = (String, &str)> {
    robots.split(['\r', '\n']).filter_map(|line| {
        let (name, value) = line.split('#').next()?.split_once(':')?;
        Some((name.trim().to_ascii_lowercase(), value.trim()))
    })
}

fn sensitive_paths(robots: &str) -> impl Iterator<Item = String> {
    let paths = robots_rules(robots)
        .filter(|(name, _)| name == "disallow")
        .map(|(_, path)| path);
    paths
        .filter(|path| {
            let path = path.to_ascii_lowercase();
            path.split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
                .any(|word| SENSITIVE.contains(&word))
        })
        .map(|path| path.chars().take(200).collect())
}

/// No security.txt with a Contact line (RFC 9116 §2.5.3).
pub async fn security_txt(site: &Site<'_>) -> Vec<NewFinding> {
    let (mut rows, mut first) = (Vec::new(), None);
    for path in ["/.well-known/security.txt", "/security.txt"] {
        let Some(url) = site.at(path) else { continue };
        let Ok(page) = site.web.get(&url).await else {
            return Vec::new();
        };
        if Obstacle::of_page(&page).is_some() {
            return Vec::new();
        }
        let text = page.text().to_ascii_lowercase();
        let has_contact = text
            .split(['\r', '\n'])
            .any(|line| line.starts_with("contact:"));
        if page.is_success() && !page.is_html() && has_contact {
            return Vec::new();
        }
        rows.push(vec![
            url.to_string(),
            page.status.to_string(),
            "no Contact line".to_owned(),
        ]);
        first.get_or_insert(page);
    }
    let headers = &["URL", "Status", "What"];
    site.finding_of_page(web::SECURITY_TXT, headers, rows, first.as_ref())
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
    use crate::engine::http::headers;

    fn page(body: &str) -> HttpPage {
        HttpPage {
            status: 500,
            ..HttpPage::for_tests("http://a.test/x", body)
        }
    }

    #[test]
    fn internals_match_traces_and_no_ordinary_pages() {
        for (body, what) in [
            ("<pre>Traceback (most recent call last):\n  File", "Python"),
            ("x\n\tat org.acme.Shop.run(Shop.java:42)\n", "Java"),
            ("    at open (/srv/app/index.js:12:7)", "JavaScript"),
            (
                "<b>Warning</b>: include(): failed in /var/www/a.php on line <b>3</b>",
                "PHP",
            ),
            ("SQLSTATE[42000]: Syntax error", "database"),
            ("thread 'main' panicked at src/main.rs", "Rust"),
        ] {
            assert!(
                internals(&page(body)).is_some_and(|row| row[2].contains(what)),
                "{body}"
            );
        }
        for body in [
            "Page not found",
            "Warning: wet floor",
            "We met at Acme (Shop) on line 3",
            "",
        ] {
            assert_eq!(internals(&page(body)), None, "{body}");
        }
        assert_eq!(INTERNAL.len(), INTERNALS.len(), "every pattern is valid");
    }

    #[test]
    fn examples_of_traces_are_no_error_pages() {
        let page = |status, body: &str| {
            let headers = headers([("content-type", "text/html")]);
            internals(&HttpPage {
                status,
                headers,
                ..page(body)
            })
            .is_some()
        };
        let tutorial = "<p>Python prints Traceback (most recent call last):</p><pre><code>Traceback (most recent call last):\n  \
            File \"a.py\", line 3</code></pre><p>PHP prints <code><b>Warning</b>: x on line <b>3</b></code></p>";
        assert!(!page(200, tutorial) && page(500, tutorial));
        assert!(page(
            200,
            "<br />\n<b>Warning</b>: include(): failed in /var/www/a.php on line <b>3</b><br />"
        ));
        assert!(page(
            200,
            "Traceback (most recent call last):\n File \"/srv/a.py\", line 3, in <module>"
        ));
    }

    #[test]
    fn debug_mode_is_read_from_error_pages_only() {
        let django = "<p>You're seeing this error because you have <code>DEBUG = True</code> in your Django settings";
        assert!(has_debug_mode(&page(django)) && internals(&page(django)).is_some());
        assert!(has_debug_mode(&page(
            "<script>var EVALEX = true, CONSOLE_MODE = false;</script>"
        )));
        for body in [
            "Set <code>DEBUG = True</code> to see the error.",
            "Whoops, looks like something went wrong.",
        ] {
            assert!(!has_debug_mode(&page(body)), "{body}");
        }
        assert!(
            !has_debug_mode(&HttpPage {
                status: 200,
                ..page(django)
            }),
            "a tutorial"
        );
    }

    #[test]
    fn sensitive_paths_match_whole_words() {
        let robots = "User-agent: *\nDisallow: /admin/ # x\ndisallow:/old-backup\nDisallow: /shop/db/\nDisallow: /adminton\nAllow: /secret\nDisallow:\n";
        assert_eq!(
            sensitive_paths(robots).collect::<Vec<_>>(),
            ["/admin/", "/shop/db/"]
        );
        let old_mac = robots.replace('\n', "\r");
        assert_eq!(
            sensitive_paths(&old_mac).collect::<Vec<_>>(),
            ["/admin/", "/shop/db/"]
        );
    }
}
