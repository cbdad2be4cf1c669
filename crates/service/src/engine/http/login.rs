//! The log-in of a scan: the steps of its parameters, the cookies that they set, and the check
//! whether the session holds.
//!
//! ```text
//!   log_in ─► step: request ─► cookies, taken values ─► next step … ─► headers of all requests ─► check
//!   answer ─► 401, redirect to a step, or long after the last check ─► check failed ─► steps again ─► the request again
//! ```
//!
//! The steps are the only requests of a scan that are not GET, HEAD or OPTIONS: whoever starts the
//! scan wrote them. They go to hosts in the scope only, without HTTP/2 and older TLS.

use std::sync::Arc;

use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::cookie_jar::{CookieJar, set_cookies};
use super::error::web_error;
use super::protocols::{WebAnswer, WebRequest};
use super::{AttemptLimits, HttpPage, MAX_BODY, SendLimits, Web, WebError};
use crate::engine::LearnedSecret;
use crate::engine::params::login::{FilledStep, LoginSequence, LoginStep};
use crate::engine::params::taken_values::{TakenValue, TakenValues, ValueSource, filled};
use scandeck_wire::contract::entities::decode_entities;
use scandeck_wire::text::plural;

/// Log-ins of one scan: a session that ends more often is given up.
const MOST_LOGINS: u32 = 5;

/// A request of a log-in.
struct LoginRequest {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
}

