//! Keys that all nodes of a database share: each node stores their fingerprints.

use super::ServiceNode;
use crate::store::sql::sql;
use crate::store::{StoreResult, WriteTransaction};

/// A key that all nodes of a database share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedKey {
    /// Encrypts the credentials of scans.
    Secrets,
    /// Signs callbacks.
    Callbacks,
}

/// A key of which a live node has another one, and the name of that node. Earlier versions, and
/// workers that use the API, have no fingerprint.
pub(super) async fn other_key(
    change: &mut WriteTransaction,
    node: &ServiceNode,
    time: i64,
) -> StoreResult<Option<(SharedKey, String)>> {
    let details = &node.details;
    for (key, column, fingerprint) in [
        (SharedKey::Secrets, "secrets_key", &details.secrets_key),
        (SharedKey::Callbacks, "callback_key", &details.callback_key),
    ] {
        let other: Option<String> = sql(format!(
            "SELECT name FROM nodes WHERE id <> $1 AND {column} <> $2 AND {column} <> ''
                AND abs(beat_at - $3) < lease ORDER BY id LIMIT 1"
        ))
        .bind(&node.id)
        .bind(fingerprint)
        .bind(time)
        .optional(&mut *change)
        .await?;
        if let Some(name) = other {
            return Ok(Some((key, name)));
        }
    }
    Ok(None)
}
