//! `scandeck wordlists`: list, show, contents, delete. `cli::service::wordlists` has the import.

use std::process::ExitCode;

use clap::Subcommand;

use super::session::load_config;
use super::{HeadlessSession, PrintTable, ServiceArgs, listed};
use crate::cli::error::CliError;
use scandeck_client::BaseUrl;
use scandeck_dashboard::config::Connection;
use scandeck_domain::table::columns::wordlist;
use scandeck_wire::contract::{Wordlist, WordlistId};
use scandeck_wire::text::plural;

#[derive(Subcommand, Clone, Debug)]
pub enum WordlistsCall {
    /// List all wordlists
    #[command(after_help = "Example:\n  scandeck wordlists list --json")]
    List,
    /// Show one wordlist without its words
    #[command(after_help = "Example:\n  scandeck wordlists show 3")]
    Show {
        /// Wordlist id
        id: WordlistId,
    },
    /// Print the words, one per line
    #[command(after_help = "Example:\n  scandeck wordlists contents 3 > words.txt")]
    Contents {
        /// Wordlist id
        id: WordlistId,
        /// On a terminal, print control characters unchanged
        #[arg(long)]
        raw: bool,
    },
    /// Delete a wordlist
    #[command(after_help = "Example:\n  scandeck wordlists delete 3 --yes")]
    Delete {
        /// Wordlist id
        id: WordlistId,
        /// Confirm the deletion
        #[arg(long)]
        yes: bool,
    },
}

/// Runs the command.
///
/// # Errors
/// Those of the service.
pub async fn run(service: &ServiceArgs, call: WordlistsCall) -> anyhow::Result<ExitCode> {
    let session = HeadlessSession::open(service).await?;
    listed("wordlists", run_on(&session, call).await)
}

/// Refuses an import while the commands use another service, which would not have the words.
/// `local` is the URL of the running local service.
///
/// # Errors
/// When the commands use another service, and when the configuration is invalid.
pub fn check_import(service: &ServiceArgs, local: Option<&str>) -> anyhow::Result<()> {
    let (_, config) = load_config(service)?;
    let Connection::Remote { base, .. } = &config.connection else {
        return Ok(());
    };
    let local = local.and_then(|url| BaseUrl::parse(url, true).ok());
    if local.as_ref() == Some(base) {
        return Ok(());
    }
    let message = format!(
        "wordlist not imported: {base} is not the local service, and the API has no import"
    );
    let hint = "run the command on the machine of the service, with --data-dir DIR";
    Err(CliError::new(message, hint).into())
}

async fn run_on(session: &HeadlessSession, call: WordlistsCall) -> anyhow::Result<ExitCode> {
    let (client, out) = (session.client()?, session.out);
    match call {
        WordlistsCall::List => {
            let all = client.list_wordlists().await?;
            out.list(&all, || table(&all))?;
        }
        WordlistsCall::Show { id } => out.single(&client.get_wordlist(id).await?)?,
        WordlistsCall::Contents { id, raw } => {
            let words = client.wordlist_contents(id).await?;
            if out.json {
                out.value(&words.lines().collect::<Vec<_>>())?;
            } else {
                out.with_raw(raw).outside(words.as_bytes())?;
            }
        }
        WordlistsCall::Delete { id, yes } => {
            let one = client.get_wordlist(id).await?;
            let words = plural(one.num_words.max(0) as usize, "word");
            session.confirm_delete(yes, &format!("wordlist {} with {words}", one.name))?;
            client.delete_wordlist(id).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn table(all: &[Wordlist]) -> PrintTable {
    let columns = [
        wordlist::ID,
        wordlist::NAME,
        wordlist::WORDS,
        wordlist::KIND,
        wordlist::DESCRIPTION,
    ];
    PrintTable::of_noun(columns, all)
}
