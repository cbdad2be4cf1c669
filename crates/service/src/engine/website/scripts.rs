//! The scripts of the site: libraries with known vulnerabilities, and secrets.
//!
//! ```text
//!   pages ──► script URLs of the site ──► fetched once for all checks ──► version, secrets, source map
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use futures::{StreamExt, stream};
use regex::Regex;
use serde::Deserialize;
use url::Url;

use super::html::PageContents;
use super::recognize::is_markup;
use super::secrets::{self, SecretMatch};
use super::site::Site;
use super::source_maps;
use crate::engine::NewFinding;
use crate::engine::blocking::{self, StopFlag};
use crate::engine::coverage::CheckedWeb;
use crate::engine::exploited::with_cves;
use crate::engine::http::{HttpPage, MAX_BODY};
use crate::engine::kinds::web;
use crate::engine::secret_digest::SecretHash;

/// Number of concurrent requests.
pub const CONCURRENCY: usize = 4;

/// The scripts of the site's own origin.
#[derive(Default)]
pub struct FetchedScripts {
    pub scripts: Vec<Arc<HttpPage>>,
    /// Scripts that the pages name.
    pub found: usize,
    /// Scripts of which only the beginning was read.
    pub cut: usize,
}

/// Fetches the scripts of the site's own origin, each once: up to `max_scripts`, and up to
/// `max_bytes` of each.
pub async fn fetch(
    web: &CheckedWeb<'_>,
    start: &Url,
    contents: &[PageContents],
    (max_scripts, max_bytes): (usize, usize),
) -> FetchedScripts {
    let urls: BTreeSet<&Url> = contents
        .iter()
        .flat_map(|page| &page.subresources)
        .filter(|one| one.element == "script" && one.url.origin() == start.origin())
        .map(|one| &one.url)
        .collect();
    let found = urls.len();
    let urls: Vec<Url> = urls.into_iter().take(max_scripts).cloned().collect();
    let fetched = stream::iter(urls)
        .map(|url| async move { web.get_up_to(&url, max_bytes).await.ok() })
        .buffered(CONCURRENCY);
    let pages: Vec<Option<HttpPage>> = fetched.collect().await;
    let is_script = |page: &HttpPage| page.is_success() && !is_markup(page);
    let scripts: Vec<Arc<HttpPage>> = pages
        .into_iter()
        .flatten()
        .filter(is_script)
        .map(Arc::new)
        .collect();
    let cut = scripts
        .iter()
        .filter(|script| script.body.len() >= max_bytes)
        .count();
    FetchedScripts {
        scripts,
        found,
        cut,
    }
}

