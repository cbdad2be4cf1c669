//! Opening a shared file, one process at a time. A file that cannot be written is opened read-only.
//! A corrupt file is set aside, and its readable rows are imported into a new one.

use std::path::Path;

use sqlx::migrate::Migrator;

use super::{BrokenFile, FileKind, OpeningLock, SharedFile, StoreError, beside};

/// A store with the data that it read when it was opened.
pub trait Opening: Sized + Send {
    const KIND: FileKind;

    /// The readable rows of a corrupt file.
    type Salvage: Send;

    /// Reads the file; `notes` are notices about its opening so far.
    fn read(
        file: SharedFile,
        notes: Vec<String>,
    ) -> impl Future<Output = Result<Self, StoreError>> + Send;

    /// Reads the readable rows of a corrupt file.
    fn salvage(file: &mut BrokenFile) -> impl Future<Output = Self::Salvage> + Send;

    /// The number of salvaged rows, as text.
    fn summary(salvage: &Self::Salvage) -> String;

    /// Stores salvaged rows in the new file.
    fn import(
        &mut self,
        salvage: Self::Salvage,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Notices for the user, one sentence each.
    fn notes(&mut self) -> &mut Vec<String>;

    fn close(self) -> impl Future<Output = ()> + Send;
}

/// Opens or creates the file in `directory`, which is created if necessary.
///
/// # Errors
/// When the file does not exist and cannot be created, was made by a newer program, or SQLite
/// refuses it for another reason than corruption.
pub async fn open<O: Opening>(directory: &Path, migrations: &Migrator) -> Result<O, StoreError> {
    let Some(_lock) = OpeningLock::wait(directory, &O::KIND).await? else {
        return open_read_only(directory, false).await;
    };
    match open_writable(directory, migrations).await {
        Err(StoreError::Broken { path, source }) => {
            replace_broken(directory, migrations, &path, &source).await
        }
        other => other,
    }
}

/// Opens the file for a reader: on a full disk as [`open_on_full_disk`].
///
/// # Errors
/// Those of [`open`].
pub async fn open_for_reading<O: Opening>(
    directory: &Path,
    migrations: &Migrator,
) -> Result<O, StoreError> {
    match open(directory, migrations).await {
        Err(error) if error.is_disk_full() => open_on_full_disk(directory).await.ok_or(error),
        other => other,
    }
}

/// Opens the file as one that cannot be written, because SQLite cannot make the index of the log on
/// a full disk. None when it cannot be read so, or has a log, whose rows would be missing.
pub async fn open_on_full_disk<O: Opening>(directory: &Path) -> Option<O> {
    let log = beside(&directory.join(O::KIND.name), "-wal");
    if std::fs::metadata(&log).is_ok_and(|found| found.len() > 0) {
        return None;
    }
    open_read_only(directory, true).await.ok()
}

async fn open_read_only<O: Opening>(directory: &Path, on_full_disk: bool) -> Result<O, StoreError> {
    let (mut file, mut notes) = SharedFile::open_read_only(directory, &O::KIND).await?;
    file.on_full_disk = on_full_disk;
    let (path, contents) = (file.path.display(), O::KIND.contents);
    notes.push(match on_full_disk {
        true => {
            format!("{path} is on a full disk: new {contents} cannot be saved until it has space")
        }
        false => format!("{path} is read-only: new {contents} are not saved"),
    });
    O::read(file, notes).await
}

async fn open_writable<O: Opening>(
    directory: &Path,
    migrations: &Migrator,
) -> Result<O, StoreError> {
    let (file, notes) = SharedFile::open(directory, &O::KIND, migrations).await?;
    O::read(file, notes).await
}

async fn replace_broken<O: Opening>(
    directory: &Path,
    migrations: &Migrator,
    path: &Path,
    why: &sqlx::Error,
) -> Result<O, StoreError> {
    let mut broken = BrokenFile::set_aside(path, O::KIND.contents).await?;
    let salvage = O::salvage(&mut broken).await;
    let summary = O::summary(&salvage);
    match open_with(salvage, directory, migrations).await {
        Ok(mut opened) => {
            let note = broken.close(path, why, &summary).await;
            O::notes(&mut opened).push(note);
            Ok(opened)
        }
        // An empty file in its place would hide the lost data.
        Err(error) => {
            broken.restore(path).await;
            Err(error)
        }
    }
}

/// A new file with salvaged rows; it is closed again when they cannot be stored.
async fn open_with<O: Opening>(
    salvage: O::Salvage,
    directory: &Path,
    migrations: &Migrator,
) -> Result<O, StoreError> {
    let mut opened: O = open_writable(directory, migrations).await?;
    match opened.import(salvage).await {
        Ok(()) => Ok(opened),
        Err(error) => {
            opened.close().await;
            Err(error)
        }
    }
}
