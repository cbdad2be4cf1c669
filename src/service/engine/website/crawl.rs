//! Fetches some pages of the site, breadth first, by following its internal links.
//!
//! The crawler follows links only and never submits forms. It skips links whose names suggest an action.

use std::collections::{BTreeSet, HashSet, VecDeque};

use futures::{StreamExt, stream};
use scraper::{Html, Selector};
use url::Url;

use crate::service::engine::http::{HttpPage, Web};

/// Number of concurrent requests.
const CONCURRENCY: usize = 4;
/// Largest number of links per page.
const MAX_LINKS: usize = 200;
/// Words in paths and queries that suggest an action.
#[rustfmt::skip]
const ACTIONS: &[&str] = &[
    "logout", "log-out", "logoff", "signout", "sign-out", "delete", "remove", "unsubscribe", "cancel", "destroy",
    "reset", "disable", "revoke", "purge", "drop",
];

/// Fetched pages and the directories that they name.
pub struct Crawled {
    pub pages: Vec<HttpPage>,
    pub folders: BTreeSet<String>,
}

/// Fetches up to `max_pages` pages, including the start page.
pub async fn crawl(web: &Web<'_>, start: &HttpPage, max_pages: usize) -> Crawled {
    let mut seen = HashSet::from([without_query(&start.url)]);
    let mut waiting = VecDeque::new();
    let mut crawled = Crawled { pages: Vec::new(), folders: BTreeSet::new() };
    take(start.clone(), &mut crawled, &mut waiting, &mut seen);
    while !waiting.is_empty() && crawled.pages.len() < max_pages {
        let count = (max_pages - crawled.pages.len()).min(CONCURRENCY).min(waiting.len());
        let batch: Vec<Url> = waiting.drain(..count).collect();
        let pages: Vec<_> =
            stream::iter(batch).map(|url| async move { web.get(&url).await }).buffered(CONCURRENCY).collect().await;
        for page in pages.into_iter().flatten() {
            take(page, &mut crawled, &mut waiting, &mut seen);
        }
    }
    crawled
}

fn take(page: HttpPage, crawled: &mut Crawled, waiting: &mut VecDeque<Url>, seen: &mut HashSet<String>) {
    let links = links(&page);
    for url in links.iter().filter(|url| url.origin() == page.url.origin()) {
        crawled.folders.extend(folders(url));
    }
    if page.is_html() {
        let follow = links.into_iter().filter(|url| url.origin() == page.url.origin() && is_harmless(url));
        waiting.extend(follow.filter(|url| seen.insert(without_query(url))));
    }
    crawled.pages.push(page);
}

/// The URLs in a page: links, resources and redirect.
fn links(page: &HttpPage) -> Vec<Url> {
    let mut all: Vec<Url> = page.redirect().into_iter().collect();
    if page.is_html()
        && let Ok(selector) =
            Selector::parse("a[href], area[href], iframe[src], frame[src], img[src], script[src], link[href]")
    {
        let html = Html::parse_document(&page.text());
        let targets = html.select(&selector).filter_map(|element| element.attr("href").or_else(|| element.attr("src")));
        all.extend(targets.filter_map(|target| page.url.join(target).ok()).take(MAX_LINKS));
    }
    all.retain(|url| matches!(url.scheme(), "http" | "https"));
    for url in &mut all {
        url.set_fragment(None);
    }
    all
}

/// The parent directories of a file: `/a/` and `/a/b/` for `/a/b/c.css`.
fn folders(url: &Url) -> Vec<String> {
    let path = url.path();
    path.match_indices('/').skip(1).take(4).map(|(at, _)| path[..=at].to_owned()).collect()
}

fn is_harmless(url: &Url) -> bool {
    let text = format!("{}?{}", url.path(), url.query().unwrap_or_default()).to_ascii_lowercase();
    let is_page = !["css", "js", "png", "jpg", "jpeg", "gif", "svg", "ico", "woff", "woff2", "pdf", "zip", "mp4"]
        .iter()
        .any(|ending| url.path().to_ascii_lowercase().ends_with(&format!(".{ending}")));
    is_page && !ACTIONS.iter().any(|action| text.contains(action))
}

/// The identity of a page: pages that differ only in their query count as one.
fn without_query(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_and_static_files_are_not_harmless_pages() {
        for (url, followed) in [
            ("http://a.test/shop?id=1", true),
            ("http://a.test/logout", false),
            ("http://a.test/item?do=delete", false),
            ("http://a.test/logo.PNG", false),
        ] {
            assert_eq!(is_harmless(&Url::parse(url).unwrap()), followed, "{url}");
        }
    }

    #[test]
    fn folders_of_file_are_its_parents() {
        assert_eq!(folders(&Url::parse("http://a.test/a/b/c.css").unwrap()), ["/a/", "/a/b/"]);
        assert!(folders(&Url::parse("http://a.test/c.css").unwrap()).is_empty());
    }
}
