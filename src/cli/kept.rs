//! The workspaces of which something is kept on this machine: each goes by its name, in any case, or by its id as last
//! known. The service is not asked.

use std::path::Path;

use anyhow::Context;

use super::advised::Advised;
use super::headless::decisions::{advised, archive, open};
use super::headless::session::ServicePlace;
use crate::contract::Shared;
use crate::contract::workspace::is_same_name;
use crate::dashboard::runtime::{CachedWorkspace, cached_lists};
use crate::oob;
use crate::triage::Store;

/// The name of a workspace of which something is kept.
///
/// # Errors
/// When nothing is kept about it, naming what is, or a file cannot be read.
pub async fn workspace(place: &ServicePlace, named: &str) -> anyhow::Result<Shared> {
    let directory = &place.memory.directory;
    let mut store = match directory.join("decisions.db").exists() {
        true => Some(open(&place.memory).await?.0),
        false => None,
    };
    let mut archive = match oob::store::Store::exists(directory) {
        true => Some(archive(&place.memory).await?),
        false => None,
    };
    let names = names((store.as_mut(), archive.as_mut()), directory).await?;
    if let Some(store) = store {
        store.close().await;
    }
    if let Some(archive) = archive {
        archive.close().await;
    }
    called(&names, directory, named)?.ok_or_else(|| unknown(&names, named).into())
}

/// All names under which something is kept.
///
/// # Errors
/// When a file cannot be read.
pub async fn names(
    (store, archive): (Option<&mut Store>, Option<&mut oob::store::Store>),
    directory: &Path,
) -> anyhow::Result<Vec<Shared>> {
    let mut all = match store {
        Some(store) => store.workspaces().await.map_err(advised)?,
        None => Vec::new(),
    };
    if let Some(archive) = archive {
        all.extend(archive.workspaces().await.map_err(advised)?);
    }
    all.extend(cached_lists::names(directory).with_context(|| unreadable(directory))?);
    all.sort();
    all.dedup();
    Ok(all)
}

/// The one of these that is meant.
///
/// # Errors
/// When a file cannot be read.
pub fn called(names: &[Shared], directory: &Path, named: &str) -> anyhow::Result<Option<Shared>> {
    let alike = |one: &&Shared| is_same_name(one, named);
    if let Some(one) = names.iter().find(|one| ***one == *named).or_else(|| names.iter().find(alike)) {
        return Ok(Some(one.clone()));
    }
    let known = cached_lists::about(directory, named).with_context(|| unreadable(directory))?;
    Ok(known.into_iter().find_map(|one| match one {
        CachedWorkspace::Lists(name) => Some(name),
        CachedWorkspace::Perhaps(_) => None,
    }))
}

/// Tells what there is instead.
pub fn unknown(names: &[Shared], named: &str) -> Advised {
    let names: Vec<&str> = names.iter().map(|one| one.as_str()).filter(|one| !one.is_empty()).collect();
    let hint = match names.is_empty() {
        true => "nothing is kept about this service".to_owned(),
        false => format!("something is kept about: {}", names.join(", ")),
    };
    Advised::new(format!("nothing is kept about {named:?}"), hint)
}

/// That a directory cannot be read.
pub fn unreadable(directory: &Path) -> String {
    format!("{} cannot be read", directory.display())
}
