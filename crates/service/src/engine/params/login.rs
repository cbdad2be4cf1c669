//! `login` and `check` of `authentication`: the requests of a log-in in their order, and how a scan
//! knows that the session holds.
//!
//! ```text
//!   "login": [{"url": "/login", "take": {"name": "csrf", "from": "regex", "at": "csrf\" value=\"(\\w+)"}},
//!             {"url": "/login", "body": {"user": "ann", "password": "…", "csrf": "{{csrf}}"}}],
//!   "check": {"url": "/account", "text": "Sign out"}
//! ```
//!
//! No error contains a value: most of them are credentials.

use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::taken_values::{TakenValue, TakenValues, filled, filled_json, read_takes};
use super::{ParamsError, present};

/// Most steps of a log-in.
const MOST_STEPS: usize = 10;

/// Headers whose values are no credentials. To hide such words would change the findings that
/// contain them.
const PUBLIC_HEADERS: &[&str] = &[
    "content-type",
    "accept",
    "user-agent",
    "origin",
    "referer",
    "x-requested-with",
];
/// Fields whose values are no credentials.
const PUBLIC_FIELDS: &[&str] = &[
    "grant_type",
    "response_type",
    "scope",
    "action",
    "submit",
    "user",
    "username",
    "login",
    "email",
];

/// A log-in.
#[derive(Clone)]
pub struct LoginSequence {
    pub steps: Vec<LoginStep>,
    pub check: LoginCheck,
}

/// A request. Its texts may contain placeholders such as `{{csrf}}`.
#[derive(Clone)]
pub struct LoginStep {
    pub method: Method,
    /// Absolute, or relative to the target.
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<LoginBody>,
    pub takes: Vec<TakenValue>,
}

#[derive(Clone)]
pub enum LoginBody {
    Text(String),
    Form(Vec<(String, String)>),
    Json(Value),
}

/// A request whose answer shows whether the session holds.
#[derive(Clone)]
pub struct LoginCheck {
    /// On the target.
    pub url: String,
    /// 200 to 299 if there is none.
    pub status: Option<u16>,
    /// A part of the body.
    pub text: Option<String>,
}

impl LoginSequence {
    /// Reads the fields of `authentication`; `None` without a log-in.
    ///
    /// # Errors
    /// The step, and its expected form.
    pub fn parse(fields: &Map<String, Value>) -> Result<Option<Self>, ParamsError> {
        let (login, check) = (present(fields, "login"), present(fields, "check"));
        let (Some(login), Some(check)) = (login, check) else {
            return match (login, check) {
                (None, None) => Ok(None),
                _ => Err(invalid("login and check need each other")),
            };
        };
        let given = login
            .as_array()
            .filter(|steps| (1..=MOST_STEPS).contains(&steps.len()))
            .ok_or_else(|| invalid("login must be a list of 1 to 10 steps"))?;
        let (mut steps, mut names) = (Vec::new(), TakenValues::new());
        for (at, step) in given.iter().enumerate() {
            let in_step = |why: String| invalid(&format!("login: step {}: {why}", at + 1));
            let step = LoginStep::parse(step).map_err(|why| in_step(why.to_owned()))?;
            step.request(&names).map_err(in_step)?;
            let taken = step.takes.iter();
            names.extend(taken.map(|taken| (taken.name.clone(), String::new())));
            steps.push(step);
        }
        let check = LoginCheck::parse(check).map_err(invalid)?;
        Ok(Some(Self { steps, check }))
    }

