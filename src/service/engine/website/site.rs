//! The scanned site: its start page, further pages, and the creation of findings.

use std::collections::BTreeSet;
use std::sync::Arc;

use url::Url;

use super::crawl;
use crate::service::engine::http::{HttpPage, Web};
use crate::service::engine::kinds::FindingKind;
use crate::service::engine::params::website::Spider;
use crate::service::engine::{NewFinding, kinds};

pub struct Site<'a> {
    /// For checks that send requests.
    pub web: &'a Web<'a>,
    pub start: HttpPage,
    /// The start page and the pages that the crawler found.
    pub pages: Vec<Arc<HttpPage>>,
    /// Resources over plain HTTP, for each of `pages`.
    plain_resources: Vec<Vec<(String, Url)>>,
    /// Directories of the site in its pages, as paths that end in `/`.
    pub folders: BTreeSet<String>,
    /// A random path that does not exist.
    pub nonsense: String,
}

impl<'a> Site<'a> {
    /// Crawls up to `max_pages` pages.
    pub async fn new(web: &'a Web<'a>, start: HttpPage, max_pages: usize, spider: &Spider) -> Self {
        let crawled = crawl::crawl(web, &start, max_pages, spider, web.limits().html_time).await;
        web.cut(|cuts| cuts.pages += crawled.cut_pages);
        let nonsense = format!("sd{:016x}", rand::random::<u64>());
        let (pages, plain_resources) = (crawled.pages, crawled.plain_resources);
        Self { web, start, pages, plain_resources, folders: crawled.folders, nonsense }
    }

    /// All fetched pages.
    pub fn pages(&self) -> impl Iterator<Item = &HttpPage> {
        self.pages.iter().map(Arc::as_ref)
    }

    pub fn is_https(&self) -> bool {
        self.start.url.scheme() == "https"
    }

    /// The URL of an absolute path on the site.
    pub fn at(&self, path: &str) -> Option<Url> {
        self.start.url.join(path).ok().filter(|url| url.origin() == self.start.url.origin())
    }

    /// The root, and the directory of the start page if it is another one.
    pub fn base_folders(&self) -> Vec<String> {
        let path = self.start.url.path();
        let folder = &path[..path.rfind('/').map_or(0, |at| at + 1)];
        let mut all = vec!["/".to_owned()];
        if folder != "/" && folder.starts_with('/') {
            all.push(folder.to_owned());
        }
        all
    }

    /// HTML pages with status 200.
    pub fn html(&self) -> impl Iterator<Item = &HttpPage> {
        self.pages().filter(|page| is_html(page))
    }

    /// HTML pages with status 200, with the elements and URLs of their resources over plain HTTP.
    pub fn html_with_plain_resources(&self) -> impl Iterator<Item = (&HttpPage, &[(String, Url)])> {
        self.pages().zip(self.plain_resources.iter().map(Vec::as_slice)).filter(|(page, _)| is_html(page))
    }

    /// A finding of `kind` on the port of this site.
    pub fn finding(&self, kind: FindingKind, headers: &[&str], rows: Vec<Vec<String>>) -> NewFinding {
        NewFinding {
            port: self.start.url.port_or_known_default().unwrap_or_default(),
            service: self.start.url.scheme().to_owned(),
            evidence: kinds::table(headers, rows),
            confirmed: true,
            ..kind.finding()
        }
    }

    /// A finding, or none if there are no rows.
    pub fn finding_of_rows(&self, kind: FindingKind, headers: &[&str], rows: Vec<Vec<String>>) -> Vec<NewFinding> {
        if rows.is_empty() { Vec::new() } else { vec![self.finding(kind, headers, rows)] }
    }
}

fn is_html(page: &HttpPage) -> bool {
    page.status == 200 && page.is_html()
}
