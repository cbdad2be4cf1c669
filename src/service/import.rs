//! Importing a word list into a data directory, whether or not a service runs on it (`scandeck wordlists import`).

use super::data_dir::{DataDir, Holder};
use super::errors::StartError;
use super::store::Store;
use super::words::WordlistWords;
use crate::contract::WordlistId;

/// What became of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imported {
    /// It is there, with so many words.
    Done {
        /// Its id in the API.
        id: WordlistId,
        /// Words without blanks, comments and duplicates.
        words: i64,
    },
    /// The file has no words.
    Empty,
    /// Another list has the name.
    NameTaken,
}

/// Reads `text`, a word a line, into the list `name`.
///
/// # Errors
/// When the database cannot be opened or written.
pub async fn import_wordlist(dir: &DataDir, name: &str, description: &str, text: &str) -> Result<Imported, StartError> {
    let words = WordlistWords::parse(text);
    if words.count() == 0 {
        return Ok(Imported::Empty);
    }
    let files = |source| StartError::Files { path: dir.path().to_owned(), source };
    let running = matches!(dir.holder().map_err(files)?, Holder::Running(_));
    // The lock keeps a service from starting, and migrating, while the list is written.
    let _lock = if running { None } else { dir.hold().await.map_err(files)? };
    let store = match running {
        true => Store::open_beside(&dir.database()).await?,
        false => Store::open(&dir.database()).await?.store,
    };
    let id = store.import_wordlist(name, description, &words).await.map_err(StartError::Store);
    store.close().await;
    Ok(match id? {
        Some(id) => Imported::Done { id, words: words.count() },
        None => Imported::NameTaken,
    })
}