impl Web<'_> {
    /// Logs in, if the scan has a log-in.
    ///
    /// # Errors
    /// The step that failed: the scan must not continue as a stranger.
    pub async fn log_in(&self) -> Result<(), String> {
        let Some(login) = &self.authentication.login else {
            return Ok(());
        };
        let mut logins = self.session.logins.lock().await;
        *logins += 1;
        self.perform(login).await?;
        let steps = plural(login.steps.len(), "step");
        self.run
            .info(format!(
                "Logged in by {steps}; the check of the session passed."
            ))
            .await;
        Ok(())
    }

    /// Whether a request must be sent again: its session had ended, and a new one has begun.
    /// `number` is that of the session of the request.
    pub(super) async fn has_new_session(
        &self,
        answer: &Result<HttpPage, WebError>,
        number: u32,
    ) -> bool {
        let (Some(login), Ok(page)) = (&self.authentication.login, answer) else {
            return false;
        };
        let looks_ended = self.looks_ended(login, page);
        let has_changed = || self.session.number() != number;
        if has_changed() || !self.session.is_check_due(looks_ended) {
            return looks_ended && has_changed();
        }
        let mut logins = self.session.logins.lock().await;
        // Another request may have checked or logged in meanwhile.
        let is_due = self.session.is_check_due(looks_ended) && self.session.end().is_none();
        if has_changed() || !is_due {
            return looks_ended && has_changed();
        }
        match self.check_session(login).await {
            Ok(Some(_)) => {}
            Ok(None) if looks_ended => {
                self.session.confirm();
                return false;
            }
            Ok(None) | Err(_) => return false,
        }
        if *logins >= MOST_LOGINS {
            let why = format!("the session ended again after {MOST_LOGINS} log-ins");
            return self.give_up(why).await;
        }
        *logins += 1;
        let count = *logins;
        match self.perform(login).await {
            Ok(()) => {
                let line = format!("The session had ended; logged in again (log-in {count}).");
                self.run.info(line).await;
                true
            }
            Err(why) => self.give_up(why).await,
        }
    }

    async fn give_up(&self, why: String) -> bool {
        let line = format!("The scan sends no further requests: {why}.");
        self.session.give_up(why);
        self.run.info(line).await;
        false
    }

    /// Whether an answer looks as if the session had ended.
    fn looks_ended(&self, login: &LoginSequence, page: &HttpPage) -> bool {
        let leads_to = |to: &Url| {
            let steps = login.steps.iter();
            let mut urls = steps.filter_map(|step| self.base()?.join(&step.url).ok());
            urls.any(|url| url.origin() == to.origin() && url.path() == to.path())
        };
        page.status == 401 || page.redirect().is_some_and(|to| leads_to(&to))
    }

    /// The URL to which the URLs of the log-in are relative.
    fn base(&self) -> Option<Url> {
        self.run.address.url_with("https")
    }

    async fn perform(&self, login: &LoginSequence) -> Result<(), String> {
        let base = self.base().ok_or("login failed: the target has no URL")?;
        let (mut jar, mut values) = (CookieJar::default(), TakenValues::new());
        for (at, step) in login.steps.iter().enumerate() {
            let done = self.step(&base, step, &mut jar, &mut values).await;
            done.map_err(|why| format!("login failed at step {}: {why}", at + 1))?;
        }
        let headers = self
            .session_headers(&base, &jar, &values)
            .map_err(|why| format!("login failed: {why}"))?;
        self.session.begin(headers);
        match self.check_session(login).await {
            Ok(None) => Ok(()),
            Ok(Some(why)) => Err(format!("login failed: the check {} {why}", login.check.url)),
            Err(error) => Err(format!(
                "login failed: the check {}: {error}",
                login.check.url
            )),
        }
    }

    async fn step(
        &self,
        base: &Url,
        step: &LoginStep,
        jar: &mut CookieJar,
        values: &mut TakenValues,
    ) -> Result<(), String> {
        let request = login_request(base, step, jar, values)?;
        let shown = format!("{} {}", step.method, without_query(&request.url));
        let answer = self.login_exchange(request).await;
        let mut missing = None;
        if let Ok(page) = &answer {
            jar.store(page);
            for take in &step.takes {
                match taken_value(take, page) {
                    Some(value) => _ = values.insert(take.name.clone(), value),
                    None => missing = missing.or(Some(&take.name)),
                }
            }
        }
        // Before any line that may contain them.
        self.run
            .learned(jar.secrets().chain(named(values)).collect())
            .await;
        let words = match &answer {
            Ok(page) => page.status.to_string(),
            Err(error) => error.to_string(),
        };
        self.run.raw(format!("log-in: {shown} -> {words}")).await;
        let page = answer.map_err(|error| format!("{shown}: {error}"))?;
        if page.status >= 400 {
            return Err(format!("{shown} responds with {}", page.status));
        }
        match missing {
            Some(name) => Err(format!("the answer of {shown} has no {name}")),
            None => Ok(()),
        }
    }

    /// Sends a request of a log-in, as other requests of the scan: within its budget, its rate and
    /// the scope.
    async fn login_exchange(&self, request: LoginRequest) -> Result<HttpPage, WebError> {
        self.take_budget(1)?;
        self.scan_pace.wait().await;
        let host = self.client(&request.url).await?;
        let Ok(_connection) = host.lane.connections.acquire().await else {
            return Err(WebError::Unresponsive);
        };
        self.wait_for_host(&host.lane).await?;
        let LoginRequest {
            method,
            url,
            headers,
            body,
        } = request;
        let limit = host.time_limit * 2;
        let sent = host
            .client
            .request(method.clone(), url.clone())
            .headers(headers)
            .timeout(limit);
        let sent = match body {
            Some(bytes) => sent.body(bytes),
            None => sent,
        };
        let answer = sent.send().await.map_err(web_error)?;
        let read = WebRequest {
            method: &method,
            url: &url,
            headers: HeaderMap::new(),
            limit,
            max_body: MAX_BODY,
            // The answers of a log-in are no evidence.
            sent: Arc::default(),
        };
        WebAnswer(answer).page(&read).await
    }

    /// The headers of the session: those of the parameters with their placeholders filled, and the
    /// cookies.
    fn session_headers(
        &self,
        base: &Url,
        jar: &CookieJar,
        values: &TakenValues,
    ) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
        let (mut headers, mut cookies) = (Vec::new(), Vec::new());
        for (name, value) in &self.authentication.headers {
            let text = filled(&String::from_utf8_lossy(value.as_bytes()), values)?;
            match *name == COOKIE {
                true => cookies.push(text),
                false => headers.push((name.clone(), sensitive(name.as_str(), &text)?)),
            }
        }
        cookies.extend(jar.line(base));
        if !cookies.is_empty() {
            headers.push((COOKIE, sensitive("cookie", &cookies.join("; "))?));
        }
        Ok(headers)
    }

    /// Requests the check of a log-in: why the session does not hold, `None` if it holds.
    async fn check_session(&self, login: &LoginSequence) -> Result<Option<String>, WebError> {
        let check = &login.check;
        let url = self.base().and_then(|base| base.join(&check.url).ok());
        let Some(url) = url.filter(|url| self.is_home(url)) else {
            return Ok(Some("is not on the target".to_owned()));
        };
        let limits = AttemptLimits {
            is_patient: true,
            is_tolerant: false,
            send: SendLimits {
                with_login: true,
                max_body: MAX_BODY,
            },
        };
        let answer = self
            .attempt(&Method::GET, &url, &HeaderMap::new(), limits)
            .await;
        self.session.record_check();
        let page = answer?;
        Ok(check.failure(page.status, &page.text()))
    }
}