    /// The values in the steps that may be credentials, with their names.
    pub fn secrets(&self) -> Vec<(String, String)> {
        let mut headers: Vec<(String, String)> = Vec::new();
        let mut all: Vec<(String, String)> = Vec::new();
        for step in &self.steps {
            headers.extend(step.headers.iter().cloned());
            if let Some((_, query)) = step.url.split_once('?') {
                all.extend(pairs(query));
            }
            match &step.body {
                None => {}
                Some(LoginBody::Form(fields)) => all.extend(fields.iter().cloned()),
                Some(LoginBody::Json(value)) => add_texts("", value, &mut all),
                Some(LoginBody::Text(text)) => match serde_json::from_str(text) {
                    Ok(value @ (Value::Object(_) | Value::Array(_))) => {
                        add_texts("", &value, &mut all);
                    }
                    _ => all.extend(pairs(text)),
                },
            }
        }
        headers.retain(|(name, _)| !is_one_of(PUBLIC_HEADERS, name));
        all.retain(|(name, _)| !is_one_of(PUBLIC_FIELDS, name));
        headers.extend(all);
        headers.retain(|(_, value)| !value.is_empty() && !value.contains("{{"));
        headers
    }
}

/// The texts of a step with the taken values in their places.
pub struct FilledStep {
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// With the content type that the step does not name itself.
    pub body: Option<(Vec<u8>, &'static str)>,
}

impl LoginStep {
    fn parse(given: &Value) -> Result<Self, &'static str> {
        const FORM: &str =
            "it must be an object with url, and method, headers, body and take if needed";
        let fields = given.as_object().ok_or(FORM)?;
        let known = ["method", "url", "headers", "body", "take"];
        if fields.keys().any(|name| !known.contains(&name.as_str())) {
            return Err(FORM);
        }
        let headers = read_headers(present(fields, "headers"))?;
        let is_json = headers.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("content-type") && value.to_ascii_lowercase().contains("json")
        });
        let body = present(fields, "body")
            .map(|body| LoginBody::parse(body, is_json))
            .transpose()?;
        let method = match present(fields, "method").map(Value::as_str) {
            None if body.is_some() => Method::POST,
            None => Method::GET,
            Some(Some(name)) if name.eq_ignore_ascii_case("get") => Method::GET,
            Some(Some(name)) if name.eq_ignore_ascii_case("post") => Method::POST,
            Some(_) => return Err("method must be GET or POST"),
        };
        let url = present(fields, "url").and_then(Value::as_str);
        Ok(Self {
            method,
            url: url.ok_or("url is required")?.to_owned(),
            headers,
            body,
            takes: read_takes(present(fields, "take"))?,
        })
    }

    /// The request with these values.
    ///
    /// # Errors
    /// A placeholder without a value, and a header that cannot be sent.
    pub fn request(&self, values: &TakenValues) -> Result<FilledStep, String> {
        let filled_pair = |(name, value): &(String, String)| {
            Ok::<_, String>((name.clone(), filled(value, values)?))
        };
        let body = match &self.body {
            None => None,
            Some(LoginBody::Text(text)) => Some((
                filled(text, values)?.into_bytes(),
                "application/x-www-form-urlencoded",
            )),
            Some(LoginBody::Form(fields)) => {
                let pairs: Result<Vec<_>, String> = fields.iter().map(filled_pair).collect();
                let mut form = form_urlencoded::Serializer::new(String::new());
                form.extend_pairs(pairs?);
                Some((
                    form.finish().into_bytes(),
                    "application/x-www-form-urlencoded",
                ))
            }
            Some(LoginBody::Json(value)) => {
                let text = filled_json(value, values)?.to_string();
                Some((text.into_bytes(), "application/json"))
            }
        };
        let headers: Result<Vec<_>, String> = self.headers.iter().map(filled_pair).collect();
        Ok(FilledStep {
            url: filled(&self.url, values)?,
            headers: headers?,
            body,
        })
    }
}

impl LoginBody {
    fn parse(given: &Value, is_json: bool) -> Result<Self, &'static str> {
        const FORM: &str = "body must be a string, or an object of form fields (of any JSON with a content-type of JSON)";
        match given {
            Value::String(text) => Ok(Self::Text(text.clone())),
            json if is_json => Ok(Self::Json(json.clone())),
            Value::Object(fields) => {
                let text = |value: &Value| match value {
                    Value::String(text) => Some(text.clone()),
                    Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
                    _ => None,
                };
                let fields = fields.iter();
                let fields: Option<Vec<_>> = fields
                    .map(|(name, value)| Some((name.clone(), text(value)?)))
                    .collect();
                fields.map(Self::Form).ok_or(FORM)
            }
            _ => Err(FORM),
        }
    }
}

