//! Extractors: path ids, query parameters, and form or JSON bodies.
//!
//! Clients send either kind of body to every creation endpoint (`hosted-service.md`, Access).
//! Handlers read both through [`Fields`]. In a form all values are text, so numbers and objects are
//! parsed from text; JSON values must have the right type.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use percent_encoding::percent_decode;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use url::form_urlencoded;

use crate::engine::params::has_authentication;
use crate::errors::{ApiError, shown};
use crate::net::connection_io::BodyTimeout;
use scandeck_wire::contract::team::{MOST_BODY_BYTES, MOST_LINES};

/// The largest accepted body, in bytes.
const BODY_LIMIT: usize = MOST_BODY_BYTES;

/// The `{id}` of the path.
pub struct Id<T>(pub T);

impl<T: From<i64>, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Path(text) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|_| ApiError::bad_request("the id in the path is not valid text"))?;
        match text.parse::<i64>() {
            Ok(id) => Ok(Self(T::from(id))),
            Err(_) => Err(ApiError::bad_request(format!(
                "invalid id `{}`: ids are integers",
                shown(&text)
            ))),
        }
    }
}

/// The query parameters. Unknown parameters are ignored; an empty value counts as absent.
pub struct QueryParams(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for QueryParams {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default()))
    }
}

impl QueryParams {
    pub fn parse(query: &str) -> Self {
        Self(
            form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(key, value)| key == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }

    /// A parameter whose empty value has a meaning.
    pub fn given(&self, name: &str) -> Option<&str> {
        let mut pairs = self.0.iter();
        pairs
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// An integer, such as an id.
    ///
    /// # Errors
    /// 400 for another value.
    pub fn integer<T: From<i64>>(&self, name: &str) -> Result<Option<T>, ApiError> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        match text.trim().parse::<i64>() {
            Ok(number) => Ok(Some(T::from(number))),
            Err(_) => Err(ApiError::bad_request(format!(
                "{name}: `{}` is not an integer",
                shown(text)
            ))),
        }
    }

    /// A boolean: `true`, `false`, `1` or `0`.
    ///
    /// # Errors
    /// 400 for another value.
    pub fn boolean(&self, name: &str) -> Result<Option<bool>, ApiError> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        match boolean(text) {
            Some(value) => Ok(Some(value)),
            None => Err(ApiError::bad_request(format!(
                "{name}: `{}` is not true or false",
                shown(text)
            ))),
        }
    }

    /// `limit` and `page` as LIMIT and OFFSET (`hosted-service.md`, Lists).
    ///
    /// # Errors
    /// 400 when `limit` is outside 1 to 1000, or `page` below 1.
    pub fn page(&self) -> Result<(i64, i64), ApiError> {
        let limit = self.integer("limit")?.unwrap_or(1000_i64);
        let page = self.integer("page")?.unwrap_or(1_i64);
        if !(1..=1000).contains(&limit) {
            return Err(ApiError::bad_request(format!(
                "limit: {limit} is outside 1 to 1000"
            )));
        }
        if page < 1 {
            return Err(ApiError::bad_request(format!("page: {page} is below 1")));
        }
        Ok((limit, (page - 1).saturating_mul(limit)))
    }
}

/// The choice whose text is `text`.
///
/// # Errors
/// 400 that lists the choices.
pub fn choice<T: Clone + ToString>(name: &str, text: &str, choices: &[T]) -> Result<T, ApiError> {
    let found = choices.iter().find(|choice| choice.to_string() == text);
    found.cloned().ok_or_else(|| {
        let choices: Vec<String> = choices.iter().map(T::to_string).collect();
        ApiError::bad_request(format!(
            "{name}: `{}` is not valid; use one of {}",
            shown(text),
            choices.join(", ")
        ))
    })
}

fn boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// The fields of a form or JSON body.
pub struct Fields {
    map: Map<String, Value>,
    form: bool,
    wrong_type: StatusCode,
}

impl<S: Send + Sync> FromRequest<S> for Fields {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        refuse_coding(request.headers(), "JSON or a form")?;
        let kind = media_type(request.headers());
        let bytes = body(request, state).await?;
        Self::parse(&kind, &bytes)
    }
}

/// The media type of a body in lower case, without its parameters; empty if none is stated.
pub fn media_type(headers: &HeaderMap) -> String {
    let stated = headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let kind = stated.and_then(|kind| kind.split(';').next());
    kind.unwrap_or_default().trim().to_ascii_lowercase()
}

async fn body<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, ApiError> {
    // The router sets the limit; any other error is a broken connection.
    let bytes = Bytes::from_request(request, state).await;
    bytes.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(),
        _ if BodyTimeout::caused(&error) => {
            ApiError::new(StatusCode::REQUEST_TIMEOUT, BodyTimeout.to_string())
        }
        _ => ApiError::bad_request("body could not be read"),
    })
}

