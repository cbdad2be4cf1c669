//! `me` in a query: the name of the user in its place, for fields whose values are people. A query
//! has no user, so the name is an input.
//!
//! ```text
//!   "assignee:me risk:high" of ann ─► "assignee:ann risk:high"
//! ```

use std::ops::Range;

use super::field::ME;
use super::lex::{Compare, LexToken, Placed, Word, lex, quote, value};
use super::{Field, QueryKind};

/// The text of a query with the name of the user instead of `me`; without a name, the text itself.
pub fn with_own_name(text: &str, kind: QueryKind, own_name: &str) -> String {
    let mut named = text.to_owned();
    let Ok(mut tokens) = lex(text) else {
        return named;
    };
    if own_name.is_empty() {
        return named;
    }
    let places: Vec<Range<usize>> = own_words(&mut tokens, kind)
        .map(|word| word.at.clone())
        .collect();
    let own_value = value_of(own_name);
    // From the end, because a replacement moves what comes after it.
    for place in places.into_iter().rev() {
        named.replace_range(place, &own_value);
    }
    named
}

/// Replaces `me` in tokens; without a name they remain as they are.
pub(super) fn put_own_name(tokens: &mut [Placed], kind: QueryKind, own_name: &str) {
    if own_name.is_empty() {
        return;
    }
    for word in own_words(tokens, kind) {
        word.text = own_name.to_owned();
        word.quoted = true;
    }
}

/// The values that mean the user.
fn own_words(tokens: &mut [Placed], kind: QueryKind) -> impl Iterator<Item = &mut Word> {
    tokens
        .iter_mut()
        .filter_map(move |(token, _)| match token {
            LexToken::Clause {
                field,
                compare,
                values,
            } if *compare != Compare::Found && names_people(&field.text, kind) => Some(values),
            _ => None,
        })
        .flatten()
        .filter(|word| !word.quoted && word.text == ME)
}

fn names_people(field: &str, kind: QueryKind) -> bool {
    Field::named(field, kind).is_some_and(Field::names_people)
}

/// The name as a value; in quotes if a query reads it as another word.
fn value_of(name: &str) -> String {
    match name == ME || name.eq_ignore_ascii_case("none") {
        true => quote(name),
        false => value(name),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Query;
    use super::*;

    #[test]
    fn own_name_replaces_me_in_fields_of_people() {
        let kind = QueryKind::Findings;
        for (text, name, expected) in [
            ("assignee:me risk:high", "ann", "assignee:ann risk:high"),
            (
                "(by=bob,me or -assignee:me) x",
                "ann",
                "(by=bob,ann or -assignee:ann) x",
            ),
            ("assignee:me", "Ann Lee", "assignee:\"Ann Lee\""),
            ("assignee:me", "none", "assignee:\"none\""),
            ("assignee:me", "None", "assignee:\"None\""),
            (
                "assignee:\"me\" tag:me me",
                "ann",
                "assignee:\"me\" tag:me me",
            ),
            ("assignee:me", "", "assignee:me"),
            ("assignee:me -", "ann", "assignee:me -"),
        ] {
            assert_eq!(with_own_name(text, kind, name), expected, "{text}");
        }
    }

    #[test]
    fn query_of_a_user_is_the_query_with_the_name() {
        let kind = QueryKind::Findings;
        for text in ["assignee:me", "by!=me,bob", "risk:high or by:me"] {
            for name in ["ann", "Ann Lee", "me", "None", "a\"b", r"ACME\ann", "~ann"] {
                let named = with_own_name(text, kind, name);
                assert_eq!(
                    Query::parse_as(text, kind, name),
                    Query::parse(&named, kind),
                    "{named}"
                );
            }
            assert!(Query::parse_as(text, kind, "").is_err());
        }
        let late = Query::parse_as("assignee:me risk>=", kind, "a long name").unwrap_err();
        assert_eq!(late.at, 18..18, "the place in the typed text");
    }
}
