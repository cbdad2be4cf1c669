//! The end of the claims of a node: it stops, or others end them, because it is silent or has
//! started again.
//!
//! ```text
//!   silent ─► row deleted, interruption counted ─► beats again: it was no interruption
//! ```

use super::super::sql::sql;
use super::super::{StoreResult, WriteTransaction, jobs};

/// Ends the claims of nodes that have ended.
pub(super) async fn end_nodes(change: &mut WriteTransaction, ended: &[String]) -> StoreResult<()> {
    for id in ended {
        sql("UPDATE jobs SET service_ends = service_ends + 1, lost_by = owner WHERE owner = $1")
            .bind(id)
            .execute(&mut *change)
            .await?;
    }
    delete_rows(change, ended).await
}

/// Deletes the rows of nodes, which ends their claims; their scans wait again.
pub(in crate::store) async fn delete_rows(
    change: &mut WriteTransaction,
    nodes: &[String],
) -> StoreResult<()> {
    for id in nodes {
        let scans: Vec<i64> = sql("SELECT scan_id FROM jobs WHERE owner = $1")
            .bind(id)
            .all(&mut *change)
            .await?;
        sql("DELETE FROM nodes WHERE id = $1")
            .bind(id)
            .execute(&mut *change)
            .await?;
        jobs::show_waiting(change, &scans).await?;
    }
    Ok(())
}

/// Discounts the attempts that others have taken over from this node: it has not died.
pub(super) async fn forgive_attempts(change: &mut WriteTransaction, node: &str) -> StoreResult<()> {
    sql(
        "UPDATE jobs SET tries = tries - 1, service_ends = service_ends - 1, lost_by = NULL
         WHERE lost_by = $1",
    )
    .bind(node)
    .execute(change)
    .await?;
    Ok(())
}
