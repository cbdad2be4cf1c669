//! The file of an import, which the store has in compressed parts.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};

use flate2::read::MultiGzDecoder;

use crate::state::App;
use crate::store::DatabaseError;
use scandeck_wire::contract::ImportId;

/// Copies the compressed file of an import from the store into an unnamed file.
///
/// # Errors
/// When the database fails, the disk is full, or the file was deleted meanwhile.
pub async fn copy_import_file(app: &App, id: ImportId) -> Result<File, DatabaseError> {
    let (parts, _) = app.store.import_size(id).await?;
    let dir = app.settings.data_dir.clone();
    let created = tokio::task::spawn_blocking(move || tempfile::tempfile_in(dir));
    let mut file = created.await.map_err(io::Error::other)??;
    for position in 0..parts {
        let part = app.store.import_part(id, position).await?;
        let written = tokio::task::spawn_blocking(move || {
            file.write_all(&part)?;
            io::Result::Ok(file)
        });
        file = written.await.map_err(io::Error::other)??;
    }
    Ok(file)
}

/// The bytes of the original file.
///
/// # Errors
/// When the file cannot be read from its start.
pub fn unpacked(mut file: File) -> io::Result<impl Read> {
    file.rewind()?;
    Ok(MultiGzDecoder::new(BufReader::new(file)))
}
