//! The schema of a node: a newer program migrates a PostgreSQL database only if the live nodes work
//! with the result. A node that was silent then has no beat afterwards.

use super::super::sql::sql;
use super::super::{DatabaseError, Store, StoreEngine, StoreResult, WriteTransaction};

impl Store {
    /// Stores the schema of this program in the row of its node. A file has one node.
    pub(super) async fn store_schema(&self, change: &mut WriteTransaction) -> StoreResult<()> {
        if let StoreEngine::Postgres(engine) = &self.engine {
            sql("UPDATE nodes SET schema = $2 WHERE id = $1 AND schema <> $2")
                .bind(&self.node.id)
                .bind(engine.schema)
                .execute(change)
                .await?;
        }
        Ok(())
    }

    /// The schema of the database if this program does not work with it.
    pub(super) async fn newer_schema(
        &self,
        change: &mut WriteTransaction,
    ) -> StoreResult<Option<i64>> {
        let StoreEngine::Postgres(engine) = &self.engine else {
            return Ok(None);
        };
        let numbers: Vec<(String, String)> = sql("SELECT name, value FROM settings
             WHERE name IN ('schema', 'schema_works_with')")
        .all(change)
        .await?;
        let number = |wanted: &str| -> Option<i64> {
            let (_, value) = numbers.iter().find(|(name, _)| name == wanted)?;
            value.parse().ok()
        };
        let is_excluded = number("schema_works_with") > Some(engine.schema);
        Ok(number("schema").filter(|_| is_excluded))
    }

    /// An error if this program does not work with the schema of the database.
    pub(in crate::store) async fn refuse_newer_schema(
        &self,
        change: &mut WriteTransaction,
    ) -> StoreResult<()> {
        match self.newer_schema(change).await? {
            None => Ok(()),
            Some(found) => Err(DatabaseError::InvalidArgument(format!(
                "a newer version has changed the database to schema {found}: stop this node, and start the newer version"
            ))),
        }
    }
}