impl LoginCheck {
    fn parse(given: &Value) -> Result<Self, &'static str> {
        const FORM: &str =
            "check must be an object with url, and status (100 to 599), text or both";
        let fields = given.as_object().ok_or(FORM)?;
        if fields
            .keys()
            .any(|name| !["url", "status", "text"].contains(&name.as_str()))
        {
            return Err(FORM);
        }
        let text = |name: &str| match present(fields, name) {
            None => Ok(None),
            Some(value) => value.as_str().map(Some).ok_or(FORM),
        };
        let status = match present(fields, "status") {
            None => None,
            Some(status) => {
                let status = status.as_u64().filter(|status| (100..600).contains(status));
                Some(
                    status
                        .and_then(|status| u16::try_from(status).ok())
                        .ok_or(FORM)?,
                )
            }
        };
        let (Some(url), words) = (text("url")?, text("text")?.filter(|text| !text.is_empty()))
        else {
            return Err(FORM);
        };
        if status.is_none() && words.is_none() {
            return Err(FORM);
        }
        Ok(Self {
            url: url.to_owned(),
            status,
            text: words.map(str::to_owned),
        })
    }

    /// Why an answer shows no session; `None` if it shows one.
    pub fn failure(&self, status: u16, body: &str) -> Option<String> {
        let is_expected = match self.status {
            Some(expected) => status == expected,
            None => (200..300).contains(&status),
        };
        if !is_expected {
            return Some(format!("responds with {status}"));
        }
        let text = self.text.as_ref()?;
        (!body.contains(text.as_str())).then(|| "does not contain the text of the check".to_owned())
    }
}

fn read_headers(given: Option<&Value>) -> Result<Vec<(String, String)>, &'static str> {
    const FORM: &str = "headers must be an object of names and texts that a header may have";
    let Some(given) = given else {
        return Ok(Vec::new());
    };
    let fields = given.as_object().ok_or(FORM)?;
    let header = |(name, value): (&String, &Value)| {
        let value = value.as_str()?;
        let is_valid =
            HeaderName::try_from(name.as_str()).is_ok() && HeaderValue::try_from(value).is_ok();
        is_valid.then(|| (name.clone(), value.to_owned()))
    };
    let headers: Option<Vec<_>> = fields.iter().map(header).collect();
    headers.ok_or(FORM)
}

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The fields of a form or query; a word alone is a value.
fn pairs(text: &str) -> Vec<(String, String)> {
    let fields = form_urlencoded::parse(text.as_bytes()).into_owned();
    fields
        .map(|(name, value)| match value.is_empty() {
            true => (String::new(), name),
            false => (name, value),
        })
        .collect()
}

/// Adds the texts of a JSON value with the names of their fields.
fn add_texts(name: &str, value: &Value, to: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => to.push((name.to_owned(), text.clone())),
        Value::Array(all) => all.iter().for_each(|one| add_texts(name, one, to)),
        Value::Object(fields) => {
            for (field, one) in fields {
                add_texts(field, one, to);
            }
        }
        Value::Number(number) => to.push((name.to_owned(), number.to_string())),
        Value::Null | Value::Bool(_) => {}
    }
}

