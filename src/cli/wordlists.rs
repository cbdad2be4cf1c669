//! `scandeck wordlists`: the wordlists of the service, and `import` into the local service, for
//! which the API has no endpoint.

use std::process::ExitCode;

use clap::{Args, Subcommand};

#[cfg(feature = "dashboard")]
use super::headless::wordlists::{WordlistsCall, run as call};
#[cfg(feature = "dashboard")]
use super::headless::{HeadlessSession, ServiceArgs, listed};
#[cfg(all(feature = "dashboard", feature = "service"))]
use super::{error::CliError, headless::session::load_config};
#[cfg(all(feature = "dashboard", feature = "service"))]
use crate::{client::BaseUrl, config::Connection};

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck wordlists import ./paths.txt --name \"Shop paths\" --description \"from the sitemap\"")]
pub struct WordlistsArgs {
    #[cfg(feature = "dashboard")]
    #[command(flatten)]
    service: ServiceArgs,
    #[cfg(feature = "service")]
    #[command(flatten)]
    directory: super::service::DataDirArg,
    #[command(subcommand)]
    command: WordlistsCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum WordlistsCommand {
    #[cfg(feature = "dashboard")]
    #[command(flatten)]
    Call(WordlistsCall),
    /// Import a file into the local service: one word per line; lines that start with # are ignored
    #[cfg(feature = "service")]
    #[command(
        after_help = "Example:\n  scandeck wordlists import ./paths.txt --name \"Shop paths\""
    )]
    Import(import::WordlistImportArgs),
}

/// Runs the command.
///
/// # Errors
/// When the file or the database is unreadable, the file has no words, the name is taken, or the
/// service rejects the call.
pub async fn run(args: WordlistsArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        #[cfg(feature = "dashboard")]
        WordlistsCommand::Call(command) => listed(
            "wordlists",
            call(&HeadlessSession::open(&args.service).await?, command).await,
        ),
        #[cfg(feature = "service")]
        WordlistsCommand::Import(import) => {
            #[cfg(feature = "dashboard")]
            check_service(&args.service, &args.directory)?;
            import::run(&args.directory, import).await
        }
    }
}

/// Refuses an import while the commands use another service, which would not have the words.
#[cfg(all(feature = "dashboard", feature = "service"))]
fn check_service(
    service: &ServiceArgs,
    directory: &super::service::DataDirArg,
) -> anyhow::Result<()> {
    if directory.data_dir.is_some() {
        return Ok(());
    }
    let (_, config) = load_config(service)?;
    let Connection::Remote { base, .. } = &config.connection else {
        return Ok(());
    };
    let local = directory.existing()?.and_then(|directory| directory.info());
    let local = local.and_then(|info| BaseUrl::parse(info.base_url.as_str(), true).ok());
    if local.as_ref() == Some(base) {
        return Ok(());
    }
    let message = format!(
        "wordlist not imported: {base} is not the local service, and the API has no import"
    );
    Err(CliError::new(
        message,
        "run the command on the machine of the service, with --data-dir DIR",
    )
    .into())
}

#[cfg(feature = "service")]
mod import {
    use std::path::PathBuf;
    use std::process::ExitCode;

    use anyhow::bail;
    use clap::Args;

    use crate::cli::read_input;
    use crate::cli::service::DataDirArg;
    use scandeck_service::import::{Imported, import_wordlist};
    use scandeck_wire::input_files::InputKind;
    use scandeck_wire::text::plural;

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

    pub async fn run(
        directory: &DataDirArg,
        import: WordlistImportArgs,
    ) -> anyhow::Result<ExitCode> {
        let file = import.file.display();
        let text = read_input(&import.file, InputKind::Wordlist)?;
        let stem = || {
            import
                .file
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
        };
        let name = import.name.clone().or_else(stem).unwrap_or_default();
        let name = name.trim();
        let directory = directory.open()?;
        let place = directory.path().display();
        match import_wordlist(&directory, name, &import.description, &text).await? {
            Imported::Done { id, words } => {
                let words = plural(words.max(0) as usize, "word");
                note!(
                    "wordlist {name:?} imported into the local service in {place} (id {id}, {words})"
                );
            }
            Imported::Empty => bail!("{file} has no words"),
            Imported::NameTaken => {
                bail!("wordlist `{name}` already exists; choose another name with --name")
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
