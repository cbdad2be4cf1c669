//! How much memory a decoded list occupies, estimated before it is decoded: `[{},{},…]` becomes
//! hundreds of times as large as its text.
//!
//! ```text
//!   body ─► text + items × their size + values below their fields × a node ─► refused above the limit of the list
//! ```

use super::request::ListSize;
use super::{Error, ErrorKind};

/// Memory of a value in a list or object within an item, such as a cell of evidence.
const NODE: usize = 64;

/// Checks the memory of a list whose earlier pages occupy `before`; returns the sum.
pub(super) fn check<T>(body: &[u8], before: usize, size: ListSize) -> Result<usize, Error> {
    let memory = before + decoded_size(body, size_of::<T>());
    if memory <= size.limit() {
        return Ok(memory);
    }
    let limit = size.limit() >> 20;
    Err(Error::new(
        ErrorKind::TooLarge,
        format!("the list needs more than {limit} MB of memory"),
    )
    .sent())
}

/// Depth of the items of a list in a field of the wrapped object: lists of a response are never
/// deeper.
const DEEPEST_ITEM: usize = 3;

/// The text, its items, and the values below the fields of the items. Fields themselves are part of
/// the items. Nulls and scalars in the list are items too, because they occupy the place of one
/// while the list is decoded.
fn decoded_size(body: &[u8], item: usize) -> usize {
    let (mut open, mut list) = (0_usize, None);
    // Whether the value that is open at each of the outer depths is a list.
    let mut is_list = [false; DEEPEST_ITEM + 1];
    let (mut items, mut nodes) = (0_usize, 0_usize);
    let (mut in_string, mut escaped) = (false, false);
    for byte in body {
        if in_string {
            (in_string, escaped) = (escaped || *byte != b'"', !escaped && *byte == b'\\');
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                if *byte == b'[' {
                    list.get_or_insert(open);
                }
                let is_element = is_list.get(open).copied().unwrap_or_default();
                if open > list.unwrap_or(open) + 1 {
                    nodes += 1;
                } else if !is_element {
                    // The first element is counted with its list, the others with their commas.
                    items += if *byte == b'[' { 2 } else { 1 };
                }
                open += 1;
                if let Some(is_list) = is_list.get_mut(open) {
                    *is_list = *byte == b'[';
                }
            }
            b']' | b'}' => open = open.saturating_sub(1),
            b',' => {
                let Some(list) = list else { continue };
                if open <= list + 2 && is_list.get(open).copied().unwrap_or_default() {
                    items += 1;
                } else if open >= list + 3 {
                    nodes += 1;
                }
            }
            _ => {}
        }
    }
    body.len() + items * item + nodes * NODE
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::{Finding, Scan};

    #[test]
    fn size_counts_items_and_nested_values() {
        let size = |body: &str| decoded_size(body.as_bytes(), 1_000);
        assert_eq!(size("[{\"a\":1,\"b\":\"x,[{\\\"\"}]"), 22 + 2 * 1_000);
        assert_eq!(
            size("{\"data\":[{},{},{}]}"),
            19 + 5 * 1_000,
            "the wrapper counts too"
        );
        assert_eq!(size("[{\"a\":[1,2,3]}]"), 15 + 2 * 1_000 + 3 * NODE);
    }

    #[test]
    fn nulls_and_scalars_count_as_items() {
        for (text, items) in [
            ("[null,null,null]", 4),
            ("[1,\"a,b\",true]", 4),
            ("[{},null,{}]", 4),
            ("{\"data\":{\"requests\":[null,null]}}", 5),
            ("{\"a\":[],\"data\":{\"requests\":[null,null]}}", 7),
            ("{\"a\":{\"b\":[]},\"data\":[null,null]}", 7),
        ] {
            assert_eq!(
                decoded_size(text.as_bytes(), 1_000),
                text.len() + items * 1_000,
                "{text}"
            );
        }
        for element in ["null", "1"] {
            let body = format!("[{}{element}]", format!("{element},").repeat(1 << 20));
            assert!(
                check::<Finding>(body.as_bytes(), 0, ListSize::Findings).is_err(),
                "{element}"
            );
        }
    }

    #[test]
    fn list_of_empty_items_is_refused_before_it_is_decoded() {
        let body = format!("[{}{{}}]", "{},".repeat(1 << 20));
        assert!(
            check::<Scan>(body.as_bytes(), 0, ListSize::Scans).is_err(),
            "3 MB of text"
        );
        let error =
            check::<Finding>(b"[]", ListSize::Findings.limit(), ListSize::Findings).unwrap_err();
        assert!(error.to_string().contains("288 MB"), "{error}");
    }

    #[test]
    fn hundred_thousand_findings_are_accepted() {
        let row = r#"["a cell of evidence","another cell","third"]"#;
        let one = format!(
            r#"{{"id":1,"vuln_id":"x","name":"n","description":"{}","evidence":{{"rows":[{row},{row}]}}}}"#,
            "d".repeat(1_100)
        );
        let finding = decoded_size(one.as_bytes(), size_of::<Finding>());
        assert!(
            finding * 100_000 < ListSize::Findings.limit(),
            "{finding} bytes per finding"
        );
    }

    #[test]
    fn all_lists_together_have_one_limit() {
        use ListSize::{Findings, Other, Scans, Targets};
        // Workspaces, loggers, reports and wordlists.
        let all = [Findings, Scans, Targets, Other, Other, Other, Other].map(ListSize::limit);
        assert_eq!(all.iter().sum::<usize>(), 512 << 20);
    }
}
