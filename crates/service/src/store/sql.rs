//! Statements: one SQL text for both engines, run where an [`Executor`] says.
//!
//! ```text
//!   sql("SELECT … WHERE id IN list($1)").bind_ids(&ids) ─► .all(self.read())
//!        │  SQLite: IN (SELECT value FROM json_each($1))         │  rows
//!        └► PostgreSQL: = ANY($1)                                └► ReadRow: numbers, texts, tuples, types of the store
//! ```
//!
//! Texts follow four rules, so that they mean the same on both engines: `true` and `false` for
//! flags, `octet_length` for sizes, `FOR UPDATE` for rows that a transaction reads before it writes
//! them (SQLite locks them already), `list($1)` for a list. Where the engines differ in more than
//! this, [`per_engine`] has two texts.

use std::borrow::Cow;
use std::fmt::Write;

use futures::TryStreamExt;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Arguments, AssertSqlSafe, ColumnIndex, Decode, Postgres, Row, Sqlite, Type};
use sqlx::{SqliteConnection, SqlitePool};

use super::parameters::without_names;
use super::postgres::{PostgresPool, PostgresTransaction, TransactionKind};
use super::{DatabaseError, StoreResult};

/// A statement with its values.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    text: Cow<'static, str>,
    /// The text for PostgreSQL, if it is another one.
    postgres: Option<Cow<'static, str>>,
    values: Vec<SqlValue>,
}

/// A value of a statement; the engine needs the type of an absent one too.
#[derive(Clone, Debug)]
pub(super) enum SqlValue {
    Number(Option<i64>),
    Flag(bool),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
    Ids(Vec<i64>),
    Texts(Vec<String>),
}

