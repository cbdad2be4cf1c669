//! Software and versions that headers name, and whether a version has published holes.
//!
//! A version is compared, never tried: packagers mend holes under the same number, so such a finding is not confirmed.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::site::Site;
use crate::service::engine::NewFinding;
use crate::service::engine::kinds::web;

/// Headers in which software names itself.
const HEADERS: &[&str] = &["server", "x-powered-by", "x-aspnet-version", "x-aspnetmvc-version", "x-generator"];

/// Versions with published holes.
struct Hole {
    /// As it stands before the slash, lower case.
    product: &'static str,
    /// From the first version concerned…
    from: [u32; 3],
    /// …to the one that mends it, which is not concerned.
    below: [u32; 3],
    cve: &'static str,
    /// In CISA's catalogue of exploited holes.
    exploited: bool,
    what: &'static str,
}

#[rustfmt::skip]
const HOLES: &[Hole] = &[
    Hole { product: "apache", from: [2, 4, 49], below: [2, 4, 50], cve: "CVE-2021-41773", exploited: true, what: "path traversal, files and commands" },
    Hole { product: "apache", from: [2, 4, 49], below: [2, 4, 51], cve: "CVE-2021-42013", exploited: true, what: "path traversal, files and commands" },
    Hole { product: "apache", from: [2, 4, 17], below: [2, 4, 39], cve: "CVE-2019-0211", exploited: true, what: "local users become root" },
    Hole { product: "nginx", from: [0, 6, 18], below: [1, 20, 1], cve: "CVE-2021-23017", exploited: false, what: "memory overwrite by DNS answers" },
    Hole { product: "microsoft-iis", from: [6, 0, 0], below: [6, 1, 0], cve: "CVE-2017-7269", exploited: true, what: "buffer overflow in WebDAV" },
    Hole { product: "openssl", from: [1, 0, 1], below: [1, 0, 2], cve: "CVE-2014-0160", exploited: true, what: "memory of the server readable (up to 1.0.1f)" },
    Hole { product: "php", from: [7, 1, 0], below: [7, 1, 33], cve: "CVE-2019-11043", exploited: true, what: "commands through PHP-FPM with nginx" },
    Hole { product: "php", from: [7, 2, 0], below: [7, 2, 24], cve: "CVE-2019-11043", exploited: true, what: "commands through PHP-FPM with nginx" },
    Hole { product: "php", from: [7, 3, 0], below: [7, 3, 11], cve: "CVE-2019-11043", exploited: true, what: "commands through PHP-FPM with nginx" },
    Hole { product: "php", from: [8, 1, 0], below: [8, 1, 29], cve: "CVE-2024-4577", exploited: true, what: "commands through PHP-CGI on Windows" },
    Hole { product: "php", from: [8, 2, 0], below: [8, 2, 20], cve: "CVE-2024-4577", exploited: true, what: "commands through PHP-CGI on Windows" },
    Hole { product: "php", from: [8, 3, 0], below: [8, 3, 8], cve: "CVE-2024-4577", exploited: true, what: "commands through PHP-CGI on Windows" },
];

/// `name/1.2.3`, as in RFC 9110 §10.2.4.
static PRODUCT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"([A-Za-z][\w.-]*)/v?(\d+(?:\.\d+)*\w*)").ok());

/// Headers with a version in them, a finding a header.
pub fn disclosed(site: &Site) -> Vec<NewFinding> {
    let values = by_header(site);
    let told = values
        .into_iter()
        .filter(|(_, values)| values.keys().any(|value| value.contains(|c: char| c.is_ascii_digit())));
    told.map(|(header, values)| {
        let rows = values.into_iter().map(|(value, url)| vec![url, header.to_owned(), value]).collect();
        let finding = site.finding(&web::SERVER_VERSION, &["URL", "Header", "Value"], rows);
        NewFinding { place: format!("header {header}"), ..finding }
    })
    .collect()
}

