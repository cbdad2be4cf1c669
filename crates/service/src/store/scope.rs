//! The scope in the store: one row, which all nodes of a PostgreSQL database read. A service with a
//! database file has its scope in the data directory.

use super::sql::sql;
use super::{Store, StoreResult};

/// The scope of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredScope {
    /// 0 before the first change.
    pub version: i64,
    /// The entries, in the form of the scope file.
    pub entries: String,
}

impl Store {
    /// The scope of all nodes; `None` on a file.
    pub async fn scope(&self) -> StoreResult<Option<StoredScope>> {
        if self.is_file() {
            return Ok(None);
        }
        let (version, entries): (i64, String) = sql("SELECT version, entries FROM scope")
            .one(self.read())
            .await?;
        Ok(Some(StoredScope { version, entries }))
    }

    /// Replaces this version of the scope; `None` if another process has replaced it before.
    pub async fn replace_scope(
        &self,
        version: i64,
        entries: String,
    ) -> StoreResult<Option<StoredScope>> {
        let update = sql("UPDATE scope SET version = version + 1, entries = $2 WHERE version = $1")
            .bind(version)
            .bind(&entries);
        let replaced = self.execute(update).await?;
        Ok((replaced > 0).then_some(StoredScope {
            version: version + 1,
            entries,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::two_processes;
    use super::*;

    /// Replaces with `SCANDECK_TEST_DATABASE` only: a file has no scope.
    #[tokio::test]
    async fn version_of_the_scope_is_replaced_once() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_processes(temp.path()).await;
        if std::env::var_os("SCANDECK_TEST_DATABASE").is_none() {
            assert_eq!(one.scope().await.unwrap(), None);
            return;
        }
        assert_eq!(one.scope().await.unwrap(), Some(StoredScope::default()));
        let replaced = one.replace_scope(0, "a".to_owned()).await.unwrap();
        let refused = other.replace_scope(0, "b".to_owned()).await.unwrap();
        assert_eq!(refused, None);
        let expected = StoredScope {
            version: 1,
            entries: "a".to_owned(),
        };
        assert_eq!(replaced.as_ref(), Some(&expected));
        assert_eq!(other.scope().await.unwrap(), replaced);
        one.close().await;
        other.close().await;
    }
}
