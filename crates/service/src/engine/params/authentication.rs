//! `authentication` of the website scanner: headers and cookies, in the plain and in the nested
//! form, and a log-in.

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::login::LoginSequence;
use super::{ParamsError, present};

/// Headers that a scan sends with each request to the host of the target.
#[derive(Clone, Default)]
pub struct Authentication {
    /// Header names and values; cookies are one `Cookie` header.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The requests that log in before the scan.
    pub login: Option<LoginSequence>,
}

const FORMS: &str = "authentication must be an object with `headers` (an object, or lines \"Name: value\") or `cookies` \
                     (an object, or a string \"a=b; c=d\"), or with `type` (headers or cookies) and `params`; \
                     `login` with `check` logs in before the scan";

/// Most bytes of all headers. Few servers accept longer heads, and each request of the scan has all
/// of them.
const MOST_BYTES: usize = 16 * 1024;

impl Authentication {
    /// Reads
    /// `{"headers": {"Name": "value"} | ["Name: value"], "cookies": {"name": "value"} | "a=b; c=d"}`,
    /// or the same fields nested in `{"type": "headers" | "cookies", "params": …}`.
    ///
    /// # Errors
    /// The expected forms, without the values. Every error is a wrong value (400): credentials are
    /// never ignored.
    pub fn parse(given: &Value) -> Result<Self, ParamsError> {
        let fields = given.as_object().ok_or_else(wrong)?;
        let is_nested = present(fields, "type").is_some() || present(fields, "params").is_some();
        let login = match is_nested {
            true => None,
            false => LoginSequence::parse(fields)?,
        };
        let lines = if is_nested {
            nested(fields)?
        } else {
            plain(fields)?
        };
        if lines.is_empty() && login.is_none()
            || lines
                .iter()
                .any(|(name, value)| name.trim().is_empty() || value.trim().is_empty())
        {
            return Err(ParamsError::Value(
                "authentication contains no header or cookie, or an empty one".to_owned(),
            ));
        }
        let bytes: usize = lines
            .iter()
            .map(|(name, value)| name.len() + value.len())
            .sum();
        if bytes > MOST_BYTES {
            let message = format!(
                "authentication: the headers and cookies have {bytes} bytes, and at most {MOST_BYTES} (16 KiB) are sent \
                 with each request; remove those that the target does not need"
            );
            return Err(ParamsError::Value(message));
        }
        let headers = lines
            .into_iter()
            .map(|(name, value)| header(&name, &value))
            .collect::<Result<_, _>>()?;
        Ok(Self { headers, login })
    }
}

type Lines = Vec<(String, String)>;

fn wrong() -> ParamsError {
    ParamsError::Value(FORMS.to_owned())
}

/// The fields of one form; other fields are refused.
fn plain(fields: &Map<String, Value>) -> Result<Lines, ParamsError> {
    let is_unknown = |(name, value): (&String, &Value)| {
        let is_known = matches!(
            name.as_str(),
            "headers" | "header" | "cookies" | "cookie" | "login" | "check"
        );
        !is_known && !value.is_null()
    };
    if fields.iter().any(is_unknown) {
        return Err(wrong());
    }
    let mut lines = Lines::new();
    for name in ["headers", "header"] {
        if let Some(headers) = present(fields, name) {
            lines.extend(header_lines(headers).ok_or_else(wrong)?);
        }
    }
    for name in ["cookies", "cookie"] {
        if let Some(cookies) = present(fields, name) {
            lines.push(("cookie".to_owned(), cookie_line(cookies).ok_or_else(wrong)?));
        }
    }
    Ok(lines)
}

/// `{"type": …, "params": …}`: the parameters are those of the plain form, or the headers or
/// cookies themselves.
fn nested(fields: &Map<String, Value>) -> Result<Lines, ParamsError> {
    let is_other =
        |(name, value): (&String, &Value)| name != "type" && name != "params" && !value.is_null();
    let (Some(Value::String(kind)), Some(params)) =
        (present(fields, "type"), present(fields, "params"))
    else {
        return Err(wrong());
    };
    if fields.iter().any(is_other) {
        return Err(wrong());
    }
    let names: [&str; 2] = match kind.as_str() {
        "headers" | "header" => ["headers", "header"],
        "cookies" | "cookie" => ["cookies", "cookie"],
        _ => {
            let message =
                "authentication.type must be headers or cookies; `login` describes a log-in";
            return Err(ParamsError::Value(message.to_owned()));
        }
    };
    match params {
        Value::Object(inner) if names.iter().any(|name| inner.contains_key(*name)) => plain(inner),
        _ => plain(&Map::from_iter([(names[0].to_owned(), params.clone())])),
    }
}

fn header_lines(headers: &Value) -> Option<Lines> {
    let line = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_owned(), value.trim().to_owned()))
    };
    match headers {
        Value::Object(all) => all
            .iter()
            .map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
            .collect(),
        Value::Array(all) => all.iter().map(|text| line(text.as_str()?)).collect(),
        Value::String(text) => text
            .lines()
            .filter(|text| !text.trim().is_empty())
            .map(line)
            .collect(),
        _ => None,
    }
}

