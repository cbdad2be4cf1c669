//! Parameters of the website scanner.

use serde_json::{Map, Value, json};
use url::Url;

use super::{
    Authentication, ParamsError, only_tests, present, refuse_authentication, scan_type, text, wrong,
};
use crate::engine::website::is_test;
use scandeck_wire::contract::scan::ONLY_TESTS;

/// Entries of a list.
const MAX_ENTRIES: usize = 200;
/// Bytes of an entry.
const MAX_ENTRY: usize = 2000;
/// The groups of checks that `scan_type` custom selects from.
pub const GROUPS: [&str; 3] = ["attack_active", "attack_passive", "discovery"];

/// The parameters of a scan.
pub struct WebsiteParams {
    pub scan_type: WebsiteScanType,
    /// The checks of the scan, if it runs some alone.
    pub only_tests: Option<Vec<String>>,
    /// A rate below that of the service.
    pub requests_per_second: Option<u32>,
    pub authentication: Option<Authentication>,
    /// As given, for the stored parameters.
    given_authentication: Value,
}

pub enum WebsiteScanType {
    Light,
    Deep,
    Custom(CustomScan),
}

/// The selection of `scan_type` custom.
#[derive(Default)]
pub struct CustomScan {
    /// Names of checks for each of [`GROUPS`]; `None` selects all of them.
    pub checks: [Option<Vec<String>>; 3],
    pub spider: Spider,
}

/// How pages are found.
#[derive(Default)]
pub struct Spider {
    /// `auto`, `classic` or `spa`.
    pub approach: String,
    /// Number of links between the start page and a page.
    pub depth: Option<u32>,
    /// URLs, or paths of the site, that are read too.
    pub include_urls: Vec<String>,
    /// URLs, or paths of the site: pages that begin with one of them are not read.
    pub exclude_urls: Vec<String>,
}

impl WebsiteParams {
    /// Parses `scan_type`, the selection, the rate and the authentication. A selection without
    /// `scan_type` means `custom`.
    ///
    /// # Errors
    /// The parameter and its choices, never the values of `authentication`.
    pub fn parse(params: &Map<String, Value>) -> Result<Self, ParamsError> {
        let mut others = params.clone();
        let given_authentication = others.remove("authentication").unwrap_or_default();
        refuse_authentication(
            &others,
            "inside another parameter is not used: move it into `tool_params`",
        )?;
        let has_selection = GROUPS
            .iter()
            .chain(&["spider"])
            .any(|name| present(params, name).is_some());
        let default = if has_selection { "custom" } else { "light" };
        let custom = CustomScan::parse(params)?;
        let scan_type = match scan_type(params, &["light", "deep", "custom"])?.unwrap_or(default) {
            "deep" => WebsiteScanType::Deep,
            "custom" => WebsiteScanType::Custom(custom),
            _ => WebsiteScanType::Light,
        };
        let authentication = Some(&given_authentication).filter(|given| !given.is_null());
        Ok(Self {
            scan_type,
            only_tests: only_tests(params, is_test)?,
            requests_per_second: rate(params)?,
            authentication: authentication.map(Authentication::parse).transpose()?,
            given_authentication,
        })
    }

    /// The parameters with their defaults.
    pub fn to_params(&self) -> Map<String, Value> {
        let mut params = Map::new();
        let name = match &self.scan_type {
            WebsiteScanType::Light => "light",
            WebsiteScanType::Deep => "deep",
            WebsiteScanType::Custom(custom) => {
                params.extend(custom.to_params());
                "custom"
            }
        };
        params.insert("scan_type".to_owned(), name.into());
        let tests = self.only_tests.as_ref();
        params.extend(tests.map(|tests| (ONLY_TESTS.to_owned(), json!(tests))));
        params.extend(
            self.requests_per_second
                .map(|rate| ("requests_per_second".to_owned(), rate.into())),
        );
        if !self.given_authentication.is_null() {
            params.insert(
                "authentication".to_owned(),
                self.given_authentication.clone(),
            );
        }
        params
    }
}

impl CustomScan {
    fn parse(params: &Map<String, Value>) -> Result<Self, ParamsError> {
        let mut checks = [const { None }; 3];
        for (names, group) in checks.iter_mut().zip(GROUPS) {
            *names = texts(params, group, group)?;
        }
        let spider = match present(params, "spider") {
            None => Spider {
                approach: "auto".to_owned(),
                ..Spider::default()
            },
            Some(Value::Object(fields)) => Spider::parse(fields)?,
            Some(other) => return Err(wrong(other, "spider", "an object")),
        };
        Ok(Self { checks, spider })
    }

