//! `scandeck wordlists`: those of the service, and `import`, which puts one into the local service, for which the API
//! has no endpoint.

use std::process::ExitCode;

use clap::{Args, Subcommand};

#[cfg(feature = "dashboard")]
use super::headless::wordlists::{WordlistsCall, run as call};
#[cfg(feature = "dashboard")]
use super::headless::{HeadlessSession, ServiceArgs};

/// `scandeck wordlists …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck wordlists import ./paths.txt --name \"Shop paths\" --description \"from the sitemap\"
  scandeck wordlists contents 3 > words.txt

import: one word a line; blank lines, lines that begin with `#` and repeated words do not count. A running service \
shows the list at once.")]
pub struct WordlistsArgs {
    #[cfg(feature = "dashboard")]
    #[command(flatten)]
    service: ServiceArgs,
    #[cfg(feature = "service")]
    #[command(flatten)]
    directory: super::data_dir::DataDirArg,
    #[command(subcommand)]
    command: WordlistsCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum WordlistsCommand {
    #[cfg(feature = "dashboard")]
    #[command(flatten)]
    Call(WordlistsCall),
    /// Reads a file into a new word list of the local service
    #[cfg(feature = "service")]
    Import(import::WordlistImportArgs),
}

/// Runs the command.
///
/// # Errors
/// When a file or the database cannot be read, a file has no words, a name is taken, and what the service refuses.
pub async fn run(args: WordlistsArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        #[cfg(feature = "dashboard")]
        WordlistsCommand::Call(asked) => call(&HeadlessSession::open(&args.service).await?, asked).await,
        #[cfg(feature = "service")]
        WordlistsCommand::Import(import) => import::run(&args.directory, import).await,
    }
}

/// Importing.
#[cfg(feature = "service")]
mod import {
    use std::path::PathBuf;
    use std::process::ExitCode;

    use anyhow::{Context, bail};
    use clap::Args;

    use crate::cli::data_dir::DataDirArg;
    use crate::service::import::{Imported, import_wordlist};

    #[derive(Args, Clone, Debug)]
    pub struct WordlistImportArgs {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// What the list is called [default: the file's name]
        #[arg(long, value_name = "TEXT")]
        name: Option<String>,
        /// What it is for
        #[arg(long, value_name = "TEXT", default_value = "")]
        description: String,
    }

    pub async fn run(directory: &DataDirArg, import: WordlistImportArgs) -> anyhow::Result<ExitCode> {
        let bytes = std::fs::read(&import.file).with_context(|| format!("{} cannot be read", import.file.display()))?;
        let Ok(text) = String::from_utf8(bytes) else { bail!("{} is no UTF-8 text", import.file.display()) };
        let stem = || import.file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = import.name.clone().or_else(stem).unwrap_or_default();
        match import_wordlist(&directory.open()?, name.trim(), &import.description, &text).await? {
            Imported::Done { id, words } => eprintln!("imported word list {id}, {}; words in it: {words}", name.trim()),
            Imported::Empty => bail!("{} has no words", import.file.display()),
            Imported::NameTaken => {
                bail!("a word list `{}` already exists; choose another name with --name", name.trim())
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
