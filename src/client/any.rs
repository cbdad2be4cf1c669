//! Any call below the base URL, for what has no function of its own.

use std::str::FromStr;

use reqwest::Method;

use super::request::{AnswerSize, ApiRequest, Body};
use super::{Client, ClientResult, Error, ErrorKind, Lane};

/// What is asked.
#[derive(Clone, Debug)]
pub struct AskRequest {
    /// `GET`, `POST`, …, any case.
    pub method: String,
    /// Below the base URL, beginning with a slash; `/api/v2` before it is taken off.
    pub path: String,
    /// Parameters.
    pub query: Vec<(String, String)>,
    /// What is sent along.
    pub body: AskBody,
}

/// What is sent along.
#[derive(Clone, Debug)]
pub enum AskBody {
    /// Nothing.
    Nothing,
    /// A form.
    Form(Vec<(String, String)>),
    /// JSON.
    Json(serde_json::Value),
}

/// A successful answer, as it came.
#[derive(Clone, Debug)]
pub struct AskAnswer {
    /// All of it.
    pub body: Vec<u8>,
}

impl AskRequest {
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
    pub async fn ask(&self, ask: AskRequest) -> ClientResult<AskAnswer> {
        let invalid = |why: String| Error::new(ErrorKind::Invalid, why);
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
        let mut request = ApiRequest::new(method, path, lane).accepting("application/json, */*");
        request.query = owned(ask.query);
        request.body = match ask.body {
            AskBody::Nothing => Body::Nothing,
            AskBody::Form(fields) => Body::Form(owned(fields)),
            AskBody::Json(value) => Body::Json(value),
        };
        let answer = self.send(request.with_size(AnswerSize::Big).for_a_file()).await?;
        Ok(AskAnswer { body: answer.body })
    }
}

fn owned(pairs: Vec<(String, String)>) -> Vec<(std::borrow::Cow<'static, str>, String)> {
    pairs.into_iter().map(|(name, value)| (name.into(), value)).collect()
}