    fn to_params(&self) -> Map<String, Value> {
        let lists = GROUPS
            .iter()
            .zip(&self.checks)
            .map(|(group, names)| ((*group).to_owned(), json!(names)));
        let mut params: Map<String, Value> = lists.collect();
        let spider = &self.spider;
        params.insert(
            "spider".to_owned(),
            json!({
                "approach": spider.approach, "depth": spider.depth, "include_urls": spider.include_urls,
                "exclude_urls": spider.exclude_urls,
            }),
        );
        params
    }
}

impl Spider {
    fn parse(fields: &Map<String, Value>) -> Result<Self, ParamsError> {
        let approach = text(fields, "approach")?.unwrap_or("auto");
        if !["auto", "classic", "spa"].contains(&approach) {
            return Err(ParamsError::Value(
                "spider.approach must be auto, classic or spa".to_owned(),
            ));
        }
        let depth = match present(fields, "depth") {
            None => None,
            Some(value @ Value::Number(_)) => match value.as_u64() {
                Some(depth @ 0..=100) => Some(depth as u32),
                _ => {
                    return Err(ParamsError::Value(
                        "spider.depth must be 0 to 100".to_owned(),
                    ));
                }
            },
            Some(other) => return Err(wrong(other, "spider.depth", "an integer")),
        };
        Ok(Self {
            approach: approach.to_owned(),
            depth,
            include_urls: urls(fields, "include_urls")?,
            exclude_urls: urls(fields, "exclude_urls")?,
        })
    }
}

pub fn rate(params: &Map<String, Value>) -> Result<Option<u32>, ParamsError> {
    let Some(rate) = present(params, "requests_per_second") else {
        return Ok(None);
    };
    let number = rate
        .as_u64()
        .ok_or_else(|| wrong(rate, "requests_per_second", "an integer"))?;
    match number {
        1..=10_000 => Ok(Some(number as u32)),
        _ => Err(ParamsError::Value(
            "requests_per_second must be 1 to 10000".to_owned(),
        )),
    }
}

/// URLs, or paths of the site.
fn urls(fields: &Map<String, Value>, name: &str) -> Result<Vec<String>, ParamsError> {
    let label = format!("spider.{name}");
    let all = texts(fields, name, &label)?.unwrap_or_default();
    let is_url = |text: &String| {
        text.starts_with('/')
            || Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
    };
    match all.iter().all(is_url) {
        true => Ok(all),
        false => Err(ParamsError::Value(format!(
            "{label} must contain http or https URLs, or paths that begin with /"
        ))),
    }
}

pub fn texts(
    fields: &Map<String, Value>,
    name: &str,
    label: &str,
) -> Result<Option<Vec<String>>, ParamsError> {
    let Some(value) = present(fields, name) else {
        return Ok(None);
    };
    let items = value
        .as_array()
        .ok_or_else(|| wrong(value, label, "a list of strings"))?;
    if items.len() > MAX_ENTRIES {
        return Err(ParamsError::Value(format!(
            "{label} has more than {MAX_ENTRIES} entries"
        )));
    }
    let entry = |item: &Value| match item.as_str() {
        Some(text) if text.len() <= MAX_ENTRY => Ok(text.to_owned()),
        Some(_) => Err(ParamsError::Value(format!(
            "{label} has an entry of more than {MAX_ENTRY} bytes"
        ))),
        None => Err(ParamsError::Type(format!(
            "{label} must be a list of strings"
        ))),
    };
    items.iter().map(entry).collect::<Result<_, _>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn custom_selection_is_stored_with_defaults() {
        let stored = |given: Value| {
            let params = WebsiteParams::parse(given.as_object().unwrap())
                .unwrap()
                .to_params();
            // The stored parameters are parsed again by the scan.
            assert_eq!(WebsiteParams::parse(&params).unwrap().to_params(), params);
            Value::Object(params)
        };
        let spider = json!({"approach":"auto","depth":null,"include_urls":[],"exclude_urls":[]});
        assert_eq!(
            stored(json!({"scan_type":"custom"})),
            json!({
                "scan_type":"custom","attack_active":null,"attack_passive":null,"discovery":null,"spider":spider
            })
        );
        let given = json!({
            "attack_active":[],"attack_passive":["csp"],"discovery":null,"requests_per_second":5,
            "spider":{"approach":"spa","depth":2,"include_urls":["/a"],"exclude_urls":["http://a.test/b"]}
        });
        let mut expected = given.clone();
        expected["scan_type"] = "custom".into();
        assert_eq!(stored(given), expected);
    }
}