fn invalid(why: &str) -> ParamsError {
    ParamsError::Value(format!("authentication.{why}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(login: Value, check: Value) -> Result<LoginSequence, String> {
        let fields = json!({"login": login, "check": check});
        let parsed = LoginSequence::parse(fields.as_object().unwrap());
        parsed
            .map(Option::unwrap)
            .map_err(|error| error.to_string())
    }

    fn check() -> Value {
        json!({"url": "/account", "text": "Sign out"})
    }

    #[test]
    fn steps_are_filled_with_the_values_of_earlier_ones() {
        let login = parse(
            json!([
                {"url": "/login", "take": {"name": "csrf", "from": "regex", "at": "value=\"(\\w+)\""}},
                {"url": "/login?next={{csrf}}", "body": {"user": "ann", "t": "{{ csrf }}", "n": 7}},
                {"url": "/api", "headers": {"Content-Type": "application/json"}, "body": {"t": ["{{csrf}}"]}},
            ]),
            check(),
        );
        let login = login.unwrap();
        assert_eq!(login.steps[0].method, Method::GET);
        assert_eq!(login.steps[1].method, Method::POST);
        let values = TakenValues::from([("csrf".to_owned(), "a b&".to_owned())]);
        let second = login.steps[1].request(&values).unwrap();
        assert_eq!(second.url, "/login?next=a b&");
        let (body, kind) = second.body.unwrap();
        assert_eq!(
            (String::from_utf8(body).unwrap().as_str(), kind),
            ("user=ann&t=a+b%26&n=7", "application/x-www-form-urlencoded")
        );
        let (body, kind) = login.steps[2].request(&values).unwrap().body.unwrap();
        assert_eq!(
            (String::from_utf8(body).unwrap().as_str(), kind),
            (r#"{"t":["a b&"]}"#, "application/json")
        );
    }

    #[test]
    fn invalid_log_ins_are_named_without_their_values() {
        let step = json!([{"url": "/login"}]);
        for (login, check, words) in [
            (json!([]), check(), "1 to 10 steps"),
            (json!("s3cret"), check(), "1 to 10 steps"),
            (step.clone(), json!(null), "need each other"),
            (step.clone(), json!({"url": "/"}), "check must be"),
            (step, json!({"url": "/", "status": 9}), "check must be"),
            (
                json!([{"url": "/", "password": "s3cret"}]),
                check(),
                "step 1: it must be",
            ),
            (
                json!([{"body": "s3cret"}]),
                check(),
                "step 1: url is required",
            ),
            (
                json!([{"url": "/", "method": "s3cret"}]),
                check(),
                "GET or POST",
            ),
            (
                json!([{"url": "/", "body": ["s3cret"]}]),
                check(),
                "body must be",
            ),
            (
                json!([{"url": "/", "headers": {"X": "s3cret\n"}}]),
                check(),
                "headers must be",
            ),
            (
                json!([{"url": "/", "take": {"name": "a"}}]),
                check(),
                "take must be",
            ),
            (
                json!([{"url": "/", "take": {"name": "a", "from": "regex", "at": "(s3cret"}}]),
                check(),
                "no valid regular expression",
            ),
            (
                json!([{"url": "/{{csrf}}"}]),
                check(),
                "step 1: {{csrf}} is not taken",
            ),
        ] {
            let refused = parse(login, check).err().expect("refused");
            assert!(refused.contains(words), "{refused}");
            assert!(!refused.contains("s3cret"), "{refused}");
        }
    }

    #[test]
    fn check_compares_status_and_text() {
        let of = |check: Value| LoginCheck::parse(&check).unwrap();
        let text = of(json!({"url": "/", "text": "Sign out"}));
        assert_eq!(text.failure(200, "<a>Sign out</a>"), None);
        assert!(text.failure(302, "Sign out").unwrap().contains("302"));
        assert!(text.failure(200, "Sign in").unwrap().contains("text"));
        let status = of(json!({"url": "/", "status": 204}));
        assert_eq!(status.failure(204, ""), None);
        assert!(status.failure(200, "").is_some());
    }

    #[test]
    fn values_of_all_steps_are_secrets_but_public_ones() {
        let login = parse(
            json!([
                {"url": "/login?key=k1&action=enter", "headers": {"X-Key": "k2", "Accept": "text/html"},
                    "take": {"name": "t", "from": "json"}},
                {"url": "/a", "body": "user=ann&password=p%26w&grant_type=password"},
                {"url": "/b", "body": "{\"pin\": \"1234\", \"Email\": \"a@b.test\"}"},
                {"url": "/c", "body": {"t": "{{t}}", "otp": "777"}},
            ]),
            check(),
        );
        let secrets = login.unwrap().secrets();
        let values: Vec<&str> = secrets.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["k2", "k1", "p&w", "1234", "777"]);
    }
}
