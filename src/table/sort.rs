//! Sort orders and natural comparison of names.
//!
//! Orders are defined with the rows. Orders that need other data (urgency, risks of a target, hits of a payload) are
//! refined by the dashboard.

use std::cmp::Ordering;

/// One order of a list.
pub struct SortOrder<T: 'static> {
    /// Name in the pane title.
    pub name: &'static str,
    /// The order.
    pub compare: fn(&T, &T) -> Ordering,
}

/// Order of scans by urgency, which depends on more than the scan.
pub const BY_NEED: &str = "urgency";
/// Order of targets by their worst findings.
pub const BY_RISK: &str = "risk";
/// Order of payloads by their hits.
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
    fn natural_order_compares_numbers_by_value() {
        let mut names = vec!["127.0.0.10", "127.0.0.9", "b", "B2", "a10", "a9", "", "é1"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["", "127.0.0.9", "127.0.0.10", "a9", "a10", "b", "B2", "é1"]);
    }
}
