//! `scandeck keys`: without a subcommand the keys of the dashboard, with one the API keys of the
//! local service.

use std::process::ExitCode;

use clap::Args;

#[cfg(feature = "dashboard")]
use super::key_table::{self, KeyTableArgs};
#[cfg(feature = "service")]
use super::service::{DataDirArg, keys};

#[derive(Args, Clone, Debug)]
#[cfg_attr(
    not(feature = "dashboard"),
    command(arg_required_else_help = true, subcommand_required = true)
)]
#[command(after_help = "Example:
  scandeck keys
  (umask 077; scandeck keys add ci --role scan > ci.key)")]
pub struct KeysArgs {
    #[cfg(feature = "dashboard")]
    #[command(flatten)]
    table: KeyTableArgs,
    #[cfg(feature = "service")]
    #[command(flatten)]
    directory: DataDirArg,
    #[cfg(feature = "service")]
    #[command(subcommand)]
    command: Option<keys::KeysCommand>,
}

/// Runs the command.
///
/// # Errors
/// Those of the table or of the subcommand.
pub async fn run(args: KeysArgs) -> anyhow::Result<ExitCode> {
    #[cfg(feature = "service")]
    if let Some(command) = args.command {
        #[cfg(feature = "dashboard")]
        if args.table.is_given() {
            let hint = "remove these flags, or the subcommand";
            return Err(super::error::CliError::usage(
                "--json and --config are for the keyboard keys",
                hint,
            )
            .into());
        }
        return keys::run(&args.directory, command).await;
    }
    #[cfg(feature = "dashboard")]
    return key_table::run(&args.table);
    #[cfg(not(feature = "dashboard"))]
    anyhow::bail!("no command; `scandeck keys --help` lists the commands")
}
