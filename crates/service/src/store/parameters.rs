//! Parameters without names, which SQLite reads and binds faster.
//!
//! `$1` is a name for SQLite. It searches each name in the list of all names when it reads a
//! statement, and when SQLx binds the value: 5,000 parameters take 0.1 s with names, 1 ms without.

/// The text with `?` for each parameter, if each has one place and they are in order.
pub(super) fn without_names(text: &str) -> Option<String> {
    let mut parts = text.split('$');
    let mut unnamed = parts.next()?.to_owned();
    let mut expected = 1_usize;
    for part in parts {
        let end = part.find(|one: char| !one.is_ascii_digit());
        let (number, rest) = part.split_at(end.unwrap_or(part.len()));
        if number.is_empty() {
            // The root of a JSON path.
            unnamed.push('$');
        } else if number.parse::<usize>() == Ok(expected) {
            unnamed.push('?');
            expected += 1;
        } else {
            return None;
        }
        unnamed.push_str(rest);
    }
    Some(unnamed)
}

#[cfg(test)]
mod tests {
    use super::super::sql::{SqlValue, sql};
    use super::super::testing::open_sqlite;
    use super::*;

    #[test]
    fn parameters_in_order_lose_their_names() {
        for (text, expected) in [
            ("SELECT 1", Some("SELECT 1")),
            ("a = $1 AND b IN ($2, $3)", Some("a = ? AND b IN (?, ?)")),
            ("a ->> '$.b' = $1", Some("a ->> '$.b' = ?")),
            ("a = $2 AND b = $1", None),
            ("a = $1 OR b = $1", None),
            ("a = $2", None),
        ] {
            assert_eq!(without_names(text).as_deref(), expected, "{text}");
        }
    }

    #[tokio::test]
    async fn values_reach_their_places_with_and_without_names() {
        let temp = tempfile::tempdir().unwrap();
        let store = open_sqlite(temp.path()).await;
        let rows: Vec<(i64, String)> = sql("SELECT column2, column1 FROM (")
            .push_rows((1..=500).map(|row: i64| [SqlValue::from(row.to_string()), row.into()]))
            .push(") AS numbers ORDER BY column2")
            .all(store.read())
            .await
            .unwrap();
        let expected: Vec<(i64, String)> =
            (1..=500).map(|row: i64| (row, row.to_string())).collect();
        assert_eq!(rows, expected);
        let reversed: (String, String) = sql("SELECT $2, $1")
            .bind("one")
            .bind("two")
            .one(store.read())
            .await
            .unwrap();
        assert_eq!(reversed, ("two".to_owned(), "one".to_owned()));
    }
}
