//! Technologies by their signs in ordinary responses: headers, names of cookies, and text of HTML
//! pages.
//!
//! The signs are in `assets/engine/technologies.toml`. The groups of a pattern are the parts of the
//! version. Products that hide it in their pages may state it in a public document, which is
//! requested only when the product was found.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use regex::{Captures, Regex};
use serde::Deserialize;
use url::Url;

use super::blocking::{self, StopFlag};
use super::coverage::CheckedWeb;
use super::http::HttpPage;

/// Category of firewalls in the data file.
pub const FIREWALL: &str = "Web application firewall";
/// Characters of a proof.
const MAX_SHOWN: usize = 120;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TechnologyFile {
    technologies: Vec<Technology>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Technology {
    name: String,
    category: String,
    signs: Vec<TechnologySign>,
    #[serde(default)]
    documents: Vec<VersionDocument>,
}

/// A public document in which a product states its version.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VersionDocument {
    /// Relative to the folder of the product.
    path: String,
    pattern: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TechnologySign {
    /// `header NAME`, `cookie`, or `body`.
    place: String,
    pattern: String,
}

/// A technology with its patterns, compiled.
#[derive(Debug)]
struct KnownTechnology {
    technology: Technology,
    signs: Vec<Regex>,
    documents: Vec<Regex>,
}

static TECHNOLOGIES: LazyLock<Vec<KnownTechnology>> = LazyLock::new(|| {
    let file: TechnologyFile =
        toml::from_str(include_str!("../../assets/engine/technologies.toml")).unwrap_or_default();
    let compiled = |technology: Technology| KnownTechnology {
        signs: technology
            .signs
            .iter()
            .filter_map(|sign| Regex::new(&sign.pattern).ok())
            .collect(),
        documents: technology
            .documents
            .iter()
            .filter_map(|one| Regex::new(&one.pattern).ok())
            .collect(),
        technology,
    };
    file.technologies.into_iter().map(compiled).collect()
});

#[derive(Debug)]
pub struct FoundTechnology {
    pub version: String,
    pub category: String,
    /// The matched text, and the address of the page.
    pub proof: String,
    pub page: Arc<HttpPage>,
}

/// The technologies of the pages by name; a sign with a version is better than one without.
pub fn find(
    pages: &[Arc<HttpPage>],
    is_wanted: fn(&str) -> bool,
    stop: &StopFlag,
) -> BTreeMap<String, FoundTechnology> {
    let mut found: BTreeMap<String, FoundTechnology> = BTreeMap::new();
    for KnownTechnology {
        technology, signs, ..
    } in TECHNOLOGIES.iter()
    {
        if !is_wanted(&technology.category) {
            continue;
        }
        for (sign, pattern) in technology.signs.iter().zip(signs) {
            for page in pages.iter().take_while(|_| !stop.is_set()) {
                let Some((version, proof)) = matched(page, sign, pattern) else {
                    continue;
                };
                let before = found.get(&technology.name);
                if before.is_none_or(|before| before.version.is_empty() && !version.is_empty()) {
                    let category = technology.category.clone();
                    found.insert(
                        technology.name.clone(),
                        FoundTechnology {
                            version,
                            category,
                            proof,
                            page: Arc::clone(page),
                        },
                    );
                }
            }
        }
    }
    found
}

/// A public document that states the version of a product.
pub struct VersionStatement {
    pub version: String,
    pub page: Arc<HttpPage>,
}

/// Reads the versions of found technologies that show none in their pages. `folders` are those
/// where they may be installed.
pub async fn read_versions(
    web: &CheckedWeb<'_>,
    folders: &[Url],
    found: &mut BTreeMap<String, FoundTechnology>,
) {
    for (name, one) in found.iter_mut().filter(|(_, one)| one.version.is_empty()) {
        if let Some(statement) = version_statements(web, folders, name)
            .await
            .into_iter()
            .next()
        {
            one.proof = format!("version in {}", statement.page.url);
            one.version = statement.version;
            one.page = statement.page;
        }
    }
}

/// The public documents of a product that state its version.
pub async fn version_statements(
    web: &CheckedWeb<'_>,
    folders: &[Url],
    name: &str,
) -> Vec<VersionStatement> {
    let mut statements = Vec::new();
    let Some(known) = TECHNOLOGIES
        .iter()
        .find(|known| known.technology.name == name)
    else {
        return statements;
    };
    for (document, pattern) in known.technology.documents.iter().zip(&known.documents) {
        for url in folders
            .iter()
            .filter_map(|folder| folder.join(&document.path).ok())
        {
            let Ok(page) = web.probe(&url).await else {
                continue;
            };
            if !page.is_success() {
                continue;
            }
            let page = Arc::new(page);
            let read = Arc::clone(&page);
            let version = blocking::run(move |_| {
                pattern
                    .captures(&read.text())
                    .map(|found| version_of(&found))
            })
            .await;
            statements.extend(version.map(|version| VersionStatement { version, page }));
        }
    }
    statements
}

/// The groups of a match as a version: `1`, `06`, `05` is 1.6.5.
fn version_of(found: &Captures<'_>) -> String {
    let parts: Vec<&str> = found
        .iter()
        .skip(1)
        .flatten()
        .map(|part| part.as_str())
        .collect();
    match parts.as_slice() {
        [] => String::new(),
        [whole] => whole.trim_end_matches('.').to_owned(),
        parts => {
            let number = |part: &&str| {
                part.parse::<u32>()
                    .map_or((*part).to_owned(), |number| number.to_string())
            };
            parts.iter().map(number).collect::<Vec<_>>().join(".")
        }
    }
}

/// The version and the proof, if the page has this sign.
fn matched(page: &HttpPage, sign: &TechnologySign, pattern: &Regex) -> Option<(String, String)> {
    let read = |text: &str, label: &str| {
        let found = pattern.captures(text)?;
        let version = version_of(&found);
        let shown: String = found[0]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .take(MAX_SHOWN)
            .collect();
        Some((version, format!("{label}{shown} ({})", page.url)))
    };
    match sign.place.split_once(' ') {
        Some(("header", name)) => page
            .all(name)
            .find_map(|value| read(&value, &format!("{name}: "))),
        // Names only: the value of a cookie is a secret.
        _ if sign.place == "cookie" => {
            let mut names = page
                .all("set-cookie")
                .filter_map(|line| Some(line.split_once('=')?.0.trim().to_owned()));
            names.find_map(|name| read(&name, "cookie "))
        }
        _ if page.is_html() => read(&page.text(), ""),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderMap, HeaderName};

    use super::*;

    fn page(lines: &[(&str, &str)], body: &str) -> Arc<HttpPage> {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", "text/html".parse().unwrap());
        for (name, value) in lines {
            headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        Arc::new(HttpPage {
            headers,
            ..HttpPage::for_tests("http://a.test/", body)
        })
    }

    #[test]
    fn data_file_is_complete() {
        let file: TechnologyFile =
            toml::from_str(include_str!("../../assets/engine/technologies.toml")).unwrap();
        assert!(file.technologies.len() >= 50);
        for KnownTechnology {
            technology,
            signs,
            documents,
        } in TECHNOLOGIES.iter()
        {
            assert_eq!(technology.signs.len(), signs.len(), "{}", technology.name);
            assert_eq!(
                technology.documents.len(),
                documents.len(),
                "{}",
                technology.name
            );
            assert!(
                technology
                    .documents
                    .iter()
                    .all(|one| !one.path.starts_with('/') && one.pattern.contains('('))
            );
            for sign in &technology.signs {
                assert!(
                    sign.place.starts_with("header ")
                        || ["cookie", "body"].contains(&sign.place.as_str())
                );
            }
        }
    }

    #[test]
    fn technologies_have_version_and_proof_and_no_cookie_value() {
        let pages = [page(
            &[
                ("server", "nginx/1.25.3"),
                ("x-powered-by", "PHP/8.2.7"),
                ("set-cookie", "PHPSESSID=s3cret; Path=/"),
            ],
            "<meta name=\"generator\" content=\"WordPress 6.4.2\"><script src=\"/wp-includes/js/x.js\"></script>",
        )];
        let found = find(
            &pages,
            |category| category != FIREWALL,
            &StopFlag::default(),
        );
        let versions: Vec<(&str, &str)> = found
            .iter()
            .map(|(name, one)| (name.as_str(), one.version.as_str()))
            .collect();
        assert_eq!(
            versions,
            [
                ("PHP", "8.2.7"),
                ("WordPress", "6.4.2"),
                ("nginx", "1.25.3")
            ]
        );
        assert!(
            found
                .values()
                .all(|one| !one.proof.contains("s3cret") && one.proof.contains("http://a.test/"))
        );
    }

    /// Names with their values: header lines, or technologies with their versions.
    type TextPairs = &'static [(&'static str, &'static str)];

    #[test]
    fn each_product_is_recognized_among_its_neighbours_and_no_article_is() {
        let cases: &[(TextPairs, &str, TextPairs)] = &[
            (
                &[],
                "<title>Node-RED</title><div id=\"red-ui-editor\"></div>",
                &[("Node-RED", "")],
            ),
            (
                &[("server", "TornadoServer/6.6.1")],
                "<title>Home</title><script id=\"jupyter-config-data\" type=\"application/json\">{}</script>",
                &[("Jupyter", ""), ("Tornado", "6.6.1")],
            ),
            (
                &[(
                    "content-security-policy",
                    "frame-ancestors 'self'; report-uri /api/security/csp-report",
                )],
                "",
                &[("Jupyter", "")],
            ),
            (
                &[("kbn-name", "kibana")],
                "<kbn-injected-metadata data=\"{&quot;version&quot;:&quot;8.15.2&quot;,&quot;x&quot;:1}\">",
                &[("Kibana", "8.15.2")],
            ),
            (
                &[],
                "<title>Grafana</title><script>window.grafanaBootData = {\"user\":{\"id\":0},\"settings\":{\"buildInfo\":\
                 {\"hideVersion\":false,\"version\":\"11.2.0\"}}}</script>",
                &[("Grafana", "11.2.0")],
            ),
            (
                &[
                    ("set-cookie", "phpMyAdmin=x; path=/"),
                    ("set-cookie", "pma_lang=en"),
                ],
                "<link rel=\"stylesheet\" href=\"./themes/pmahomme/css/theme.css?v=5.2.1\"><input name=\"pma_username\">",
                &[("phpMyAdmin", "5.2.1")],
            ),
            (
                &[("set-cookie", "roundcube_sessid=x; path=/")],
                "<script>rcmail.set_env({\"task\":\"login\",\"rcversion\":10605,\"cookie_path\":\"/\"});</script>",
                &[("Roundcube", "1.6.5")],
            ),
            (
                &[],
                "<script>rcmail.set_env({\"rcversion\":10410});</script>",
                &[("Roundcube", "1.4.10")],
            ),
            (
                &[],
                "<meta name='generator' content='cgit v1.2.3'/>",
                &[("cgit", "1.2.3")],
            ),
            (
                &[],
                "<script>self.__next_f.push([1,\"x\"])</script>",
                &[("Next.js", "")],
            ),
            (
                &[],
                "<script>(self.__next_f=self.__next_f||[]).push([0])</script>",
                &[("Next.js", "")],
            ),
            (
                &[("set-cookie", "_gitlab_session=x")],
                "<meta content=\"GitLab\" property=\"og:site_name\">",
                &[("GitLab", "")],
            ),
            (
                &[("set-cookie", "__Host-nc_sameSiteCookielax=true")],
                "",
                &[("Nextcloud", "")],
            ),
            (
                &[],
                "<meta name=\"generator\" content=\"Joomla! - Open Source Content Management\">",
                &[("Joomla", "")],
            ),
            (
                &[("x-generator", "Drupal 10 (https://www.drupal.org)")],
                "",
                &[("Drupal", "10")],
            ),
            (
                &[("x-application-context", "shop:prod:8080")],
                "",
                &[("Spring Boot", "")],
            ),
        ];
        let versions = |pages: &[Arc<HttpPage>]| -> Vec<(String, String)> {
            let found = find(pages, |category| category != FIREWALL, &StopFlag::default());
            found
                .into_iter()
                .map(|(name, one)| (name, one.version))
                .collect()
        };
        let mut article =
            "<title>Grafana, Kibana and phpMyAdmin | Nextcloud blog</title><h1>GitLab and Node-RED</h1><pre>"
                .to_owned();
        for (headers, body, expected) in cases {
            let expected: Vec<(String, String)> = expected
                .iter()
                .map(|(name, version)| ((*name).to_owned(), (*version).to_owned()))
                .collect();
            assert_eq!(
                versions(&[page(headers, body)]),
                expected,
                "{headers:?} {body}"
            );
            article.push_str(&body.replace('<', "&lt;"));
        }
        assert!(
            versions(&[page(&[], &article)]).is_empty(),
            "{:?}",
            versions(&[page(&[], &article)])
        );
    }

    #[test]
    fn documents_state_the_version_of_their_product_only() {
        let cases = [
            (
                "WordPress",
                "<rss><channel><generator>https://wordpress.org/?v=6.4.2</generator>",
                "6.4.2",
            ),
            (
                "WordPress",
                "<h1 id=\"logo\">\n\t<a href=\"https://wordpress.org/\"><img alt=\"WordPress\" src=\"x.png\" /></a>\n\
                 \t<br /> Version 4.7\n</h1>",
                "4.7",
            ),
            (
                "Drupal",
                "\nDrupal 7.98, 2023-06-07\n-----------------------\n",
                "7.98",
            ),
            (
                "Joomla",
                "<extension type=\"file\" method=\"upgrade\">\n<name>files_joomla</name>\n<version>4.0.6-rc3</version>",
                "4.0.6",
            ),
            (
                "Joomla",
                "1- What is this?\n\t* This is a Joomla! installation/upgrade package to version 3.x\n",
                "3",
            ),
            (
                "Grafana",
                "{\n  \"commit\": \"x\",\n  \"database\": \"ok\",\n  \"version\": \"11.2.0\"\n}",
                "11.2.0",
            ),
            ("Jupyter", "{\"version\": \"2.21.1\"}", "2.21.1"),
            (
                "phpMyAdmin",
                "phpMyAdmin - Readme\n===================\n\nVersion 5.2.1\n",
                "5.2.1",
            ),
            (
                "Nextcloud",
                "{\"installed\":true,\"version\":\"27.1.3.2\",\"versionstring\":\"27.1.3\",\"edition\":\"\",\"productname\":\"Cloud\"}",
                "27.1.3",
            ),
        ];
        for known in TECHNOLOGIES.iter() {
            for pattern in &known.documents {
                for (name, text, version) in &cases {
                    let found = pattern.captures(text).map(|found| version_of(&found));
                    assert!(
                        found.is_none()
                            || (known.technology.name == *name
                                && found.as_deref() == Some(version)),
                        "{name} {text}"
                    );
                }
                for other in [
                    "{}",
                    "[]",
                    "{\"version\": \"1.0\", \"name\": \"shop\"}",
                    "<title>WordPress</title>Version 5.0",
                ] {
                    assert!(
                        !pattern.is_match(other),
                        "{}: {other}",
                        known.technology.name
                    );
                }
            }
        }
        for (name, text, version) in cases {
            let known = TECHNOLOGIES
                .iter()
                .find(|known| known.technology.name == name)
                .unwrap();
            let mut found = known
                .documents
                .iter()
                .filter_map(|pattern| pattern.captures(text));
            assert_eq!(
                found.next().map(|found| version_of(&found)).as_deref(),
                Some(version),
                "{name}"
            );
        }
    }

    #[test]
    fn firewalls_are_recognized_and_articles_are_not() {
        let find_all = |pages: &[Arc<HttpPage>]| {
            find(pages, |category| category == FIREWALL, &StopFlag::default())
        };
        let found = find_all(&[page(
            &[("server", "cloudflare"), ("cf-ray", "8a1b2c3d4e5f6a7b-FRA")],
            "",
        )]);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["Cloudflare"]);
        assert!(
            find_all(&[page(
                &[("server", "nginx")],
                "Cloudflare and Imperva are firewalls"
            )])
            .is_empty()
        );
    }
}
