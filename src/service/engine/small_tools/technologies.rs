//! Technologies by their signs in ordinary responses: headers, names of cookies, and text of HTML pages.
//!
//! The signs are in `assets/engine/technologies.toml`. The first group of a pattern is the version.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use regex::Regex;
use serde::Deserialize;

use crate::service::engine::blocking::StopFlag;
use crate::service::engine::http::HttpPage;

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
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TechnologySign {
    /// `header NAME`, `cookie`, or `body`.
    place: String,
    pattern: String,
}

static TECHNOLOGIES: LazyLock<Vec<(Technology, Vec<Regex>)>> = LazyLock::new(|| {
    let file: TechnologyFile =
        toml::from_str(include_str!("../../../../assets/engine/technologies.toml")).unwrap_or_default();
    let compiled = |technology: Technology| {
        let patterns = technology.signs.iter().filter_map(|sign| Regex::new(&sign.pattern).ok()).collect();
        (technology, patterns)
    };
    file.technologies.into_iter().map(compiled).collect()
});

#[derive(Debug)]
pub struct FoundTechnology {
    pub version: String,
    pub category: String,
    /// The matched text, and the page.
    pub proof: String,
}

/// The technologies of the pages by name; a sign with a version is better than one without.
pub fn find(
    pages: &[Arc<HttpPage>],
    is_wanted: fn(&str) -> bool,
    stop: &StopFlag,
) -> BTreeMap<String, FoundTechnology> {
    let mut found: BTreeMap<String, FoundTechnology> = BTreeMap::new();
    for (technology, patterns) in TECHNOLOGIES.iter().filter(|(technology, _)| is_wanted(&technology.category)) {
        for (sign, pattern) in technology.signs.iter().zip(patterns) {
            for page in pages.iter().take_while(|_| !stop.is_set()) {
                let Some((version, proof)) = matched(page, sign, pattern) else { continue };
                let before = found.get(&technology.name);
                if before.is_none_or(|before| before.version.is_empty() && !version.is_empty()) {
                    let category = technology.category.clone();
                    found.insert(technology.name.clone(), FoundTechnology { version, category, proof });
                }
            }
        }
    }
    found
}

/// The version and the proof, if the page has this sign.
fn matched(page: &HttpPage, sign: &TechnologySign, pattern: &Regex) -> Option<(String, String)> {
    let read = |text: &str, label: &str| {
        let found = pattern.captures(text)?;
        let version = found.get(1).map_or("", |version| version.as_str()).to_owned();
        let shown: String = found[0].split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_SHOWN).collect();
        Some((version, format!("{label}{shown} ({})", page.url)))
    };
    match sign.place.split_once(' ') {
        Some(("header", name)) => page.all(name).find_map(|value| read(&value, &format!("{name}: "))),
        // Names only: the value of a cookie is a secret.
        _ if sign.place == "cookie" => {
            let mut names = page.all("set-cookie").filter_map(|line| Some(line.split_once('=')?.0.trim().to_owned()));
            names.find_map(|name| read(&name, "cookie "))
        }
        _ if page.is_html() => read(&page.text(), ""),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderMap, HeaderName};
    use url::Url;

    use super::*;

    fn page(lines: &[(&str, &str)], body: &str) -> Arc<HttpPage> {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", "text/html".parse().unwrap());
        for (name, value) in lines {
            headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        Arc::new(HttpPage {
            url: Url::parse("http://a.test/").unwrap(),
            status: 200,
            headers,
            body: body.into(),
            fault: None,
        })
    }

    #[test]
    fn data_file_is_complete() {
        let file: TechnologyFile = toml::from_str(include_str!("../../../../assets/engine/technologies.toml")).unwrap();
        assert!(file.technologies.len() >= 50);
        for (technology, patterns) in TECHNOLOGIES.iter() {
            assert_eq!(technology.signs.len(), patterns.len(), "{}", technology.name);
            for sign in &technology.signs {
                assert!(sign.place.starts_with("header ") || ["cookie", "body"].contains(&sign.place.as_str()));
            }
        }
    }

    #[test]
    fn technologies_have_version_and_proof_and_no_cookie_value() {
        let pages = [page(
            &[("server", "nginx/1.25.3"), ("x-powered-by", "PHP/8.2.7"), ("set-cookie", "PHPSESSID=s3cret; Path=/")],
            "<meta name=\"generator\" content=\"WordPress 6.4.2\"><script src=\"/wp-includes/js/x.js\"></script>",
        )];
        let found = find(&pages, |category| category != FIREWALL, &StopFlag::default());
        let versions: Vec<(&str, &str)> =
            found.iter().map(|(name, one)| (name.as_str(), one.version.as_str())).collect();
        assert_eq!(versions, [("PHP", "8.2.7"), ("WordPress", "6.4.2"), ("nginx", "1.25.3")]);
        assert!(found.values().all(|one| !one.proof.contains("s3cret") && one.proof.contains("http://a.test/")));
    }

    #[test]
    fn firewalls_are_recognized_and_articles_are_not() {
        let find_all = |pages: &[Arc<HttpPage>]| find(pages, |category| category == FIREWALL, &StopFlag::default());
        let found = find_all(&[page(&[("server", "cloudflare"), ("cf-ray", "8a1b2c3d4e5f6a7b-FRA")], "")]);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["Cloudflare"]);
        assert!(find_all(&[page(&[("server", "nginx")], "Cloudflare and Imperva are firewalls")]).is_empty());
    }
}
