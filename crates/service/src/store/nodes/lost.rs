//! Claims that others end: those of a node that is silent, or that has started again.
//!
//! ```text
//!   silent ─► row deleted, interruption counted ─► beats again: it was no interruption
//! ```

use super::super::sql::sql;
use super::super::{StoreResult, WriteTransaction};

/// Ends the claims of nodes that have ended.
pub(super) async fn end_nodes(change: &mut WriteTransaction, ended: &[String]) -> StoreResult<()> {
    for id in ended {
        for statement in [
            "UPDATE jobs SET service_ends = service_ends + 1, lost_by = owner WHERE owner = $1",
            "DELETE FROM nodes WHERE id = $1",
        ] {
            sql(statement).bind(id).execute(&mut *change).await?;
        }
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