fn login_request(
    base: &Url,
    step: &LoginStep,
    jar: &CookieJar,
    values: &TakenValues,
) -> Result<LoginRequest, String> {
    let FilledStep {
        url,
        headers: given,
        body,
    } = step.request(values)?;
    let url = base.join(&url).map_err(|_| "the URL is invalid")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("the URL must begin with http or https".to_owned());
    }
    if !has_written_server(base, step, &url) {
        return Err(
            "a taken value must not change the server of the URL: write the host and the port before it"
                .to_owned(),
        );
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the URL must have no user name and no password".to_owned());
    }
    let mut headers = HeaderMap::new();
    for (name, value) in &given {
        let invalid = |_| format!("the name of the header {name} is invalid");
        let header = HeaderName::try_from(name.as_str()).map_err(invalid)?;
        headers.append(header, sensitive(name, value)?);
    }
    if let Some(cookies) = jar.line(&url) {
        headers.append(COOKIE, sensitive("cookie", &cookies)?);
    }
    if let Some((_, kind)) = &body {
        let default = HeaderValue::from_static(kind);
        headers.entry(CONTENT_TYPE).or_insert(default);
    }
    Ok(LoginRequest {
        method: step.method.clone(),
        url,
        headers,
        body: body.map(|(bytes, _)| bytes),
    })
}

/// Whether the server of a filled URL is the one that the step names before its first placeholder:
/// an answer must not choose who receives credentials.
fn has_written_server(base: &Url, step: &LoginStep, url: &Url) -> bool {
    match step.url.split_once("{{") {
        None => true,
        Some((written, _)) => base
            .join(written)
            .is_ok_and(|named| named.origin() == url.origin()),
    }
}

