//! The stores of a service on this machine and the workspaces in them, by name in any case or by
//! the last recorded id. No request is sent.

use anyhow::Context;

use super::decisions;
use super::session::StoredService;
use crate::cli::error::CliError;
use crate::{oob, triage};
use scandeck_dashboard::runtime::{CachedWorkspace, cached_lists};
use scandeck_domain::triage::TriageState;
use scandeck_wire::contract::Shared;
use scandeck_wire::contract::workspace::is_same_name;

/// The stores of a service, as far as they exist.
pub struct Stores {
    pub decisions: Option<triage::Store>,
    pub state: TriageState,
    pub archive: Option<oob::Store>,
}

impl Stores {
    /// Opens the existing stores.
    ///
    /// # Errors
    /// When a store is unreadable, or the decisions are read-only and `writable` is required.
    pub async fn open(service: &StoredService, writable: bool) -> anyhow::Result<Self> {
        let memory = &service.memory;
        let opened = match (decisions::exists(memory)?, writable) {
            (false, _) => None,
            (true, false) => Some(decisions::open(memory).await?),
            (true, true) => Some(decisions::open_writable(memory).await?),
        };
        let (decisions, state) = opened
            .map(|(store, state)| (Some(store), state))
            .unwrap_or_default();
        let archive = match oob::Store::exists(&memory.directory)? {
            true => Some(decisions::open_archive(memory).await?),
            false => None,
        };
        Ok(Self {
            decisions,
            state,
            archive,
        })
    }

    pub async fn close(self) {
        if let Some(store) = self.decisions {
            store.close().await;
        }
        if let Some(archive) = self.archive {
            archive.close().await;
        }
    }

    /// The names of all workspaces with data.
    ///
    /// # Errors
    /// When a file is unreadable.
    pub async fn workspaces(&mut self, service: &StoredService) -> anyhow::Result<Vec<Shared>> {
        let mut all = Vec::new();
        if let Some(store) = &mut self.decisions {
            all.extend(store.workspaces().await?);
        }
        if let Some(archive) = &mut self.archive {
            all.extend(archive.workspaces().await?);
        }
        let directory = &service.memory.directory;
        all.extend(
            cached_lists::names(directory)
                .with_context(|| format!("cannot read {}", directory.display()))?,
        );
        all.sort();
        all.dedup();
        Ok(all)
    }
}

/// The name of a workspace with data on this machine.
///
/// # Errors
/// When there is no data about it, or a file is unreadable.
pub async fn workspace(service: &StoredService, name: &str) -> anyhow::Result<Shared> {
    let mut stores = Stores::open(service, false).await?;
    let names = stores.workspaces(service).await?;
    stores.close().await;
    find(&names, service, name)?.ok_or_else(|| no_data(&names, name).into())
}

/// Finds a workspace by name or last recorded id.
///
/// # Errors
/// When a file is unreadable.
pub fn find(
    names: &[Shared],
    service: &StoredService,
    name: &str,
) -> anyhow::Result<Option<Shared>> {
    let by_name = names
        .iter()
        .find(|one| ***one == *name)
        .or_else(|| names.iter().find(|one| is_same_name(one, name)));
    if let Some(one) = by_name {
        return Ok(Some(one.clone()));
    }
    Ok(cached(service, name)?
        .into_iter()
        .find_map(|one| match one {
            CachedWorkspace::Lists(name) => Some(name),
            CachedWorkspace::Perhaps(_) => None,
        }))
}

/// The cached lists about a workspace.
///
/// # Errors
/// When the directory is unreadable.
pub fn cached(service: &StoredService, workspace: &str) -> anyhow::Result<Vec<CachedWorkspace>> {
    let directory = &service.memory.directory;
    cached_lists::about(directory, workspace)
        .with_context(|| format!("cannot read {}", directory.display()))
}

/// The error about a workspace without data.
pub fn no_data(names: &[Shared], name: &str) -> CliError {
    let names: Vec<&str> = names
        .iter()
        .map(|one| one.as_str())
        .filter(|one| !one.is_empty())
        .collect();
    let hint = match names.is_empty() {
        true => {
            "check the name and --base-url: this machine has no data about the service".to_owned()
        }
        false => format!(
            "use the name of a workspace with data: {}",
            names.join(", ")
        ),
    };
    CliError::new(format!("no data about workspace {name:?}"), hint)
}
