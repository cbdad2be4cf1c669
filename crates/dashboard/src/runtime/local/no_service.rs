//! Replaces `service.rs` in a build without the service: nothing is found, and nothing starts.

use std::path::Path;

use super::{LocalError, LocalService};
use scandeck_client::ProofScope;

pub async fn find_or_start(_: &Path) -> Result<LocalService, LocalError> {
    Err(absent())
}

pub async fn find(_: &Path) -> Result<Option<LocalService>, LocalError> {
    Ok(None)
}

pub async fn add_to_scope(_: &Path, _: &[String]) -> Result<usize, LocalError> {
    Err(absent())
}

pub fn proof_scope(_: &Path, _: bool) -> Result<ProofScope, LocalError> {
    Err(absent())
}

fn absent() -> LocalError {
    LocalError::new(
        "this build has no local service",
        "set --base-url, or build with feature `service`",
    )
}