fn sensitive(name: &str, value: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::try_from(value)
        .map_err(|_| format!("the value of the header {name} cannot be sent"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn without_query(url: &Url) -> Url {
    let mut shown = url.clone();
    shown.set_query(None);
    shown.set_fragment(None);
    shown
}

fn taken_value(take: &TakenValue, page: &HttpPage) -> Option<String> {
    let found = match &take.from {
        ValueSource::Header(name) => page
            .all(name.as_str())
            .next()
            .map(|value| value.into_owned()),
        ValueSource::Cookie(name) => set_cookies(page)
            .find(|cookie| cookie.name == *name)
            .map(|cookie| cookie.value),
        ValueSource::Json(pointer) => {
            let json: serde_json::Value = serde_json::from_slice(&page.body).ok()?;
            match json.pointer(pointer)? {
                serde_json::Value::String(text) => Some(text.clone()),
                serde_json::Value::Number(number) => Some(number.to_string()),
                _ => None,
            }
        }
        ValueSource::Regex(pattern) => {
            let text = page.text();
            let found = pattern.captures(&text)?;
            let value = found.get(1).or_else(|| found.get(0))?.as_str();
            // As a browser sends it: a form has `&amp;` in place of `&`.
            Some(match page.is_html() {
                true => decode_entities(value).into_owned(),
                false => value.to_owned(),
            })
        }
    };
    found.filter(|value| !value.is_empty())
}

fn named(values: &TakenValues) -> impl Iterator<Item = LearnedSecret> {
    values.iter().map(|(name, value)| LearnedSecret {
        name: name.clone(),
        value: value.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str, cookies: &[&str], body: &str) -> HttpPage {
        let mut headers = HeaderMap::new();
        for cookie in cookies {
            headers.append("set-cookie", HeaderValue::from_str(cookie).unwrap());
        }
        HttpPage {
            headers,
            ..HttpPage::for_tests(url, body)
        }
    }

    #[test]
    fn taken_value_does_not_choose_the_server() {
        let base = Url::parse("https://a.test/").unwrap();
        let refused = |url: &str, value: &str| {
            let step = LoginStep {
                method: Method::POST,
                url: url.to_owned(),
                headers: Vec::new(),
                body: None,
                takes: Vec::new(),
            };
            let values = TakenValues::from([("to".to_owned(), value.to_owned())]);
            login_request(&base, &step, &CookieJar::default(), &values).err()
        };
        for (url, value) in [
            ("{{to}}", "/next"),
            ("{{to}}", "https://a.test/next"),
            ("/login?next={{to}}", "https://b.test/"),
            ("https://id.test/{{to}}", "x"),
            ("https://id.test:8443/{{to}}", "//b.test"),
        ] {
            assert_eq!(refused(url, value), None, "{url} {value}");
        }
        for (url, value) in [
            ("{{to}}", "https://b.test/"),
            ("{{to}}", "//b.test/"),
            ("/{{to}}", "/b.test/"),
            ("https://{{to}}/", "b.test"),
            ("https://a.test{{to}}", ".b.test/"),
            ("https://a.test{{to}}", ":8443/"),
        ] {
            let why = refused(url, value).unwrap();
            assert!(why.contains("must not change the server"), "{url}: {why}");
        }
    }

    #[test]
    fn values_are_taken_from_headers_cookies_json_and_text() {
        let body = r#"{"data": {"token": "t1", "id": 7}, "html": "csrf=\"c1\""}"#;
        let page = page("https://a.test/", &["sid=s1; Path=/"], body);
        let take = |from: ValueSource| {
            let name = "x".to_owned();
            taken_value(&TakenValue { name, from }, &page)
        };
        let json = |pointer: &str| take(ValueSource::Json(pointer.to_owned()));
        assert_eq!(json("/data/token").as_deref(), Some("t1"));
        assert_eq!(json("/data/id").as_deref(), Some("7"));
        assert_eq!(json("/data/none"), None);
        let cookie = take(ValueSource::Cookie("sid".to_owned()));
        assert_eq!(cookie.as_deref(), Some("s1"));
        let pattern = regex::Regex::new(r#"csrf=\\"(\w+)"#).unwrap();
        assert_eq!(take(ValueSource::Regex(pattern)).as_deref(), Some("c1"));
        let header = take(ValueSource::Header(HeaderName::from_static("set-cookie")));
        assert_eq!(header.as_deref(), Some("sid=s1; Path=/"));
    }

    #[test]
    fn value_of_a_form_is_taken_as_a_browser_sends_it() {
        let form =
            r#"<html><form action="/auth?code=a&amp;id=b"><input name="t" value="x&#x2B;y=">"#;
        let take = |pattern: &str, body: &str| {
            let from = ValueSource::Regex(regex::Regex::new(pattern).unwrap());
            let name = "x".to_owned();
            taken_value(
                &TakenValue { name, from },
                &page("https://a.test/", &[], body),
            )
        };
        let action = r#"action="([^"]+)""#;
        assert_eq!(take(action, form).as_deref(), Some("/auth?code=a&id=b"));
        assert_eq!(take(r#"value="([^"]+)""#, form).as_deref(), Some("x+y="));
        // Other texts have no such references.
        let text = r#"action="a&amp;b""#;
        assert_eq!(take(action, text).as_deref(), Some("a&amp;b"));
    }
}
