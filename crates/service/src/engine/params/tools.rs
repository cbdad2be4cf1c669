//! Parameters of the small tools: recon, WAF detector, URL fuzzer, virtual hosts,
//! subdomains and ping.

use serde_json::{Map, Value};

use super::website::{rate, texts};
use super::{ParamsError, WITHOUT_HTTP, present, refuse_authentication, scan_type, text, wrong};
use crate::net::address::Address;
use scandeck_wire::contract::TargetType;

/// Largest depth of folders that the URL fuzzer searches.
const MAX_RECURSION: u64 = 3;
const MAX_EXTENSIONS: usize = 20;

/// The rate of HTTP requests in stored parameters.
pub fn request_rate(params: &Value) -> Option<u32> {
    params["requests_per_second"]
        .as_u64()
        .and_then(|rate| u32::try_from(rate).ok())
}

/// `scan_type` and `requests_per_second`, of tools that request ordinary pages.
pub fn check_pages(params: &Map<String, Value>) -> Result<Map<String, Value>, ParamsError> {
    refuse_authentication(params, "cannot be used: this tool sends no credentials")?;
    let mut checked = Map::new();
    checked.insert(
        "scan_type".to_owned(),
        scan_type(params, &["light"])?.unwrap_or("light").into(),
    );
    checked.extend(rate(params)?.map(|rate| ("requests_per_second".to_owned(), rate.into())));
    Ok(checked)
}

/// In addition `wordlist_id`, of tools that use a wordlist.
fn check_words(params: &Map<String, Value>) -> Result<Map<String, Value>, ParamsError> {
    let mut checked = check_pages(params)?;
    let id = integer(params, "wordlist_id", 1, i64::MAX as u64)?;
    checked.extend(id.map(|id| ("wordlist_id".to_owned(), id.into())));
    Ok(checked)
}

pub fn check_subdomains(params: &Map<String, Value>) -> Result<Map<String, Value>, ParamsError> {
    refuse_authentication(params, WITHOUT_HTTP)?;
    let mut checked = check_words(params)?;
    checked.remove("requests_per_second");
    Ok(checked)
}

pub fn check_virtual_hosts(params: &Map<String, Value>) -> Result<Map<String, Value>, ParamsError> {
    let mut checked = check_words(params)?;
    if let Some(domain) = text(params, "domain")? {
        match Address::parse(domain) {
            Ok(address) if address.kind() == TargetType::Hostname => {
                checked.insert("domain".to_owned(), address.host().into());
            }
            _ => {
                return Err(ParamsError::Value(
                    "domain must be a host name, such as acme.test".to_owned(),
                ));
            }
        }
    }
    Ok(checked)
}

pub fn check_fuzzer(params: &Map<String, Value>) -> Result<Map<String, Value>, ParamsError> {
    let mut checked = check_words(params)?;
    let extensions = texts(params, "extensions", "extensions")?.unwrap_or_default();
    if let Some(wrong) = extensions.iter().find(|text| !is_extension(text)) {
        let wrong: String = wrong.chars().take(40).collect();
        return Err(ParamsError::Value(format!(
            "extensions: `{wrong}` is not a file extension such as .php or .bak"
        )));
    }
    if extensions.len() > MAX_EXTENSIONS {
        return Err(ParamsError::Value(format!(
            "extensions must be at most {MAX_EXTENSIONS} file extensions"
        )));
    }
    let dotted = |text: String| {
        if text.starts_with(['.', '~']) {
            text
        } else {
            format!(".{text}")
        }
    };
    checked.insert(
        "extensions".to_owned(),
        extensions.into_iter().map(dotted).collect(),
    );
    let depth = integer(params, "recursion_depth", 0, MAX_RECURSION)?.unwrap_or(0);
    checked.insert("recursion_depth".to_owned(), depth.into());
    Ok(checked)
}

fn is_extension(text: &str) -> bool {
    (1..=20).contains(&text.len())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._~-".contains(c))
}

pub fn check_ping(params: &Map<String, Value>) -> Result<Map<String, Value>, ParamsError> {
    refuse_authentication(params, WITHOUT_HTTP)?;
    let count = integer(params, "count", 1, 20)?.unwrap_or(4);
    let mut checked = Map::from_iter([("count".to_owned(), count.into())]);
    checked
        .extend(integer(params, "port", 1, 65_535)?.map(|port| ("port".to_owned(), port.into())));
    Ok(checked)
}

fn integer(
    params: &Map<String, Value>,
    name: &str,
    from: u64,
    to: u64,
) -> Result<Option<u64>, ParamsError> {
    let Some(value) = present(params, name) else {
        return Ok(None);
    };
    if !value.is_number() {
        return Err(wrong(value, name, "an integer"));
    }
    match value.as_u64().filter(|number| (from..=to).contains(number)) {
        Some(number) => Ok(Some(number)),
        None if to == i64::MAX as u64 => Err(ParamsError::Value(format!(
            "{name} must be a positive integer"
        ))),
        None => Err(ParamsError::Value(format!("{name} must be {from} to {to}"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::check_params;
    use super::*;
    use scandeck_wire::contract::Tool;

    #[test]
    fn parameters_of_small_tools_have_defaults_and_limits() {
        for (tool, given, checked) in [
            (Tool::RECON, json!({}), json!({"scan_type":"light"})),
            (
                Tool::FIREWALL,
                json!({"requests_per_second":5}),
                json!({"scan_type":"light","requests_per_second":5}),
            ),
            (
                Tool::PING,
                json!({"port":8080}),
                json!({"count":4,"port":8080}),
            ),
            (
                Tool::VIRTUAL_HOSTS,
                json!({"domain":"Acme.test"}),
                json!({"scan_type":"light","domain":"acme.test"}),
            ),
            (
                Tool::FUZZER,
                json!({"wordlist_id":2,"extensions":["php",".bak","~"],"recursion_depth":1}),
                json!({"scan_type":"light","wordlist_id":2,"extensions":[".php",".bak","~"],"recursion_depth":1}),
            ),
        ] {
            assert_eq!(check_params(tool, &given), Ok(checked), "{given}");
        }
        for (tool, given, name) in [
            (Tool::PING, json!({"count":0}), "count must be 1 to 20"),
            (Tool::PING, json!({"port":70000}), "port must be 1 to 65535"),
            (
                Tool::FUZZER,
                json!({"extensions":["../x"]}),
                "extensions: `../x` is not a file extension",
            ),
            (
                Tool::FUZZER,
                json!({"recursion_depth":9}),
                "recursion_depth must be 0 to 3",
            ),
            (
                Tool::VIRTUAL_HOSTS,
                json!({"domain":"http://a.test/"}),
                "domain must be a host name",
            ),
            (
                Tool::FUZZER,
                json!({"wordlist_id":0}),
                "wordlist_id must be a positive integer",
            ),
            (
                Tool::FUZZER,
                json!({"authentication":{"cookies":"a=b"}}),
                "authentication cannot be used",
            ),
            (
                Tool::RECON,
                json!({"scan_type":"deep"}),
                "scan_type: use light",
            ),
        ] {
            match check_params(tool, &given) {
                Err(ParamsError::Value(message)) => assert!(message.starts_with(name), "{message}"),
                other => panic!("{given}: {other:?}"),
            }
        }
        assert!(matches!(
            check_params(Tool::PING, &json!({"count":"4"})),
            Err(ParamsError::Type(_))
        ));
    }
}
