//! The claim of a row that waits, by a poll that usually finds none.

use super::super::sql::{ReadRow, sql};
use super::super::{Store, StoreResult};
use super::renew;

impl Store {
    /// Claims a row for this node, which is the only parameter of both statements: `waiting` selects
    /// the id of the row, `claim` changes the row and returns it.
    pub(in crate::store) async fn claim_waiting<T: ReadRow + Send>(
        &self,
        waiting: &'static str,
        claim: String,
    ) -> StoreResult<Option<T>> {
        // Without the lock of writes: most polls find nothing.
        let id: Option<i64> = sql(waiting)
            .bind(&self.node.id)
            .optional(self.read())
            .await?;
        if id.is_none() {
            return Ok(None);
        }
        let mut change = self.change().await?;
        if !renew(&mut change, &self.node).await? {
            return Ok(None);
        }
        let claimed = sql(claim).bind(&self.node.id).optional(&mut change).await?;
        if claimed.is_some() {
            change.commit().await?;
        }
        Ok(claimed)
    }
}