fn cookie_line(cookies: &Value) -> Option<String> {
    match cookies {
        Value::String(text) => Some(text.clone()),
        Value::Object(all) => {
            let pairs: Option<Vec<String>> = all
                .iter()
                .map(|(name, value)| Some(format!("{name}={}", value.as_str()?)))
                .collect();
            Some(pairs?.join("; "))
        }
        _ => None,
    }
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), ParamsError> {
    let invalid = |part: &str| ParamsError::Value(format!("authentication: invalid header {part}"));
    let name = HeaderName::try_from(name.trim()).map_err(|_| invalid("name"))?;
    let mut value = HeaderValue::try_from(value).map_err(|_| invalid("value"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn authentication_accepts_headers_and_cookies_and_errors_hide_values() {
        for good in [
            json!({"headers":{"Authorization":"Bearer s3cret"}}),
            json!({"headers":["X-Key: s3cret"],"cookies":"sid=s3cret"}),
            json!({"cookies":{"sid":"s3cret"}}),
        ] {
            assert_eq!(
                Authentication::parse(&good).unwrap().headers.len(),
                good.as_object().unwrap().len()
            );
        }
        for bad in [
            json!({}),
            json!("s3cret"),
            json!({"password":"s3cret"}),
            json!({"headers":{"X":["s3cret"]}}),
            json!({"headers":["s3cret"]}),
            json!({"headers":{"X":"s3cret\r\nY: 1"}}),
            json!({"headers":{"s3 cret":"1"}}),
        ] {
            let error = Authentication::parse(&bad)
                .err()
                .expect("refused")
                .to_string();
            assert!(!error.contains("s3"), "{error}");
        }
    }

    #[test]
    fn login_may_stand_alone_or_beside_headers() {
        let login = json!([{"url": "/login", "body": {"user": "ann", "password": "s3cret"}}]);
        let check = json!({"url": "/", "status": 200});
        let alone = json!({"login": login, "check": check});
        let read = Authentication::parse(&alone).expect("accepted");
        assert!(read.headers.is_empty() && read.login.is_some());
        let beside = json!({"login": login, "check": check, "headers": {"X-Key": "k"}});
        let read = Authentication::parse(&beside).expect("accepted");
        assert!(read.headers.len() == 1 && read.login.is_some());
        for bad in [
            json!({"login": login}),
            json!({"check": check}),
            json!({"login": login, "check": check, "headers": {"X": ""}}),
            json!({"login": login, "check": check, "type": "headers", "params": {"X": "1"}}),
        ] {
            let error = Authentication::parse(&bad).err().expect("refused");
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn authentication_larger_than_a_head_is_refused() {
        let of =
            |length: usize| Authentication::parse(&json!({"cookies": {"sid": "x".repeat(length)}}));
        let name = "cookie".len() + "sid=".len();
        assert!(of(MOST_BYTES - name).is_ok());
        let error = of(MOST_BYTES - name + 1)
            .err()
            .expect("refused")
            .to_string();
        assert!(
            error.contains("have 16385 bytes") && error.contains("16 KiB"),
            "{error}"
        );
    }

    #[test]
    fn nested_authentication_is_read_like_the_plain_form() {
        let read = |given: Value| {
            let read = Authentication::parse(&given)
                .unwrap_or_else(|error| panic!("{given}: {error}"))
                .headers;
            let text = |(name, value): &(HeaderName, HeaderValue)| {
                format!("{name}: {}", value.to_str().unwrap())
            };
            read.iter().map(text).collect::<Vec<_>>()
        };
        for (given, expected) in [
            (
                json!({"type":"headers","params":{"headers":{"X-Key":"k"}}}),
                "x-key: k",
            ),
            (json!({"type":"headers","params":{"X-Key":"k"}}), "x-key: k"),
            (json!({"type":"header","params":["X-Key: k"]}), "x-key: k"),
            (
                json!({"type":"headers","params":{"header":"X-Key: k"}}),
                "x-key: k",
            ),
            (
                json!({"type":"cookies","params":{"cookies":"sid=1"}}),
                "cookie: sid=1",
            ),
            (
                json!({"type":"cookie","params":{"cookie":{"sid":"1"}}}),
                "cookie: sid=1",
            ),
            (json!({"type":"cookie","params":"sid=1"}), "cookie: sid=1"),
            (
                json!({"type":"cookies","params":{"sid":"1"}}),
                "cookie: sid=1",
            ),
        ] {
            assert_eq!(read(given), [expected]);
        }
    }

    #[test]
    fn authentication_that_cannot_be_used_is_a_wrong_value() {
        for bad in [
            json!([]),
            json!(true),
            json!({"headers":{}}),
            json!({"headers":[]}),
            json!({"cookies":""}),
            json!({"cookies":{}}),
            json!({"headers":null,"cookies":null}),
            json!({"headers":7}),
            json!({"type":"headers"}),
            json!({"params":{"cookies":"a=b"}}),
            json!({"type":"headers","params":{}}),
            json!({"type":"headers","params":{"headers":{"X":"1"},"password":"p"}}),
            json!({"type":"headers","params":{"headers":{"X":"1"}},"cookies":"a=b"}),
            json!({"type":"recorded","params":{"recording":"…"}}),
            json!({"type":"automatic","params":{"username":"u","password":"p"}}),
        ] {
            let refused = Authentication::parse(&bad);
            assert!(matches!(refused, Err(ParamsError::Value(_))), "{bad}");
        }
    }
}
