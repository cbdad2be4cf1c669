//! Opening a shared file: in turn, read-only where it cannot be written; one that is broken is put aside, and a new file
//! takes what can be read of it.

use std::path::Path;

use sqlx::migrate::Migrator;

use super::{Aside, FileKind, OpeningTurn, SharedFile, StoreError};

/// A store with what was read at its opening.
pub trait Opening: Sized + Send {
    /// Its file.
    const KIND: FileKind;

    /// What could be read of a broken file.
    type Left: Send;

    /// Reads what is there; `notes` are what a person should know so far.
    fn read(file: SharedFile, notes: Vec<String>) -> impl Future<Output = Result<Self, StoreError>> + Send;

    /// Reads what is left of a broken file.
    fn left(aside: &mut Aside) -> impl Future<Output = Self::Left> + Send;

    /// How much that is, for people.
    fn told(left: &Self::Left) -> String;

    /// Keeps it, in the file and in memory.
    fn take_over(&mut self, left: Self::Left) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// What a person should know, a sentence each.
    fn notes(&mut self) -> &mut Vec<String>;

    /// Closes the file.
    fn close(self) -> impl Future<Output = ()> + Send;
}

/// Opens or makes the file in a directory, which is made too.
///
/// # Errors
/// When there is none and none can be made, it is of a newer program, or SQLite refuses it for another reason than that it
/// is broken.
pub async fn open<O: Opening>(directory: &Path, migrations: &Migrator) -> Result<O, StoreError> {
    let Some(turn) = OpeningTurn::wait(directory, &O::KIND).await? else {
        let (file, mut notes) = SharedFile::open_read_only(directory, &O::KIND).await?;
        notes.push(format!("{} cannot be written: new {} are not kept", file.path.display(), O::KIND.what));
        return O::read(file, notes).await;
    };
    let opened = match opened(directory, migrations).await {
        Err(StoreError::Broken { path, source }) => rescued(directory, migrations, &path, &source).await,
        other => other,
    };
    drop(turn);
    opened
}

async fn opened<O: Opening>(directory: &Path, migrations: &Migrator) -> Result<O, StoreError> {
    let (file, notes) = SharedFile::open(directory, &O::KIND, migrations).await?;
    O::read(file, notes).await
}

async fn rescued<O: Opening>(
    directory: &Path,
    migrations: &Migrator,
    path: &Path,
    why: &sqlx::Error,
) -> Result<O, StoreError> {
    let mut aside = Aside::put(path, O::KIND.what).await?;
    let left = O::left(&mut aside).await;
    let told = O::told(&left);
    match begun_with(left, directory, migrations).await {
        Ok(mut opened) => {
            let note = aside.close(path, why, &told).await;
            O::notes(&mut opened).push(note);
            Ok(opened)
        }
        // An empty file in its place would look as if nothing had ever been there.
        Err(error) => {
            aside.back(path).await;
            Err(error)
        }
    }
}

/// A new file with what is left of the old one; closed again where that cannot be kept.
async fn begun_with<O: Opening>(left: O::Left, directory: &Path, migrations: &Migrator) -> Result<O, StoreError> {
    let mut opened: O = opened(directory, migrations).await?;
    match opened.take_over(left).await {
        Ok(()) => Ok(opened),
        Err(error) => {
            opened.close().await;
            Err(error)
        }
    }
}
