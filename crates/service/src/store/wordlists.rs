//! Wordlists in the store: one word per line, without duplicates.

use super::sql::{SqlRow, sql};
use super::{Store, StoreResult, WriteTransaction, text, without_nul};
use crate::wordlist_words::WordlistWords;
use scandeck_wire::contract::{Wordlist, WordlistId};

fn wordlist_of(row: &SqlRow) -> StoreResult<Wordlist> {
    Ok(Wordlist {
        id: WordlistId(row.get("id")?),
        name: text(row, "name")?,
        description: text(row, "description")?,
        num_words: row.get("num_words")?,
        predefined: row.get("predefined")?,
    })
}

const SELECT: &str = "SELECT id, name, description, num_words, predefined FROM wordlists
    WHERE $1 IS NULL OR id = $1 ORDER BY id";

/// The result of deleting a wordlist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordlistDeletion {
    Done,
    NotFound,
    /// The list ships with the service.
    Predefined,
}

impl Store {
    pub async fn wordlists(&self) -> StoreResult<Vec<Wordlist>> {
        sql(SELECT)
            .bind(None::<i64>)
            .all_as(self.read(), wordlist_of)
            .await
    }

    pub async fn wordlist(&self, id: WordlistId) -> StoreResult<Option<Wordlist>> {
        sql(SELECT)
            .bind(id.0)
            .optional_as(self.read(), wordlist_of)
            .await
    }

    /// The words of a list, joined by newlines.
    pub async fn words(&self, id: WordlistId) -> StoreResult<Option<String>> {
        sql("SELECT contents FROM wordlists WHERE id = $1")
            .bind(id.0)
            .optional(self.read())
            .await
    }

    /// Deletes an imported list.
    pub async fn delete_wordlist(&self, id: WordlistId) -> StoreResult<WordlistDeletion> {
        if self.wordlist(id).await?.is_some_and(|list| list.predefined) {
            return Ok(WordlistDeletion::Predefined);
        }
        let deleted = self
            .execute(sql("DELETE FROM wordlists WHERE id = $1").bind(id.0))
            .await?;
        Ok(if deleted == 0 {
            WordlistDeletion::NotFound
        } else {
            WordlistDeletion::Done
        })
    }

    /// Adds an imported list; returns `None` when the name is taken.
    pub async fn import_wordlist(
        &self,
        name: &str,
        description: &str,
        words: &WordlistWords,
    ) -> StoreResult<Option<WordlistId>> {
        let mut change = self.change().await?;
        // Before the insertion, which would use up an id on PostgreSQL.
        if exists(&mut change, name).await? {
            return Ok(None);
        }
        let id: i64 = sql(
            "INSERT INTO wordlists (name, contents, description, num_words, predefined)
             VALUES ($1, $2, $3, $4, false) RETURNING id",
        )
        .bind(name)
        .bind(without_nul(words.text()))
        .bind(description)
        .bind(words.count())
        .one(&mut change)
        .await?;
        change.commit().await?;
        Ok(Some(WordlistId(id)))
    }

    /// Adds a list that ships with the service, or updates it under its id.
    pub async fn upsert_predefined_wordlist(
        &self,
        name: &str,
        description: &str,
        words: &WordlistWords,
    ) -> StoreResult<()> {
        let mut change = self.change().await?;
        let upsert = match exists(&mut change, name).await? {
            true => {
                "UPDATE wordlists SET contents = $2, description = $3, num_words = $4, predefined = true
                 WHERE name = $1 AND contents <> $2"
            }
            false => {
                "INSERT INTO wordlists (name, contents, description, num_words, predefined)
                 VALUES ($1, $2, $3, $4, true)"
            }
        };
        let upsert = sql(upsert)
            .bind(name)
            .bind(without_nul(words.text()))
            .bind(description)
            .bind(words.count());
        if upsert.execute(&mut change).await? > 0 {
            change.commit().await?;
        }
        Ok(())
    }
}

async fn exists(change: &mut WriteTransaction, name: &str) -> StoreResult<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM wordlists WHERE name = $1)")
        .bind(name)
        .one(change)
        .await
}

#[cfg(test)]
mod tests {
    use super::super::testing::open;
    use super::*;

    #[tokio::test]
    async fn nul_in_words_is_stored_as_replacement_character() {
        let temp = tempfile::tempdir().unwrap();
        let store = open(temp.path()).await;
        let words = WordlistWords::parse("ad\0min\nbackup\n");
        let added = store.import_wordlist("a", "", &words).await.unwrap();
        let stored = store.words(added.unwrap()).await.unwrap();
        assert_eq!(stored.as_deref(), Some("ad\u{fffd}min\nbackup"));
    }
}
