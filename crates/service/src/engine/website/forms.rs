//! Forms and external resources of the pages.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::site::Site;
use crate::engine::NewFinding;
use crate::engine::kinds::web;

/// Password fields that are delivered or sent over plain HTTP.
pub fn password_plain(site: &Site) -> Vec<NewFinding> {
    let pages = site.html_with_contents();
    let rows = pages.flat_map(|(page, contents)| {
        let is_plain = page.url.scheme() == "http";
        let forms = contents
            .forms
            .iter()
            .filter(move |form| form.has_password && (is_plain || form.action.scheme() == "http"));
        forms.map(|form| vec![page.url.to_string(), form.action.to_string()])
    });
    let rows: BTreeSet<Vec<String>> = rows.collect();
    site.finding_of_rows(
        web::PASSWORD_PLAIN,
        &["Page", "Form sent to"],
        rows.into_iter().collect(),
    )
}

/// POST forms without a field that is named like a CSRF token.
pub fn csrf(site: &Site) -> Vec<NewFinding> {
    let pages = site
        .html_with_contents()
        .filter(|(_, contents)| !contents.has_token);
    let rows = pages.flat_map(|(page, contents)| {
        let forms = contents
            .forms
            .iter()
            .filter(|form| form.is_post && !form.has_token);
        forms.map(|form| {
            vec![
                page.url.to_string(),
                form.action.to_string(),
                "CSRF token".to_owned(),
            ]
        })
    });
    let rows: BTreeSet<Vec<String>> = rows.collect();
    let found = site.finding_of_rows(
        web::FORM_CSRF,
        &["Page", "Form sent to", "Missing"],
        rows.into_iter().collect(),
    );
    // The server may check the Origin header, or the cookie may have SameSite.
    found
        .into_iter()
        .map(|finding| NewFinding {
            confirmed: false,
            ..finding
        })
        .collect()
}

/// Scripts and style sheets of other hosts without an integrity attribute.
pub fn integrity(site: &Site) -> Vec<NewFinding> {
    let home = site.start.url.host_str();
    let rows = site.html_with_contents().flat_map(|(page, contents)| {
        let external = contents.subresources.iter().filter(move |one| {
            !one.has_integrity
                && one.url.host_str() != home
                && matches!(one.url.scheme(), "http" | "https")
        });
        external.map(|one| {
            vec![
                page.url.to_string(),
                one.element.to_owned(),
                one.url.to_string(),
            ]
        })
    });
    let rows: BTreeSet<Vec<String>> = rows.collect();
    site.finding_of_rows(
        web::INTEGRITY_MISSING,
        &["Page", "Element", "Address"],
        rows.into_iter().collect(),
    )
}

/// Pages that were read with credentials and may be kept by shared caches.
pub fn cache(site: &Site) -> Vec<NewFinding> {
    if !site.with_login {
        return Vec::new();
    }
    let is_kept = |value: &str| {
        let value = value.to_ascii_lowercase();
        !["no-store", "private", "no-cache"]
            .iter()
            .any(|word| value.contains(word))
    };
    let pages = site
        .html()
        .filter(|page| is_kept(&page.header("cache-control")));
    let rows = pages.map(|page| {
        vec![
            page.url.to_string(),
            "cache-control".to_owned(),
            page.header("cache-control").into_owned(),
        ]
    });
    let rows = rows.collect();
    site.finding_of_rows(web::CACHE, &["URL", "Header", "Value"], rows)
}

/// The plain HTTP side of an HTTPS site delivers pages.
pub fn https_redirect(site: &Site) -> Vec<NewFinding> {
    let Some(plain) = site
        .plain_side
        .as_ref()
        .filter(|plain| plain.is_success() && plain.is_html())
    else {
        return Vec::new();
    };
    let row = vec![
        plain.url.to_string(),
        plain.status.to_string(),
        "no redirect to https".to_owned(),
    ];
    vec![site.finding(
        web::HTTPS_REDIRECT,
        &["URL", "Status", "Redirect"],
        vec![row],
    )]
}

static DEFAULT_PAGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)<title>\s*(Welcome to nginx!?|Apache2 \w+ Default Page[^<]*|IIS Windows Server|Test Page for the (?:Apache|Nginx|HTTP)[^<]*|Apache Tomcat(?:/[\d.]+)?|Welcome to (?:CentOS|Caddy|OpenResty!?)|Domain Default page)\s*</title>").ok()
});

/// The start page is the one that the server software installs.
pub fn default_page(site: &Site) -> Vec<NewFinding> {
    let text = site.start.text();
    let title = DEFAULT_PAGE
        .as_ref()
        .and_then(|pattern| pattern.captures(&text))
        .filter(|_| site.start.is_success());
    let row = title.map(|title| vec![site.start.url.to_string(), title[1].trim().to_owned()]);
    site.finding_of_rows(
        web::DEFAULT_PAGE,
        &["URL", "Title"],
        row.into_iter().collect(),
    )
}