/// Where a statement runs.
#[derive(Debug)]
pub(super) enum Executor<'a> {
    /// In a transaction of its own.
    SqlitePool(&'a SqlitePool),
    Sqlite(&'a mut SqliteConnection),
    PostgresPool(&'a PostgresPool),
    Postgres(&'a mut PostgresTransaction),
}

/// A statement whose text is the same for both engines.
pub(super) fn sql(text: impl Into<Cow<'static, str>>) -> Statement {
    Statement {
        text: text.into(),
        postgres: None,
        values: Vec::new(),
    }
}

/// A statement with a text for each engine.
pub(super) fn per_engine(
    sqlite: impl Into<Cow<'static, str>>,
    postgres: impl Into<Cow<'static, str>>,
) -> Statement {
    Statement {
        postgres: Some(postgres.into()),
        ..sql(sqlite)
    }
}

impl Statement {
    /// Gives the next parameter its value.
    pub fn bind(mut self, value: impl Into<SqlValue>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Gives the next parameter a list, which the text names as `list($1)`.
    pub fn bind_ids(self, ids: &[i64]) -> Self {
        self.bind(SqlValue::Ids(ids.to_vec()))
    }

    pub fn push(mut self, text: &str) -> Self {
        for of_engine in self.texts() {
            of_engine.to_mut().push_str(text);
        }
        self
    }

    /// Adds a parameter to the text, and gives it a value.
    pub fn push_bind(mut self, value: impl Into<SqlValue>) -> Self {
        self = self.bind(value);
        let number = self.values.len();
        for of_engine in self.texts() {
            let _ = write!(of_engine.to_mut(), "${number}");
        }
        self
    }

    /// The texts for the engines.
    fn texts(&mut self) -> impl Iterator<Item = &mut Cow<'static, str>> {
        std::iter::once(&mut self.text).chain(&mut self.postgres)
    }

    /// Adds a condition with its value, such as `target_id =`, when there is a value.
    pub fn push_condition(self, condition: &str, value: Option<impl Into<SqlValue>>) -> Self {
        match value {
            Some(value) => self
                .push(" AND ")
                .push(condition)
                .push(" ")
                .push_bind(value),
            None => self,
        }
    }

    /// Adds `VALUES` with the rows, whose columns both engines name `column1`, `column2` and so on.
    pub fn push_rows<const N: usize>(self, rows: impl IntoIterator<Item = [SqlValue; N]>) -> Self {
        let mut statement = self.push("VALUES ");
        for (at, row) in rows.into_iter().enumerate() {
            statement = statement.push(if at == 0 { "(" } else { ", (" });
            for (column, value) in row.into_iter().enumerate() {
                if column > 0 {
                    statement = statement.push(", ");
                }
                statement = statement.push_bind(value);
            }
            statement = statement.push(")");
        }
        statement
    }

    /// Runs the statement; returns the number of changed rows.
    pub async fn execute(self, on: impl Into<Executor<'_>>) -> StoreResult<u64> {
        match on.into() {
            Executor::SqlitePool(pool) => {
                let (text, arguments) = self.for_sqlite()?;
                let query = sqlx::query_with(AssertSqlSafe(text), arguments);
                Ok(query.execute(pool).await?.rows_affected())
            }
            Executor::Sqlite(connection) => {
                let (text, arguments) = self.for_sqlite()?;
                let query = sqlx::query_with(AssertSqlSafe(text), arguments);
                Ok(query.execute(connection).await?.rows_affected())
            }
            Executor::PostgresPool(pool) => {
                let mut transaction = pool.begin(TransactionKind::Read).await?;
                let (text, arguments) = self.for_postgres()?;
                let changed = transaction.execute(text, arguments).await?;
                transaction.commit().await?;
                Ok(changed)
            }
            Executor::Postgres(transaction) => {
                let (text, arguments) = self.for_postgres()?;
                transaction.execute(text, arguments).await
            }
        }
    }

    /// Reads all rows.
    pub async fn all<T: ReadRow + Send>(self, on: impl Into<Executor<'_>>) -> StoreResult<Vec<T>> {
        self.all_as(on, T::read).await
    }

    /// Reads all rows with a function.
    pub async fn all_as<T: Send>(
        self,
        on: impl Into<Executor<'_>>,
        mut read: impl FnMut(&SqlRow) -> StoreResult<T> + Send,
    ) -> StoreResult<Vec<T>> {
        let mut all = Vec::new();
        let mut add = |row: &SqlRow| {
            all.push(read(row)?);
            Ok(true)
        };
        self.fetch(on.into(), &mut add).await?;
        Ok(all)
    }

    /// Reads the first row, if there is one.
    pub async fn optional<T: ReadRow + Send>(
        self,
        on: impl Into<Executor<'_>>,
    ) -> StoreResult<Option<T>> {
        self.optional_as(on, T::read).await
    }

    /// Reads the first row, if there is one, with a function.
    pub async fn optional_as<T: Send>(
        self,
        on: impl Into<Executor<'_>>,
        mut read: impl FnMut(&SqlRow) -> StoreResult<T> + Send,
    ) -> StoreResult<Option<T>> {
        let mut first = None;
        let mut set = |row: &SqlRow| {
            first = Some(read(row)?);
            Ok(false)
        };
        self.fetch(on.into(), &mut set).await?;
        Ok(first)
    }

    /// Reads the first row.
    ///
    /// # Errors
    /// Also when there is none.
    pub async fn one<T: ReadRow + Send>(self, on: impl Into<Executor<'_>>) -> StoreResult<T> {
        let first = self.optional(on).await?;
        first.ok_or(DatabaseError::RowNotFound)
    }

    /// Passes rows to a function until it returns false.
    pub async fn fetch(
        self,
        on: Executor<'_>,
        each: &mut (dyn FnMut(&SqlRow) -> StoreResult<bool> + Send),
    ) -> StoreResult<()> {
        match on {
            Executor::SqlitePool(pool) => {
                let mut connection = pool.acquire().await?;
                self.fetch_sqlite(&mut connection, each).await
            }
            Executor::Sqlite(connection) => self.fetch_sqlite(connection, each).await,
            Executor::PostgresPool(pool) => {
                let mut transaction = pool.begin(TransactionKind::Read).await?;
                let (text, arguments) = self.for_postgres()?;
                transaction.fetch(text, arguments, each).await?;
                transaction.commit().await
            }
            Executor::Postgres(transaction) => {
                let (text, arguments) = self.for_postgres()?;
                transaction.fetch(text, arguments, each).await
            }
        }
    }

    async fn fetch_sqlite(
        self,
        connection: &mut SqliteConnection,
        each: &mut (dyn FnMut(&SqlRow) -> StoreResult<bool> + Send),
    ) -> StoreResult<()> {
        let (text, arguments) = self.for_sqlite()?;
        let mut rows = sqlx::query_with(AssertSqlSafe(text), arguments).fetch(connection);
        while let Some(row) = rows.try_next().await? {
            if !each(&SqlRow::Sqlite(row))? {
                break;
            }
        }
        Ok(())
    }

    fn for_sqlite(self) -> StoreResult<(String, SqliteArguments)> {
        let mut arguments = SqliteArguments::default();
        for value in self.values {
            let added = match value {
                SqlValue::Number(number) => arguments.add(number),
                SqlValue::Flag(flag) => arguments.add(flag),
                SqlValue::Text(text) => arguments.add(text),
                SqlValue::Bytes(bytes) => arguments.add(bytes),
                SqlValue::Ids(ids) => arguments.add(serde_json::to_string(&ids).ok()),
                SqlValue::Texts(texts) => arguments.add(serde_json::to_string(&texts).ok()),
            };
            added.map_err(DatabaseError::Encode)?;
        }
        let text = with_lists(self.text, |list| {
            format!("IN (SELECT value FROM json_each({list}))")
        })
        .replace(" FOR UPDATE", "");
        Ok((without_names(&text).unwrap_or(text), arguments))
    }

    fn for_postgres(self) -> StoreResult<(String, PgArguments)> {
        let mut arguments = PgArguments::default();
        for value in self.values {
            let added = match value {
                SqlValue::Number(number) => arguments.add(number),
                SqlValue::Flag(flag) => arguments.add(flag),
                SqlValue::Text(text) => arguments.add(text),
                SqlValue::Bytes(bytes) => arguments.add(bytes),
                SqlValue::Ids(ids) => arguments.add(ids),
                SqlValue::Texts(texts) => arguments.add(texts),
            };
            added.map_err(DatabaseError::Encode)?;
        }
        let text = self.postgres.unwrap_or(self.text);
        // A subquery, because `<> ALL` would need another word for NOT IN.
        let text = with_lists(text, |list| format!("IN (SELECT unnest({list}))"));
        Ok((text, arguments))
    }
}

/// Replaces each `IN list($1)` of a text.
fn with_lists(text: Cow<'static, str>, list: impl Fn(&str) -> String) -> String {
    const LIST: &str = "IN list(";
    let mut parts = text.split(LIST);
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (parameter, rest) = part.split_once(')').unwrap_or((part, ""));
        replaced.push_str(&list(parameter));
        replaced.push_str(rest);
    }
    replaced
}

/// A row of a result.
pub(super) enum SqlRow {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl SqlRow {
    /// Reads a column by its name or its place.
    pub fn get<'r, T: SqlColumn<'r>>(
        &'r self,
        column: impl ColumnIndex<SqliteRow> + ColumnIndex<PgRow>,
    ) -> StoreResult<T> {
        match self {
            Self::Sqlite(row) => row.try_get(column),
            Self::Postgres(row) => row.try_get(column),
        }
    }
}

/// A type that both engines can read.
pub(super) trait SqlColumn<'r>:
    Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + Type<Postgres>
{
}

impl<'r, T> SqlColumn<'r> for T where
    T: Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + Type<Postgres>
{
}

/// A type that is read from a row.
pub(super) trait ReadRow: Sized {
    fn read(row: &SqlRow) -> StoreResult<Self>;
}

macro_rules! single_columns {
    ($($column:ty),+) => {
        $(impl ReadRow for $column {
            fn read(row: &SqlRow) -> StoreResult<Self> {
                row.get(0)
            }
        })+
    };
}

single_columns!(i64, Option<i64>, bool, String, Option<String>, Vec<u8>);

macro_rules! tuples {
    ($(($($column:ident $at:literal),+))+) => {
        $(impl<$($column: for<'r> SqlColumn<'r>),+> ReadRow for ($($column,)+) {
            fn read(row: &SqlRow) -> StoreResult<Self> {
                Ok(($(row.get::<$column>($at)?,)+))
            }
        })+
    };
}

tuples! {
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
}

macro_rules! values {
    ($($kind:ident: $($from:ty),+;)+) => {
        $($(impl From<$from> for SqlValue {
            fn from(value: $from) -> Self {
                Self::$kind(value.into())
            }
        })+)+
    };
}

values! {
    Number: i64, Option<i64>;
    Flag: bool;
    Text: String, Option<String>;
    Bytes: Vec<u8>, Option<Vec<u8>>;
}

impl From<&str> for SqlValue {
    fn from(text: &str) -> Self {
        Self::Text(Some(text.to_owned()))
    }
}

impl From<&String> for SqlValue {
    fn from(text: &String) -> Self {
        Self::Text(Some(text.clone()))
    }
}

impl From<Cow<'_, str>> for SqlValue {
    fn from(text: Cow<'_, str>) -> Self {
        Self::Text(Some(text.into_owned()))
    }
}

impl From<Option<&str>> for SqlValue {
    fn from(text: Option<&str>) -> Self {
        Self::Text(text.map(str::to_owned))
    }
}

impl From<Option<Cow<'_, str>>> for SqlValue {
    fn from(text: Option<Cow<'_, str>>) -> Self {
        Self::Text(text.map(Cow::into_owned))
    }
}

impl From<&[u8]> for SqlValue {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(Some(bytes.to_vec()))
    }
}

impl<'a> From<&'a SqlitePool> for Executor<'a> {
    fn from(pool: &'a SqlitePool) -> Self {
        Self::SqlitePool(pool)
    }
}

impl<'a> From<&'a mut SqliteConnection> for Executor<'a> {
    fn from(connection: &'a mut SqliteConnection) -> Self {
        Self::Sqlite(connection)
    }
}

impl<'a> From<&'a mut PostgresTransaction> for Executor<'a> {
    fn from(transaction: &'a mut PostgresTransaction) -> Self {
        Self::Postgres(transaction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pushed_texts_and_parameters_reach_both_engines() {
        let statement = per_engine("SELECT 1", "SELECT 2")
            .push(" WHERE a = ")
            .push_bind(7_i64)
            .push_condition("b =", Some(8_i64));
        assert_eq!(statement.text, "SELECT 1 WHERE a = $1 AND b = $2");
        let postgres = statement.postgres.as_deref();
        assert_eq!(postgres, Some("SELECT 2 WHERE a = $1 AND b = $2"));
        assert_eq!(statement.values.len(), 2);
    }
}
