//! `COUNT FILE [shape=SHAPE]`: many payloads at once, one per line of a file.

use crate::model::Fault;
use scandeck_domain::oob::{MOST, PayloadShape};
use std::ops::Range;

/// The request for many payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkPayloads {
    pub count: usize,
    pub file: String,
    pub shape: PayloadShape,
}

/// Parses it; none for a query, which does not begin with a number. `"5"` in quotes is a query.
pub fn read(typed: &str, place: &Range<usize>) -> Option<Result<BulkPayloads, Fault>> {
    let (number, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    let count: usize = number.parse().ok()?;
    let rest = rest.trim();
    let (file, shape) = match rest.rsplit_once("shape=") {
        Some((file, shape)) if file.is_empty() || file.ends_with(char::is_whitespace) => {
            (file.trim(), Some(shape))
        }
        _ => (rest, None),
    };
    let fault = |why: String| Fault::new(place.clone(), why);
    let shape = match shape.map_or(Ok(PayloadShape::Plain), str::parse) {
        Ok(shape) => shape,
        Err(names) => {
            return Some(Err(fault(format!(
                "unknown shape `{}`; {names}",
                shape.unwrap_or_default()
            ))));
        }
    };
    Some(match (count, file) {
        (_, "") => Err(fault(format!("a file name is missing after {count}"))),
        (1..=MOST, file) => Ok(BulkPayloads {
            count,
            file: file.to_owned(),
            shape,
        }),
        _ => Err(fault(format!("the count must be 1 to {MOST}"))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(typed: &str) -> Option<Result<(usize, String, PayloadShape), String>> {
        let read = read(typed, &(0..typed.len()))?;
        Some(
            read.map(|many| (many.count, many.file, many.shape))
                .map_err(|fault| fault.reason),
        )
    }

    #[test]
    fn number_and_file_are_many_payloads() {
        assert_eq!(
            parsed("200 urls.txt"),
            Some(Ok((200, "urls.txt".to_owned(), PayloadShape::Plain)))
        );
        assert_eq!(
            parsed("3 my urls.txt shape=xxe"),
            Some(Ok((3, "my urls.txt".to_owned(), PayloadShape::Xxe)))
        );
        assert_eq!(
            [
                parsed("is:hit"),
                parsed("\"200\""),
                parsed("q shape"),
                parsed("")
            ],
            [None, None, None, None]
        );
    }

    #[test]
    fn invalid_request_is_refused_with_the_reason() {
        for (typed, word) in [
            ("0 f", "must be 1 to"),
            ("10001 f", "must be 1 to"),
            ("5 f shape=round", "unknown shape"),
            ("5 shape=xxe", "a file name is missing"),
            ("5", "a file name is missing after 5"),
        ] {
            assert!(
                matches!(parsed(typed), Some(Err(why)) if why.contains(word)),
                "{typed}: {:?}",
                parsed(typed)
            );
        }
    }
}
