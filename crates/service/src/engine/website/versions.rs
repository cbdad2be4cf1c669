//! Software versions in headers, and their published vulnerabilities.
//!
//! Versions are only compared. Distributions backport fixes under the same version, so such a
//! finding is not confirmed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::site::Site;
use crate::engine::NewFinding;
use crate::engine::exploited::with_cves;
use crate::engine::kinds::web;

/// Headers that contain the name of the software.
const HEADERS: &[&str] = &[
    "server",
    "x-powered-by",
    "x-aspnet-version",
    "x-aspnetmvc-version",
    "x-generator",
];

/// A published vulnerability, as described in `assets/engine/vulnerabilities.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vulnerability {
    product: String,
    from: [u32; 3],
    below: [u32; 3],
    cve: String,
    what: String,
}

static VULNERABILITIES: LazyLock<Vec<Vulnerability>> = LazyLock::new(|| {
    let file = toml::from_str(include_str!("../../../assets/engine/vulnerabilities.toml"));
    file.map(|mut file: BTreeMap<String, _>| file.remove("vulnerabilities"))
        .ok()
        .flatten()
        .unwrap_or_default()
});

/// `name/1.2.3`, as in RFC 9110 §10.2.4.
static PRODUCT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"([A-Za-z][\w.-]*)/v?(\d+(?:\.\d+)*\w*)").ok());

/// A number of its own: `AmazonS3`, `h2o` and `ECS (dcb/7F84)` contain digits but no version.
static VERSION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:^|[^A-Za-z0-9.])v?\d+(?:\.\d+)*(?:\.\d+\w*|[^A-Za-z0-9]|$)").ok()
});

/// Headers that contain a version: one finding per header.
pub fn disclosed(site: &Site) -> Vec<NewFinding> {
    let has_version = |value: &String| {
        VERSION
            .as_ref()
            .is_some_and(|version| version.is_match(value))
    };
    let with_version = by_header(site)
        .into_iter()
        .filter(|(_, values)| values.keys().any(has_version));
    with_version
        .map(|(header, values)| {
            let rows = values
                .into_iter()
                .map(|(value, url)| vec![url, header.to_owned(), value])
                .collect();
            let finding = site.finding(web::SERVER_VERSION, &["URL", "Header", "Value"], rows);
            NewFinding {
                place: format!("header {header}"),
                ..finding
            }
        })
        .collect()
}

/// Products whose version has published vulnerabilities: one finding per product.
pub fn outdated(site: &Site) -> Vec<NewFinding> {
    let found = outdated_products(site).into_iter();
    found
        .map(|(product, outdated)| outdated.finding(site, &product))
        .collect()
}

/// A product with known vulnerabilities.
struct OutdatedProduct {
    /// A page whose header names it.
    url: String,
    rows: Vec<Vec<String>>,
    vulnerabilities: Vec<&'static Vulnerability>,
}

impl OutdatedProduct {
    fn finding(self, site: &Site, product: &str) -> NewFinding {
        let known = self.vulnerabilities.iter();
        let cves: BTreeSet<String> = known.map(|one| one.cve.clone()).collect();
        let links = cves
            .iter()
            .map(|cve| format!("https://nvd.nist.gov/vuln/detail/{cve}"));
        let headers = &["Header", "Software", "CVE", "What"];
        let finding = site.finding(web::SERVER_OUTDATED, headers, self.rows);
        let page = site.pages().find(|page| page.url.as_str() == self.url);
        let finding = match page {
            Some(page) => finding.proven_by(page),
            None => finding,
        };
        let finding = NewFinding {
            place: product.to_owned(),
            name: format!("{}: {product}", finding.name),
            confirmed: false,
            references: finding.references.iter().cloned().chain(links).collect(),
            ..finding
        };
        with_cves(finding, cves.into_iter())
    }
}

fn outdated_products(site: &Site) -> BTreeMap<String, OutdatedProduct> {
    let mut found: BTreeMap<String, OutdatedProduct> = BTreeMap::new();
    for (header, values) in by_header(site) {
        for (value, url) in &values {
            for (product, version) in products(value) {
                let known = VULNERABILITIES.iter();
                for one in known.filter(|one| affects(one, &product, &version)) {
                    let first = || OutdatedProduct {
                        url: url.clone(),
                        rows: Vec::new(),
                        vulnerabilities: Vec::new(),
                    };
                    let outdated = found.entry(product.clone()).or_insert_with(first);
                    outdated.rows.push(vec![
                        header.to_owned(),
                        format!("{product} {version}"),
                        one.cve.clone(),
                        one.what.clone(),
                    ]);
                    outdated.vulnerabilities.push(one);
                }
            }
        }
    }
    found
}

