//! What API keys have used in their present windows, so that the nodes of a PostgreSQL database can
//! count it together.
//!
//! The rows of a node that ended count until their windows end.

use jiff::Timestamp;

use super::sql::{SqlRow, SqlValue, sql};
use super::{Durability, Store, StoreResult};

/// A window of a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyWindow {
    /// The name of the key.
    pub key: String,
    /// What is counted, such as `write` or `scans`.
    pub kind: String,
    /// Seconds since 1970 at which the window ends.
    pub ends: i64,
    pub used: i64,
}

impl Store {
    /// Stores the windows of this node, and deletes ended ones of all nodes.
    pub async fn store_windows(&self, own: &[KeyWindow], now: Timestamp) -> StoreResult<()> {
        let mut change = self.change_with(Durability::WithNext).await?;
        sql("DELETE FROM key_windows WHERE ends <= $1")
            .bind(now.as_second())
            .execute(&mut change)
            .await?;
        if !own.is_empty() {
            let row = |window: &KeyWindow| {
                [
                    SqlValue::from(&self.node.id),
                    SqlValue::from(&window.key),
                    SqlValue::from(&window.kind),
                    SqlValue::from(window.ends),
                    SqlValue::from(window.used),
                ]
            };
            sql("INSERT INTO key_windows (node, key_name, kind, ends, used) ")
                .push_rows(own.iter().map(row))
                .push(
                    " ON CONFLICT (node, key_name, kind)
                     DO UPDATE SET ends = excluded.ends, used = excluded.used",
                )
                .execute(&mut change)
                .await?;
        }
        change.commit().await
    }

    /// The windows of each key at the other nodes, together: the first end, and the sum.
    pub async fn windows_of_others(&self, now: Timestamp) -> StoreResult<Vec<KeyWindow>> {
        sql(
            "SELECT key_name, kind, min(ends) AS ends, CAST(sum(used) AS BIGINT) AS used FROM key_windows
             WHERE node <> $1 AND ends > $2 GROUP BY key_name, kind",
        )
        .bind(&self.node.id)
        .bind(now.as_second())
        .all_as(self.read(), window_of)
        .await
    }
}

fn window_of(row: &SqlRow) -> StoreResult<KeyWindow> {
    Ok(KeyWindow {
        key: row.get("key_name")?,
        kind: row.get("kind")?,
        ends: row.get("ends")?,
        used: row.get("used")?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{open_process, two_processes};
    use super::*;

    fn window(key: &str, ends: i64, used: i64) -> KeyWindow {
        KeyWindow {
            key: key.to_owned(),
            kind: "read".to_owned(),
            ends,
            used,
        }
    }

    /// With `SCANDECK_TEST_DATABASE` only: a file has one node.
    #[tokio::test]
    async fn windows_of_other_nodes_are_added_until_they_end() {
        if std::env::var_os("SCANDECK_TEST_DATABASE").is_none() {
            return;
        }
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_processes(temp.path()).await;
        let at = |second| Timestamp::from_second(second).unwrap();
        let both = [window("ana", 1060, 3), window("ben", 1030, 1)];
        one.store_windows(&both, at(1000)).await.unwrap();
        one.store_windows(&[window("ana", 1060, 5)], at(1010))
            .await
            .unwrap();
        other
            .store_windows(&[window("ana", 1050, 2)], at(1010))
            .await
            .unwrap();
        // It started again: its earlier rows are those of another node.
        let again = open_process(&temp.path().join("one")).await;
        let mut seen = again.windows_of_others(at(1020)).await.unwrap();
        seen.sort();
        assert_eq!(seen, [window("ana", 1050, 7), window("ben", 1030, 1)]);
        let seen = other.windows_of_others(at(1040)).await.unwrap();
        assert_eq!(seen, [window("ana", 1060, 5)]);
        other.store_windows(&[], at(1060)).await.unwrap();
        assert_eq!(again.windows_of_others(at(1000)).await.unwrap(), []);
        for store in [one, other, again] {
            store.close().await;
        }
    }
}
