//! Word lists in the store: the words only, one a line, each once.

use sqlx::FromRow;

use super::{Store, StoreResult};
use crate::contract::{Wordlist, WordlistId};
use crate::service::words::WordlistWords;

#[derive(FromRow)]
struct WordlistRow {
    id: i64,
    name: String,
    description: String,
    num_words: i64,
    predefined: bool,
}

impl From<WordlistRow> for Wordlist {
    fn from(row: WordlistRow) -> Self {
        Self {
            id: row.id.into(),
            name: row.name.into(),
            description: row.description.into(),
            num_words: row.num_words,
            predefined: row.predefined,
        }
    }
}

const SELECT: &str = "SELECT id, name, description, num_words, predefined FROM wordlists
    WHERE ?1 IS NULL OR id = ?1 ORDER BY id";

/// What became of a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletedWordlist {
    /// Done.
    Done,
    /// There is no such list.
    Missing,
    /// It ships with the service.
    Predefined,
}

impl Store {
    /// All word lists.
    pub async fn wordlists(&self) -> StoreResult<Vec<Wordlist>> {
        let rows: Vec<WordlistRow> = sqlx::query_as(SELECT).bind(None::<i64>).fetch_all(self.read()).await?;
        Ok(rows.into_iter().map(Wordlist::from).collect())
    }

    /// One word list.
    pub async fn wordlist(&self, id: WordlistId) -> StoreResult<Option<Wordlist>> {
        let row: Option<WordlistRow> = sqlx::query_as(SELECT).bind(id.0).fetch_optional(self.read()).await?;
        Ok(row.map(Wordlist::from))
    }

    /// The words of a list, joined by newlines.
    pub async fn words(&self, id: WordlistId) -> StoreResult<Option<String>> {
        sqlx::query_scalar("SELECT contents FROM wordlists WHERE id = ?").bind(id.0).fetch_optional(self.read()).await
    }

    /// Tells an import by another process from none: ids only grow.
    pub async fn newest_wordlist(&self) -> StoreResult<i64> {
        sqlx::query_scalar("SELECT coalesce(max(id), 0) FROM wordlists").fetch_one(self.read()).await
    }

    /// Deletes a list that was imported.
    pub async fn delete_wordlist(&self, id: WordlistId) -> StoreResult<DeletedWordlist> {
        match self.wordlist(id).await? {
            None => return Ok(DeletedWordlist::Missing),
            Some(list) if list.predefined => return Ok(DeletedWordlist::Predefined),
            Some(_) => {}
        }
        let mut change = self.change().await?;
        let done = sqlx::query("DELETE FROM wordlists WHERE id = ?").bind(id.0).execute(&mut *change).await?;
        change.commit().await?;
        Ok(if done.rows_affected() == 0 { DeletedWordlist::Missing } else { DeletedWordlist::Done })
    }

    /// Adds an imported list; nothing when the name is taken.
    pub async fn import_wordlist(
        &self,
        name: &str,
        description: &str,
        words: &WordlistWords,
    ) -> StoreResult<Option<WordlistId>> {
        let mut change = self.change().await?;
        let id: Option<i64> = sqlx::query_scalar(
            "INSERT INTO wordlists (name, description, num_words, predefined, contents) VALUES (?, ?, ?, 0, ?)
             ON CONFLICT DO NOTHING RETURNING id",
        )
        .bind(name)
        .bind(description)
        .bind(words.count())
        .bind(words.text())
        .fetch_optional(&mut *change)
        .await?;
        change.commit().await?;
        Ok(id.map(WordlistId))
    }

    /// Puts in a list that ships with the service, or brings it up to date under its old id.
    pub async fn ship_wordlist(&self, name: &str, description: &str, words: &WordlistWords) -> StoreResult<()> {
        let mut change = self.change().await?;
        sqlx::query(
            "INSERT INTO wordlists (name, description, num_words, predefined, contents) VALUES (?, ?, ?, 1, ?)
             ON CONFLICT (name) DO UPDATE SET description = excluded.description, num_words = excluded.num_words,
                predefined = 1, contents = excluded.contents WHERE contents <> excluded.contents",
        )
        .bind(name)
        .bind(description)
        .bind(words.count())
        .bind(words.text())
        .execute(&mut *change)
        .await?;
        change.commit().await
    }
}
