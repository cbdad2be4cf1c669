//! What is known of the site under scan: its start page, a few more pages, and how findings of it are made.

use std::collections::BTreeSet;

use url::Url;

use super::crawl;
use crate::service::engine::http::{HttpPage, Web};
use crate::service::engine::kinds::FindingKind;
use crate::service::engine::{NewFinding, kinds};

/// A site with the pages that were read.
pub struct Site<'a> {
    /// For checks that ask for more.
    pub web: &'a Web<'a>,
    /// Where the scan began.
    pub start: HttpPage,
    /// The start page and pages it leads to, each answered.
    pub pages: Vec<HttpPage>,
    /// Folders of the site that its pages name, as paths that end in `/`.
    pub folders: BTreeSet<String>,
    /// A path that cannot exist, new for each scan.
    pub nonsense: String,
}

impl<'a> Site<'a> {
    /// Reads up to `max_pages` pages.
    pub async fn new(web: &'a Web<'a>, start: HttpPage, max_pages: usize) -> Self {
        let crawled = crawl::crawl(web, &start, max_pages).await;
        let nonsense = format!("sd{:016x}", rand::random::<u64>());
        Self { web, start, pages: crawled.pages, folders: crawled.folders, nonsense }
    }

    /// Whether the site was reached by HTTPS.
    pub fn is_https(&self) -> bool {
        self.start.url.scheme() == "https"
    }

    /// The URL of an absolute path on the site.
    pub fn at(&self, path: &str) -> Option<Url> {
        self.start.url.join(path).ok().filter(|url| url.origin() == self.start.url.origin())
    }

    /// The folder of the start page, which for many targets is not the root.
    pub fn base_folders(&self) -> Vec<String> {
        let path = self.start.url.path();
        let folder = &path[..path.rfind('/').map_or(0, |at| at + 1)];
        let mut all = vec!["/".to_owned()];
        if folder != "/" && folder.starts_with('/') {
            all.push(folder.to_owned());
        }
        all
    }

    /// Pages delivered as such: 200 and HTML.
    pub fn html(&self) -> impl Iterator<Item = &HttpPage> {
        self.pages.iter().filter(|page| page.status == 200 && page.is_html())
    }

    /// A finding of `kind` on this site's port, with its rows.
    pub fn finding(&self, kind: &FindingKind, headers: &[&str], rows: Vec<Vec<String>>) -> NewFinding {
        NewFinding {
            port: self.start.url.port_or_known_default().unwrap_or_default(),
            service: self.start.url.scheme().to_owned(),
            evidence: kinds::table(headers, rows),
            confirmed: true,
            ..kind.finding()
        }
    }

    /// The same, or nothing where there are no rows.
    pub fn finding_of_rows(&self, kind: &FindingKind, headers: &[&str], rows: Vec<Vec<String>>) -> Vec<NewFinding> {
        if rows.is_empty() { Vec::new() } else { vec![self.finding(kind, headers, rows)] }
    }
}
