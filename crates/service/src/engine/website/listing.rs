//! Directory listings.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::site::{CrawledSite, Site};
use crate::engine::http::HttpPage;
use crate::engine::kinds::exposed;
use crate::engine::{NewFinding, blocking};
use scandeck_wire::contract::Risk;
use scandeck_wire::contract::entities::decode_entities;

/// Directories that are checked in addition to those in the pages.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "/", "/assets/", "/backup/", "/backups/", "/data/", "/docs/", "/download/", "/downloads/", "/exports/", "/files/",
    "/images/", "/img/", "/includes/", "/logs/", "/old/", "/private/", "/static/", "/temp/", "/tmp/", "/upload/",
    "/uploads/",
];
/// Largest number of directories per scan.
const MAX_FOLDERS: usize = 60;

static TITLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)<(title|h1)[^>]*>\s*(index of /|directory listing (for|of|--) ?|listing of /|folder listing|directory: /|[\w.:-]+ - /)").ok()
});
static LINK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)<a\s[^>]*href\s*=\s*["']?([^"'\s>]+)"#).ok());

/// Fetches each directory; the listed files are the evidence.
pub async fn check(site: &Site<'_>) -> Vec<NewFinding> {
    let (mut rows, mut harmless) = (Vec::new(), Vec::new());
    let (mut proof, mut harmless_proof) = (None, None);
    for folder in searched_folders(site) {
        let Some(url) = site.at(&folder) else {
            continue;
        };
        let Ok(page) = site.web.get(&url).await else {
            continue;
        };
        let page = Arc::new(page);
        let read = Arc::clone(&page);
        let files = blocking::run(move |_| files(&read)).await;
        if !files.is_empty() {
            let is_public = files.iter().all(|file| is_meant_to_be_public(file));
            let (rows, proof) = match is_public {
                true => (&mut harmless, &mut harmless_proof),
                false => (&mut rows, &mut proof),
            };
            proof.get_or_insert(page);
            let shown = files.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
            rows.push(vec![url.to_string(), files.len().to_string(), shown]);
        }
    }
    let is_harmless = rows.is_empty();
    rows.append(&mut harmless);
    let proof = proof.or(harmless_proof);
    let headers = &["Folder", "Files", "Among them"];
    let findings = site.finding_of_page(exposed::LISTING, headers, rows, proof.as_deref());
    let as_info = |finding| NewFinding {
        risk: Risk::Info,
        risk_description: HARMLESS.to_owned(),
        ..finding
    };
    findings
        .into_iter()
        .map(|finding| {
            if is_harmless {
                as_info(finding)
            } else {
                finding
            }
        })
        .collect()
}

/// The usual names first, so that a site with many directories does not hide them.
pub fn searched_folders(site: &CrawledSite) -> Vec<String> {
    let common = COMMON.iter().map(|folder| (*folder).to_owned());
    let own = site.sampled_folders().into_iter();
    let mut seen = BTreeSet::new();
    common
        .chain(own.map(|folder| folder.path))
        .filter(|folder| seen.insert(folder.clone()))
        .take(MAX_FOLDERS)
        .collect()
}

const HARMLESS: &str =
    "The listed files are releases, packages or parts of pages, which are meant to be public.";

/// Whether a name is that of a release with its version, of its signature, or of a part of pages.
fn is_meant_to_be_public(file: &str) -> bool {
    let name = file.to_ascii_lowercase();
    let has_private_word = PRIVATE_WORDS.iter().any(|word| name.contains(word));
    !has_private_word
        && PUBLIC_FILE
            .as_ref()
            .is_some_and(|public| public.is_match(&name))
}

/// Words of archives that are no releases.
#[rustfmt::skip]
const PRIVATE_WORDS: &[&str] = &[
    "backup", "bak", "dump", "database", "sql", "export", "private", "secret", "customer", "user", "invoice", "old", "passw",
    "config", "intern",
];

static PUBLIC_FILE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // Releases: a name, a version with two numbers, the end of an archive or package, and perhaps a
    // signature.
    let release = r"[\w.+~%-]*\d+\.\d+[\w.+~%-]*\.(?:tar\.(?:gz|bz2|xz|zst|lz)|tgz|txz|zip|deb|rpm|dmg|exe|msi|apk|jar|whl|gem|iso|img|appimage|pkg|crate|nupkg|dsc)(?:\.(?:asc|sig|sha1|sha256|sha512|md5|minisig|sigstore))?";
    let lists = r"(?:sha\d*sums?|md5sums?|checksums?|readme|install|news|changelog|changes|license|copying|keys|release|inrelease|packages|contents-\w+)(?:[.-][\w.]*)?";
    let parts = r"[\w.@%-]+\.(?:css|js|mjs|png|jpe?g|gif|svg|ico|webp|avif|woff2?|ttf|eot|html?)";
    Regex::new(&format!("^(?:{release}|{lists}|{parts})$")).ok()
});

