//! Page contents: resources loaded over plain HTTP, and a site that is itself served over plain HTTP.

use scraper::{Html, Selector};
use url::Url;

use super::site::Site;
use crate::service::engine::NewFinding;
use crate::service::engine::http::HttpPage;
use crate::service::engine::kinds::web;

/// Elements that load or send data, with the attribute that contains the URL.
const PARTS: &[(&str, &str)] = &[
    ("script[src]", "src"),
    ("link[rel=stylesheet][href]", "href"),
    ("iframe[src]", "src"),
    ("img[src]", "src"),
    ("audio[src]", "src"),
    ("video[src]", "src"),
    ("source[src]", "src"),
    ("object[data]", "data"),
    ("form[action]", "action"),
];

/// Resources of HTTPS pages with `http://` URLs.
pub fn mixed(site: &Site) -> Vec<NewFinding> {
    if !site.is_https() {
        return Vec::new();
    }
    let upgraded = |page: &&HttpPage| !page.header("content-security-policy").contains("upgrade-insecure-requests");
    let rows = site.html().filter(upgraded).flat_map(plain_parts).collect();
    site.finding_of_rows(web::MIXED_CONTENT, &["Page", "Element", "Address"], rows)
}

/// The start page is delivered over plain HTTP.
pub fn plain_http(site: &Site) -> Vec<NewFinding> {
    if site.is_https() || !site.start.is_success() {
        return Vec::new();
    }
    let row = vec![site.start.url.to_string(), site.start.status.to_string(), "no redirect to https".to_owned()];
    vec![site.finding(web::PLAIN_HTTP, &["URL", "Status", "Redirect"], vec![row])]
}

fn plain_parts(page: &HttpPage) -> Vec<Vec<String>> {
    let html = Html::parse_document(&page.text());
    let mut rows = Vec::new();
    for (selector, attribute) in PARTS {
        let Ok(parsed) = Selector::parse(selector) else { continue };
        for element in html.select(&parsed) {
            let url = element.attr(attribute).and_then(|value| page.url.join(value).ok());
            if let Some(url) = url.filter(|url: &Url| url.scheme() == "http") {
                rows.push(vec![page.url.to_string(), element.value().name().to_owned(), url.to_string()]);
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderMap;

    use super::*;

    #[test]
    fn plain_parts_lists_http_resources_and_no_links() {
        let body = r#"<script src="http://cdn.test/a.js"></script><a href="http://other.test/">x</a>
            <img src="//cdn.test/b.png"><form action="HTTP://a.test/login"></form>"#;
        let url = Url::parse("https://a.test/").unwrap();
        let page = HttpPage { url, status: 200, headers: HeaderMap::new(), body: body.into() };
        let named: Vec<String> = plain_parts(&page).into_iter().map(|mut row| row.remove(1)).collect();
        assert_eq!(named, ["script", "form"]);
    }
}