/// A JSON body of one form, for requests that only this program sends.
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let bytes = body(request, state).await?;
        serde_json::from_slice(&bytes).map(Self).map_err(|error| {
            let message = "the body has another form; is this another version of scandeck?";
            ApiError::bad_request(message).with_details(error.to_string())
        })
    }
}

/// A body of JSON lines, at most [`MOST_LINES`]; empty lines are ignored.
pub struct JsonLines(Bytes);

impl JsonLines {
    /// The lines without white space around them.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let lines = self.0.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        lines.filter(|line| !line.is_empty())
    }
}

impl<S: Send + Sync> FromRequest<S> for JsonLines {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        refuse_coding(request.headers(), "JSON lines")?;
        let sent = Self(body(request, state).await?);
        match sent.lines().count() {
            0..=MOST_LINES => Ok(sent),
            count => {
                let message =
                    format!("the body has {count} lines; at most {MOST_LINES} are allowed");
                Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message))
            }
        }
    }
}

/// Refuses a compressed body: its bytes would be read as if they were `expected`.
fn refuse_coding(headers: &HeaderMap, expected: &str) -> Result<(), ApiError> {
    let mut codings = headers.get_all(header::CONTENT_ENCODING).iter();
    let is_plain = |coding: &[u8]| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity");
    if codings.all(|coding| is_plain(coding.as_bytes())) {
        return Ok(());
    }
    let error = ApiError::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "the body is compressed, which is not supported",
    );
    Err(error.with_details(format!("send {expected} without `content-encoding`")))
}

fn too_large() -> ApiError {
    ApiError::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the body is larger than {BODY_LIMIT} bytes"),
    )
}

/// The layer that limits the size of [`Fields`].
pub fn body_limit() -> axum::extract::DefaultBodyLimit {
    axum::extract::DefaultBodyLimit::max(BODY_LIMIT)
}

impl Fields {
    fn parse(kind: &str, bytes: &[u8]) -> Result<Self, ApiError> {
        let looks_like_json = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
        let (map, form) = match kind {
            "application/json" => (json_object(bytes)?, false),
            "application/x-www-form-urlencoded" => (form_object(bytes)?, true),
            "" if looks_like_json => (json_object(bytes)?, false),
            "" => (form_object(bytes)?, true),
            other => {
                return Err(ApiError::new(
                    StatusCode::UNSUPPORTED_MEDIA_TYPE,
                    format!("`{}` is not supported", shown(other)),
                )
                .with_details("send application/json or application/x-www-form-urlencoded"));
            }
        };
        Ok(Self {
            map,
            form,
            wrong_type: StatusCode::BAD_REQUEST,
        })
    }

    /// Responds to values of a wrong type with 422 instead of 400.
    pub fn with_unprocessable(mut self) -> Self {
        self.wrong_type = StatusCode::UNPROCESSABLE_ENTITY;
        self
    }

    /// Whether a field other than `except` is or contains `authentication`.
    pub fn has_authentication_outside(&self, except: &[&str]) -> bool {
        let mut others = self.map.clone();
        others.retain(|name, _| !except.contains(&name.as_str()));
        has_authentication(&Value::Object(others))
    }

    /// The value of a field; null counts as absent.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// Whether a field is null, and not absent.
    pub fn is_null(&self, name: &str) -> bool {
        self.map.get(name).is_some_and(Value::is_null)
    }

    /// The value that was read, or an error when it has another type.
    fn typed<T>(
        &self,
        name: &str,
        expected: &str,
        value: Option<Option<T>>,
    ) -> Result<Option<T>, ApiError> {
        let wrong = || ApiError::new(self.wrong_type, format!("{name} must be {expected}"));
        value.map(|value| value.ok_or_else(wrong)).transpose()
    }

    /// The value of a field; a field of a form without text counts as absent.
    fn filled(&self, name: &str) -> Option<&Value> {
        self.value(name).filter(|value| !self.form || *value != "")
    }

    /// A string without NUL.
    ///
    /// # Errors
    /// When the value has another type, or contains NUL.
    pub fn text(&self, name: &str) -> Result<Option<&str>, ApiError> {
        let text = self.typed(name, "a string", self.value(name).map(Value::as_str))?;
        text.map_or(Ok(()), |text| refuse_nul(name, text, self.wrong_type))?;
        Ok(text)
    }

    /// An integer.
    ///
    /// # Errors
    /// When the value has another type.
    pub fn integer(&self, name: &str) -> Result<Option<i64>, ApiError> {
        self.typed(
            name,
            "an integer",
            self.filled(name).map(|value| self.number(value)),
        )
    }

