//! Fetches some pages of the site, breadth first, by following its internal links.
//!
//! The crawler follows links only and never submits forms. It skips links whose names suggest an
//! action.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, FuturesOrdered, StreamExt};
use serde_json::json;
use tokio::sync::Mutex;
use url::Url;

use super::html::{self, PageContents};
use super::links::{acts, is_harmless};
use crate::engine::coverage::CheckedWeb;
use crate::engine::http::HttpPage;
use crate::engine::params::website::Spider;
use crate::engine::run::ScanRun;
use crate::engine::{TestDone, blocking};

/// Number of concurrent requests; the limits of the host apply too.
const CONCURRENCY: usize = 8;
/// Paths of scripts that are requested.
const MAX_ENDPOINTS: usize = 50;

/// The fetched pages and the URLs in them.
#[derive(Default)]
pub struct Crawl {
    pub pages: Vec<Arc<HttpPage>>,
    /// Directories of the site in its pages, as paths that end in `/`.
    pub folders: BTreeSet<String>,
    /// Those of them that hold a file, or a folder with a file.
    pub file_folders: BTreeSet<String>,
    /// The parsed content of each of `pages`.
    pub contents: Vec<PageContents>,
    /// Pages of which a limit cut the reading.
    pub cut_pages: usize,
    /// Known pages that were not requested, because of the limit of pages.
    pub unread_pages: usize,
    /// URLs with their number of links from the start page.
    waiting: VecDeque<(Url, u32)>,
    seen: HashSet<String>,
    depth: u32,
    /// URLs of pages that are not read begin with one of these.
    excluded: Vec<String>,
    /// Time that is left for reading HTML.
    html_time: Duration,
}

/// The tests that are planned for the crawl, however many pages the site has: scans of one site
/// with the same parameters have the same number of tests.
pub const STEPS: u32 = 10;

/// Reports the crawl as a number of tests.
pub struct CrawlProgress<'a> {
    run: &'a ScanRun<'a>,
    max_pages: usize,
    steps: u32,
    reported: u32,
}

impl<'a> CrawlProgress<'a> {
    pub fn new(run: &'a ScanRun<'a>, max_pages: usize, steps: u32) -> Self {
        Self {
            run,
            max_pages: max_pages.max(1),
            steps,
            reported: 0,
        }
    }

    async fn read(&mut self, pages: usize) {
        let steps = (pages as u64 * u64::from(self.steps) / self.max_pages as u64) as u32;
        self.report(steps.min(self.steps - 1), pages).await;
    }

    /// Reports the rest of the crawl.
    pub async fn end(mut self, pages: usize) {
        self.report(self.steps, pages).await;
    }

    async fn report(&mut self, steps: u32, pages: usize) {
        let weight = steps.saturating_sub(self.reported);
        if weight > 0 {
            let test = TestDone::new(
                "web.crawl",
                "Pages of the site",
                json!({"pages": pages}),
                Vec::new(),
            );
            self.run.tested(TestDone { weight, ..test }).await;
            self.reported = steps;
        }
    }
}

/// Fetches up to `max_pages` pages, including the start page, and reads their HTML for a limited
/// time.
pub async fn crawl(
    web: &CheckedWeb<'_>,
    start: &HttpPage,
    max_pages: usize,
    spider: &Spider,
    progress: &mut CrawlProgress<'_>,
) -> Crawl {
    let mut crawl = Crawl::new(&start.url, spider, web.limits().html_time);
    let html_time = Mutex::new(crawl.html_time);
    crawl.take(ReadPage::read(start.clone(), &html_time).await, 0);
    let mut fetches = FuturesOrdered::new();
    loop {
        while fetches.len() < CONCURRENCY.min(max_pages.saturating_sub(crawl.pages.len()))
            && let Some((url, depth)) = crawl.waiting.pop_front()
        {
            let html_time = &html_time;
            fetches.push_back(async move {
                let page = web.get(&url).await.ok()?;
                Some((ReadPage::read(page, html_time).await, depth))
            });
        }
        let Some(read) = fetches.next().await else {
            break;
        };
        if let Some((page, depth)) = read {
            crawl.take(page, depth);
        }
        progress.read(crawl.pages.len()).await;
    }
    drop(fetches);
    crawl.unread_pages = crawl.waiting.len();
    crawl.html_time = html_time.into_inner();
    crawl
}

impl Crawl {
    fn new(start: &Url, spider: &Spider, html_time: Duration) -> Self {
        let on_site = |text: &String| {
            let url = start.join(text).ok()?;
            (url.origin() == start.origin()).then_some(url)
        };
        let excluded = spider.exclude_urls.iter().filter_map(on_site);
        let mut crawl = Self {
            seen: HashSet::from([without_query(start)]),
            depth: spider.depth.unwrap_or(u32::MAX),
            excluded: excluded.map(String::from).collect(),
            html_time,
            ..Self::default()
        };
        for url in spider.include_urls.iter().filter_map(on_site) {
            if crawl.seen.insert(without_query(&url)) {
                crawl.waiting.push_back((url, 0));
            }
        }
        crawl
    }

