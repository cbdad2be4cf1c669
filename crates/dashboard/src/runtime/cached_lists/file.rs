//! The file of a list: the number of its items, then each item as the API sends it.

use crate::poller::FindingTextFiles;
use jiff::Timestamp;
use scandeck_domain::table::{Item, Table};
use scandeck_domain::triage::ListedFinding;
use scandeck_wire::contract::shared::{SharedPool, SharedTexts};
use scandeck_wire::contract::{Finding, Stamp};
use scandeck_wire::input_files::open_regular;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
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
pub(crate) fn read<T: Item + DeserializeOwned + SharedTexts>(
    path: &Path,
) -> io::Result<Arc<Table<T>>> {
    let mut bytes = Vec::new();
    open_regular(path, OpenOptions::new().read(true))?.read_to_end(&mut bytes)?;
    let from = Deserializer::from_slice(&bytes);
    let items = each(from, SharedPool::default(), |item: T| item)?;
    Ok(Arc::new(Table::new(items)))
}

/// Reads findings one by one, and moves their long texts into files.
pub(crate) fn read_findings(
    path: &Path,
    files: &FindingTextFiles,
) -> io::Result<Arc<Table<ListedFinding>>> {
    let file =
        BufReader::with_capacity(1 << 16, open_regular(path, OpenOptions::new().read(true))?);
    let list = |finding: Finding| files.list(finding, None);
    let items = each(Deserializer::from_reader(file), SharedPool::brief(), list)?;
    files.flush()?;
    Ok(Arc::new(Table::new(items)))
}

/// The items of a file, each as `keep` returns it.
fn each<'de, R, T, K>(
    mut from: Deserializer<R>,
    mut pool: SharedPool,
    mut keep: impl FnMut(T) -> K,
) -> serde_json::Result<Vec<K>>
where
    R: serde_json::de::Read<'de>,
    T: DeserializeOwned + SharedTexts,
{
    let count = usize::deserialize(&mut from)?;
    let mut items = Vec::new();
    for _ in 0..count {
        let mut item = T::deserialize(&mut from)?;
        item.share_texts(&mut pool);
        items.push(keep(item));
    }
    from.end()?;
    Ok(items)
}

/// The time at which the service sent the list of a file.
pub(crate) fn time_of(path: &Path) -> io::Result<Stamp> {
    Timestamp::try_from(fs::metadata(path)?.modified()?)
        .map(Stamp)
        .map_err(io::Error::other)
}
