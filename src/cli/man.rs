//! `scandeck man DIR`: writes the manual pages, one per command, from the definitions of the command line.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Command};

use crate::text::plural;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck man ~/.local/share/man/man1
  man scandeck-findings-list")]
pub struct ManArgs {
    /// Directory of the pages, created if missing; pages of an earlier version are replaced
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Writes the pages.
///
/// # Errors
/// When the directory or a page cannot be written.
pub fn run(args: &ManArgs, command: Command) -> anyhow::Result<ExitCode> {
    let directory = args.directory.display();
    let unwritable = || format!("manual pages not written to {directory}");
    std::fs::create_dir_all(&args.directory).with_context(unwritable)?;
    let pages = count(&command);
    clap_mangen::generate_to(command.disable_help_subcommand(true), &args.directory).with_context(unwritable)?;
    note!("{} written to {directory}", plural(pages, "manual page"));
    Ok(ExitCode::SUCCESS)
}

/// The command and all its subcommands that are shown.
fn count(command: &Command) -> usize {
    1 + command.get_subcommands().filter(|command| !command.is_hide_set()).map(count).sum::<usize>()
}
