//! Directory listings.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::site::Site;
use crate::service::engine::http::HttpPage;
use crate::service::engine::kinds::exposed;
use crate::service::engine::{NewFinding, blocking};

/// Directories that are checked in addition to those in the pages.
#[rustfmt::skip]
pub const COMMON: &[&str] = &[
    "/", "/assets/", "/backup/", "/backups/", "/data/", "/docs/", "/download/", "/downloads/", "/exports/", "/files/",
    "/images/", "/img/", "/includes/", "/logs/", "/old/", "/private/", "/static/", "/temp/", "/tmp/", "/upload/",
    "/uploads/",
];
/// Largest number of directories per scan.
pub const MAX_FOLDERS: usize = 40;

static TITLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)<(title|h1)[^>]*>\s*(index of /|directory listing (for|of|--) ?|listing of /|folder listing|directory: /|[\w.:-]+ - /)").ok()
});
static LINK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"(?i)<a\s[^>]*href\s*=\s*["']?([^"'\s>]+)"#).ok());

/// Fetches each directory; the listed files are the evidence.
pub async fn check(site: &Site<'_>) -> Vec<NewFinding> {
    let mut seen = BTreeSet::new();
    let folders = site.folders.iter().map(String::as_str).chain(COMMON.iter().copied());
    let mut rows = Vec::new();
    for folder in folders.filter(|folder| seen.insert(*folder)).take(MAX_FOLDERS) {
        let Some(url) = site.at(folder) else { continue };
        let Ok(page) = site.web.get(&url).await else { continue };
        let files = blocking::run(move |_| files(&page)).await;
        if !files.is_empty() {
            let shown = files.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
            rows.push(vec![url.to_string(), files.len().to_string(), shown]);
        }
    }
    site.finding_of_rows(exposed::LISTING, &["Folder", "Files", "Among them"], rows)
}

/// The files in a listing; empty when the page is not a listing.
fn files(page: &HttpPage) -> Vec<String> {
    let (Some(title), Some(link)) = (TITLE.as_ref(), LINK.as_ref()) else { return Vec::new() };
    let text = page.text();
    if page.status != 200 || !title.is_match(&text) {
        return Vec::new();
    }
    let names = link.captures_iter(&text).map(|found| found[1].to_owned());
    // Sort links begin with '?', links to the parent with '/' or '..', and directories end in '/'.
    names
        .filter(|name| {
            !name.starts_with(['?', '/', '#'])
                && !name.starts_with("..")
                && !name.ends_with('/')
                && !name.contains("://")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderMap;
    use url::Url;

    use super::*;

    #[test]
    fn files_requires_listing_title_and_files() {
        let files = |status, body: &str| {
            files(&HttpPage {
                url: Url::parse("http://a.test/f/").unwrap(),
                status,
                headers: HeaderMap::new(),
                body: body.into(),
                fault: None,
            })
        };
        let apache = r#"<title>Index of /f</title><a href="?C=N;O=D">Name</a> <a href="/">Parent</a> <a href="b.sql">b.sql</a> <a href='c/'>c/</a>"#;
        assert_eq!(files(200, apache), ["b.sql"]);
        assert_eq!(files(200, "<h1>Directory listing for /f/</h1><a href=x.txt>x</a>"), ["x.txt"]);
        assert!(files(404, apache).is_empty());
        assert!(files(200, "<title>Our files</title><a href='b.sql'>").is_empty());
        assert!(files(200, "<title>Index of /f</title><a href='../'>up</a>").is_empty());
    }
}
