//! Imports a wordlist into a data directory, with or without a running service
//! (`scandeck wordlists import`).

use crate::data::data_dir::DataDir;
use crate::errors::StartError;
use crate::wordlist_words::WordlistWords;
use scandeck_wire::contract::WordlistId;

/// The result of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportedWordlist {
    /// The new list and its number of words.
    Done {
        id: WordlistId,
        words: i64,
    },
    /// The file has no words.
    Empty,
    NameTaken,
}

/// Imports `text`, one word per line, as the list `name`.
///
/// # Errors
/// When the database cannot be opened or written.
pub async fn import_wordlist(
    dir: &DataDir,
    name: &str,
    description: &str,
    text: &str,
) -> Result<ImportedWordlist, StartError> {
    let words = WordlistWords::parse(text);
    if words.count() == 0 {
        return Ok(ImportedWordlist::Empty);
    }
    let (store, _lock) = dir.open_store_for_command().await?;
    let id = store
        .import_wordlist(name, description, &words)
        .await
        .map_err(StartError::Store);
    store.close().await;
    Ok(match id? {
        Some(id) => ImportedWordlist::Done {
            id,
            words: words.count(),
        },
        None => ImportedWordlist::NameTaken,
    })
}
