//! `COUNT FILE [shape=SHAPE]`: many payloads at once, a line each of a file.

use crate::dashboard::model::Fault;
use crate::oob::{MOST, PayloadShape};
use std::ops::Range;

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Many {
    /// How many.
    pub count: usize,
    /// Into which file.
    pub file: String,
    /// In which shape.
    pub shape: PayloadShape,
}

/// Reads it; nothing where the text is a query, because it begins with no number or ends with it.
pub fn read(typed: &str, place: &Range<usize>) -> Option<Result<Many, Fault>> {
    let (number, rest) = typed.split_once(char::is_whitespace)?;
    let count: usize = number.parse().ok()?;
    let rest = rest.trim();
    let (file, shape) = match rest.rsplit_once("shape=") {
        Some((file, shape)) if file.is_empty() || file.ends_with(char::is_whitespace) => (file.trim(), Some(shape)),
        _ => (rest, None),
    };
    let fault = |why: String| Fault::new(place.clone(), why);
    let shape = match shape.map(str::parse).unwrap_or(Ok(PayloadShape::Plain)) {
        Ok(shape) => shape,
        Err(why) => return Some(Err(fault(why))),
    };
    Some(match (count, file) {
        (_, "") => Err(fault("the name of a file is missing".to_owned())),
        (1..=MOST, file) => Ok(Many { count, file: file.to_owned(), shape }),
        _ => Err(fault(format!("1 to {MOST} payloads at once"))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(typed: &str) -> Option<Result<(usize, String, PayloadShape), String>> {
        let read = read(typed, &(0..typed.len()))?;
        Some(read.map(|many| (many.count, many.file, many.shape)).map_err(|fault| fault.reason))
    }

    #[test]
    fn a_number_and_a_file_are_many_payloads_and_anything_else_is_a_query() {
        assert_eq!(told("200 urls.txt"), Some(Ok((200, "urls.txt".to_owned(), PayloadShape::Plain))));
        assert_eq!(told("3 my urls.txt shape=xxe"), Some(Ok((3, "my urls.txt".to_owned(), PayloadShape::Xxe))));
        assert_eq!([told("is:hit"), told("200"), told("q shape"), told("")], [None, None, None, None]);
    }

    #[test]
    fn what_cannot_be_made_is_refused_with_the_reason() {
        for (typed, word) in [
            ("0 f", "1 to"),
            ("10001 f", "1 to"),
            ("5 f shape=round", "unknown shape"),
            ("5 shape=xxe", "file is missing"),
        ] {
            assert!(matches!(told(typed), Some(Err(why)) if why.contains(word)), "{typed}: {:?}", told(typed));
        }
    }
}
