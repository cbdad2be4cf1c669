//! `scandeck wordlists`: list, show, contents, delete. Importing into the local service is beside it.

use std::process::ExitCode;

use clap::Subcommand;

use super::{HeadlessSession, PrintTable};
use crate::contract::WordlistId;
use crate::text::plural;

/// What the API does with word lists.
#[derive(Subcommand, Clone, Debug)]
pub enum WordlistsCall {
    /// Every word list
    List,
    /// One, without its words
    Show {
        /// Its id
        id: WordlistId,
    },
    /// Its words, one a line
    Contents {
        /// Its id
        id: WordlistId,
    },
    /// Deletes one
    Delete {
        /// Its id
        id: WordlistId,
        /// Do it
        #[arg(long)]
        yes: bool,
    },
}

/// Runs the command.
///
/// # Errors
/// What the service refuses.
pub async fn run(session: &HeadlessSession, call: WordlistsCall) -> anyhow::Result<ExitCode> {
    let (client, out) = (session.client()?, session.out);
    match call {
        WordlistsCall::List => {
            let all = client.list_wordlists().await?;
            out.list(&all, || {
                let mut table = PrintTable::new(&["ID", "NAME", "WORDS", "PREDEFINED", "DESCRIPTION"]);
                for one in &all {
                    let predefined = if one.predefined { "yes" } else { "no" };
                    table.row([
                        one.id.to_string(),
                        one.name.to_string(),
                        one.num_words.to_string(),
                        predefined.to_owned(),
                        one.description.to_string(),
                    ]);
                }
                table
            })?;
        }
        WordlistsCall::Show { id } => out.single(&client.get_wordlist(id).await?)?,
        WordlistsCall::Contents { id } => {
            let words = client.wordlist_contents(id).await?;
            if out.json {
                out.value(&words.lines().collect::<Vec<_>>())?;
            } else {
                out.outside(words.as_bytes());
            }
        }
        WordlistsCall::Delete { id, yes } => {
            let one = client.get_wordlist(id).await?;
            let words = plural(one.num_words.max(0) as usize, "word");
            session.may_delete(yes, &format!("the word list {} with {words}", one.name))?;
            client.delete_wordlist(id).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
