//! Software versions in headers, and their published vulnerabilities.
//!
//! Versions are only compared. Distributions backport fixes under the same version, so such a finding is not confirmed.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::site::Site;
use crate::service::engine::NewFinding;
use crate::service::engine::kinds::web;

/// Headers that contain the name of the software.
const HEADERS: &[&str] = &["server", "x-powered-by", "x-aspnet-version", "x-aspnetmvc-version", "x-generator"];

/// A published vulnerability, as described in `assets/engine/vulnerabilities.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vulnerability {
    product: String,
    from: [u32; 3],
    below: [u32; 3],
    cve: String,
    exploited: bool,
    what: String,
}

static VULNERABILITIES: LazyLock<Vec<Vulnerability>> = LazyLock::new(|| {
    let file = toml::from_str(include_str!("../../../../assets/engine/vulnerabilities.toml"));
    file.map(|mut file: BTreeMap<String, _>| file.remove("vulnerabilities")).ok().flatten().unwrap_or_default()
});

/// `name/1.2.3`, as in RFC 9110 §10.2.4.
static PRODUCT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"([A-Za-z][\w.-]*)/v?(\d+(?:\.\d+)*\w*)").ok());

/// A number of its own: `AmazonS3`, `h2o` and `ECS (dcb/7F84)` contain digits but no version.
static VERSION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:^|[^A-Za-z0-9.])v?\d+(?:\.\d+)*(?:\.\d+\w*|[^A-Za-z0-9]|$)").ok());

/// Headers that contain a version: one finding per header.
pub fn disclosed(site: &Site) -> Vec<NewFinding> {
    let has_version = |value: &String| VERSION.as_ref().is_some_and(|version| version.is_match(value));
    let with_version = by_header(site).into_iter().filter(|(_, values)| values.keys().any(has_version));
    with_version
        .map(|(header, values)| {
            let rows = values.into_iter().map(|(value, url)| vec![url, header.to_owned(), value]).collect();
            let finding = site.finding(web::SERVER_VERSION, &["URL", "Header", "Value"], rows);
            NewFinding { place: format!("header {header}"), ..finding }
        })
        .collect()
}

/// Products whose version has published vulnerabilities: one finding per product.
pub fn outdated(site: &Site) -> Vec<NewFinding> {
    let mut found: BTreeMap<String, (Vec<Vec<String>>, Vec<&Vulnerability>)> = BTreeMap::new();
    for (header, values) in by_header(site) {
        for (product, version) in values.keys().flat_map(|value| products(value)) {
            for one in VULNERABILITIES.iter().filter(|one| affects(one, &product, &version)) {
                let (rows, vulnerabilities) = found.entry(product.clone()).or_default();
                let software = format!("{product} {version}");
                rows.push(vec![header.to_owned(), software, one.cve.clone(), one.what.clone()]);
                vulnerabilities.push(one);
            }
        }
    }
    found
        .into_iter()
        .map(|(product, (rows, vulnerabilities))| {
            let mut cve: Vec<String> = vulnerabilities.iter().map(|one| one.cve.clone()).collect();
            cve.sort();
            cve.dedup();
            let links = cve.iter().map(|cve| format!("https://nvd.nist.gov/vuln/detail/{cve}"));
            let finding = site.finding(web::SERVER_OUTDATED, &["Header", "Software", "CVE", "What"], rows);
            NewFinding {
                place: product.clone(),
                name: format!("{}: {product}", finding.name),
                confirmed: false,
                in_cisa_catalog: vulnerabilities.iter().any(|one| one.exploited),
                references: finding.references.iter().cloned().chain(links).collect(),
                cve,
                ..finding
            }
        })
        .collect()
}

/// The values of each header, with the URL of a page for each value.
fn by_header(site: &Site) -> BTreeMap<&'static str, BTreeMap<String, String>> {
    let mut all: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for page in site.pages() {
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

fn affects(vulnerability: &Vulnerability, product: &str, version: &str) -> bool {
    let parts: Vec<&str> = version.split('.').collect();
    let number = |at: usize| {
        let digits: String =
            parts.get(at).map(|part| part.chars().take_while(char::is_ascii_digit).collect()).unwrap_or_default();
        digits.parse::<u32>().unwrap_or(0)
    };
    // "Apache/2" is not a complete version.
    if vulnerability.product != product || parts.len() < 2 {
        return false;
    }
    // Releases of OpenSSL were 1.0.1a to 1.0.1z; g and later are fixed.
    if product == "openssl" && version.chars().last().is_some_and(|last| last.is_ascii_lowercase() && last >= 'g') {
        return false;
    }
    let version = [number(0), number(1), number(2)];
    version >= vulnerability.from && version < vulnerability.below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cves(value: &str) -> Vec<&'static str> {
        let products = products(value);
        let affected = |one: &&Vulnerability| products.iter().any(|(product, version)| affects(one, product, version));
        VULNERABILITIES.iter().filter(affected).map(|one| one.cve.as_str()).collect()
    }

    #[test]
    fn digits_in_names_are_no_version() {
        let is_version = |value: &str| VERSION.as_ref().unwrap().is_match(value);
        for value in
            ["nginx/1.25.3", "4.0.30319", "Apache/2.4.49 (Unix)", "PHP/8.2", "Drupal 10 (x)", "OpenSSL/1.0.1f", "a/1"]
        {
            assert!(is_version(value), "{value}");
        }
        for value in ["AmazonS3", "h2o", "ECS (dcb/7F84)", "nginx", "Phusion", "gws", "a1b2"] {
            assert!(!is_version(value), "{value}");
        }
    }

    #[test]
    fn complete_versions_are_compared_by_number() {
        assert_eq!(cves("Apache/2.4.49 (Unix)"), ["CVE-2021-41773", "CVE-2021-42013"]);
        assert_eq!(cves("Apache/2.4.50 OpenSSL/1.0.1f"), ["CVE-2021-42013", "CVE-2014-0160"]);
        assert_eq!(cves("nginx/1.9.3"), ["CVE-2021-23017"]);
        assert_eq!(cves("PHP/8.2.7-1+deb"), ["CVE-2024-4577"]);
        for fine in ["Apache", "Apache/2", "nginx/1.27.0", "PHP/8.3.8", "OpenSSL/1.0.1g", "caddy", "nginxlike/1.0.0"] {
            assert!(cves(fine).is_empty(), "{fine}");
        }
    }
}
