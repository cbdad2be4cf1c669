//! `scandeck doctor`: checks the parts that scandeck depends on, each with its remedy.
//!
//! ```text
//!   terminal · configuration ─► connection · local service · stored data ─► Vec<Diagnosis> ─► lines or JSON, exit code
//! ```
//!
//! It changes nothing: no service is started, no file is created. A check that found a problem has
//! a remedy.

mod configuration;
mod connection;
#[cfg_attr(not(feature = "service"), path = "no_local.rs")]
mod local;
mod stores;
mod terminal;

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::headless::ServiceArgs;
use super::headless::print::Output;
use crate::cli::error::{hint, with_causes};
use crate::cli::service::DataDirArg;
use crate::cli::stdio;
use scandeck_dashboard::config::Environment;
use scandeck_dashboard::ui::wrap_hanging;
use scandeck_wire::text;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck doctor --profile prod")]
pub struct DoctorArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(flatten)]
    directory: DataDirArg,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// The part that was checked: a heading of the output.
    area: &'static str,
    check: String,
    state: DiagnosisState,
    /// The observation in one line.
    value: String,
    /// The next step, unless the state is `ok`.
    remedy: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DiagnosisState {
    Ok,
    /// scandeck works, with a limitation.
    Warning,
    /// A part of scandeck does not work.
    Failed,
}

impl Diagnosis {
    fn ok(area: &'static str, check: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            area,
            check: check.into(),
            state: DiagnosisState::Ok,
            value: value.into(),
            remedy: None,
        }
    }

    fn warning(self, remedy: impl Into<String>) -> Self {
        Self {
            state: DiagnosisState::Warning,
            remedy: Some(remedy.into()),
            ..self
        }
    }

    fn failed(self, remedy: impl Into<String>) -> Self {
        Self {
            state: DiagnosisState::Failed,
            remedy: Some(remedy.into()),
            ..self
        }
    }

    /// The check failed with this error, whose hint is the remedy.
    fn with_error(self, error: &anyhow::Error) -> Self {
        let value = match self.value.is_empty() {
            true => with_causes(error),
            false => format!("{}: {}", self.value, with_causes(error)),
        };
        let remedy = hint(error).unwrap_or_else(|| "see the error".to_owned());
        Self { value, ..self }.failed(remedy)
    }
}

/// Runs the checks. The exit code is 1 if one of them failed.
///
/// # Errors
/// When the output cannot be written.
pub async fn run(args: DoctorArgs) -> anyhow::Result<ExitCode> {
    let environment = Environment::of_process()?;
    let mut all = vec![Diagnosis::ok(
        "versions",
        "scandeck",
        env!("CARGO_PKG_VERSION"),
    )];
    let (terminal, background) = terminal::check().await;
    all.extend(terminal);
    all.extend(configuration::check(&args.service, &environment, background).await);
    all.extend(local::check(&environment, &args.directory).await);
    all.extend(stores::check(&environment.state_dir()));
    if args.service.json {
        Output::new(true).value(&all)?;
    } else {
        stdio::print(lines(&all, Output::new(false).columns()).as_bytes())?;
    }
    Ok(
        match all
            .iter()
            .any(|diagnosis| diagnosis.state == DiagnosisState::Failed)
        {
            true => ExitCode::FAILURE,
            false => ExitCode::SUCCESS,
        },
    )
}

/// A heading for each area, a line for each check, and its remedy below it; on a terminal wrapped
/// between words.
fn lines(all: &[Diagnosis], columns: Option<u16>) -> String {
    let width = all
        .iter()
        .map(|diagnosis| text::width(&diagnosis.check))
        .max()
        .unwrap_or_default();
    let mut out = String::new();
    for group in all.chunk_by(|one, next| one.area == next.area) {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(group[0].area);
        out.push('\n');
        for Diagnosis {
            check,
            state,
            value,
            remedy,
            ..
        } in group
        {
            let word = match state {
                DiagnosisState::Ok => "ok",
                DiagnosisState::Warning => "warning",
                DiagnosisState::Failed => "failed",
            };
            let (check, value) = (text::clean(check), text::clean(value));
            let pad = " ".repeat(width - text::width(&check).min(width));
            push_wrapped(
                &mut out,
                format!("  {word:7}  {check}{pad}  {value}"),
                width + 13,
                columns,
            );
            if let Some(remedy) = remedy {
                let remedy = format!("  {:7}  {:width$}  remedy: {}", "", "", text::clean(remedy));
                push_wrapped(&mut out, remedy, width + 21, columns);
            }
        }
    }
    out
}

/// Adds a line; what has no room continues under its beginning after `hang` columns.
fn push_wrapped(out: &mut String, line: String, hang: usize, columns: Option<u16>) {
    let lines = match columns {
        Some(columns) => wrap_hanging(line.into(), columns, hang.min(usize::from(columns / 2))),
        None => vec![line.into()],
    };
    for line in lines {
        out.push_str(line.to_string().trim_end());
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_a_heading_per_area_and_the_remedy_below_its_check() {
        let all = [
            Diagnosis::ok("terminal", "size", "80 columns, 24 rows"),
            Diagnosis::ok("terminal", "clipboard", "no\x1b[2J copies").warning("use tmux"),
            Diagnosis::ok("connection", "service", "down").failed("start it"),
        ];
        assert_eq!(
            lines(&all, None),
            "terminal\n  ok       size       80 columns, 24 rows\n  warning  clipboard  no␛[2J copies\n\
            \x20                     remedy: use tmux\n\nconnection\n  failed   service    down\n\
            \x20                     remedy: start it\n"
        );
    }

    #[test]
    fn lines_break_between_words_on_a_terminal() {
        let all = [
            Diagnosis::ok("stored data", "cache", "three files of the last session")
                .warning("delete them"),
        ];
        assert_eq!(
            lines(&all, Some(37)),
            "stored data\n  warning  cache  three files of the\n                  last session\n\
             \x20                 remedy: delete them\n"
        );
    }
}