    /// Adds those of the paths in scripts that show something. Many are incomplete, so other
    /// responses say nothing.
    pub async fn read_endpoints(&mut self, web: &CheckedWeb<'_>, endpoints: BTreeSet<Url>) {
        let admitted: Vec<Url> = endpoints
            .into_iter()
            .filter(|url| self.admit(url))
            .take(MAX_ENDPOINTS)
            .collect();
        let html_time = &Mutex::new(self.html_time);
        let fetch = |url: Url| async move {
            let page = web.get(&url).await.ok().filter(HttpPage::is_success)?;
            Some(ReadPage::read(page, html_time).await)
        };
        let pages: Vec<_> = stream::iter(admitted)
            .map(fetch)
            .buffered(CONCURRENCY)
            .collect()
            .await;
        for page in pages.into_iter().flatten() {
            self.take(page, self.depth);
        }
    }

    /// Whether a URL that no link names may be requested: it names no action, is not excluded, and
    /// is new. It then counts as seen.
    pub fn admit(&mut self, url: &Url) -> bool {
        is_harmless(url) && !self.is_excluded(url) && self.seen.insert(without_query(url))
    }

    fn is_excluded(&self, url: &Url) -> bool {
        let mut prefixes = self.excluded.iter();
        prefixes.any(|prefix| url.as_str().starts_with(prefix))
    }

    /// Adds a page that no link names; its links are not followed.
    pub async fn add(&mut self, page: HttpPage) {
        let html_time = Mutex::new(self.html_time);
        let read = ReadPage::read(page, &html_time).await;
        self.html_time = html_time.into_inner();
        self.take(read, self.depth);
    }

    /// Adds a page that is `depth` links from the start page.
    fn take(
        &mut self,
        ReadPage {
            page,
            contents,
            mut links,
        }: ReadPage,
        depth: u32,
    ) {
        self.cut_pages += usize::from(contents.is_cut);
        links.retain(|url| {
            matches!(url.scheme(), "http" | "https") && url.origin() == page.url.origin()
        });
        links.retain(|url| !self.is_excluded(url));
        for url in &mut links {
            url.set_fragment(None);
        }
        for url in links.iter().filter(|url| !acts(url)) {
            let folders = folders(url);
            if is_file(url) {
                self.file_folders.extend(folders.iter().cloned());
            }
            self.folders.extend(folders);
        }
        if page.is_html() && depth < self.depth {
            let follow = links.into_iter().filter(is_harmless);
            let new = follow.filter(|url| self.seen.insert(without_query(url)));
            self.waiting.extend(new.map(|url| (url, depth + 1)));
        }
        self.pages.push(page);
        self.contents.push(contents);
    }
}

/// A fetched page with the URLs in it.
struct ReadPage {
    page: Arc<HttpPage>,
    contents: PageContents,
    links: Vec<Url>,
}

impl ReadPage {
    /// Reads a page. Pages take turns, so that `html_time`, the time that is left, is that of one
    /// processor.
    async fn read(page: HttpPage, html_time: &Mutex<Duration>) -> Self {
        let page = Arc::new(page);
        let refresh = page.header("refresh");
        let refresh = html::refresh_url(&refresh).and_then(|url| page.url.join(url).ok());
        let mut links: Vec<Url> = page.redirect().into_iter().chain(refresh).collect();
        let mut contents = PageContents::default();
        if page.is_html() {
            let mut left = html_time.lock().await;
            let (body, limit) = (Arc::clone(&page), *left);
            contents = blocking::run(move |stop| html::read(&body, limit, stop)).await;
            *left = left.saturating_sub(contents.took);
            links.append(&mut contents.links);
        }
        Self {
            page,
            contents,
            links,
        }
    }
}

/// Whether the last part of a path is the name of a file: with an extension.
fn is_file(url: &Url) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.')
        .is_some_and(|(start, extension)| !start.is_empty() && (1..=5).contains(&extension.len()))
}

/// The parent directories of a file: `/a/` and `/a/b/` for `/a/b/c.css`.
fn folders(url: &Url) -> Vec<String> {
    let path = url.path();
    path.match_indices('/')
        .skip(1)
        .take(4)
        .map(|(at, _)| path[..=at].to_owned())
        .collect()
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
    fn folders_of_file_are_its_parents() {
        assert_eq!(
            folders(&Url::parse("http://a.test/a/b/c.css").unwrap()),
            ["/a/", "/a/b/"]
        );
        assert!(folders(&Url::parse("http://a.test/c.css").unwrap()).is_empty());
    }
}
