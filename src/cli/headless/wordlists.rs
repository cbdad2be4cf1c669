//! `scandeck wordlists`: list, show, contents, delete. The parent module has the import into the
//! local service.

use std::process::ExitCode;

use clap::Subcommand;

use super::print::cells;
use super::{HeadlessSession, PrintTable};
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
pub async fn run(session: &HeadlessSession, call: WordlistsCall) -> anyhow::Result<ExitCode> {
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
    PrintTable::of(
        ["ID", "NAME", "WORDS", "PREDEFINED", "DESCRIPTION"],
        all,
        |one| {
            let predefined = if one.predefined { "yes" } else { "no" };
            cells![one.id, one.name, one.num_words, predefined, one.description]
        },
    )
}
