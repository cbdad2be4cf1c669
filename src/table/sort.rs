//! An order of a list, and how names are compared.
//!
//! The orders of a list stand with its rows. Those that need more than the items themselves (what needs a person first,
//! the risks of a target, the hits of a payload) are refined by who shows the list.

use std::cmp::Ordering;

/// One order of a list.
pub struct SortOrder<T: 'static> {
    /// Its name, for the pane's head.
    pub name: &'static str,
    /// The order.
    pub compare: fn(&T, &T) -> Ordering,
}

/// The name of the scans' order that depends on more than the scan.
pub const BY_NEED: &str = "what needs you first";
/// The same of the targets, by their worst findings.
pub const BY_RISK: &str = "risk";
/// The same of the payloads, by what they brought in.
pub const BY_HITS: &str = "hits";

/// Compares texts with the numbers in them as numbers: `127.0.0.9` comes before `127.0.0.10`.
pub fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let (plain_a, rest_a) = split(a, |byte| !byte.is_ascii_digit());
        let (plain_b, rest_b) = split(b, |byte| !byte.is_ascii_digit());
        let (number_a, rest_a) = split(rest_a, |byte| byte.is_ascii_digit());
        let (number_b, rest_b) = split(rest_b, |byte| byte.is_ascii_digit());
        let value = |digits: &str| {
            let digits = digits.trim_start_matches('0');
            (digits.len(), digits.to_owned())
        };
        let order = plain_a.to_lowercase().cmp(&plain_b.to_lowercase());
        let order = order.then_with(|| value(number_a).cmp(&value(number_b)));
        if order != Ordering::Equal || (rest_a.is_empty() && rest_b.is_empty()) {
            return order.then_with(|| a.cmp(b));
        }
        (a, b) = (rest_a, rest_b);
    }
}

fn split(text: &str, belongs: impl Fn(u8) -> bool) -> (&str, &str) {
    let end = text.bytes().position(|byte| !belongs(byte)).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_as_numbers() {
        let mut names = vec!["127.0.0.10", "127.0.0.9", "b", "B2", "a10", "a9", "", "é1"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["", "127.0.0.9", "127.0.0.10", "a9", "a10", "b", "B2", "é1"]);
    }
}
