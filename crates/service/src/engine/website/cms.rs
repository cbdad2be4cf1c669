//! WordPress, Drupal and Joomla: the version that they state, and whether its branch still gets
//! security fixes.
//!
//! ```text
//!   pages ──► product ──► its public documents ──► version ──► branches without fixes (`assets/engine/unsupported.toml`)
//! ```
//!
//! Versions are only compared. Distributions may fix a branch that its project no longer fixes, so
//! such a finding is not confirmed.

use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::exposed;
use super::site::Site;
use crate::engine::http::HttpPage;
use crate::engine::kinds::cms;
use crate::engine::{NewFinding, blocking, technologies};

/// Category of the data file of technologies.
const CATEGORY: &str = "Content management";
/// The response to GET of the XML-RPC interface of WordPress.
const XMLRPC: &str = "XML-RPC server accepts POST requests only.";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnsupportedFile {
    /// The day of the comparison with the sources.
    date: String,
    branches: Vec<UnsupportedBranch>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnsupportedBranch {
    product: String,
    from: [u32; 2],
    below: [u32; 2],
    ended: String,
    source: String,
}

static FILE: LazyLock<UnsupportedFile> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../assets/engine/unsupported.toml")).unwrap_or_default()
});

/// The versions that content management systems state, and those without security fixes.
pub async fn versions(site: &Site<'_>) -> Vec<NewFinding> {
    let pages = site.pages.clone();
    let found = blocking::run(move |stop| {
        technologies::find(&pages, |category| category == CATEGORY, stop)
    })
    .await;
    let folders: Vec<_> = site
        .base_folders()
        .iter()
        .filter_map(|folder| site.at(folder))
        .collect();
    let mut findings = Vec::new();
    for (product, shown) in found {
        let mut stated = vec![StatedVersion {
            place: shown.proof,
            version: shown.version,
            page: shown.page,
        }];
        let statements = technologies::version_statements(&site.web, &folders, &product).await;
        stated.extend(statements.into_iter().map(|one| StatedVersion {
            place: format!("GET {}", one.page.url),
            version: one.version,
            page: one.page,
        }));
        stated.retain(|one| !one.version.is_empty());
        let most_exact = stated
            .iter()
            .map(|one| one.version.clone())
            .max_by_key(|version| version.matches('.').count());
        let (Some(version), Some(first)) = (most_exact, stated.first()) else {
            continue;
        };
        let page = Arc::clone(&first.page);
        let rows = stated
            .into_iter()
            .map(|one| vec![one.place, product.clone(), one.version])
            .collect();
        let headers = &["Where", "Software", "Version"];
        let finding = site.finding(cms::VERSION, headers, rows);
        let unsupported = unsupported_version(site, &product, &version);
        let stating = [of_product(finding, &product)].into_iter();
        let all = stating.chain(unsupported);
        findings.extend(all.map(|finding| finding.proven_by(&page)));
    }
    findings
}

/// A version of a product, and what states it.
struct StatedVersion {
    place: String,
    version: String,
    page: Arc<HttpPage>,
}

/// The finding of a version without security fixes.
fn unsupported_version(site: &Site<'_>, product: &str, version: &str) -> Option<NewFinding> {
    let branch = unsupported(product, version)?;
    let row = vec![
        format!("{product} {version}"),
        branch.ended.clone(),
        branch.source.clone(),
    ];
    let headers = &["Software", "Security fixes ended by", "Source"];
    let finding = of_product(site.finding(cms::UNSUPPORTED, headers, vec![row]), product);
    Some(NewFinding {
        confirmed: false,
        vuln_description: format!("{} (As of {}.)", finding.vuln_description, FILE.date),
        ..finding
    })
}

fn of_product(finding: NewFinding, product: &str) -> NewFinding {
    NewFinding {
        place: product.to_owned(),
        name: format!("{}: {product}", finding.name),
        ..finding
    }
}

/// The branch of a version, if its fixes have ended. A version without minor number is in a branch
/// only if each of its minor versions is.
fn unsupported(product: &str, version: &str) -> Option<&'static UnsupportedBranch> {
    let mut numbers = version
        .split('.')
        .map_while(|part| part.parse::<u32>().ok());
    let major = numbers.next()?;
    let minor = numbers.next();
    let (first, last) = (
        [major, minor.unwrap_or(0)],
        [major, minor.unwrap_or(u32::MAX)],
    );
    FILE.branches
        .iter()
        .find(|branch| branch.product == product && first >= branch.from && last < branch.below)
}

/// The XML-RPC interface of WordPress, which answers GET with a hint.
pub async fn xmlrpc(site: &Site<'_>) -> Vec<NewFinding> {
    let (mut rows, mut first) = (Vec::new(), None);
    for folder in site.base_folders() {
        let Some(url) = site.at(&format!("{folder}xmlrpc.php")) else {
            continue;
        };
        let Ok(page) = site.web.probe_without_login(&url).await else {
            continue;
        };
        if matches!(page.status, 200 | 405) && page.text().trim() == XMLRPC {
            rows.push(vec![
                format!("GET {url}"),
                page.status.to_string(),
                XMLRPC.to_owned(),
            ]);
            first.get_or_insert(page);
        }
    }
    site.finding_of_page(cms::XMLRPC, exposed::HEADERS, rows, first.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_without_fixes_end_where_their_successor_begins() {
        let ended =
            |product, version| unsupported(product, version).map(|branch| branch.ended.as_str());
        for (product, old, new) in [
            ("WordPress", "4.6.30", "4.7"),
            ("Drupal", "7.103", "12.0"),
            ("Drupal", "9", "10"),
            ("Drupal", "10.3.14", "10.4.0"),
            ("Drupal", "11.0.13", "11.1.0"),
            ("Joomla", "4.4.14", "5.0.0"),
            ("Joomla", "3.10.12-dev", "6.0.0"),
        ] {
            assert!(ended(product, old).is_some(), "{product} {old}");
            assert_eq!(ended(product, new), None, "{product} {new}");
        }
        assert_eq!(
            (ended("WordPress", "4.0.38"), ended("WordPress", "4.1")),
            (Some("2022-12"), Some("2025-07"))
        );
        assert_eq!(
            (
                ended("Grafana", "4.0"),
                ended("Drupal", "x"),
                ended("Drupal", "")
            ),
            (None, None, None)
        );
    }

    #[test]
    fn branches_have_a_source_and_a_day_in_the_past() {
        assert!(FILE.branches.len() >= 9);
        for branch in &FILE.branches {
            assert!(
                branch.from < branch.below && branch.source.starts_with("https://"),
                "{branch:?}"
            );
            assert!(
                branch.ended.len() >= 7 && branch.ended < FILE.date,
                "{branch:?}"
            );
        }
    }
}
