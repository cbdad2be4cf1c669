//! Page contents: resources loaded over plain HTTP, and a site that is itself served over plain
//! HTTP.

use super::html::PageContents;
use super::site::Site;
use crate::engine::NewFinding;
use crate::engine::http::HttpPage;
use crate::engine::kinds::web;

/// Resources of HTTPS pages with `http://` URLs.
pub fn mixed(site: &Site) -> Vec<NewFinding> {
    if !site.is_https() {
        return Vec::new();
    }
    let upgrades = |policy: &str| policy.contains("upgrade-insecure-requests");
    let is_upgraded = |page: &HttpPage, contents: &PageContents| {
        upgrades(&page.header("content-security-policy"))
            || contents.policies.iter().any(|policy| upgrades(policy))
    };
    let pages = site
        .html_with_contents()
        .filter(|(page, contents)| !is_upgraded(page, contents));
    let rows = pages.flat_map(|(page, contents)| {
        contents
            .plain_resources
            .iter()
            .map(|(element, url)| vec![page.url.to_string(), element.clone(), url.to_string()])
    });
    let rows = rows.collect();
    site.finding_of_rows(web::MIXED_CONTENT, &["Page", "Element", "Address"], rows)
}

/// The start page is served over plain HTTP.
pub fn plain_http(site: &Site) -> Vec<NewFinding> {
    if site.is_https() || !site.start.is_success() {
        return Vec::new();
    }
    let row = vec![
        site.start.url.to_string(),
        site.start.status.to_string(),
        "no redirect to https".to_owned(),
    ];
    vec![site.finding(web::PLAIN_HTTP, &["URL", "Status", "Redirect"], vec![row])]
}
