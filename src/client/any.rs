//! Any call below the base URL, for what has no function of its own.

use std::str::FromStr;

use reqwest::Method;

use super::request::{Body, Request, Size};
use super::{Client, Error, Kind, Lane, Result};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Ask {
    /// `GET`, `POST`, …, any case.
    pub method: String,
    /// Below the base URL, beginning with a slash; `/api/v2` before it is taken off.
    pub path: String,
    /// Parameters.
    pub query: Vec<(String, String)>,
    /// What is sent along.
    pub body: Sent,
}

/// What is sent along.
#[derive(Clone, Debug)]
pub enum Sent {
    /// Nothing.
    Nothing,
    /// A form.
    Form(Vec<(String, String)>),
    /// JSON.
    Json(serde_json::Value),
}

/// A successful answer, as it came.
#[derive(Clone, Debug)]
pub struct Said {
    /// HTTP status.
    pub status: u16,
    /// Media type, lower case, without parameters.
    pub content_type: String,
    /// All of it.
    pub body: Vec<u8>,
}

impl Ask {
    /// Whether it only reads.
    pub fn is_reading(&self) -> bool {
        ["GET", "HEAD"].iter().any(|method| self.method.eq_ignore_ascii_case(method))
    }
}

impl Client {
    /// Sends what is asked.
    ///
    /// # Errors
    /// When the method or the path is none, and what the service refuses.
    pub async fn ask(&self, ask: Ask) -> Result<Said> {
        let invalid = |why: String| Error::new(Kind::Invalid, why);
        let method = Method::from_str(&ask.method.to_ascii_uppercase())
            .map_err(|_| invalid(format!("{:?} is no method", ask.method)))?;
        let path = ask.path.strip_prefix("/api/v2").filter(|rest| rest.starts_with('/')).unwrap_or(&ask.path);
        // What does not begin with a slash would become part of the host, and the key would go there.
        if !path.starts_with('/') || path.split(['/', '?', '#']).any(|part| matches!(part, "." | "..")) {
            return Err(invalid(format!("{:?} is no path: write it like /scans/7", ask.path)));
        }
        let lane = match method {
            Method::GET if path.starts_with("/scans/") && path.ends_with("/output") => Lane::Output,
            Method::GET | Method::HEAD => Lane::Read,
            _ => Lane::Write,
        };
        let mut request = Request::new(method, path, lane).accepting("application/json, */*");
        request.query = owned(ask.query);
        request.body = match ask.body {
            Sent::Nothing => Body::Nothing,
            Sent::Form(fields) => Body::Form(owned(fields)),
            Sent::Json(value) => Body::Json(value),
        };
        let answer = self.send(request.with_size(Size::Big).for_a_file()).await?;
        Ok(Said { status: answer.status.as_u16(), content_type: answer.content_type(), body: answer.body })
    }
}

fn owned(pairs: Vec<(String, String)>) -> Vec<(std::borrow::Cow<'static, str>, String)> {
    pairs.into_iter().map(|(name, value)| (name.into(), value)).collect()
}