/// Products whose version is one with published holes, a finding a product.
pub fn outdated(site: &Site) -> Vec<NewFinding> {
    let mut rows: BTreeMap<String, (Vec<Vec<String>>, Vec<&Hole>)> = BTreeMap::new();
    for (header, values) in by_header(site) {
        for (product, version) in values.keys().flat_map(|value| products(value)) {
            for hole in HOLES.iter().filter(|hole| concerns(hole, &product, &version)) {
                let (rows, holes) = rows.entry(product.clone()).or_default();
                let told = format!("{product} {version}");
                rows.push(vec![header.to_owned(), told, hole.cve.to_owned(), hole.what.to_owned()]);
                holes.push(hole);
            }
        }
    }
    rows.into_iter()
        .map(|(product, (rows, holes))| {
            let mut cve: Vec<String> = holes.iter().map(|hole| hole.cve.to_owned()).collect();
            cve.sort();
            cve.dedup();
            let links = cve.iter().map(|cve| format!("https://nvd.nist.gov/vuln/detail/{cve}"));
            let finding = site.finding(&web::SERVER_OUTDATED, &["Header", "Software", "CVE", "What"], rows);
            NewFinding {
                place: product.clone(),
                name: format!("{}: {product}", finding.name),
                confirmed: false,
                in_cisa_catalog: holes.iter().any(|hole| hole.exploited),
                references: finding.references.iter().cloned().chain(links).collect(),
                cve,
                ..finding
            }
        })
        .collect()
}

/// Each header's values, with a page that sends each.
fn by_header(site: &Site) -> BTreeMap<&'static str, BTreeMap<String, String>> {
    let mut all: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for page in &site.pages {
        for header in HEADERS {
            for value in page.all(header) {
                all.entry(header).or_default().entry(value.to_owned()).or_insert_with(|| page.url.to_string());
            }
        }
    }
    all
}

fn products(value: &str) -> Vec<(String, String)> {
    let Some(pattern) = PRODUCT.as_ref() else { return Vec::new() };
    pattern.captures_iter(value).map(|found| (found[1].to_ascii_lowercase(), found[2].to_owned())).collect()
}

fn concerns(hole: &Hole, product: &str, version: &str) -> bool {
    let parts: Vec<&str> = version.split('.').collect();
    let number = |at: usize| {
        let digits: String =
            parts.get(at).map(|part| part.chars().take_while(char::is_ascii_digit).collect()).unwrap_or_default();
        digits.parse::<u32>().unwrap_or(0)
    };
    // "Apache/2" names no version that could be compared.
    if hole.product != product || parts.len() < 2 {
        return false;
    }
    // OpenSSL counted 1.0.1a to 1.0.1z; g and later are mended.
    if product == "openssl" && version.chars().last().is_some_and(|last| last.is_ascii_lowercase() && last >= 'g') {
        return false;
    }
    let version = [number(0), number(1), number(2)];
    version >= hole.from && version < hole.below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cves(value: &str) -> Vec<&'static str> {
        let products = products(value);
        let concerned = |hole: &&Hole| products.iter().any(|(product, version)| concerns(hole, product, version));
        HOLES.iter().filter(concerned).map(|hole| hole.cve).collect()
    }

    #[test]
    fn versions_are_compared_by_number_and_only_where_they_are_whole() {
        assert_eq!(cves("Apache/2.4.49 (Unix)"), ["CVE-2021-41773", "CVE-2021-42013"]);
        assert_eq!(cves("Apache/2.4.50 OpenSSL/1.0.1f"), ["CVE-2021-42013", "CVE-2014-0160"]);
        assert_eq!(cves("nginx/1.9.3"), ["CVE-2021-23017"]);
        assert_eq!(cves("PHP/8.2.7-1+deb"), ["CVE-2024-4577"]);
        for fine in ["Apache", "Apache/2", "nginx/1.27.0", "PHP/8.3.8", "OpenSSL/1.0.1g", "caddy", "nginxlike/1.0.0"] {
            assert!(cves(fine).is_empty(), "{fine}");
        }
    }
}
