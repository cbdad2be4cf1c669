//! Wordlists in the store: one word per line, without duplicates.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::{Store, StoreResult, text, without_nul};
use crate::runs::words::WordlistWords;
use scandeck_wire::contract::{Wordlist, WordlistId};

fn wordlist_of(row: SqliteRow) -> StoreResult<Wordlist> {
    Ok(Wordlist {
        id: WordlistId(row.try_get("id")?),
        name: text(&row, "name")?,
        description: text(&row, "description")?,
        num_words: row.try_get("num_words")?,
        predefined: row.try_get("predefined")?,
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
        sqlx::query(SELECT)
            .bind(None::<i64>)
            .try_map(wordlist_of)
            .fetch_all(self.read())
            .await
    }

    pub async fn wordlist(&self, id: WordlistId) -> StoreResult<Option<Wordlist>> {
        sqlx::query(SELECT)
            .bind(id.0)
            .try_map(wordlist_of)
            .fetch_optional(self.read())
            .await
    }

    /// The words of a list, joined by newlines.
    pub async fn words(&self, id: WordlistId) -> StoreResult<Option<String>> {
        sqlx::query_scalar("SELECT contents FROM wordlists WHERE id = $1")
            .bind(id.0)
            .fetch_optional(self.read())
            .await
    }

    /// Deletes an imported list.
    pub async fn delete_wordlist(&self, id: WordlistId) -> StoreResult<WordlistDeletion> {
        if self.wordlist(id).await?.is_some_and(|list| list.predefined) {
            return Ok(WordlistDeletion::Predefined);
        }
        let deleted = self
            .execute(sqlx::query("DELETE FROM wordlists WHERE id = $1").bind(id.0))
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
        let id: Option<i64> = sqlx::query_scalar(
            "INSERT INTO wordlists (name, description, num_words, predefined, contents) VALUES ($1, $2, $3, 0, $4)
             ON CONFLICT DO NOTHING RETURNING id",
        )
        .bind(name)
        .bind(description)
        .bind(words.count())
        .bind(without_nul(words.text()))
        .fetch_optional(&mut *change)
        .await?;
        change.commit().await?;
        Ok(id.map(WordlistId))
    }

    /// Adds a list that ships with the service, or updates it under its id.
    pub async fn upsert_predefined_wordlist(
        &self,
        name: &str,
        description: &str,
        words: &WordlistWords,
    ) -> StoreResult<()> {
        let upsert = sqlx::query(
            "INSERT INTO wordlists (name, description, num_words, predefined, contents) VALUES ($1, $2, $3, 1, $4)
             ON CONFLICT (name) DO UPDATE SET description = excluded.description, num_words = excluded.num_words,
                predefined = 1, contents = excluded.contents WHERE contents <> excluded.contents",
        )
        .bind(name)
        .bind(description)
        .bind(words.count())
        .bind(without_nul(words.text()));
        self.execute(upsert).await.map(|_| ())
    }
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
