//! `scandeck wordlists import`: a wordlist for the local service from a file.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};

use super::DataDirArg;
use crate::cli::input::read_input;
use scandeck_service::wordlists::{ImportedWordlist, import_wordlist};
use scandeck_wire::input_files::InputKind;
use scandeck_wire::text::plural;

#[derive(Subcommand, Clone, Debug)]
pub enum WordlistsImport {
    /// Import a file into the local service: one word per line; lines that start with # are ignored
    #[command(
        after_help = "Example:\n  scandeck wordlists import ./paths.txt --name \"Shop paths\""
    )]
    Import(WordlistImportArgs),
}

#[derive(Args, Clone, Debug)]
pub struct WordlistImportArgs {
    /// The file
    file: PathBuf,
    /// Name of the wordlist [default: name of the file]
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Description of the wordlist
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    description: String,
}

/// Imports the file. Without `--data-dir`, `check` refuses an import while the commands use another
/// service than the running local one, whose URL it receives.
///
/// # Errors
/// When the file or the database is unreadable, the file has no words, or the name is taken.
pub async fn run(
    directory: &DataDirArg,
    command: WordlistsImport,
    check: impl FnOnce(Option<&str>) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    let WordlistsImport::Import(import) = command;
    if directory.data_dir.is_none() {
        let running = directory.existing()?.and_then(|directory| directory.info());
        check(running.as_ref().map(|info| info.base_url.as_str()))?;
    }
    let file = import.file.display();
    let text = read_input(&import.file, InputKind::Wordlist)?;
    let stem = import.file.file_stem().unwrap_or_default();
    let name = import
        .name
        .unwrap_or_else(|| stem.to_string_lossy().into_owned());
    let name = name.trim();
    let directory = directory.open()?;
    let place = directory.path().display();
    match import_wordlist(&directory, name, &import.description, &text).await? {
        ImportedWordlist::Done { id, words } => {
            let words = plural(words.max(0) as usize, "word");
            note!(
                "wordlist {name:?} imported into the local service in {place} (id {id}, {words})"
            );
        }
        ImportedWordlist::Empty => bail!("{file} has no words"),
        ImportedWordlist::NameTaken => {
            bail!("wordlist `{name}` already exists; choose another name with --name")
        }
    }
    Ok(ExitCode::SUCCESS)
}