    /// An integer, or text with one: some clients send `"5"`.
    ///
    /// # Errors
    /// When the value has another type.
    pub fn integer_or_text(&self, name: &str) -> Result<Option<i64>, ApiError> {
        let read = self.filled(name).map(|value| match value {
            Value::String(text) => text.trim().parse().ok(),
            other => other.as_i64(),
        });
        self.typed(name, "an integer", read)
    }

    /// A boolean.
    ///
    /// # Errors
    /// When the value has another type.
    pub fn boolean(&self, name: &str) -> Result<Option<bool>, ApiError> {
        let read = self.value(name).map(|value| match value {
            Value::String(text) if self.form => boolean(text),
            other => other.as_bool(),
        });
        self.typed(name, "true or false", read)
    }

    /// An object; in a form, JSON text.
    ///
    /// # Errors
    /// When the value has another type.
    pub fn object(&self, name: &str) -> Result<Option<Map<String, Value>>, ApiError> {
        let read = self.filled(name).map(|value| match value {
            Value::String(text) if self.form => serde_json::from_str(text).ok(),
            other => other.as_object().cloned(),
        });
        self.typed(name, "an object", read)
    }

    /// A list of objects, each with fields of its own.
    ///
    /// # Errors
    /// When the value has another type.
    pub fn objects(&self, name: &str) -> Result<Option<Vec<Fields>>, ApiError> {
        let of_item = |item: &Value| {
            Some(Fields {
                map: item.as_object()?.clone(),
                form: false,
                wrong_type: self.wrong_type,
            })
        };
        let read = self.value(name).map(|value| {
            let items = value.as_array()?;
            items.iter().map(of_item).collect()
        });
        self.typed(name, "a list of objects", read)
    }

    /// A list of strings.
    ///
    /// # Errors
    /// When the value has another type.
    pub fn texts(&self, name: &str) -> Result<Option<Vec<&str>>, ApiError> {
        let read = self.value(name).map(|value| {
            let items = value.as_array()?;
            items.iter().map(Value::as_str).collect()
        });
        self.typed(name, "a list of strings", read)
    }

    /// A list of integers; in a form, a repeated field (also `name[]`), or one value with commas.
    ///
    /// # Errors
    /// When the value has another type.
    pub fn integers(&self, name: &str) -> Result<Option<Vec<i64>>, ApiError> {
        let value = self
            .value(name)
            .or_else(|| self.value(&format!("{name}[]")));
        let read = value.map(|value| match value {
            Value::Array(items) => items.iter().map(|item| self.number(item)).collect(),
            Value::String(text) if self.form => {
                let text = text.trim().trim_start_matches('[').trim_end_matches(']');
                let parts = text
                    .split(',')
                    .map(str::trim)
                    .filter(|part| !part.is_empty());
                parts.map(|part| part.parse().ok()).collect()
            }
            _ => None,
        });
        self.typed(name, "a list of integers", read)
    }

    fn number(&self, value: &Value) -> Option<i64> {
        match value {
            Value::String(text) if self.form => text.trim().parse().ok(),
            other => other.as_i64(),
        }
    }
}

/// Refuses a text with NUL, which not every program and database can keep.
///
/// # Errors
/// `status` for such a text.
pub fn refuse_nul(name: &str, text: &str, status: StatusCode) -> Result<(), ApiError> {
    match text.contains('\0') {
        true => Err(ApiError::new(
            status,
            format!("{name}: the character NUL is not allowed"),
        )),
        false => Ok(()),
    }
}

fn json_object(bytes: &[u8]) -> Result<Map<String, Value>, ApiError> {
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(ApiError::bad_request("the body is not a JSON object")),
        Err(error) => {
            Err(ApiError::bad_request("the body is not valid JSON").with_details(error.to_string()))
        }
    }
}

