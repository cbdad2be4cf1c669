//! Parameters of the installed scanners that are tools of their own.

use serde_json::{Map, Value};

use super::tools::{check_fuzzer, check_pages};
use super::website::texts;
use super::{ParamsError, WITHOUT_HTTP, check_tls, refuse_authentication};

/// Tags of nuclei whose templates only read: they find products, certificates, and files and
/// settings that are open to everybody.
pub const READ_ONLY_TAGS: &[&str] = &["tech", "ssl", "exposure", "misconfig"];

const MAX_TAG: usize = 40;

/// Tools that request pages.
pub fn check_website(params: &Map<String, Value>) -> Result<Value, ParamsError> {
    check_pages(params).map(Value::Object)
}

/// In addition the `tags` of the templates.
pub fn check_nuclei(params: &Map<String, Value>) -> Result<Value, ParamsError> {
    let mut checked = check_pages(params)?;
    let of_default = || READ_ONLY_TAGS.iter().map(|tag| (*tag).to_owned()).collect();
    let tags: Vec<String> = texts(params, "tags", "tags")?.unwrap_or_else(of_default);
    if tags.is_empty() {
        return Err(ParamsError::Value(
            "tags must name at least one tag of templates, such as tech".to_owned(),
        ));
    }
    if let Some(wrong) = tags.iter().find(|tag| !is_tag(tag)) {
        let wrong: String = wrong.chars().take(MAX_TAG).collect();
        return Err(ParamsError::Value(format!(
            "tags: `{wrong}` is not a tag of templates such as exposure or cve2024"
        )));
    }
    checked.insert("tags".to_owned(), tags.into());
    Ok(Value::Object(checked))
}

fn is_tag(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    // The first letter: `-x` would be an option.
    (1..=MAX_TAG).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(is_letter)
}

/// `wordlist_id` and `extensions`.
pub fn check_ffuf(params: &Map<String, Value>) -> Result<Value, ParamsError> {
    let mut checked = check_fuzzer(params)?;
    checked.remove("recursion_depth");
    Ok(Value::Object(checked))
}

/// `port` and `starttls`.
pub fn check_testssl(params: &Map<String, Value>) -> Result<Value, ParamsError> {
    check_tls(params)
}

/// A tool that sends nothing to its target.
pub fn check_subfinder(params: &Map<String, Value>) -> Result<Value, ParamsError> {
    refuse_authentication(params, WITHOUT_HTTP)?;
    let mut checked = check_pages(params)?;
    checked.remove("requests_per_second");
    Ok(Value::Object(checked))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::check_params;
    use super::*;
    use scandeck_wire::contract::Tool;

    #[test]
    fn parameters_of_guests_have_defaults_and_limits() {
        for (tool, given, checked) in [
            (
                Tool::NUCLEI,
                json!({}),
                json!({"scan_type": "light", "tags": ["tech", "ssl", "exposure", "misconfig"]}),
            ),
            (
                Tool::NUCLEI,
                json!({"tags": ["cve2024"], "requests_per_second": 5}),
                json!({"scan_type": "light", "requests_per_second": 5, "tags": ["cve2024"]}),
            ),
            (
                Tool::TESTSSL,
                json!({"port": 25, "starttls": "smtp"}),
                json!({"scan_type": "light", "port": 25, "starttls": "smtp"}),
            ),
            (
                Tool::FFUF,
                json!({"extensions": ["bak"]}),
                json!({"scan_type": "light", "extensions": [".bak"]}),
            ),
            (Tool::WAPITI, json!({}), json!({"scan_type": "light"})),
            (
                Tool::SUBFINDER,
                json!({"requests_per_second": 5}),
                json!({"scan_type": "light"}),
            ),
        ] {
            assert_eq!(check_params(tool, &given), Ok(checked), "{given}");
        }
        for (tool, given, problem) in [
            (Tool::NUCLEI, json!({"tags": []}), "tags must name"),
            (
                Tool::NUCLEI,
                json!({"tags": ["-itags"]}),
                "tags: `-itags` is not a tag",
            ),
            (
                Tool::NUCLEI,
                json!({"tags": ["a,b"]}),
                "tags: `a,b` is not a tag",
            ),
            (
                Tool::NIKTO,
                json!({"scan_type": "deep"}),
                "scan_type: use light",
            ),
            (
                Tool::HTTPX,
                json!({"authentication": {"cookies": "a=b"}}),
                "authentication cannot be used",
            ),
        ] {
            match check_params(tool, &given) {
                Err(ParamsError::Value(message)) => {
                    assert!(message.starts_with(problem), "{message}");
                }
                other => panic!("{given}: {other:?}"),
            }
        }
    }
}
