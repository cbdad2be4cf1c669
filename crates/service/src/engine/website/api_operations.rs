//! Requests what an OpenAPI or Swagger document names, so that it is judged like other pages.
//!
//! ```text
//!   documents (crawled, or at a usual place) ──► GET operations without required parameters ──► pages of the crawl
//! ```
//!
//! Only paths on the origin of the site are requested, and none that the crawler would not follow
//! as a link: names of actions and excluded URLs.

use std::collections::BTreeSet;

use futures::{StreamExt, stream};
use serde_json::Value;
use serde_saphyr::DuplicateKeyPolicy;
use url::Url;

use super::ScanReach;
use super::crawl::Crawl;
use super::exposed::API_DESCRIPTION;
use super::start::base_folders;
use crate::engine::blocking;
use crate::engine::coverage::{CheckedWeb, ReachedLimit};
use crate::engine::http::HttpPage;

/// Number of concurrent requests.
const CONCURRENCY: usize = 4;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// The check of API descriptions, without which no document is searched.
const CHECK: &str = "web.exposed.api";

/// Adds the answers of the operations to the pages; returns the limit if there are more operations
/// than pages may be read.
pub async fn read(
    web: &CheckedWeb<'_>,
    crawl: &mut Crawl,
    start: &Url,
    reach: &ScanReach,
) -> Option<ReachedLimit> {
    let mut documents: Vec<HttpPage> = Vec::new();
    if reach.checks.iter().any(|check| check.uid == CHECK) {
        for url in usual_places(start) {
            let page = web.get_up_to(&url, reach.script_bytes).await;
            documents.extend(page.ok().filter(HttpPage::is_success));
        }
    }
    let pages = crawl.pages.clone();
    let named = blocking::run(move |_| {
        let crawled = pages.iter().map(AsRef::as_ref);
        crawled
            .chain(&documents)
            .flat_map(operations_of_page)
            .collect::<BTreeSet<Url>>()
    })
    .await;
    let allowed: Vec<Url> = named
        .into_iter()
        .filter(|url| url.origin() == start.origin() && crawl.admit(url))
        .collect();
    let found = allowed.len();
    let requested = allowed.into_iter().take(reach.pages);
    let fetch = |url: Url| async move { web.get(&url).await };
    let answers: Vec<_> = stream::iter(requested.collect::<Vec<_>>())
        .map(fetch)
        .buffered(CONCURRENCY)
        .collect()
        .await;
    let read = answers.len();
    // The document promises an answer, so an error of the server is worth reading; a refusal is
    // not.
    for page in answers
        .into_iter()
        .flatten()
        .filter(|page| page.is_success() || page.status >= 500)
    {
        crawl.add(page).await;
    }
    (read < found).then_some(ReachedLimit {
        what: "operations of the API",
        read,
        found,
    })
}

/// Where documents usually are.
fn usual_places(start: &Url) -> Vec<Url> {
    let is_document = |name: &&str| !name.ends_with('/') && !name.ends_with(".html");
    let folders = base_folders(start);
    let paths = folders.iter().flat_map(|folder| {
        API_DESCRIPTION
            .names()
            .filter(is_document)
            .map(move |name| format!("{folder}{name}"))
    });
    paths.filter_map(|path| start.join(&path).ok()).collect()
}

fn operations_of_page(page: &HttpPage) -> BTreeSet<Url> {
    document_of_page(page)
        .map(|document| operations(&document, &page.url))
        .unwrap_or_default()
}

/// The OpenAPI or Swagger document of a page, from JSON or YAML.
pub(super) fn document_of_page(page: &HttpPage) -> Option<Value> {
    let body: &[u8] = &page.body;
    let start = body
        .strip_prefix(BYTE_ORDER_MARK)
        .unwrap_or(body)
        .trim_ascii_start();
    let parsed: Option<Value> = if page.is_html() {
        None
    } else if start.starts_with(b"{") {
        serde_json::from_slice(start).ok()
    } else if is_yaml_document(start) {
        // As in JSON, the last of equal keys counts.
        let options = serde_saphyr::options! { duplicate_keys: DuplicateKeyPolicy::LastWins };
        serde_saphyr::from_slice_with_options(start, options).ok()
    } else {
        None
    };
    parsed.filter(|document| version(document).is_some() && document["paths"].is_object())
}

/// Most pages are no documents, and need not be parsed.
fn is_yaml_document(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n');
    lines.any(|line| {
        let key = line
            .strip_prefix(b"'")
            .or_else(|| line.strip_prefix(b"\""))
            .unwrap_or(line);
        key.starts_with(b"openapi") || key.starts_with(b"swagger")
    })
}

