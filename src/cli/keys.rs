//! `scandeck keys`: without a subcommand the keys of the dashboard, with one the API keys of the
//! local service.

use std::process::ExitCode;

use clap::Args;

use super::dashboard::key_table::{self, KeyTableArgs};
use super::error::CliError;
use super::service::{DataDirArg, keys};

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck keys
  (umask 077; scandeck keys add ci --role scan > ci.key)")]
pub struct KeysArgs {
    #[command(flatten)]
    table: KeyTableArgs,
    #[command(flatten)]
    directory: DataDirArg,
    #[command(subcommand)]
    command: Option<keys::KeysCommand>,
}

/// Runs the command.
///
/// # Errors
/// Those of the table or of the subcommand.
pub async fn run(args: KeysArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        None => key_table::run(&args.table),
        Some(_) if args.table.is_given() => Err(CliError::usage(
            "--json and --config are for the keyboard keys",
            "remove these flags, or the subcommand",
        )
        .into()),
        Some(command) => keys::run(&args.directory, command).await,
    }
}
