//! `scandeck wordlists import`: puts a word list into the local service, for which the API has no endpoint.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};

use super::data_dir::DataDirArg;
use crate::service::import::{Imported, import_wordlist};

/// `scandeck wordlists …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck wordlists import ./paths.txt --name \"Shop paths\" --description \"from the sitemap\"

One word a line; blank lines, lines that begin with `#` and repeated words do not count. A running service shows \
the list at once.")]
pub struct WordlistsArgs {
    #[command(flatten)]
    directory: DataDirArg,
    #[command(subcommand)]
    command: WordlistsCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum WordlistsCommand {
    /// Reads a file into a new word list
    Import(ImportArgs),
}

#[derive(Args, Clone, Debug)]
struct ImportArgs {
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

/// Imports a word list.
///
/// # Errors
/// When the file or the database cannot be read, the file has no words, or the name is taken.
pub async fn run(args: WordlistsArgs) -> anyhow::Result<ExitCode> {
    let dir = args.directory.open()?;
    let WordlistsCommand::Import(import) = args.command;
    let bytes = std::fs::read(&import.file).with_context(|| format!("{} cannot be read", import.file.display()))?;
    let Ok(text) = String::from_utf8(bytes) else { bail!("{} is no UTF-8 text", import.file.display()) };
    let stem = || import.file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = import.name.clone().or_else(stem).unwrap_or_default();
    match import_wordlist(&dir, name.trim(), &import.description, &text).await? {
        Imported::Done { id, words } => eprintln!("imported {words} words as word list {id}, {}", name.trim()),
        Imported::Empty => bail!("{} has no words", import.file.display()),
        Imported::NameTaken => bail!("a word list `{}` already exists; choose another name with --name", name.trim()),
    }
    Ok(ExitCode::SUCCESS)
}