/// The fields of a form; a repeated field becomes a list.
fn form_object(bytes: &[u8]) -> Result<Map<String, Value>, ApiError> {
    if !is_utf8_form(bytes) {
        let error = ApiError::bad_request("the form is not UTF-8 text");
        return Err(error.with_details("encode its names and values as UTF-8"));
    }
    let mut map = Map::new();
    for (name, value) in form_urlencoded::parse(bytes) {
        let value = Value::from(value.into_owned());
        match map.get_mut(name.as_ref()) {
            None => {
                map.insert(name.into_owned(), value);
            }
            Some(Value::Array(items)) => items.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    Ok(map)
}

/// Whether the names and values of a form are UTF-8 text. Other bytes would be stored as replacement
/// characters, and the text that was sent would be lost without a word.
fn is_utf8_form(bytes: &[u8]) -> bool {
    let mut parts = bytes.split(|&byte| matches!(byte, b'&' | b'='));
    parts.all(|part| percent_decode(part).decode_utf8().is_ok())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn form(text: &str) -> Fields {
        Fields::parse("application/x-www-form-urlencoded", text.as_bytes()).unwrap()
    }

    fn json(text: &str) -> Fields {
        Fields::parse("application/json", text.as_bytes()).unwrap()
    }

    #[test]
    fn form_and_json_yield_equal_fields() {
        for fields in [
            form("name=a+b&n=7&on=true&o=%7B%22k%22%3A1%7D&ids=1&ids=2"),
            json(r#"{"name":"a b","n":7,"on":true,"o":{"k":1},"ids":[1,2]}"#),
        ] {
            assert_eq!(fields.text("name").unwrap(), Some("a b"));
            assert_eq!(fields.integer("n").unwrap(), Some(7));
            assert_eq!(fields.boolean("on").unwrap(), Some(true));
            assert_eq!(fields.object("o").unwrap().unwrap()["k"], 1);
            assert_eq!(fields.integers("ids").unwrap(), Some(vec![1, 2]));
            assert_eq!(fields.text("absent").unwrap(), None);
        }
        assert_eq!(form("ids=3,4").integers("ids").unwrap(), Some(vec![3, 4]));
        assert_eq!(
            form("ids%5B%5D=5&ids%5B%5D=6").integers("ids").unwrap(),
            Some(vec![5, 6])
        );
    }

    #[test]
    fn wrong_json_type_fails_with_chosen_status() {
        assert_eq!(
            json(r#"{"n":"7"}"#).integer("n").unwrap_err().status,
            StatusCode::BAD_REQUEST
        );
        let fields = json(r#"{"n":"7"}"#).with_unprocessable();
        assert_eq!(
            fields.integer("n").unwrap_err().status,
            StatusCode::UNPROCESSABLE_ENTITY
        );
    }

    #[test]
    fn text_with_nul_is_refused() {
        for fields in [form("name=a%00b"), json(r#"{"name":"a\u0000b"}"#)] {
            let error = fields.text("name").unwrap_err();
            assert_eq!(error.status, StatusCode::BAD_REQUEST);
            assert!(error.message.contains("name: "), "{}", error.message);
            let error = fields.with_unprocessable().text("name").unwrap_err();
            assert_eq!(error.status, StatusCode::UNPROCESSABLE_ENTITY);
        }
    }

    #[test]
    fn body_of_unknown_type_is_refused() {
        let status = |kind, body: &str| {
            Fields::parse(kind, body.as_bytes())
                .err()
                .map(|error| error.status.as_u16())
        };
        assert_eq!(status("text/xml", "<a/>"), Some(415));
        assert_eq!(status("application/json", "{\"a\":"), Some(400));
        assert_eq!(status("application/json", "[1]"), Some(400));
        assert_eq!(status("", "{\"a\":1}"), None);
        assert_eq!(status("", "a=1"), None);
    }

    #[test]
    fn form_that_is_not_utf8_is_refused() {
        let read = |bytes: &[u8]| Fields::parse("application/x-www-form-urlencoded", bytes);
        for bytes in [b"name=caf%E9".as_slice(), b"name=caf\xe9", b"n=1&caf%e9=2"] {
            let error = read(bytes).err().unwrap();
            assert_eq!(error.status, StatusCode::BAD_REQUEST);
            assert!(error.message.contains("UTF-8"), "{}", error.message);
        }
        let fields = read(b"name=caf%C3%A9+%26").unwrap();
        assert_eq!(fields.text("name").unwrap(), Some("caf\u{e9} &"));
    }

    #[test]
    fn compressed_body_is_refused() {
        let status = |codings: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for &coding in codings {
                headers.append(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
            }
            refuse_coding(&headers, "JSON").map_err(|error| error.status.as_u16())
        };
        for accepted in [&[] as &[&str], &["identity"], &["Identity"], &[""]] {
            assert_eq!(status(accepted), Ok(()));
        }
        for refused in [
            &["gzip"] as &[&str],
            &["identity", "br"],
            &["identity, gzip"],
        ] {
            assert_eq!(status(refused), Err(415));
        }
    }

    #[test]
    fn page_outside_limits_is_refused() {
        assert_eq!(QueryParams::parse("").page().unwrap(), (1000, 0));
        assert_eq!(
            QueryParams::parse("limit=10&page=3&x=y").page().unwrap(),
            (10, 20)
        );
        for refused in ["limit=0", "limit=1001", "page=0", "limit=ten"] {
            assert_eq!(
                QueryParams::parse(refused).page().unwrap_err().status,
                StatusCode::BAD_REQUEST,
                "{refused}"
            );
        }
    }
}
