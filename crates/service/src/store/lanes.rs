//! Hosts that the nodes of a PostgreSQL database scan now, so that they can divide the rate of a
//! host.

use std::collections::BTreeSet;

use super::sql::{SqlValue, sql};
use super::{Store, StoreResult};

impl Store {
    /// Stores that this node scans exactly these hosts. Returns each of them with the number of
    /// nodes that scan it.
    pub async fn share_hosts(&self, hosts: Vec<String>) -> StoreResult<Vec<(String, i64)>> {
        self.store_hosts(&hosts).await?;
        sql("SELECT host, count(*) FROM lanes WHERE host IN list($1) GROUP BY host")
            .bind(SqlValue::Texts(hosts))
            .all(self.read())
            .await
    }

    async fn store_hosts(&self, hosts: &[String]) -> StoreResult<()> {
        let rows: Vec<String> = sql("SELECT host FROM lanes WHERE node = $1")
            .bind(&self.node.id)
            .all(self.read())
            .await?;
        let [stored, wanted] = [&rows[..], hosts].map(|list| list.iter().collect::<BTreeSet<_>>());
        if stored == wanted {
            return Ok(());
        }
        let mut change = self.change().await?;
        for ended in stored.difference(&wanted) {
            sql("DELETE FROM lanes WHERE host = $1 AND node = $2")
                .bind(*ended)
                .bind(&self.node.id)
                .execute(&mut change)
                .await?;
        }
        for added in wanted.difference(&stored) {
            // Not for a node whose claims have ended; it adds its row with the next beat.
            sql("INSERT INTO lanes (host, node) SELECT $1, id FROM nodes WHERE id = $2")
                .bind(*added)
                .bind(&self.node.id)
                .execute(&mut change)
                .await?;
        }
        change.commit().await
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::two_nodes;
    use super::*;

    /// With `SCANDECK_TEST_DATABASE` only: a file has one node.
    #[tokio::test]
    async fn host_counts_the_nodes_that_scan_it_until_they_end() {
        if std::env::var_os("SCANDECK_TEST_DATABASE").is_none() {
            return;
        }
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = two_nodes(temp.path()).await;
        let share = async |store: &Store, hosts: &[&str]| {
            let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
            let mut counted = store.share_hosts(hosts).await.unwrap();
            counted.sort();
            counted
        };
        let count = |host: &str, nodes: i64| (host.to_owned(), nodes);
        assert_eq!(
            share(&one, &["a", "b"]).await,
            [count("a", 1), count("b", 1)]
        );
        assert_eq!(share(&other, &["b"]).await, [count("b", 2)]);
        assert_eq!(share(&one, &["b"]).await, [count("b", 2)]);
        assert_eq!(share(&other, &["a"]).await, [count("a", 1)]);
        share(&other, &["b"]).await;
        one.close().await;
        assert_eq!(share(&other, &["b"]).await, [count("b", 1)]);
        assert!(share(&other, &[]).await.is_empty());
        other.close().await;
    }
}
