//! The query language: one grammar for the filters of every list, saved queries, rules, alerts,
//! bulk actions and the command line. `docs/query.md`, generated from these tables, documents it.
//!
//! ```text
//!   "risk>=high -name:~\"^TLS\" shop"
//!        │ lex                                  columns: one per field, made with the list
//!        ▼                                                   │
//!      tokens ─ parse ─► Query (Expr of Clauses) ─ evaluate ─┴─► RowSet, one bit per row
//!                          │ Display                        └──► complete, explain
//!                          ▼
//!                    canonical text: parses to the same query
//! ```
//!
//! The module is pure: no I/O, no clock; the present time is a parameter.

pub mod bits;
pub mod column;
pub mod complete;
pub mod error;
pub mod evaluate;
pub mod explain;
pub mod expr;
pub mod field;
pub mod flag;
pub mod lex;
pub mod order;
pub mod own_name;
pub mod parse;
pub mod source;
#[cfg(test)]
mod tests;
pub mod texts;
pub mod value;

pub use complete::Completion;
pub use explain::ClauseEffect;
pub use field::{FIELDS, ValueKind};
pub use order::SortKey;
pub use own_name::with_own_name;

use std::fmt;

pub use bits::RowSet;
pub use column::{Column, ColumnBuilder, Values};
pub use error::ParseError;
pub use evaluate::Evaluator;
pub use expr::{Clause, ClauseTest, Expr};
pub use field::Field;
pub use flag::Flag;
pub use source::{RowSource, SearchedRows};
pub use texts::{TextNumbers, TextPool};

use crate::finding::named_enum;

named_enum! {
    /// The lists that can be queried.
    QueryKind {
        Findings "findings",
        Scans "scans",
        Targets "targets",
        Captures "captures",
        Loggers "loggers",
        Payloads "payloads",
        Reports "reports",
        Wordlists "word lists",
        Workspaces "workspaces",
        Schedules "schedules",
        Activity "calls",
    }
}

impl QueryKind {
    /// The rows of the list in a sentence. `as_str` is a name that users have stored.
    pub fn title(self) -> &'static str {
        match self {
            Self::Wordlists => "wordlists",
            Self::Activity => "API requests",
            other => other.as_str(),
        }
    }
}

/// A parsed query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    kind: QueryKind,
    root: Expr,
}

impl Query {
    /// Parses a query for one kind of list. The empty text matches every row.
    ///
    /// # Errors
    /// With position, reason and often a hint.
    pub fn parse(text: &str, kind: QueryKind) -> Result<Self, ParseError> {
        Self::parse_as(text, kind, "")
    }

    /// Parses a query of the user with this name: `me` means this person.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse); without a name also for `me`.
    pub fn parse_as(text: &str, kind: QueryKind, own_name: &str) -> Result<Self, ParseError> {
        parse::parse(text, kind, own_name).map(|root| Self { kind, root })
    }

    /// The query that matches every row.
    pub fn everything(kind: QueryKind) -> Self {
        Self {
            kind,
            root: Expr::All(Vec::new()),
        }
    }

    /// True if it matches every row.
    pub fn is_empty(&self) -> bool {
        self.root == Expr::All(Vec::new())
    }

    /// The expression tree.
    pub fn root(&self) -> &Expr {
        &self.root
    }

    /// The fields that its clauses test.
    pub fn fields(&self) -> Vec<Field> {
        self.root
            .clauses()
            .iter()
            .map(|clause| clause.field)
            .collect()
    }

    /// True if a clause tests this field.
    pub fn has_field(&self, field: Field) -> bool {
        self.root
            .clauses()
            .iter()
            .any(|clause| clause.field == field)
    }

    /// Whether the result of a clause changes with time, as that of `age<1h` does.
    pub fn depends_on_now(&self) -> bool {
        self.root
            .clauses()
            .iter()
            .any(|clause| clause.depends_on_now())
    }

    /// The parts of the top-level conjunction.
    pub fn parts(&self) -> &[Expr] {
        match &self.root {
            Expr::All(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.fmt(f)
    }
}

/// The query of a filter. Filters are valid queries, so the fallback hides nothing.
pub fn query_of(filter: &str, kind: QueryKind) -> Query {
    Query::parse(filter, kind).unwrap_or_else(|_| Query::everything(kind))
}
