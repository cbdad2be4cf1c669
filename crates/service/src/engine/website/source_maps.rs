//! The source maps of the scripts: whether they are public, and the secrets in the original
//! sources.
//!
//! ```text
//!   script ──► sourceMappingURL, else NAME.map ──► fetched once for all checks ──► proof, secrets by source file
//!      └─ data: URL ──► decoded ──► secrets by source file
//! ```

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::{StreamExt, stream};
use serde::Deserialize;
use url::Url;

use super::exposed::is_returned_for_any_name;
use super::scripts::{CONCURRENCY, SecretRow};
use super::secrets::{self, SecretMatch};
use super::site::Site;
use crate::engine::NewFinding;
use crate::engine::blocking::{self, StopFlag};
use crate::engine::coverage::CheckedWeb;
use crate::engine::http::{HttpPage, MAX_BODY, WebError};
use crate::engine::kinds::exposed;

/// Bytes at the end of a script in which it names its source map.
const TAIL: usize = 500;
/// Letters of the name of a source.
const LONGEST_NAME: usize = 120;
const INLINE: &str = "sourceMappingURL=data:application/json;";

/// The answer to the request for a source map. Its body was read, and is not kept.
pub struct FetchedMap {
    pub answer: Result<HttpPage, WebError>,
    /// What it holds, if it is a source map.
    proof: Option<String>,
    pub secrets: Vec<SecretRow>,
}

/// Fetches the source maps of the scripts, up to `max_bytes` of each.
pub async fn fetch(
    web: &CheckedWeb<'_>,
    scripts: &[Arc<HttpPage>],
    max_bytes: usize,
) -> Vec<FetchedMap> {
    let urls: Vec<Url> = scripts
        .iter()
        .filter_map(|script| map_url(script))
        .collect();
    let fetch = |url: Url| async move {
        let answer = web.get_up_to(&url, max_bytes).await;
        let page = match answer {
            Ok(page) => page,
            Err(error) => {
                return FetchedMap {
                    answer: Err(error),
                    proof: None,
                    secrets: Vec::new(),
                };
            }
        };
        blocking::run(move |stop| {
            let proof = source_map(&page);
            let secrets = if proof.is_some() {
                secrets_in(&page, stop)
            } else {
                Vec::new()
            };
            FetchedMap {
                answer: Ok(HttpPage {
                    body: Vec::new(),
                    ..page
                }),
                proof,
                secrets,
            }
        })
        .await
    };
    stream::iter(urls)
        .map(fetch)
        .buffered(CONCURRENCY)
        .collect()
        .await
}

/// The URL of the source map of a script, on its own site.
fn map_url(script: &HttpPage) -> Option<Url> {
    let text = script.text();
    let tail = &text[text.floor_char_boundary(text.len().saturating_sub(TAIL))..];
    let named = tail
        .rsplit_once("sourceMappingURL=")
        .map(|(_, rest)| rest.split_whitespace().next().unwrap_or_default());
    let name = match named {
        Some(name) if name.starts_with("data:") => return None,
        Some(name) => name.to_owned(),
        None if text.contains(INLINE) => return None,
        None => format!(
            "{}.map",
            script
                .url
                .path_segments()
                .and_then(|mut all| all.next_back())
                .unwrap_or_default()
        ),
    };
    let url = script.url.join(&name).ok()?;
    (url.origin() == script.url.origin()).then_some(url)
}

/// Source maps of the scripts, recognised by their content.
pub async fn check(site: &Site<'_>) -> Vec<NewFinding> {
    let (mut rows, mut first) = (Vec::new(), None);
    for map in &site.source_maps {
        site.web.recount(&map.answer).await;
        let (Ok(page), Some(proof)) = (&map.answer, &map.proof) else {
            continue;
        };
        if !is_returned_for_any_name(site, page.url.path(), source_map).await {
            rows.push(vec![
                format!("GET {}", page.url),
                page.status.to_string(),
                proof.clone(),
            ]);
            first.get_or_insert(page);
        }
    }
    let headers = &["Request", "Status", "What it holds"];
    site.finding_of_page(exposed::SOURCE_MAP, headers, rows, first)
}

fn source_map(page: &HttpPage) -> Option<String> {
    if !page.is_success() {
        return None;
    }
    let text = page.text();
    // The map may be cut at the limit of a body, so it is not parsed as JSON.
    let is_map = text.trim_start().starts_with('{')
        && text.contains("\"mappings\"")
        && text.contains("\"sources\"");
    let with_code = if text.contains("\"sourcesContent\"") {
        "with the source code"
    } else {
        "names of sources"
    };
    is_map.then(|| with_code.to_owned())
}

/// A source map (ECMA-426): names and texts of the sources, or parts with maps of their own.
#[derive(Deserialize)]
struct SourceMap {
    #[serde(default)]
    sources: Vec<Option<String>>,
    #[serde(default, rename = "sourcesContent")]
    contents: Vec<Option<String>>,
    #[serde(default)]
    sections: Vec<SourceMapSection>,
}

#[derive(Deserialize)]
struct SourceMapSection {
    map: SourceMap,
}

impl SourceMap {
    /// The secrets in the sources; their places begin with the name of the source.
    fn secrets(&self, stop: &StopFlag) -> Vec<SecretMatch> {
        let sources = self.contents.iter().zip(&self.sources);
        let of_source = sources.flat_map(|(text, name)| {
            let name = shown_name(name.as_deref().unwrap_or_default());
            let found = secrets::search(text.as_deref().unwrap_or_default(), false, stop);
            found.into_iter().map(move |secret| SecretMatch {
                shown: within(&secret.shown, &name),
                ..secret
            })
        });
        of_source
            .chain(
                self.sections
                    .iter()
                    .flat_map(|section| section.map.secrets(stop)),
            )
            .collect()
    }
}

