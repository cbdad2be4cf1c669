//! `scandeck api METHOD PATH`: any call of the API, with the key and the address of the profile.

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::{HeadlessSession, ServiceArgs};
use crate::cli::advised::Advised;
use crate::client::{FormPairs, RawRequest, RequestBody};

/// `scandeck api …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck api GET /scans --query workspace_id=3 --query limit=5
  scandeck api POST /scans --body '{\"tool_id\": 70, \"target_id\": 4}'
  scandeck api POST /reports --body @report.json

The answer is printed as it came; on a terminal made visible text first. What the service refuses is told on standard
error and ends with 1.")]
pub struct ApiArgs {
    #[command(flatten)]
    service: ServiceArgs,
    /// GET, POST, PUT, DELETE, …
    method: String,
    /// Below the base URL, such as /scans/7
    path: String,
    /// A parameter of the query
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    query: Vec<(String, String)>,
    /// A field of a form
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair, conflicts_with = "body")]
    form: Vec<(String, String)>,
    /// JSON, or @FILE with it
    #[arg(long, value_name = "JSON|@FILE")]
    body: Option<String>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn fields(pairs: Vec<(String, String)>) -> FormPairs {
    pairs.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

/// Makes the call.
///
/// # Errors
/// When the body is no JSON, and what the service refuses.
pub async fn run(args: ApiArgs) -> anyhow::Result<ExitCode> {
    let body = match args.body {
        Some(text) => RequestBody::Json(json("--body", &text)?),
        None if args.form.is_empty() => RequestBody::Empty,
        None => RequestBody::Form(fields(args.form)),
    };
    let session = HeadlessSession::open(&args.service).await?;
    let ask = RawRequest { method: args.method, path: args.path, query: fields(args.query), body };
    if !ask.is_reading() {
        session.may_change()?;
    }
    session.out.outside(&session.client()?.send_raw(ask).await?);
    Ok(ExitCode::SUCCESS)
}

/// JSON that was typed, or that a file behind `@` holds.
pub(super) fn json(flag: &str, text: &str) -> anyhow::Result<serde_json::Value> {
    let text = match text.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path).with_context(|| format!("{path} cannot be read"))?,
        None => text.to_owned(),
    };
    serde_json::from_str(&text).map_err(|error| {
        Advised::usage(format!("{flag} is no JSON: {error}"), "quote it for the shell, or use @FILE").into()
    })
}
