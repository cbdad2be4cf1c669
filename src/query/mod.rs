//! The query language: one grammar for the filters of every list, saved queries, rules, alerts, bulk actions and the
//! command line. `docs/query.md`, generated from the tables here, tells it to users.
//!
//! ```text
//!   "risk>=high -name:~\"^TLS\" shop"
//!        │ lex                                  columns: one a field, made when a list is made
//!        ▼                                                   │
//!      tokens ─ parse ─► Query (Expr of Clauses) ─ evaluate ─┴─► Bits, one a row
//!                          │ Display                        └──► complete, explain
//!                          ▼
//!                    canonical text: parses to the same query
//! ```
//!
//! All of it is pure: no I/O, no clock; the time that ages are counted from is given.

#![warn(missing_docs)]

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

use std::fmt;

pub use bits::RowSet;
pub use column::{Column, ColumnBuilder};
pub use error::ParseError;
pub use evaluate::Evaluator;
pub use expr::{Clause, ClauseTest, Expr};
pub use field::Field;
pub use flag::Flag;
pub use source::RowSource;
pub use texts::TextPool;

/// The lists that can be queried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum QueryKind {
    Findings,
    Scans,
    Targets,
    Captures,
    Loggers,
    Payloads,
    Reports,
    Wordlists,
    Workspaces,
}

impl QueryKind {
    /// All.
    pub const ALL: [QueryKind; 9] = [
        QueryKind::Findings,
        QueryKind::Scans,
        QueryKind::Targets,
        QueryKind::Captures,
        QueryKind::Loggers,
        QueryKind::Payloads,
        QueryKind::Reports,
        QueryKind::Wordlists,
        QueryKind::Workspaces,
    ];

    /// Its name for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Findings => "findings",
            Self::Scans => "scans",
            Self::Targets => "targets",
            Self::Captures => "captures",
            Self::Loggers => "loggers",
            Self::Payloads => "payloads",
            Self::Reports => "reports",
            Self::Wordlists => "word lists",
            Self::Workspaces => "workspaces",
        }
    }
}

/// A query that was read without an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    kind: QueryKind,
    root: Expr,
}

impl Query {
    /// Reads a query for one kind of list. The empty text is the query that takes everything.
    ///
    /// # Errors
    /// With the place in the text, the reason, and often what to write instead.
    pub fn parse(text: &str, kind: QueryKind) -> Result<Self, ParseError> {
        parse::parse(text, kind).map(|root| Self { kind, root })
    }

    /// The query that takes everything.
    pub fn everything(kind: QueryKind) -> Self {
        Self { kind, root: Expr::All(Vec::new()) }
    }

    /// Whether it takes everything.
    pub fn is_empty(&self) -> bool {
        self.root == Expr::All(Vec::new())
    }

    /// The expression.
    pub fn root(&self) -> &Expr {
        &self.root
    }

    /// Whether a clause of it is about a field.
    pub fn asks_about(&self, field: Field) -> bool {
        self.root.clauses().iter().any(|clause| clause.field == field)
    }

    /// The parts that must all hold, in the order written.
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

/// The query of a filter. Only what could be read becomes a filter, so the other case hides nothing.
pub(crate) fn query_of(filter: &str, kind: QueryKind) -> Query {
    Query::parse(filter, kind).unwrap_or_else(|_| Query::everything(kind))
}
