//! The keys of the dashboard as `scandeck keys` prints them: the key map with the changes of the
//! configuration.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use serde::Serialize;

use super::headless::{Output, PrintTable};
use crate::cli::error::CliError;
use scandeck_dashboard::config::{Config, Environment, KeySettings};
use scandeck_dashboard::input::Keymap;

#[derive(Args, Clone, Debug, Default)]
pub struct KeyTableArgs {
    /// Configuration file [default: $XDG_CONFIG_HOME/scandeck/config.toml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the key bindings as a JSON array
    #[arg(long)]
    json: bool,
}

impl KeyTableArgs {
    /// Whether an option of the table was given.
    pub fn is_given(&self) -> bool {
        self.json || self.config.is_some()
    }
}

/// An action of the dashboard in a context.
#[derive(Serialize)]
struct KeyTableRow {
    context: &'static str,
    action: &'static str,
    /// With the keys before them; none if the action is unbound.
    keys: Vec<String>,
    description: &'static str,
}

/// The key map with the changes of the configuration.
///
/// # Errors
/// When a change is invalid, with file and line.
pub fn effective(settings: &KeySettings) -> Result<Arc<Keymap>, CliError> {
    if settings.all.is_empty() && settings.commands.is_empty() {
        return Ok(Keymap::builtin());
    }
    match Keymap::builtin()
        .rebound(&settings.all)
        .and_then(|keymap| keymap.with_commands(&settings.commands))
    {
        Ok(keymap) => Ok(Arc::new(keymap)),
        Err(error) => Err(CliError::new(
            format!("{}:{}: {error}", settings.file, error.line),
            error.hint(),
        )),
    }
}

/// Prints the table.
///
/// # Errors
/// When the configuration is invalid, and when the output cannot be written.
pub fn run(args: &KeyTableArgs) -> anyhow::Result<ExitCode> {
    let keymap = effective(&Config::keys_of(
        args.config.as_deref(),
        &Environment::of_process()?,
    )?)?;
    let row = |entry: &scandeck_dashboard::input::Entry| KeyTableRow {
        context: entry.context.name(),
        action: entry.action.name(),
        keys: keymap.keys_of(entry.context, entry.action),
        description: entry.action.describe_in(entry.context),
    };
    let rows: Vec<KeyTableRow> = keymap.all().iter().map(row).collect();
    let table = || {
        PrintTable::of(["CONTEXT", "KEYS", "ACTION", "DESCRIPTION"], &rows, |row| {
            let keys = if row.keys.is_empty() {
                "–".to_owned()
            } else {
                row.keys.join("  ")
            };
            [
                row.context.to_owned(),
                keys,
                row.action.to_owned(),
                row.description.to_owned(),
            ]
        })
    };
    Output::new(args.json).list(&rows, table)?;
    Ok(ExitCode::SUCCESS)
}
