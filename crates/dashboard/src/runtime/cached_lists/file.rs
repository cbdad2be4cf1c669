//! The file of a list: the number of its items, then each item as the API sends it.

use crate::poller::FindingTextFiles;
use jiff::Timestamp;
use scandeck_domain::table::{Item, Table};
use scandeck_domain::triage::ListedFinding;
use scandeck_wire::contract::Stamp;
use scandeck_wire::contract::shared::{interned, interned_briefly};
use scandeck_wire::input_files::open_regular;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Deserializer;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

/// Writes a list atomically. The modification time of the file is the time at which the service
/// sent the list.
pub(crate) fn write<T: Item + Serialize>(
    path: &Path,
    table: &Table<T>,
    at: Stamp,
) -> io::Result<()> {
    whole(path, |file| {
        let mut to = BufWriter::with_capacity(1 << 16, &mut *file);
        write!(to, "{}", table.len())?;
        for item in table.items() {
            to.write_all(b"\n")?;
            serde_json::to_writer(&mut to, &**item)?;
        }
        to.flush()?;
        drop(to);
        file.set_modified(at.0.into())
    })
}

/// Writes a temporary file and renames it; temporary files have the mode 0600.
pub(crate) fn whole(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    fill(file.as_file_mut())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Reads a list. Equal texts are stored once, as in responses of the service.
pub(crate) fn read<T: Item + DeserializeOwned>(path: &Path) -> io::Result<Arc<Table<T>>> {
    let mut bytes = Vec::new();
    open_regular(path, OpenOptions::new().read(true))?.read_to_end(&mut bytes)?;
    let items = interned(|| -> serde_json::Result<Vec<T>> {
        let mut from = Deserializer::from_slice(&bytes);
        let count: usize = serde::Deserialize::deserialize(&mut from)?;
        let items = (0..count)
            .map(|_| T::deserialize(&mut from))
            .collect::<Result<_, _>>()?;
        from.end()?;
        Ok(items)
    })?;
    Ok(Arc::new(Table::new(items)))
}

/// Reads findings one by one, and moves their long texts into files.
pub(crate) fn read_findings(
    path: &Path,
    files: &FindingTextFiles,
) -> io::Result<Arc<Table<ListedFinding>>> {
    let file =
        BufReader::with_capacity(1 << 16, open_regular(path, OpenOptions::new().read(true))?);
    let items = interned_briefly(|| -> serde_json::Result<Vec<_>> {
        let mut from = Deserializer::from_reader(file);
        let count: usize = serde::Deserialize::deserialize(&mut from)?;
        let mut one =
            || serde::Deserialize::deserialize(&mut from).map(|finding| files.list(finding, None));
        let items = (0..count).map(|_| one()).collect::<Result<_, _>>()?;
        from.end()?;
        Ok(items)
    })?;
    files.flush()?;
    Ok(Arc::new(Table::new(items)))
}

/// The time at which the service sent the list of a file.
pub(crate) fn time_of(path: &Path) -> io::Result<Stamp> {
    Timestamp::try_from(fs::metadata(path)?.modified()?)
        .map(Stamp)
        .map_err(io::Error::other)
}
