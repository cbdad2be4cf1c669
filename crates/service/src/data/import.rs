//! Imports a wordlist into a data directory, with or without a running service
//! (`scandeck wordlists import`).

use crate::data::data_dir::{DataDir, DirLock, Holder};
use crate::errors::StartError;
use crate::store::Store;
use crate::wordlist_words::WordlistWords;
use scandeck_wire::contract::WordlistId;

/// The result of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imported {
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
) -> Result<Imported, StartError> {
    let words = WordlistWords::parse(text);
    if words.count() == 0 {
        return Ok(Imported::Empty);
    }
    let (store, _lock) = open_store(dir).await?;
    let id = store
        .import_wordlist(name, description, &words)
        .await
        .map_err(StartError::Store);
    store.close().await;
    Ok(match id? {
        Some(id) => Imported::Done {
            id,
            words: words.count(),
        },
        None => Imported::NameTaken,
    })
}

/// Opens the store for a command, with or without a running service. The lock prevents a service
/// from starting, and migrating, meanwhile.
pub(crate) async fn open_store(dir: &DataDir) -> Result<(Store, Option<DirLock>), StartError> {
    let files = |cause| StartError::Files {
        path: dir.path().to_owned(),
        cause,
    };
    let running = matches!(dir.holder().map_err(files)?, Holder::Running(_));
    let lock = if running {
        None
    } else {
        dir.lock().await.map_err(files)?
    };
    let store = match running {
        true => dir.open_store_beside().await?,
        false => dir.open_store().await?.store,
    };
    Ok((store, lock))
}