/// The files in a listing; empty when the page is not a listing.
fn files(page: &HttpPage) -> Vec<String> {
    let (Some(title), Some(link)) = (TITLE.as_ref(), LINK.as_ref()) else {
        return Vec::new();
    };
    let text = page.text();
    if page.status != 200 || !title.is_match(&text) {
        return Vec::new();
    }
    let names = link
        .captures_iter(&text)
        .map(|found| decode_entities(&found[1]).into_owned());
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
    use super::*;

    #[test]
    fn releases_and_parts_of_pages_are_meant_to_be_public() {
        for file in [
            "shop-1.2.3.tar.gz",
            "shop-1.2.3.tar.gz.asc",
            "shop_1.2-3_amd64.deb",
            "Shop-2.0.0.exe",
            "SHA256SUMS",
            "SHA256SUMS.asc",
            "README.md",
            "Release",
            "app.min.js",
            "logo.png",
        ] {
            assert!(is_meant_to_be_public(file), "{file}");
        }
        for file in [
            "price-list.csv",
            "customers-old.csv",
            "backup-2026.11.zip",
            "db-1.2.sql.gz",
            "users.html",
            "site.zip",
            "b.sql",
            "invoices-2026.10.tar.gz",
            "id_rsa",
            "app.js.bak",
            ".env",
        ] {
            assert!(!is_meant_to_be_public(file), "{file}");
        }
    }

    #[tokio::test]
    async fn listing_of_releases_is_info_until_another_file_is_listed() {
        use crate::engine::hostile_tests::{ok, web, website};
        let scan = |(extra, risk): (&'static str, Risk)| async move {
            let port = web(move |path, _| match path {
                "/downloads/" => ok(
                    "text/html",
                    &format!("<title>Index of /downloads</title><a href=shop-1.2.3.tar.gz>x</a><a href=SHA256SUMS>x</a>{extra}"),
                ),
                _ => ok("text/html", "<p>shop"),
            })
            .await;
            let result = website(port, serde_json::json!({})).run().await;
            result.check();
            let found = result.of("web.listing");
            assert_eq!((found.len(), found[0].risk), (1, risk), "{extra}");
        };
        let cases = [
            ("", Risk::Info),
            ("<a href=customers.csv>x</a>", Risk::Medium),
        ];
        futures::future::join_all(cases.map(scan)).await;
    }

    #[tokio::test]
    async fn usual_folder_is_searched_on_a_site_with_many_folders() {
        use crate::engine::hostile_tests::{ok, web, website};
        let mut links = String::new();
        for section in 'a'..='h' {
            for part in 'a'..='h' {
                links.push_str(&format!("<a href=/{section}/{part}/page.html>p</a>"));
            }
        }
        let port = web(move |path, _| match path {
            "/uploads/" => ok(
                "text/html",
                "<title>Index of /uploads</title><a href=customers.csv>x</a>",
            ),
            _ => ok("text/html", &links),
        })
        .await;
        let result = website(port, serde_json::json!({})).run().await;
        result.check();
        assert_eq!(result.of("web.listing").len(), 1);
    }

    #[test]
    fn files_requires_listing_title_and_files() {
        let files = |status, body: &str| {
            files(&HttpPage {
                status,
                ..HttpPage::for_tests("http://a.test/f/", body)
            })
        };
        let apache = r#"<title>Index of /f</title><a href="?C=N;O=D">Name</a> <a href="/">Parent</a> <a href="b.sql">b.sql</a> <a href='c/'>c/</a>"#;
        assert_eq!(files(200, apache), ["b.sql"]);
        assert_eq!(
            files(200, "<h1>Directory listing for /f/</h1><a href=x.txt>x</a>"),
            ["x.txt"]
        );
        assert_eq!(
            files(200, "<title>Index of /f</title><a href='q&amp;a.txt'>x</a>"),
            ["q&a.txt"]
        );
        assert!(files(404, apache).is_empty());
        assert!(files(200, "<title>Our files</title><a href='b.sql'>").is_empty());
        assert!(files(200, "<title>Index of /f</title><a href='../'>up</a>").is_empty());
    }
}
