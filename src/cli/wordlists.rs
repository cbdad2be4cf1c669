//! `scandeck wordlists`: the wordlists of the service, and `import` into the local service, for
//! which the API has no endpoint.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::dashboard::headless::{ServiceArgs, wordlists as calls};
use super::service::{DataDirArg, wordlists as local};

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck wordlists import ./paths.txt --name \"Shop paths\" --description \"from the sitemap\"")]
pub struct WordlistsArgs {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(flatten)]
    directory: DataDirArg,
    #[command(subcommand)]
    command: WordlistsCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum WordlistsCommand {
    #[command(flatten)]
    Call(calls::WordlistsCall),
    #[command(flatten)]
    Import(local::WordlistsImport),
}

/// Runs the command.
///
/// # Errors
/// When the file or the database is unreadable, the file has no words, the name is taken, or the
/// service rejects the call.
pub async fn run(args: WordlistsArgs) -> anyhow::Result<ExitCode> {
    let (service, directory) = (&args.service, &args.directory);
    match args.command {
        WordlistsCommand::Call(call) => calls::run(service, call).await,
        WordlistsCommand::Import(import) => {
            let check = |local: Option<&str>| calls::check_import(service, local);
            local::run(directory, import, check).await
        }
    }
}
