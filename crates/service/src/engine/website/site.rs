//! The scanned site: its start page, further pages, and the creation of findings.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use url::Url;

use super::crawl::Crawl;
use super::folders::{SearchedFolder, SiteFolders};
use super::html::PageContents;
use super::source_maps::FetchedMap;
use super::start::base_folders;
use crate::engine::coverage::{CheckedWeb, Obstacle};
use crate::engine::exchange::page_of_row;
use crate::engine::http::HttpPage;
use crate::engine::kinds::FindingKind;
use crate::engine::{NewFinding, kinds};
use scandeck_wire::text::plural;

/// The site as one check sees it.
pub struct Site<'a> {
    /// For checks that send requests.
    pub web: CheckedWeb<'a>,
    crawled: &'a CrawledSite,
}

/// The fetched pages of a site, for all checks.
pub struct CrawledSite {
    pub start: HttpPage,
    /// The start page and the pages that the crawler found.
    pub pages: Vec<Arc<HttpPage>>,
    /// The parsed content of each of `pages`.
    contents: Vec<PageContents>,
    /// Scripts of the site's own origin.
    pub scripts: Vec<Arc<HttpPage>>,
    /// The source maps of the scripts.
    pub source_maps: Vec<FetchedMap>,
    /// Directories of the site in its pages and in robots.txt, as paths that end in `/`.
    pub folders: BTreeSet<String>,
    /// Those of them that hold files.
    pub file_folders: BTreeSet<String>,
    /// Whether the scan searches all directories, and for all names.
    pub is_deep: bool,
    /// The plain HTTP side of a site that is scanned over HTTPS.
    pub plain_side: Option<HttpPage>,
    /// Whether the pages were read with credentials.
    pub with_login: bool,
    /// A random path that does not exist.
    pub nonsense: String,
    /// Whether the program of the site answers for missing names, not its server.
    pub has_missing_page: bool,
}

impl Deref for Site<'_> {
    type Target = CrawledSite;

    fn deref(&self) -> &CrawledSite {
        self.crawled
    }
}

impl<'a> Site<'a> {
    pub fn new(web: CheckedWeb<'a>, crawled: &'a CrawledSite) -> Self {
        Self { web, crawled }
    }
}

impl CrawledSite {
    pub fn new(start: HttpPage, crawled: Crawl) -> Self {
        Self {
            start,
            pages: crawled.pages,
            contents: crawled.contents,
            scripts: Vec::new(),
            source_maps: Vec::new(),
            folders: crawled.folders,
            file_folders: crawled.file_folders,
            is_deep: false,
            plain_side: None,
            with_login: false,
            nonsense: format!("sd{:016x}", rand::random::<u64>()),
            has_missing_page: false,
        }
    }

    /// Further directories in which exposed files are searched: those with files first, and few of
    /// those that look alike.
    pub fn searched_folders(&self) -> Vec<SearchedFolder> {
        let base = self.base_folders();
        let others = self
            .sampled_folders()
            .into_iter()
            .filter(|folder| !base.contains(&folder.path));
        others.take(if self.is_deep { 40 } else { 4 }).collect()
    }

    /// The directories of the site, and few of those that look alike.
    pub fn sampled_folders(&self) -> Vec<SearchedFolder> {
        let folders = SiteFolders {
            all: self.folders.iter().map(String::as_str).collect(),
            with_files: self.file_folders.iter().map(String::as_str).collect(),
            pages: self.pages().map(|page| page.url.path()).collect(),
            has_missing_page: self.has_missing_page,
        };
        folders.searched()
    }

    /// All pages with what was read in them.
    pub fn contents(&self) -> impl Iterator<Item = (&HttpPage, &PageContents)> {
        self.pages().zip(&self.contents)
    }

    /// Whether the site shows the scan its start page.
    pub fn is_shown(&self) -> bool {
        Obstacle::of_page(&self.start).is_none()
    }

    /// Whether the site shows its start page, and refuses all others: a firewall does so, and then
    /// the refusal of a path does not mean that the path is not public.
    pub fn hides_pages(&self) -> bool {
        let is_refused =
            |page: &HttpPage| Obstacle::of_page(page).is_some_and(Obstacle::is_refusal);
        let others: Vec<&HttpPage> = self
            .pages()
            .filter(|page| page.url != self.start.url)
            .collect();
        self.is_shown() && others.len() > 1 && others.into_iter().all(is_refused)
    }

