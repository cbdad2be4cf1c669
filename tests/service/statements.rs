//! The SQL texts of the service: both engines read them, and so do programs of two versions.

use std::sync::LazyLock;

use proc_macro2::{TokenStream, TokenTree};

use crate::imports::{SOURCES, is_in};

/// The texts of a file that are SQL statements.
fn statements(tokens: TokenStream, found: &mut Vec<String>) {
    const VERBS: [&str; 5] = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH "];
    for token in tokens {
        match token {
            TokenTree::Group(group) => statements(group.stream(), found),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let begins = |verb: &&str| text.trim_start_matches('"').starts_with(*verb);
                found.extend(VERBS.iter().any(begins).then_some(text));
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

static STATEMENTS: LazyLock<Vec<String>> = LazyLock::new(statements_of_the_service);

fn statements_of_the_service() -> Vec<String> {
    let mut found = Vec::new();
    for source in SOURCES.iter() {
        if is_in(&source.layer, "service/store", "/") {
            statements(source.text.parse().unwrap(), &mut found);
        }
    }
    assert!(found.len() > 100, "only {} statements", found.len());
    found
}

/// `$1` is a parameter in SQLite and in PostgreSQL; a bare `?` is one in SQLite only.
#[test]
fn statements_of_the_service_number_their_parameters() {
    let bare: Vec<&String> = STATEMENTS
        .iter()
        .filter(|text| text.contains('?'))
        .collect();
    assert!(bare.is_empty(), "{bare:#?}");
}

/// A newer program may add columns while an older one runs.
#[test]
fn statements_of_the_service_name_their_columns() {
    const ALL_COLUMNS: [&str; 4] = ["SELECT *", "RETURNING *", ", *", ".*"];
    let names_columns = |inserted: &str| {
        let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '{' | '}');
        inserted.trim_start_matches(is_of_name).starts_with(" (")
    };
    let is_open = |text: &&String| {
        let mut inserts = text.split("INSERT INTO ").skip(1);
        ALL_COLUMNS.iter().any(|all| text.contains(*all)) || !inserts.all(names_columns)
    };
    let open: Vec<&String> = STATEMENTS.iter().filter(is_open).collect();
    assert!(open.is_empty(), "{open:#?}");
}
