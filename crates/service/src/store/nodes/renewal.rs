//! The beat of a node on PostgreSQL, where it waits for no other write.
//!
//! ```text
//!   row of this node ─► renewed, in a transaction without the lock of writes
//!        └─ no row, a newer schema, or another node is silent ─► the full beat, with the lock
//! ```

use super::super::postgres::TransactionKind;
use super::super::sql::sql;
use super::super::{Store, StoreEngine, StoreResult};

/// A row that was renewed beside other writes.
pub(super) struct RenewedNode {
    /// The last beat was within the lease.
    pub is_regular: bool,
    pub has_others: bool,
    /// The leases of other nodes have ended.
    pub has_silent_nodes: bool,
}

impl Store {
    /// On PostgreSQL: renews the row of this node beside other writes. They wait for each other, on
    /// a busy server longer than the lease of this node. `None` on a file, and if another node has
    /// deleted the row, or migrated the database to a schema that this program does not work with.
    pub(super) async fn renew_beside(&self, clock_ahead: i64) -> StoreResult<Option<RenewedNode>> {
        let StoreEngine::Postgres(engine) = &self.engine else {
            return Ok(None);
        };
        // Writes that wait may have all connections of their pool.
        let mut change = engine.read.begin(TransactionKind::RowWrite).await?;
        let renewed = sql(
            "UPDATE nodes SET beat_at = CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT), clock_ahead = $2
             WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM settings
                WHERE CASE settings.name WHEN 'schema_works_with' THEN CAST(settings.value AS BIGINT) > $3 ELSE false END)
             RETURNING abs(beat_at - (SELECT earlier.beat_at FROM nodes AS earlier WHERE earlier.id = $1)) < lease AS is_regular,
                EXISTS (SELECT 1 FROM nodes AS others WHERE others.id <> $1) AS has_others,
                EXISTS (SELECT 1 FROM nodes AS others
                    WHERE others.id <> $1 AND abs(nodes.beat_at - others.beat_at) >= others.lease) AS has_silent_nodes",
        )
        .bind(&self.node.id)
        .bind(clock_ahead)
        .bind(engine.schema)
        .optional_as(&mut change, |row| {
            Ok(RenewedNode {
                is_regular: row.get("is_regular")?,
                has_others: row.get("has_others")?,
                has_silent_nodes: row.get("has_silent_nodes")?,
            })
        })
        .await?;
        change.commit().await?;
        Ok(renewed)
    }
}
