//! Moves the database of a data directory to PostgreSQL (`scandeck migrate`).

use anyhow::{bail, ensure};

use crate::data::data_dir::DataDir;
pub use crate::store::migrate::ComparedTable;
use crate::store::{DatabaseAddress, Store};

/// Copies the database file of a data directory, which remains as it is, and compares both. Repeated
/// after an interruption, it continues.
///
/// # Errors
/// When a service runs, there is no file, the target has other data, or a comparison fails.
pub async fn migrate_dir(
    dir: &DataDir,
    address: &DatabaseAddress,
) -> anyhow::Result<Vec<ComparedTable>> {
    let Some(_lock) = dir.lock().await? else {
        bail!(
            "a service is running with data directory {}; stop it with `scandeck stop{}`",
            dir.path().display(),
            dir.command_suffix()
        );
    };
    ensure!(
        dir.database().exists(),
        "{} contains no database; use another directory with --from",
        dir.path().display()
    );
    let source = Store::open(&dir.database()).await?.store;
    let target = Store::open_postgres_as_it_is(address, dir.path()).await?;
    let copied = source.copy_to(&target).await;
    source.close().await;
    target.close().await;
    Ok(copied?)
}
