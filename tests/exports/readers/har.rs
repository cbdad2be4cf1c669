//! Readers of HTTP archives (browser tools, proxies): the HAR 1.2 specification, beyond the schema.
//! Dates have a time zone, URLs are absolute, and the sizes of bodies are those of their texts.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use url::Url;

pub fn refusals(file: &str) -> Vec<String> {
    let mut found = Vec::new();
    if file.starts_with('\u{feff}') {
        found.push("a byte order mark, which JSON must not have (RFC 8259 §8.1)".to_owned());
    }
    let archive: Value = serde_json::from_str(file).unwrap();
    for entry in archive["log"]["entries"].as_array().unwrap() {
        let request = &entry["request"];
        let started = entry["startedDateTime"].as_str().unwrap_or_default();
        if started.parse::<jiff::Timestamp>().is_err() {
            found.push(format!("start {started:?}"));
        }
        let url = request["url"].as_str().unwrap_or_default();
        if !Url::parse(url).is_ok_and(|url| url.has_host()) {
            found.push(format!("URL {url:?} is not absolute"));
        }
        let post = &request["postData"];
        let text = post["text"].as_str().unwrap_or_default();
        let bytes = post["_base64"].as_str().map_or(text.len(), |bytes| {
            STANDARD.decode(bytes).unwrap_or_default().len()
        });
        if request["bodySize"] != bytes {
            found.push(format!(
                "body of {} bytes instead of {bytes}",
                request["bodySize"]
            ));
        }
        for list in ["headers", "queryString", "cookies"] {
            for pair in request[list].as_array().into_iter().flatten() {
                if !pair["name"].is_string() || !pair["value"].is_string() {
                    found.push(format!("{list} has {pair}"));
                }
            }
        }
    }
    found
}