/// The version that a document states; in YAML, `swagger: 2.0` is a number.
pub(super) fn version(document: &Value) -> Option<ApiVersion> {
    let text_of = |field: &str| match &document[field] {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let openapi = text_of("openapi").map(|version| ApiVersion {
        name: "OpenAPI",
        version,
    });
    openapi.or_else(|| {
        text_of("swagger").map(|version| ApiVersion {
            name: "Swagger",
            version,
        })
    })
}

/// The format of a document.
pub(super) struct ApiVersion {
    pub name: &'static str,
    pub version: String,
}

/// The URLs of all GET operations that need no parameter, on the origin of the document.
fn operations(document: &Value, place: &Url) -> BTreeSet<Url> {
    let Some(paths) = document["paths"].as_object() else {
        return BTreeSet::new();
    };
    let mut urls = BTreeSet::new();
    for (path, item) in paths
        .iter()
        .filter(|(path, _)| path.starts_with('/') && !path.contains('{'))
    {
        let operation = &item["get"];
        let parameters = [&item["parameters"], &operation["parameters"]]
            .into_iter()
            .filter_map(Value::as_array)
            .flatten();
        let needs_parameter = parameters
            .into_iter()
            .any(|parameter| is_required(document, parameter));
        if !operation.is_object() || needs_parameter || operation.get("requestBody").is_some() {
            continue;
        }
        let servers = [&operation["servers"], &item["servers"]]
            .into_iter()
            .find(|servers| servers.is_array());
        for base in bases(document, servers.unwrap_or(&document["servers"]), place) {
            let url = place.join(&format!("{}{path}", base.trim_end_matches('/')));
            urls.extend(url.ok().filter(|url| url.origin() == place.origin()));
        }
    }
    urls
}

/// Whether a request needs a parameter; one that cannot be resolved counts as needed.
fn is_required(document: &Value, parameter: &Value) -> bool {
    let resolved = match parameter["$ref"].as_str() {
        Some(reference) => reference
            .strip_prefix('#')
            .and_then(|pointer| document.pointer(pointer)),
        None => Some(parameter),
    };
    resolved.is_none_or(|parameter| parameter["required"] == true || parameter["$ref"].is_string())
}

/// The paths below which the operations are, on the origin of the document. Servers with variables
/// have no known URL.
fn bases(document: &Value, servers: &Value, place: &Url) -> BTreeSet<String> {
    let on_site = |text: &str| {
        place
            .join(text)
            .ok()
            .filter(|url| url.origin() == place.origin())
    };
    if !document["swagger"].is_null() {
        let scheme = place.scheme();
        let mut schemes = document["schemes"]
            .as_array()
            .into_iter()
            .flatten()
            .peekable();
        let has_scheme = schemes.peek().is_none() || schemes.any(|one| one == scheme);
        let host = document["host"]
            .as_str()
            .map_or_else(|| place.to_string(), |host| format!("{scheme}://{host}/"));
        let path = document["basePath"].as_str().unwrap_or("/");
        let is_here = has_scheme && on_site(&host).is_some() && path.starts_with('/');
        return is_here.then(|| path.to_owned()).into_iter().collect();
    }
    let servers = servers.as_array().filter(|all| !all.is_empty());
    let urls = servers.map(|all| {
        all.iter()
            .filter_map(|server| server["url"].as_str())
            .collect()
    });
    let urls: Vec<&str> = urls.unwrap_or_else(|| vec!["/"]);
    let known = urls.into_iter().filter(|url| !url.contains('{'));
    known
        .filter_map(on_site)
        .map(|url| url.path().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
    use serde_json::json;

    use super::*;
    use crate::engine::hostile_tests::{ok, web, website};

    #[tokio::test]
    async fn more_operations_than_pages_are_a_limit_of_the_scan() {
        let operations = (0..20).map(|number| (format!("/item{number}"), json!({"get": {}})));
        let document =
            json!({"openapi": "3.0.0", "paths": operations.collect::<serde_json::Map<_, _>>()})
                .to_string();
        let port = web(move |path, _| match path {
            "/openapi.json" => ok("application/json", &document),
            path if path == "/" || path.starts_with("/item") => {
                ok("text/html", "<title>Shop</title>")
            }
            _ => "HTTP/1.1 404 x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
        })
        .await;
        let result = website(port, json!({})).run().await;
        result.check();
        let limits = result.of("coverage.limits");
        let evidence = limits[0].evidence.as_json();
        assert!(
            evidence.contains("operations of the API") && evidence.contains("12 of 20"),
            "{evidence}"
        );
    }

    fn paths(document: &Value) -> Vec<String> {
        let place = Url::parse("http://a.test:8080/docs/openapi.json").unwrap();
        let urls = operations(document, &place);
        assert!(
            urls.iter().all(|url| url.origin() == place.origin()),
            "{urls:?}"
        );
        urls.iter().map(|url| url.path().to_owned()).collect()
    }

    #[test]
    fn get_operations_without_required_parameters_are_requested() {
        let document = json!({
            "openapi": "3.0.1",
            "components": {"parameters": {"page": {"name": "page", "in": "query"}, "key": {"in": "query", "required": true}}},
            "paths": {
                "/orders": {"get": {"parameters": [{"name": "limit", "in": "query"}]}, "post": {}},
                "/pages": {"get": {"parameters": [{"$ref": "#/components/parameters/page"}]}},
                "/keys": {"get": {"parameters": [{"$ref": "#/components/parameters/key"}]}},
                "/unknown": {"get": {"parameters": [{"$ref": "other.json#/x"}]}},
                "/orders/{id}": {"get": {}},
                "/search": {"parameters": [{"name": "q", "required": true}], "get": {}},
                "/reports": {"post": {}},
                "/bodies": {"get": {"requestBody": {}}},
            },
        });
        assert_eq!(paths(&document), ["/orders", "/pages"]);
    }

    #[test]
    fn servers_on_other_origins_are_not_requested() {
        let with = |servers: Value| {
            paths(&json!({"openapi": "3.1.0", "servers": servers, "paths": {"/a": {"get": {}}}}))
        };
        assert_eq!(
            with(json!([{"url": "/api/v1/"}, {"url": "https://other.test/"}])),
            ["/api/v1/a"]
        );
        assert_eq!(
            with(json!([{"url": "http://a.test:8080/x"}, {"url": "v2"}])),
            ["/docs/v2/a", "/x/a"]
        );
        assert_eq!(with(json!([])), ["/a"]);
        for other in [
            "http://a.test/",
            "https://a.test:8080/",
            "{scheme}://a.test:8080/",
            "//other.test/",
        ] {
            assert!(with(json!([{"url": other}])).is_empty(), "{other}");
        }
        let swagger = |fields: Value| {
            let mut document = json!({"swagger": "2.0", "paths": {"/a": {"get": {}}}});
            document
                .as_object_mut()
                .unwrap()
                .extend(fields.as_object().unwrap().clone());
            paths(&document)
        };
        assert_eq!(swagger(json!({"basePath": "/v2"})), ["/v2/a"]);
        assert_eq!(
            swagger(json!({"host": "a.test:8080", "schemes": ["https", "http"]})),
            ["/a"]
        );
        assert!(
            swagger(json!({"host": "other.test"})).is_empty()
                && swagger(json!({"schemes": ["https"]})).is_empty()
        );
    }

    fn paths_of_text(text: &str) -> Vec<String> {
        let content_type = (CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        let page = HttpPage {
            headers: HeaderMap::from_iter([content_type]),
            ..HttpPage::for_tests("http://a.test:8080/openapi.yaml", text)
        };
        let urls = operations_of_page(&page);
        urls.iter().map(|url| url.path().to_owned()).collect()
    }

    #[test]
    fn other_texts_name_no_operations() {
        for text in [
            "{}",
            "[]",
            r#"{"paths": {"/a": {"get": {}}}}"#,
            r#"{"openapi": "3.0.0"}"#,
            "paths:\n  /a:\n    get: {}\n",
            "openapi is a word of this text",
            "openapi: 3.0.0\npaths: [unclosed",
        ] {
            assert!(paths_of_text(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn documents_in_yaml_are_read_as_people_write_them() {
        let start = "# The shop\n---\n";
        let paths = "paths:\n  /orders:\n    get:\n      responses:\n        200:\n          description: 'all'\n  \
                     /orders/{id}:\n    get: {}\n  \"/items\": {get: &get {deprecated: true}}\n  /old:\n    get: *get\n";
        let all = ["/items", "/old", "/orders"];
        for version in [
            "openapi: 3.0.3",
            "openapi: '3.1.0'",
            "swagger: 2.0",
            "\"swagger\": \"2.0\"",
        ] {
            let document = format!("{start}{version}\ninfo:\n  version: 1.0\n{paths}");
            assert_eq!(paths_of_text(&document), all, "{document}");
            let windows = format!("\u{feff}{}", document.replace('\n', "\r\n"));
            assert_eq!(paths_of_text(&windows), all, "{windows}");
        }
    }

    #[test]
    fn odd_yaml_is_read_or_refused_at_once() {
        let base = "openapi: 3.0.0\npaths:\n  /a:\n    get: {}\n";
        for read in [
            format!("{base}  /a:\n    get: {{}}\n"),
            "openapi: 3.0.0\nx-a: &a\n  get: {}\npaths:\n  /a:\n    <<: *a\n".to_owned(),
            format!("{base}x: !!python/object:os.system [ls]\n"),
            format!("%YAML 1.1\n---\n{base}...\n"),
            format!("{base}x: 123456789012345678901234567890\n"),
            format!("{base}true: 3\n1.5: 2\n"),
            format!("{base}x: |\n  text: [\n# end"),
        ] {
            assert_eq!(paths_of_text(&read), ["/a"], "{read}");
        }
        for refused in [
            "openapi: 3.0.0\npaths:\n\t/a:\n\t\tget: {}\n".to_owned(),
            format!("{base}x: *nobody\n"),
            format!("{base}x: &x [*x]\n"),
            format!("{base}x: {}{}\n", "[".repeat(20000), "]".repeat(20000)),
            format!("{base}x: {}\n", "{a: ".repeat(20000)),
        ] {
            assert!(paths_of_text(&refused).is_empty());
        }
    }

    #[test]
    fn aliases_that_grow_are_refused() {
        let mut text =
            "openapi: 3.0.0\npaths: {/a: {get: {}}}\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
                .to_owned();
        for level in 1..12 {
            let names = vec![format!("*a{}", level - 1); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{names}]\n"));
        }
        assert!(paths_of_text(&text).is_empty());
    }
}