/// `ab…yz (12:8)` as `ab…yz (src/app.ts:12:8)`.
fn within(shown: &str, source: &str) -> String {
    match shown.rsplit_once('(') {
        Some((value, place)) => format!("{value}({source}:{place}"),
        None => shown.to_owned(),
    }
}

/// The name of a source without the prefixes of bundlers.
fn shown_name(source: &str) -> String {
    let path = source.split_once("://").map_or(source, |(_, rest)| {
        rest.split_once('/').map_or(rest, |(_, path)| path)
    });
    let path = path
        .trim_start_matches(['.', '/'])
        .split('?')
        .next()
        .unwrap_or_default();
    path.chars().take(LONGEST_NAME).collect()
}

fn secrets_in(page: &HttpPage, stop: &StopFlag) -> Vec<SecretRow> {
    let text = page.text();
    let found = match serde_json::from_str::<SourceMap>(text.trim_start_matches(")]}'")) {
        Ok(map) => map.secrets(stop),
        // It is cut: the place is that in the map.
        Err(_) => secrets::search(
            &text,
            page.body.len() >= MAX_BODY || page.fault.is_some(),
            stop,
        ),
    };
    found
        .into_iter()
        .map(|secret| SecretRow::new(&page.url, secret))
        .collect()
}

/// The secrets in a source map that the script itself contains.
pub fn inline_secrets(script: &str, stop: &StopFlag) -> Vec<SecretMatch> {
    let encoded = script
        .rsplit_once(INLINE)
        .and_then(|(_, rest)| rest.split_once("base64,"));
    let Some((_, encoded)) = encoded else {
        return Vec::new();
    };
    let encoded = encoded
        .split(|c: char| !(c.is_ascii_alphanumeric() || "+/=".contains(c)))
        .next()
        .unwrap_or_default();
    let map = STANDARD
        .decode(encoded)
        .ok()
        .and_then(|json| serde_json::from_slice::<SourceMap>(&json).ok());
    map.map(|map| map.secrets(stop)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::secret_digest::SecretHash;

    const MAP: &str = r#"{"version":3,"sources":["webpack://shop/./src/api/pay.ts?1a2b",null],
        "sourcesContent":["// payments\nconst key = 'AKIAQ3EGRMTWZXCVBNM7';\n","const a = 'sk_live_9fQ2mZx7Lw3Rk8Tb1Vn4Yc6H'"],"mappings":"AAAA"}"#;

    fn page(url: &str, body: &str) -> HttpPage {
        HttpPage::for_tests(url, body)
    }

    fn shown(found: Vec<SecretMatch>) -> Vec<String> {
        found.into_iter().map(|secret| secret.shown).collect()
    }

    #[test]
    fn secret_of_source_map_has_the_place_in_the_original_source() {
        let rows = secrets_in(&page("http://a.test/app.js.map", MAP), &StopFlag::default());
        let row = |shown: &str, name: &str, value: &str| {
            let secret = SecretMatch {
                name: name.to_owned(),
                shown: shown.to_owned(),
                is_public: false,
                hash: SecretHash::of(value),
            };
            SecretRow::new(&Url::parse("http://a.test/app.js.map").unwrap(), secret)
        };
        let expected = [
            row(
                "AKIAQ3EG…BNM7 (src/api/pay.ts:2:14)",
                "AWS access key",
                "AKIAQ3EGRMTWZXCVBNM7",
            ),
            row(
                "sk_live_…Yc6H (:1:12)",
                "Stripe secret key",
                "sk_live_9fQ2mZx7Lw3Rk8Tb1Vn4Yc6H",
            ),
        ];
        assert_eq!(rows, expected);
        let index = format!(
            r#"{{"version":3,"sections":[{{"offset":{{"line":0,"column":0}},"map":{MAP}}}]}}"#
        );
        assert_eq!(
            secrets_in(
                &page("http://a.test/app.js.map", &index),
                &StopFlag::default()
            ),
            expected
        );
        // A cut map is no JSON any more.
        let cut = &MAP[..MAP.len() - 40];
        let rows = secrets_in(&page("http://a.test/app.js.map", cut), &StopFlag::default());
        assert!(
            rows.contains(&row(
                "AKIAQ3EG…BNM7 (2:54)",
                "AWS access key",
                "AKIAQ3EGRMTWZXCVBNM7"
            )),
            "{rows:?}"
        );
    }

    #[test]
    fn inline_source_map_is_read() {
        let encoded = STANDARD.encode(MAP);
        let script = format!(
            "a()\n//# sourceMappingURL=data:application/json;charset=utf-8;base64,{encoded}\n"
        );
        let found = shown(inline_secrets(&script, &StopFlag::default()));
        assert_eq!(found[0], "AKIAQ3EG…BNM7 (src/api/pay.ts:2:14)");
        assert_eq!(map_url(&page("http://a.test/app.js", &script)), None);
    }

    #[test]
    fn map_is_requested_by_its_name_on_the_own_site() {
        for (script, url) in [
            (
                "a()\n//# sourceMappingURL=main.9f.map",
                Some("http://a.test/js/main.9f.map"),
            ),
            ("a()", Some("http://a.test/js/app.js.map")),
            (
                "a()\n//# sourceMappingURL=https://cdn.test/app.js.map",
                None,
            ),
        ] {
            let found = map_url(&page("http://a.test/js/app.js", script));
            assert_eq!(found.as_ref().map(Url::as_str), url, "{script}");
        }
    }
}