/// The values of each header, with the URL of a page for each value.
fn by_header(site: &Site) -> BTreeMap<&'static str, BTreeMap<String, String>> {
    let mut all: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for page in site.pages() {
        for header in HEADERS {
            for value in page.all(header) {
                all.entry(header)
                    .or_default()
                    .entry(value.into_owned())
                    .or_insert_with(|| page.url.to_string());
            }
        }
    }
    all
}

fn products(value: &str) -> Vec<(String, String)> {
    let Some(pattern) = PRODUCT.as_ref() else {
        return Vec::new();
    };
    pattern
        .captures_iter(value)
        .map(|found| (found[1].to_ascii_lowercase(), found[2].to_owned()))
        .collect()
}

fn affects(vulnerability: &Vulnerability, product: &str, version: &str) -> bool {
    let parts: Vec<&str> = version.split('.').collect();
    let number = |at: usize| {
        let digits: String = parts
            .get(at)
            .map(|part| part.chars().take_while(char::is_ascii_digit).collect())
            .unwrap_or_default();
        digits.parse::<u32>().unwrap_or(0)
    };
    // "Apache/2" is not a complete version.
    if vulnerability.product != product || parts.len() < 2 {
        return false;
    }
    // Releases of OpenSSL were 1.0.1a to 1.0.1z; g and later are fixed.
    if product == "openssl"
        && version
            .chars()
            .last()
            .is_some_and(|last| last.is_ascii_lowercase() && last >= 'g')
    {
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
        let affected = |one: &&Vulnerability| {
            products
                .iter()
                .any(|(product, version)| affects(one, product, version))
        };
        VULNERABILITIES
            .iter()
            .filter(affected)
            .map(|one| one.cve.as_str())
            .collect()
    }

    #[test]
    fn digits_in_names_are_no_version() {
        let is_version = |value: &str| VERSION.as_ref().unwrap().is_match(value);
        for value in [
            "nginx/1.25.3",
            "4.0.30319",
            "Apache/2.4.49 (Unix)",
            "PHP/8.2",
            "Drupal 10 (x)",
            "OpenSSL/1.0.1f",
            "a/1",
        ] {
            assert!(is_version(value), "{value}");
        }
        for value in [
            "AmazonS3",
            "h2o",
            "ECS (dcb/7F84)",
            "nginx",
            "Phusion",
            "gws",
            "a1b2",
        ] {
            assert!(!is_version(value), "{value}");
        }
    }

    #[test]
    fn complete_versions_are_compared_by_number() {
        assert_eq!(
            cves("Apache/2.4.50 OpenSSL/1.0.1f")[..2],
            ["CVE-2021-42013", "CVE-2014-0160"]
        );
        assert_eq!(
            cves("nginx/1.9.3"),
            ["CVE-2021-23017", "CVE-2016-4450", "CVE-2017-7529"]
        );
        assert_eq!(cves("PHP/8.2.7-1+deb"), ["CVE-2024-4577", "CVE-2023-3824"]);
        for fine in [
            "Apache",
            "Apache/2",
            "Apache/2.4.62",
            "nginx/1.27.0",
            "PHP/8.3.8",
            "OpenSSL/1.0.1g",
            "caddy",
            "nginxlike/1.0.0",
        ] {
            assert!(cves(fine).is_empty(), "{fine}");
        }
    }

    /// The last vulnerable and the first fixed version of each vulnerability and branch, as the
    /// advisories name them.
    #[test]
    fn ranges_end_at_the_fixed_versions() {
        const PAIRS: &[(&str, &str, &str)] = &[
            ("CVE-2021-41773", "Apache/2.4.49", "Apache/2.4.50"),
            ("CVE-2021-42013", "Apache/2.4.50", "Apache/2.4.51"),
            ("CVE-2019-0211", "Apache/2.4.38", "Apache/2.4.39"),
            ("CVE-2017-9798", "Apache/2.4.27", "Apache/2.4.28"),
            ("CVE-2021-40438", "Apache/2.4.48", "Apache/2.4.49"),
            ("CVE-2021-44790", "Apache/2.4.51", "Apache/2.4.52"),
            ("CVE-2022-31813", "Apache/2.4.53", "Apache/2.4.54"),
            ("CVE-2023-25690", "Apache/2.4.55", "Apache/2.4.56"),
            ("CVE-2024-38475", "Apache/2.4.59", "Apache/2.4.60"),
            ("CVE-2021-23017", "nginx/1.20.0", "nginx/1.20.1"),
            ("CVE-2013-2028", "nginx/1.4.0", "nginx/1.4.1"),
            ("CVE-2016-4450", "nginx/1.10.0", "nginx/1.10.1"),
            ("CVE-2016-4450", "nginx/1.11.0", "nginx/1.11.1"),
            ("CVE-2017-7529", "nginx/1.12.0", "nginx/1.12.1"),
            ("CVE-2017-7529", "nginx/1.13.2", "nginx/1.13.3"),
            ("CVE-2018-16843", "nginx/1.14.0", "nginx/1.14.1"),
            ("CVE-2018-16843", "nginx/1.15.5", "nginx/1.15.6"),
            ("CVE-2019-9511", "nginx/1.16.0", "nginx/1.16.1"),
            ("CVE-2019-9511", "nginx/1.17.2", "nginx/1.17.3"),
            ("CVE-2017-7269", "Microsoft-IIS/6.0", "Microsoft-IIS/7.0"),
            ("CVE-2014-0160", "OpenSSL/1.0.1f", "OpenSSL/1.0.1g"),
            ("CVE-2022-3602", "OpenSSL/3.0.6", "OpenSSL/3.0.7"),
            ("CVE-2019-11043", "PHP/7.1.32", "PHP/7.1.33"),
            ("CVE-2019-11043", "PHP/7.2.23", "PHP/7.2.24"),
            ("CVE-2019-11043", "PHP/7.3.10", "PHP/7.3.11"),
            ("CVE-2024-4577", "PHP/8.1.28", "PHP/8.1.29"),
            ("CVE-2024-4577", "PHP/8.2.19", "PHP/8.2.20"),
            ("CVE-2024-4577", "PHP/8.3.7", "PHP/8.3.8"),
            ("CVE-2012-1823", "PHP/5.3.11", "PHP/5.3.12"),
            ("CVE-2012-1823", "PHP/5.4.1", "PHP/5.4.2"),
            ("CVE-2023-3824", "PHP/8.0.29", "PHP/8.0.30"),
            ("CVE-2023-3824", "PHP/8.1.21", "PHP/8.1.22"),
            ("CVE-2023-3824", "PHP/8.2.7", "PHP/8.2.8"),
            ("CVE-2018-19052", "lighttpd/1.4.49", "lighttpd/1.4.50"),
            ("CVE-2018-18778", "mini_httpd/1.29", "mini_httpd/1.30"),
            ("CVE-2024-1135", "gunicorn/21.2.0", "gunicorn/22.0.0"),
            ("CVE-2023-25577", "Werkzeug/2.2.2", "Werkzeug/2.2.3"),
            ("CVE-2024-34069", "Werkzeug/3.0.2", "Werkzeug/3.0.3"),
            ("CVE-2018-11759", "mod_jk/1.2.44", "mod_jk/1.2.46"),
        ];
        for (cve, vulnerable, fixed) in PAIRS {
            assert!(cves(vulnerable).contains(cve), "{cve}: {vulnerable}");
            assert!(!cves(fixed).contains(cve), "{cve}: {fixed}");
        }
        // Each range of the file has a pair, and begins where it says.
        for one in VULNERABILITIES.iter() {
            let pair = PAIRS.iter().find(|(cve, vulnerable, _)| {
                *cve == one.cve
                    && products(vulnerable)
                        .iter()
                        .any(|(product, version)| affects(one, product, version))
            });
            assert!(pair.is_some(), "{}: {:?}", one.cve, one.from);
            let [major, minor, patch] = one.from;
            let first = format!("{major}.{minor}.{patch}");
            assert!(
                one.from < one.below && affects(one, &one.product, &first),
                "{}: {first}",
                one.cve
            );
        }
    }
}
