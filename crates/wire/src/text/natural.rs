//! Natural comparison of names.

use std::cmp::Ordering;

/// Compares texts with the numbers in them as numbers: `127.0.0.9` comes before `127.0.0.10`.
pub fn natural(a: &str, b: &str) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    let (mut a, mut b) = (a, b);
    loop {
        let (plain_a, rest_a) = split(a, |byte| !byte.is_ascii_digit());
        let (plain_b, rest_b) = split(b, |byte| !byte.is_ascii_digit());
        let (number_a, rest_a) = split(rest_a, |byte| byte.is_ascii_digit());
        let (number_b, rest_b) = split(rest_b, |byte| byte.is_ascii_digit());
        let order = lower(plain_a)
            .cmp(lower(plain_b))
            .then_with(|| value(number_a).cmp(&value(number_b)));
        if order != Ordering::Equal || (rest_a.is_empty() && rest_b.is_empty()) {
            return order.then_with(|| a.cmp(b));
        }
        (a, b) = (rest_a, rest_b);
    }
}

fn lower(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase)
}

/// The value of digits, in any length: the longer number is the greater.
fn value(digits: &str) -> (usize, &str) {
    let digits = digits.trim_start_matches('0');
    (digits.len(), digits)
}

fn split(text: &str, belongs: impl Fn(u8) -> bool) -> (&str, &str) {
    let end = text
        .bytes()
        .position(|byte| !belongs(byte))
        .unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn natural_order_compares_numbers_by_value() {
        let mut names = vec!["127.0.0.10", "127.0.0.9", "b", "B2", "a10", "a9", "", "é1"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(
            names,
            ["", "127.0.0.9", "127.0.0.10", "a9", "a10", "b", "B2", "é1"]
        );
    }
}