    /// `3 pages read`, and how many could not be read.
    pub fn pages_read(&self) -> String {
        let obstacles: Vec<Obstacle> = self.pages().filter_map(Obstacle::of_page).collect();
        let read = format!(
            "{} read",
            plural(self.pages.len() - obstacles.len(), "page")
        );
        let causes: BTreeSet<Obstacle> = obstacles.iter().copied().collect();
        let causes: Vec<&str> = causes.into_iter().map(Obstacle::cause).collect();
        match obstacles.len() {
            0 => read,
            count => format!("{read}, {count} not readable ({})", causes.join(", ")),
        }
    }

    /// All fetched pages.
    pub fn pages(&self) -> impl Iterator<Item = &HttpPage> {
        self.pages.iter().map(Arc::as_ref)
    }

    pub fn is_https(&self) -> bool {
        self.start.url.scheme() == "https"
    }

    pub fn port(&self) -> u16 {
        self.start.url.port_or_known_default().unwrap_or_default()
    }

    /// The URL of an absolute path on the site.
    pub fn at(&self, path: &str) -> Option<Url> {
        self.start
            .url
            .join(path)
            .ok()
            .filter(|url| url.origin() == self.start.url.origin())
    }

    /// The root, and the directory of the start page if it is another one.
    pub fn base_folders(&self) -> Vec<String> {
        base_folders(&self.start.url)
    }

    /// Whether a page is a file without data of users.
    pub fn is_static(&self, page: &HttpPage) -> bool {
        let kind = page.media_type();
        ["image/", "font/", "text/css", "audio/", "video/"]
            .iter()
            .any(|start| kind.starts_with(start))
    }

    /// HTML pages with status 200.
    pub fn html(&self) -> impl Iterator<Item = &HttpPage> {
        self.pages().filter(|page| is_html(page))
    }

    /// HTML pages with status 200, with what was read in them.
    pub fn html_with_contents(&self) -> impl Iterator<Item = (&HttpPage, &PageContents)> {
        self.contents().filter(|(page, _)| is_html(page))
    }

    /// A finding of `kind` on the port of this site, proven by the read page that its first row
    /// names.
    pub fn finding(
        &self,
        kind: FindingKind,
        headers: &[&str],
        rows: Vec<Vec<String>>,
    ) -> NewFinding {
        let first = rows.first().map(Vec::as_slice).unwrap_or_default();
        let page = page_of_row(first, self.read_pages());
        let finding = NewFinding {
            port: self.port(),
            service: self.start.url.scheme().to_owned(),
            evidence: kinds::table(headers, rows),
            confirmed: true,
            ..kind.finding()
        };
        match page {
            Some(page) => finding.proven_by(page),
            None => finding,
        }
    }

    /// Everything that was read before the checks.
    fn read_pages(&self) -> impl Iterator<Item = &HttpPage> {
        let scripts = self.scripts.iter().map(Arc::as_ref);
        let others = [&self.start].into_iter().chain(&self.plain_side);
        self.pages().chain(scripts).chain(others)
    }

    /// A finding that this page proves, or none if there are no rows.
    pub fn finding_of_page(
        &self,
        kind: FindingKind,
        headers: &[&str],
        rows: Vec<Vec<String>>,
        page: Option<&HttpPage>,
    ) -> Vec<NewFinding> {
        let found = self.finding_of_rows(kind, headers, rows).into_iter();
        let proven = found.map(|finding| match page {
            Some(page) => finding.proven_by(page),
            None => finding,
        });
        proven.collect()
    }

    /// A finding, or none if there are no rows.
    pub fn finding_of_rows(
        &self,
        kind: FindingKind,
        headers: &[&str],
        rows: Vec<Vec<String>>,
    ) -> Vec<NewFinding> {
        if rows.is_empty() {
            Vec::new()
        } else {
            vec![self.finding(kind, headers, rows)]
        }
    }
}

fn is_html(page: &HttpPage) -> bool {
    page.status == 200 && page.is_html() && Obstacle::of_page(page).is_none()
}
