//! Fetches some pages of the site, breadth first, by following its internal links.
//!
//! The crawler follows links only and never submits forms. It skips links whose names suggest an action.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use url::Url;

use super::html::{self, PageUrls};
use crate::service::engine::blocking;
use crate::service::engine::http::{HttpPage, Web};
use crate::service::engine::params::website::Spider;

/// Number of concurrent requests.
const CONCURRENCY: usize = 4;
/// Words in paths and queries that suggest an action.
#[rustfmt::skip]
const ACTIONS: &[&str] = &[
    "logout", "log-out", "logoff", "signout", "sign-out", "delete", "remove", "unsubscribe", "cancel", "destroy",
    "reset", "disable", "revoke", "purge", "drop",
];

/// The fetched pages and the URLs in them.
pub struct Crawl {
    pub pages: Vec<Arc<HttpPage>>,
    /// Directories of the site in its pages, as paths that end in `/`.
    pub folders: BTreeSet<String>,
    /// Resources over plain HTTP, for each of `pages`.
    pub plain_resources: Vec<Vec<(String, Url)>>,
    /// Pages of which a limit cut the reading.
    pub cut_pages: usize,
    /// URLs with their number of links from the start page.
    waiting: VecDeque<(Url, u32)>,
    seen: HashSet<String>,
    depth: u32,
    /// URLs of pages that are not read begin with one of these.
    excluded: Vec<String>,
    /// Time that is left for reading HTML.
    html_time: Duration,
}

/// Fetches up to `max_pages` pages, including the start page, and reads their HTML for at most `html_time`.
pub async fn crawl(web: &Web<'_>, start: &HttpPage, max_pages: usize, spider: &Spider, html_time: Duration) -> Crawl {
    let on_site = |text: &String| start.url.join(text).ok().filter(|url| url.origin() == start.url.origin());
    let mut crawl = Crawl {
        pages: Vec::new(),
        folders: BTreeSet::new(),
        plain_resources: Vec::new(),
        cut_pages: 0,
        waiting: VecDeque::new(),
        seen: HashSet::from([without_query(&start.url)]),
        depth: spider.depth.unwrap_or(u32::MAX),
        excluded: spider.exclude_urls.iter().filter_map(on_site).map(String::from).collect(),
        html_time,
    };
    for url in spider.include_urls.iter().filter_map(on_site) {
        if crawl.seen.insert(without_query(&url)) {
            crawl.waiting.push_back((url, 0));
        }
    }
    crawl.take(start.clone(), 0).await;
    while !crawl.waiting.is_empty() && crawl.pages.len() < max_pages {
        let count = (max_pages - crawl.pages.len()).min(CONCURRENCY).min(crawl.waiting.len());
        let batch: Vec<(Url, u32)> = crawl.waiting.drain(..count).collect();
        let fetch = |(url, depth): (Url, u32)| async move { (web.get(&url).await, depth) };
        let pages: Vec<_> = stream::iter(batch).map(fetch).buffered(CONCURRENCY).collect().await;
        for (page, depth) in pages {
            if let Ok(page) = page {
                crawl.take(page, depth).await;
            }
        }
    }
    crawl
}

impl Crawl {
    /// Adds a page that is `depth` links from the start page.
    async fn take(&mut self, page: HttpPage, depth: u32) {
        let page = Arc::new(page);
        let mut links: Vec<Url> = page.redirect().into_iter().collect();
        let mut plain_resources = Vec::new();
        if page.is_html() {
            let (body, limit) = (Arc::clone(&page), self.html_time);
            let urls: PageUrls = blocking::run(move |stop| html::read(&body, limit, stop)).await;
            self.html_time = self.html_time.saturating_sub(urls.took);
            self.cut_pages += usize::from(urls.is_cut);
            links.extend(urls.links);
            plain_resources = urls.plain_resources;
        }
        links.retain(|url| matches!(url.scheme(), "http" | "https") && url.origin() == page.url.origin());
        links.retain(|url| !self.excluded.iter().any(|prefix| url.as_str().starts_with(prefix)));
        for url in &mut links {
            url.set_fragment(None);
        }
        self.folders.extend(links.iter().flat_map(folders));
        if page.is_html() && depth < self.depth {
            let follow = links.into_iter().filter(is_harmless);
            let new = follow.filter(|url| self.seen.insert(without_query(url)));
            self.waiting.extend(new.map(|url| (url, depth + 1)));
        }
        self.pages.push(page);
        self.plain_resources.push(plain_resources);
    }
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