/// A path in quotation marks: `"/api/orders"`, but neither `"//cdn.test/x"` nor `"/"`.
static ENDPOINT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"["'`](/[A-Za-z0-9][\w.~-]*(?:/[\w.~-]+){0,8}/?(?:\?[\w=&.%-]{0,100})?)["'`]"#)
        .ok()
});

/// The paths of the site that its scripts name, as a script calls them.
pub async fn endpoints(scripts: &[Arc<HttpPage>]) -> BTreeSet<Url> {
    let scripts = scripts.to_vec();
    blocking::run(move |stop| {
        let scripts = scripts.iter().take_while(|_| !stop.is_set());
        scripts.flat_map(|script| endpoints_in(script)).collect()
    })
    .await
}

fn endpoints_in(script: &HttpPage) -> Vec<Url> {
    let Some(pattern) = ENDPOINT.as_ref() else {
        return Vec::new();
    };
    let text = script.text();
    let paths = pattern
        .captures_iter(&text)
        .filter_map(|found| script.url.join(found.get(1)?.as_str()).ok());
    paths.collect()
}

/// A published vulnerability of a JavaScript library (`assets/engine/libraries.toml`).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LibraryVulnerability {
    library: String,
    from: [u32; 3],
    below: [u32; 3],
    cve: String,
    what: String,
    source: String,
}

/// How the version of a library is read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Library {
    name: String,
    /// The name as its project writes it.
    product: String,
    /// Patterns at the beginning of a comment; the first group is the version.
    #[serde(default)]
    banner: Vec<String>,
    /// Patterns of the code; the first group is the version.
    #[serde(default)]
    code: Vec<String>,
    /// The name in file names and in paths of CDNs.
    file: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LibraryFile {
    libraries: Vec<Library>,
    vulnerabilities: Vec<LibraryVulnerability>,
}

/// A library with its patterns for content and URL.
struct LibraryPatterns {
    name: String,
    content: Vec<Regex>,
    url: Option<Regex>,
}

static LIBRARIES: LazyLock<LibraryFile> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../assets/engine/libraries.toml")).unwrap_or_default()
});

/// The beginning of a comment, up to its first word.
const COMMENT_START: &str = r"(?:/\*+!?|//[!/]*)(?:[\s*!]|//[!/]?|@license\b|@preserve\b)*";

static PATTERNS: LazyLock<Vec<LibraryPatterns>> = LazyLock::new(|| {
    let patterns = |library: &Library| {
        let file = regex::escape(&library.file);
        let version = r"v?(\d+\.\d+(?:\.\d+)?)";
        let url = format!(
            r"(?i)(?:^|[/@]){file}(?:\.js)?(?:[-.@/]{version}(?:[./-]|$)|(?:[.-](?:min|slim|full|bundle))*\.js\?(?:v|ver)={version})"
        );
        let banners = library
            .banner
            .iter()
            .map(|banner| format!("{COMMENT_START}(?:{banner})"));
        LibraryPatterns {
            name: library.name.clone(),
            content: banners
                .chain(library.code.clone())
                .filter_map(|pattern| Regex::new(&pattern).ok())
                .collect(),
            url: Regex::new(&url).ok(),
        }
    };
    LIBRARIES.libraries.iter().map(patterns).collect()
});

/// A library that a page uses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UsedLibrary {
    name: String,
    version: String,
    /// The script in which it was recognised.
    url: String,
}

/// The uses of one library with known vulnerabilities.
#[derive(Default)]
struct OutdatedLibrary {
    rows: Vec<Vec<String>>,
    vulnerabilities: Vec<&'static LibraryVulnerability>,
}

/// Libraries with known vulnerabilities: one finding per library.
pub async fn outdated(site: &Site<'_>) -> Vec<NewFinding> {
    let used = used_libraries(site).await;
    let mut outdated: BTreeMap<&str, OutdatedLibrary> = BTreeMap::new();
    for library in &used {
        let affects = |entry: &&LibraryVulnerability| {
            entry.library == library.name && entry.affects(&library.version)
        };
        for entry in LIBRARIES.vulnerabilities.iter().filter(affects) {
            let found = outdated.entry(&library.name).or_default();
            found.rows.push(vec![
                library.url.clone(),
                format!("{} {}", library.name, library.version),
                entry.cve.clone(),
                entry.what.clone(),
            ]);
            found.vulnerabilities.push(entry);
        }
    }
    outdated
        .into_iter()
        .map(|(name, found)| found.finding(site, name))
        .collect()
}

/// The libraries in the scripts of the site, and those that the names of other scripts show.
async fn used_libraries(site: &Site<'_>) -> BTreeSet<UsedLibrary> {
    let scripts = site.scripts.clone();
    let mut used: BTreeSet<UsedLibrary> = blocking::run(move |stop| {
        let scripts = scripts.iter().take_while(|_| !stop.is_set());
        scripts.flat_map(|script| in_content(script)).collect()
    })
    .await;
    let subresources = site
        .contents()
        .flat_map(|(_, contents)| &contents.subresources);
    for script in subresources.filter(|one| one.element == "script") {
        let Some((name, version)) = in_url(&script.url) else {
            continue;
        };
        let url = script.url.to_string();
        if !used.iter().any(|one| one.name == name && one.url == url) {
            used.insert(UsedLibrary { name, version, url });
        }
    }
    used
}

impl OutdatedLibrary {
    fn finding(self, site: &Site<'_>, name: &str) -> NewFinding {
        let headers = ["URL", "Library", "CVE", "What"];
        let finding = site.finding(web::LIBRARY_OUTDATED, &headers, self.rows);
        let sources = self.vulnerabilities.iter().map(|entry| &entry.source);
        let mut references: Vec<String> =
            finding.references.iter().chain(sources).cloned().collect();
        references.dedup();
        let finding = NewFinding {
            place: name.to_owned(),
            name: format!("{}: {}", finding.name, product(name)),
            // The library is there; whether the page uses the vulnerable function was not tried.
            confirmed: false,
            references,
            ..finding
        };
        let cves = self.vulnerabilities.iter().map(|entry| entry.cve.clone());
        with_cves(finding, cves)
    }
}

/// The name of a library as its project writes it.
fn product(name: &str) -> &str {
    let library = LIBRARIES
        .libraries
        .iter()
        .find(|library| library.name == name);
    library.map_or(name, |library| &library.product)
}

fn in_content(script: &HttpPage) -> Vec<UsedLibrary> {
    let text = script.text();
    let found = PATTERNS.iter().filter_map(|library| {
        let version = library
            .content
            .iter()
            .find_map(|pattern| Some(pattern.captures(&text)?.get(1)?.as_str().to_owned()));
        Some(UsedLibrary {
            name: library.name.clone(),
            version: version?,
            url: script.url.to_string(),
        })
    });
    found.collect()
}

fn in_url(url: &Url) -> Option<(String, String)> {
    let text = format!(
        "{}{}",
        url.path(),
        url.query()
            .map(|query| format!("?{query}"))
            .unwrap_or_default()
    );
    PATTERNS.iter().find_map(|library| {
        let found = library.url.as_ref()?.captures(&text)?;
        let before = &text[..found.get(0)?.start()];
        // `/@scope/jquery@1.0.0/` is another package.
        if before
            .rsplit('/')
            .next()
            .is_some_and(|folder| folder.starts_with('@'))
        {
            return None;
        }
        let version = found.iter().skip(1).flatten().next()?;
        Some((library.name.clone(), version.as_str().to_owned()))
    })
}

impl LibraryVulnerability {
    fn affects(&self, version: &str) -> bool {
        let mut numbers = version
            .split('.')
            .map(|part| part.parse::<u32>().unwrap_or_default());
        let mut next = || numbers.next().unwrap_or_default();
        let version = [next(), next(), next()];
        version >= self.from && version < self.below
    }
}

/// Secrets in scripts, pages and source maps. The evidence shows the kind, the beginning and the
/// end only, with line and column. Tokens that everybody may know are a finding of their own.
pub async fn secrets(site: &Site<'_>) -> Vec<NewFinding> {
    for map in &site.source_maps {
        site.web.recount(&map.answer).await;
    }
    let pages: Vec<Arc<HttpPage>> = site
        .pages
        .iter()
        .chain(&site.scripts)
        .filter(|page| page.is_success())
        .cloned()
        .collect();
    let of_pages: Vec<SecretRow> = blocking::run(move |stop| {
        let pages = pages.iter().take_while(|_| !stop.is_set());
        pages.flat_map(|page| secrets_in(page, stop)).collect()
    })
    .await;
    let of_maps = site
        .source_maps
        .iter()
        .flat_map(|map| map.secrets.iter().cloned());
    let all: BTreeSet<SecretRow> = of_pages.into_iter().chain(of_maps).collect();
    let (public, secret): (Vec<SecretRow>, Vec<SecretRow>) =
        all.into_iter().partition(|row| row.is_public);
    let digests = site.web.secret_digests();
    let marked = secret.into_iter().map(|row| SecretRow {
        shown: digests.marked(&row.shown, &row.hash),
        ..row
    });
    let cells = |rows: Vec<SecretRow>| {
        rows.into_iter()
            .map(|row| vec![row.url, row.name, row.shown])
            .collect()
    };
    let found = site
        .finding_of_rows(
            web::SECRET,
            &["URL", "Secret", "Value"],
            cells(marked.collect()),
        )
        .into_iter();
    // The scan does not use the secret, so it does not know whether it is valid.
    let found = found.map(|finding| NewFinding {
        confirmed: false,
        ..finding
    });
    found
        .chain(site.finding_of_rows(web::PUBLIC_TOKEN, &["URL", "Token", "Value"], cells(public)))
        .collect()
}

/// A secret with the URL of its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretRow {
    url: String,
    name: String,
    shown: String,
    is_public: bool,
    hash: SecretHash,
}

impl SecretRow {
    pub fn new(
        url: &Url,
        SecretMatch {
            name,
            shown,
            is_public,
            hash,
        }: SecretMatch,
    ) -> Self {
        Self {
            url: url.to_string(),
            name,
            shown,
            is_public,
            hash,
        }
    }
}

/// Elements of a page that show examples to readers.
static SAMPLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?is)<(?:pre|code|samp|kbd|blockquote|textarea)\b.*?</(?:pre|code|samp|kbd|blockquote|textarea)>").ok()
});

fn secrets_in(page: &HttpPage, stop: &StopFlag) -> Vec<SecretRow> {
    let text = page.text();
    // An article shows sample keys where a reader copies them from.
    let text = match SAMPLE.as_ref() {
        // Line breaks remain, so that the lines are those of the page.
        Some(sample) if page.is_html() => sample.replace_all(&text, |found: &regex::Captures| {
            "\n".repeat(found[0].matches('\n').count())
        }),
        _ => text,
    };
    let may_be_cut = page.body.len() >= MAX_BODY || page.fault.is_some();
    let mut found = secrets::search(&text, may_be_cut, stop);
    found.extend(source_maps::inline_secrets(&text, stop));
    found
        .into_iter()
        .map(|secret| SecretRow::new(&page.url, secret))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(body: &str) -> HttpPage {
        HttpPage::for_tests("http://a.test/app.js", body)
    }

    fn found(page: &HttpPage) -> Vec<SecretRow> {
        secrets_in(page, &StopFlag::default())
    }

    #[test]
    fn data_file_is_complete() {
        let file: LibraryFile =
            toml::from_str(include_str!("../../../assets/engine/libraries.toml")).unwrap();
        assert!(file.libraries.len() >= 8 && file.vulnerabilities.len() >= 10);
        assert_eq!(
            PATTERNS.iter().map(|one| one.content.len()).sum::<usize>(),
            file.libraries
                .iter()
                .map(|one| one.banner.len() + one.code.len())
                .sum::<usize>()
        );
        for entry in &file.vulnerabilities {
            assert!(
                file.libraries
                    .iter()
                    .any(|library| library.name == entry.library),
                "{}",
                entry.cve
            );
            assert!(
                entry.cve.starts_with("CVE-")
                    && entry.source.starts_with("https://")
                    && entry.from < entry.below
            );
        }
        assert!(PATTERNS.iter().all(|one| one.url.is_some()));
    }

    /// The last vulnerable and the first fixed version of each vulnerability and branch.
    #[test]
    fn ranges_end_at_the_fixed_versions() {
        const PAIRS: &[(&str, &str, &str, &str)] = &[
            ("jquery", "CVE-2011-4969", "1.6.2", "1.6.3"),
            ("jquery", "CVE-2012-6708", "1.8.3", "1.9.0"),
            ("jquery", "CVE-2015-9251", "2.2.4", "3.0.0"),
            ("jquery", "CVE-2019-11358", "3.3.1", "3.4.0"),
            ("jquery", "CVE-2020-11022", "3.4.1", "3.5.0"),
            ("jquery", "CVE-2020-11023", "3.4.1", "3.5.0"),
            ("jquery-ui", "CVE-2010-5312", "1.9.2", "1.10.0"),
            ("jquery-ui", "CVE-2016-7103", "1.11.4", "1.12.0"),
            ("jquery-ui", "CVE-2021-41182", "1.12.1", "1.13.0"),
            ("jquery-ui", "CVE-2022-31160", "1.13.1", "1.13.2"),
            ("bootstrap", "CVE-2018-14042", "3.3.7", "3.4.0"),
            ("bootstrap", "CVE-2018-14042", "4.1.1", "4.1.2"),
            ("bootstrap", "CVE-2019-8331", "3.4.0", "3.4.1"),
            ("bootstrap", "CVE-2019-8331", "4.3.0", "4.3.1"),
            ("angularjs", "CVE-2019-10768", "1.7.8", "1.7.9"),
            ("angularjs", "CVE-2020-7676", "1.7.9", "1.8.0"),
            ("lodash", "CVE-2018-3721", "4.17.4", "4.17.5"),
            ("lodash", "CVE-2018-16487", "4.17.10", "4.17.11"),
            ("lodash", "CVE-2019-10744", "4.17.11", "4.17.12"),
            ("lodash", "CVE-2021-23337", "4.17.20", "4.17.21"),
            ("moment", "CVE-2017-18214", "2.19.2", "2.19.3"),
            ("moment", "CVE-2022-31129", "2.29.3", "2.29.4"),
            ("handlebars", "CVE-2019-19919", "3.0.7", "3.0.8"),
            ("handlebars", "CVE-2019-19919", "4.2.2", "4.3.0"),
            ("handlebars", "CVE-2021-23369", "4.7.6", "4.7.7"),
            ("underscore", "CVE-2021-23358", "1.12.0", "1.12.1"),
            ("dompurify", "CVE-2020-26870", "2.0.16", "2.0.17"),
            ("dompurify", "CVE-2024-45801", "2.5.3", "2.5.4"),
            ("dompurify", "CVE-2024-45801", "3.1.2", "3.1.3"),
            ("axios", "CVE-2021-3749", "0.21.1", "0.21.2"),
            ("axios", "CVE-2023-45857", "0.27.2", "0.28.0"),
            ("axios", "CVE-2023-45857", "1.5.1", "1.6.0"),
            ("knockout", "CVE-2019-14862", "3.4.2", "3.5.0"),
            ("datatables", "CVE-2020-28458", "1.10.21", "1.10.22"),
            ("datatables", "CVE-2021-23445", "1.11.2", "1.11.3"),
            ("select2", "CVE-2016-10744", "4.0.7", "4.0.8"),
            ("chartjs", "CVE-2020-7746", "2.9.3", "2.9.4"),
            ("jquery-validation", "CVE-2021-21252", "1.19.2", "1.19.3"),
            ("jquery-validation", "CVE-2022-31147", "1.19.4", "1.19.5"),
            ("pdfjs", "CVE-2024-4367", "4.1.392", "4.2.67"),
            ("videojs", "CVE-2021-23414", "7.14.2", "7.14.3"),
        ];
        let affected = |library: &str, cve: &str, version: &str| {
            LIBRARIES
                .vulnerabilities
                .iter()
                .any(|entry| entry.library == library && entry.cve == cve && entry.affects(version))
        };
        for (library, cve, vulnerable, fixed) in PAIRS {
            assert!(
                affected(library, cve, vulnerable),
                "{cve}: {library} {vulnerable}"
            );
            assert!(!affected(library, cve, fixed), "{cve}: {library} {fixed}");
        }
        for entry in &LIBRARIES.vulnerabilities {
            let pair = PAIRS
                .iter()
                .find(|(_, cve, vulnerable, _)| *cve == entry.cve && entry.affects(vulnerable));
            assert!(pair.is_some(), "{}: {:?}", entry.cve, entry.from);
        }
    }

    #[test]
    fn versions_are_read_from_content_and_url() {
        for (body, expected) in [
            (
                "/*! jQuery v1.12.4 | (c) jQuery Foundation */",
                ("jquery", "1.12.4"),
            ),
            (
                "/*!\n * Bootstrap v3.3.7 (http://getbootstrap.com)",
                ("bootstrap", "3.3.7"),
            ),
            (
                "/**\n * @license AngularJS v1.6.9\n * (c) 2010-2018 Google, Inc.",
                ("angularjs", "1.6.9"),
            ),
            (
                "/*!\n * Knockout JavaScript library v3.4.2\n * (c) The Knockout.js team",
                ("knockout", "3.4.2"),
            ),
            (
                "/*! DataTables 1.10.16\n * ©2008-2017",
                ("datatables", "1.10.16"),
            ),
            (
                "/*! Select2 4.0.5 | https://github.com/select2",
                ("select2", "4.0.5"),
            ),
            (
                "/*!\n * Chart.js v2.9.3\n * https://www.chartjs.org",
                ("chartjs", "2.9.3"),
            ),
            (
                "/*! jQuery Validation Plugin - v1.19.2 - 5/23/2020",
                ("jquery-validation", "1.19.2"),
            ),
            ("var pdfjsVersion = '2.0.943';", ("pdfjs", "2.0.943")),
            (
                "/**\n * @license\n * Video.js 7.10.2 <http://videojs.com/>",
                ("videojs", "7.10.2"),
            ),
        ] {
            let found = in_content(&script(body));
            assert_eq!(
                (found[0].name.as_str(), found[0].version.as_str()),
                expected
            );
        }
        for (url, expected) in [
            ("https://cdn.test/jquery-3.4.1.min.js", Some("3.4.1")),
            (
                "https://cdn.test/ajax/libs/jquery/1.9.0/jquery.min.js",
                Some("1.9.0"),
            ),
            (
                "https://cdn.test/npm/jquery@2.2.4/dist/jquery.js",
                Some("2.2.4"),
            ),
            ("https://a.test/js/jquery.min.js?ver=3.5.0", Some("3.5.0")),
            ("https://a.test/js/jquery.min.js", None),
            ("https://a.test/js/jquery-ui-1.12.1.js", None),
            ("https://a.test/js/myjquery-1.0.0.js", None),
        ] {
            let found = in_url(&Url::parse(url).unwrap()).filter(|(name, _)| name == "jquery");
            assert_eq!(
                found.as_ref().map(|(_, version)| version.as_str()),
                expected,
                "{url}"
            );
        }
        let library = |url: &str| in_url(&Url::parse(url).unwrap());
        assert_eq!(
            library("https://cdn.test/npm/chart.js@2.9.3/dist/Chart.min.js")
                .unwrap()
                .0,
            "chartjs"
        );
        assert_eq!(
            library("https://cdn.test/ajax/libs/pdf.js/2.0.943/pdf.min.js")
                .unwrap()
                .0,
            "pdfjs"
        );
        assert_eq!(
            library("https://a.test/video/1.2.0/chart/2.0.0/pdf/1.0.0/x.js"),
            None
        );
    }

    /// How the files of each library and of its neighbours begin, with the libraries whose version
    /// they name.
    #[test]
    fn version_is_read_from_the_banner_of_its_own_library_only() {
        const FILES: &[(&str, &[&str])] = &[
            (
                "/*!\n * jQuery JavaScript Library v3.4.1 -ajax,-effects\n * https://jquery.com/\n",
                &["jquery 3.4.1"],
            ),
            (
                "/*! jQuery v3.3.1 -ajax,-ajax/jsonp | (c) JS Foundation and other contributors",
                &["jquery 3.3.1"],
            ),
            (
                "/*! jQuery v1.7.2 jquery.com | jquery.org/license */",
                &["jquery 1.7.2"],
            ),
            (
                "/*!\n * jQuery JavaScript Library v1.4.2\n * http://jquery.com/\n",
                &["jquery 1.4.2"],
            ),
            (
                "// requires\n/*! jQuery v2.2.3 | (c) jQuery Foundation */",
                &["jquery 2.2.3"],
            ),
            (
                "/*! jQuery Migrate v3.3.2 | (c) OpenJS Foundation and other contributors */",
                &[],
            ),
            (
                "/*! Sizzle v2.2.1 | (c) jQuery Foundation, Inc. | jquery.org/license */",
                &[],
            ),
            (
                "/*! jQuery UI - v1.12.1 - 2016-09-14\n* http://jqueryui.com\n",
                &["jquery-ui 1.12.1"],
            ),
            (
                "/*!\n * jQuery UI 1.8.16\n *\n * Copyright 2011, AUTHORS.txt",
                &["jquery-ui 1.8.16"],
            ),
            (
                "/*! jQuery UI Touch Punch 0.2.3 | Copyright 2011 Dave Furfero */",
                &[],
            ),
            (
                "/*! jQuery Validation Plugin - v1.19.2 - 5/23/2020",
                &["jquery-validation 1.19.2"],
            ),
            (
                "/*!\n  * Bootstrap v4.6.2 (https://getbootstrap.com/)\n",
                &["bootstrap 4.6.2"],
            ),
            (
                "/**\n* bootstrap.js v3.0.0 by @fat and @mdo\n",
                &["bootstrap 3.0.0"],
            ),
            (
                "throw new TypeError('Bootstrap\\'s JavaScript requires at least jQuery v1.9.1 but less than v4.0.0')",
                &[],
            ),
            (
                "/* Bootstrap's JavaScript requires at least jQuery v1.9.1 but less than v4.0.0. */",
                &[],
            ),
            ("// jQuery v1.9.1 or later, see https://jquery.com", &[]),
            (
                "// tested with\n// jQuery v1.9.1, jQuery UI 1.10.0 and Bootstrap v3.3.7\n",
                &[],
            ),
            (
                "/*!\n * Datepicker for Bootstrap v1.9.0 (https://github.com/uxsolutions/bootstrap-datepicker)",
                &[],
            ),
            (
                "/*!\n * Bootstrap-select v1.13.18 (https://developer.snapappointments.com/bootstrap-select)",
                &[],
            ),
            (
                "/**\n * @license AngularJS v1.6.9\n * (c) 2010-2018 Google, Inc.",
                &["angularjs 1.6.9"],
            ),
            (
                "/**\n * @license Angular v12.2.17\n * (c) 2010-2022 Google LLC.",
                &[],
            ),
            (
                "/**\n * @license\n * lodash 3.10.1 (Custom Build) <https://lodash.com/>",
                &["lodash 3.10.1"],
            ),
            (
                r#"var Y,Q="4.17.20",X=200,nn="Unsupported core-js use. Try https://npms.io/"#,
                &["lodash 4.17.20"],
            ),
            (
                "/**\n * @license\n * Lodash <https://lodash.com/>\n * Based on Underscore.js 1.8.3 <http://underscorejs.org/LICENSE>",
                &[],
            ),
            (
                "* @license\n * Lodash (Custom Build) lodash.com/license | Underscore.js 1.8.3 underscorejs.org/LICENSE",
                &[],
            ),
            (
                "//     Underscore.js 1.8.3\n//     http://underscorejs.org\n",
                &["underscore 1.8.3"],
            ),
            (
                "//     Backbone.js 1.4.0\n\n//     (c) 2010-2019 Jeremy Ashkenas",
                &[],
            ),
            (
                "//! moment.js\n//! version : 2.29.1\n//! authors : Tim Wood, Iskren Chernev",
                &["moment 2.29.1"],
            ),
            (
                r#"}),f.version="2.29.1",e=Tt,f.fn=pn,f.min=function(){"#,
                &["moment 2.29.1"],
            ),
            (
                "//! moment-timezone.js\n//! version : 0.5.31\n//! Copyright (c) JS Foundation",
                &[],
            ),
            (
                "/**!\n\n @license\n handlebars v4.7.6\n\nCopyright (C) 2011-2019 by Yehuda Katz",
                &["handlebars 4.7.6"],
            ),
            (
                "/*! @license DOMPurify 2.3.4 | (c) Cure53 and other contributors",
                &["dompurify 2.3.4"],
            ),
            (
                r#"if(n.version="2.0.11",n.removed=[],!t||!t.document"#,
                &["dompurify 2.0.11"],
            ),
            (
                "/* axios v0.21.1 | (c) 2020 by Matt Zabriskie */",
                &["axios 0.21.1"],
            ),
            (
                "// Axios v1.5.0 Copyright (c) 2023 Matt Zabriskie and contributors",
                &["axios 1.5.0"],
            ),
            ("// axios v0.21.1 is needed by this adapter", &[]),
            (
                "/*!\n * Vue.js v2.6.12\n * (c) 2014-2020 Evan You",
                &["vue 2.6.12"],
            ),
            ("/*!\n  * vue-router v3.0.1\n  * (c) 2017 Evan You", &[]),
            (
                "/*!\n * Knockout JavaScript library v3.4.2\n * (c) The Knockout.js team",
                &["knockout 3.4.2"],
            ),
            (
                "/// Knockout Mapping plugin v2.4.1\n/// (c) 2013 Steven Sanderson",
                &[],
            ),
            (
                "/*! DataTables 1.10.24\n * ©2008-2021 SpryMedia Ltd",
                &["datatables 1.10.24"],
            ),
            (
                "/*! Buttons for DataTables 1.7.0\n * ©2016-2021 SpryMedia Ltd",
                &[],
            ),
            (
                "/*! DataTables Bootstrap 3 integration\n * ©2011-2015 SpryMedia Ltd",
                &[],
            ),
            (
                "/*! Select2 4.0.5 | https://github.com/select2/select2/blob/master/LICENSE.md */",
                &["select2 4.0.5"],
            ),
            (
                "/*!\n * Select2 Bootstrap Theme v0.1.0-beta.10 (https://select2.github.io)",
                &[],
            ),
            (
                "/*!\n * Chart.js\n * http://chartjs.org/\n * Version: 2.7.0\n",
                &["chartjs 2.7.0"],
            ),
            (
                "/*!\n * chartjs-plugin-deferred\n * http://chartjs.org/\n * Version: 0.2.0\n",
                &[],
            ),
            ("var pdfjsVersion = '2.0.943';", &["pdfjs 2.0.943"]),
            (
                "/**\n * @license\n * Video.js 7.10.2 <http://videojs.com/>",
                &["videojs 7.10.2"],
            ),
            (
                "/**\n * videojs-contrib-hls v5.15.0, for Video.js 6.0.0\n */",
                &[],
            ),
        ];
        for (body, expected) in FILES {
            let found: Vec<String> = in_content(&script(body))
                .into_iter()
                .map(|used| format!("{} {}", used.name, used.version))
                .collect();
            assert_eq!(found, *expected, "{body}");
        }
        for library in &LIBRARIES.libraries {
            let is_its = |version: &&str| version.starts_with(&format!("{} ", library.name));
            assert!(
                FILES.iter().flat_map(|(_, versions)| *versions).any(is_its),
                "{}",
                library.name
            );
        }
        assert_eq!(
            in_url(&Url::parse("https://cdn.test/npm/@acme/jquery@1.0.0/x.js").unwrap()),
            None
        );
    }

    #[test]
    fn endpoints_are_paths_in_quotation_marks() {
        let text = r#"fetch("/api/orders?page=1"); get('/rest/user/'); x = `/v2/items`; re = /a\/b/; "/"; "//cdn.test/x";
            "/api/" + id; "application/json"; "/a b"; "/${id}/x"; '</div>'"#;
        let found: Vec<String> = endpoints_in(&script(text))
            .iter()
            .map(|url| url.as_str()[13..].to_owned())
            .collect();
        assert_eq!(
            found,
            ["/api/orders?page=1", "/rest/user/", "/v2/items", "/api/"]
        );
    }

    #[test]
    fn sample_keys_of_documentation_are_no_secrets() {
        let html = |body: &str| HttpPage {
            headers: crate::engine::http::headers([("content-type", "text/html")]),
            ..script(body)
        };
        let key = "AKIAQ3EGRMTWZXCVBNM7";
        assert!(
            found(&html(&format!(
                "<pre><code class=x>aws_key = {key}</code></pre>"
            )))
            .is_empty()
        );
        assert_eq!(
            found(&html(&format!("<script>const key = '{key}'</script>"))).len(),
            1
        );
        assert_eq!(found(&html(&format!("<!-- {key} -->"))).len(), 1);
        for sample in [
            "postgres://app:password@db.shop.test/app",
            "mysql://root:root@10.0.0.7/app",
            "redis://user:hunter22@localhost:6379",
            "mongodb://app:hunter22@example.com/x",
            "AKIA1234567890ABCDEF",
            "AKIAAAAAAAAAAAAAAAAA",
            "sk_live_0123456789abcdefghij",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ] {
            assert!(found(&script(sample)).is_empty(), "{sample}");
        }
        for secret in [
            "postgres://app:8d1fQ0c2@db.shop.test/app",
            "sk_live_9fQ2mZx7Lw3Rk8Tb1Vn4Yc6H",
        ] {
            assert_eq!(found(&script(secret)).len(), 1, "{secret}");
        }
    }

    #[test]
    fn secrets_are_named_and_examples_are_not() {
        let all = found(&script(
            "const k = 'AKIAQ3EGRMTWZXCVBNM7', d = 'postgres://shop:hunter22@db.local/x'",
        ));
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].shown, "AKIAQ3EG…BNM7 (1:12)");
        assert!(
            all.iter().all(|row| !row.shown.contains("hunter22")),
            "{all:?}"
        );
        assert_eq!(
            found(&script("a\nb = 'AKIAQ3EGRMTWZXCVBNM7'"))[0].shown,
            "AKIAQ3EG…BNM7 (2:6)"
        );
        assert!(
            found(&script(
                "AKIAIOSFODNN7EXAMPLE ghp_short postgres://user:pass@host/x ${postgres://a:${b}@c}"
            ))
            .is_empty()
        );
    }
}
