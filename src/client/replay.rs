//! A captured request sent again, for a person: not to the service, without its key, once, and no redirect is followed.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, redirect};

use super::{ClientResult, Error, ErrorKind};
use crate::oob::Replay;

/// Longest wait for a connection, and for an answer.
const CONNECT: Duration = Duration::from_secs(5);
const TOTAL: Duration = Duration::from_secs(30);

/// Sends it; the status of the answer, whose body is not read.
///
/// # Errors
/// When it cannot be sent, or nothing answers.
pub async fn replay(replay: &Replay) -> ClientResult<u16> {
    let mut http = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .referer(false)
        .no_gzip()
        .connect_timeout(CONNECT)
        .timeout(TOTAL);
    if replay.is_here() {
        http = http.no_proxy();
    }
    let http = http.build().map_err(|error| unsent(&error))?;
    let method = Method::from_bytes(replay.method.as_bytes()).map_err(|error| unsent(&error))?;
    let mut headers = HeaderMap::new();
    for (name, value) in &replay.headers {
        // What was no header when it came is none now.
        let read = HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_str(value).ok());
        if let Some((name, mut value)) = read {
            value.set_sensitive(true);
            headers.append(name, value);
        }
    }
    let request = http.request(method, replay.url.clone()).headers(headers).body(replay.body.clone());
    Ok(request.send().await?.status().as_u16())
}

fn unsent(error: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Invalid, format!("it cannot be sent: {error}"))
}
