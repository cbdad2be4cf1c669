//! `scandeck api METHOD PATH`: any call of the API, with the base URL and the key of the profile.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;

use super::{HeadlessSession, ServiceArgs};
use crate::cli::error::CliError;
use crate::cli::input::read_input;
use scandeck_client::{FormPairs, RawRequest, RequestBody};
use scandeck_wire::input_files::InputKind;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck api POST /scans --body '{\"tool_id\": 70, \"target_id\": 4}'")]
pub struct ApiArgs {
    /// GET, POST, PUT, DELETE, …
    method: String,
    /// Path below the base URL, such as /scans/7
    path: String,
    /// Query parameter; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    query: Vec<(String, String)>,
    /// Form field; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair, conflicts_with = "body")]
    form: Vec<(String, String)>,
    /// JSON body, or @FILE
    #[arg(long, value_name = "JSON|@FILE")]
    body: Option<String>,
    /// On a terminal, print control characters unchanged
    #[arg(long)]
    raw: bool,
    // Last, because its heading applies to all later arguments.
    #[command(flatten)]
    service: ServiceArgs,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("use NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Sends the request and prints the response body.
///
/// # Errors
/// When the body is not JSON, and those of the service.
pub async fn run(args: ApiArgs) -> anyhow::Result<ExitCode> {
    let fields = |pairs: Vec<(String, String)>| -> FormPairs {
        pairs
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect()
    };
    if !args.path.starts_with('/') {
        let hint = format!(
            "for example `scandeck api GET /{}`",
            args.path.rsplit('/').next_back().unwrap_or_default()
        );
        return Err(CliError::usage("PATH must begin with /", hint).into());
    }
    let body = match args.body {
        Some(text) => RequestBody::Json(json("--body", &text)?),
        None if args.form.is_empty() => RequestBody::Empty,
        None => RequestBody::Form(fields(args.form)),
    };
    let session = HeadlessSession::open(&args.service).await?;
    let request = RawRequest {
        method: args.method,
        path: args.path,
        query: fields(args.query),
        body,
    };
    if !request.is_reading() {
        session.require_writable()?;
    }
    let answer = session.client()?.send_raw(request).await?;
    session.out.with_raw(args.raw).outside(&answer)?;
    Ok(ExitCode::SUCCESS)
}

/// Parses a JSON argument, or the file after `@`.
pub(super) fn json(flag: &str, text: &str) -> anyhow::Result<serde_json::Value> {
    let text = match text.strip_prefix('@') {
        Some(path) => read_input(Path::new(path), InputKind::Parameters)?,
        None => text.to_owned(),
    };
    serde_json::from_str(&text).map_err(|error| {
        let cause = match error.is_eof() {
            true => "a closing brace, bracket or quotation mark is missing".to_owned(),
            false => error.to_string(),
        };
        CliError::usage(
            format!("{flag} is not JSON: {cause}"),
            "quote the JSON for the shell, or use @FILE",
        )
        .into()
    })
}
