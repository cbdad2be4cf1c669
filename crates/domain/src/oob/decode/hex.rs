//! Hexadecimal digits, two per byte.

/// The byte of two digits.
pub fn byte(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? << 4 | digit(low)?).ok()
}

/// The bytes of a text of digits; a single trailing digit is ignored.
pub fn decoded(digits: &[u8]) -> Option<Vec<u8>> {
    digits
        .chunks_exact(2)
        .map(|pair| byte(pair[0], pair[1]))
        .collect()
}

/// Every run of at least `least` digits.
pub fn runs(text: &[u8], least: usize) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !byte.is_ascii_hexdigit())
        .filter(move |run| run.len() >= least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_digits_of_either_case_decode() {
        assert_eq!(decoded(b"6aFf0").as_deref(), Some(&b"j\xff"[..]));
        assert_eq!(decoded(b"6g"), None);
        assert_eq!(
            runs(b"x 6a6b, abcd", 4).collect::<Vec<_>>(),
            [b"6a6b", b"abcd"]
        );
    }
}
