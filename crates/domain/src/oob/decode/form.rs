//! Form and query strings: names and values between `&`, with duplicates and in order.

use super::{DecodedPart, percent};

/// Maximum number of pairs.
const MOST: usize = 500;

/// The decoded pairs.
pub fn pairs(text: &str) -> Vec<DecodedPart> {
    let decoded = |text: &str| percent::decoded_value(text.as_bytes()).into_owned();
    let part = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        DecodedPart {
            name: String::from_utf8_lossy(&decoded(name)).into_owned(),
            value: decoded(value),
            steps: Vec::new(),
        }
    };
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .take(MOST)
        .map(part)
        .collect()
}

/// One line per pair.
pub fn laid_out(pairs: &[DecodedPart]) -> Vec<u8> {
    let line = |part: &DecodedPart| [part.name.as_bytes(), b" = ", &part.value, b"\n"].concat();
    pairs.iter().flat_map(line).collect()
}

/// True if every part is a name with a value and no character occurs that a form would have
/// encoded.
pub fn looks_like(text: &str) -> bool {
    let named = |pair: &str| {
        let name = pair.split_once('=').map_or("", |(name, _)| name);
        let of_names = |c: char| c.is_ascii_alphanumeric() || "_-.[]%+$".contains(c);
        !name.is_empty() && name.len() <= 100 && name.chars().all(of_names)
    };
    let plain = |c: char| c.is_ascii_graphic() && !"<>\"{}".contains(c);
    // A single trailing `=` indicates base64, not a name without a value.
    let valued = text.split('&').any(|pair| {
        pair.split_once('=')
            .is_some_and(|(_, value)| !value.trim_matches('=').is_empty())
    });
    valued && text.chars().all(plain) && text.split('&').all(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_pairs_keep_order_and_duplicates() {
        let pairs = pairs("b=1%262&a=x+y&b=&flag");
        assert_eq!(
            String::from_utf8(laid_out(&pairs)).unwrap(),
            "b = 1&2\na = x y\nb = \nflag = \n"
        );
    }

    #[test]
    fn form_detection_requires_names_with_values() {
        for form in ["a=1", "a=1&b[]=2", "a%20b=1&c="] {
            assert!(looks_like(form), "{form}");
        }
        for none in [
            "",
            "abc",
            "aGVsbG8=",
            "aGVsbG8h==",
            "a=1 b",
            "http://h/?a=1",
            "a=1&b",
            "<a b=c>",
        ] {
            assert!(!looks_like(none), "{none}");
        }
    }
}
