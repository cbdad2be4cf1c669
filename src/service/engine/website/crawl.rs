//! Reads a few pages of the site, breadth first, following links that stay on it.
//!
//! Only links are followed: no form is sent. Links that sound as if they did something when opened are left alone.

use std::collections::{BTreeSet, HashSet, VecDeque};

use futures::{StreamExt, stream};
use scraper::{Html, Selector};
use url::Url;

use crate::service::engine::http::{HttpPage, Web};

/// Pages fetched at a time.
const AT_ONCE: usize = 4;
/// Links of one page that are looked at.
const MAX_LINKS: usize = 200;
/// Words in a path or query that tell of an action.
const ACTIONS: &[&str] = &[
    "logout",
    "log-out",
    "logoff",
    "signout",
    "sign-out",
    "delete",
    "remove",
    "unsubscribe",
    "cancel",
    "destroy",
    "reset",
    "disable",
    "revoke",
    "purge",
    "drop",
];

/// What was read.
pub struct Crawled {
    pub pages: Vec<HttpPage>,
    pub folders: BTreeSet<String>,
}

/// Reads up to `max_pages` pages, the start page among them.
pub async fn crawl(web: &Web<'_>, start: &HttpPage, max_pages: usize) -> Crawled {
    let mut seen = HashSet::from([without_query(&start.url)]);
    let mut waiting = VecDeque::new();
    let mut crawled = Crawled { pages: Vec::new(), folders: BTreeSet::new() };
    take(start.clone(), &mut crawled, &mut waiting, &mut seen);
    while !waiting.is_empty() && crawled.pages.len() < max_pages {
        let room = (max_pages - crawled.pages.len()).min(AT_ONCE).min(waiting.len());
        let batch: Vec<Url> = waiting.drain(..room).collect();
        let answers: Vec<_> =
            stream::iter(batch).map(|url| async move { web.get(&url).await }).buffered(AT_ONCE).collect().await;
        for page in answers.into_iter().flatten() {
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

/// Where a page leads: its links, parts and redirect.
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

/// The folders on the way to a file: `/a/b/c.css` gives `/a/` and `/a/b/`.
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

/// Pages that differ in their query alone are one page to us.
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
    fn links_that_act_and_files_that_are_no_pages_are_not_followed() {
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
    fn the_folders_of_a_file_are_those_above_it() {
        assert_eq!(folders(&Url::parse("http://a.test/a/b/c.css").unwrap()), ["/a/", "/a/b/"]);
        assert!(folders(&Url::parse("http://a.test/c.css").unwrap()).is_empty());
    }
}
