//! Base64 in both alphabets, also inside other text.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Accepts missing padding and nonzero trailing bits.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// A run of characters of one or both alphabets without line breaks and padding, converted to the
/// standard alphabet.
#[derive(Debug, PartialEq, Eq)]
pub struct Base64Run {
    digits: Vec<u8>,
    /// True if the run contains a character of the URL-safe alphabet only.
    pub for_urls: bool,
}

impl Base64Run {
    /// The run that covers the whole text.
    pub fn of(text: &[u8]) -> Option<Self> {
        let end = text.len()
            - text
                .iter()
                .rev()
                .take_while(|&&byte| byte == b'=' || is_break(byte))
                .count();
        (end > 0
            && text[..end]
                .iter()
                .all(|&byte| is_digit(byte) || is_break(byte)))
        .then(|| Self::from_run(&text[..end]))
    }

    /// Every run of at least `least` characters in a text.
    pub fn all(text: &[u8], least: usize) -> impl Iterator<Item = Self> + '_ {
        let runs = text.split(|&byte| !is_digit(byte) && !is_break(byte));
        runs.filter(move |run| run.len() >= least)
            .map(Self::from_run)
    }

    fn from_run(run: &[u8]) -> Self {
        let for_urls = run.iter().any(|byte| matches!(byte, b'-' | b'_'));
        let digits = run
            .iter()
            .filter(|&&byte| !is_break(byte))
            .map(|&byte| match byte {
                b'-' => b'+',
                b'_' => b'/',
                byte => byte,
            });
        Self {
            digits: digits.collect(),
            for_urls,
        }
    }

    pub fn name(&self) -> &'static str {
        if self.for_urls { "base64url" } else { "base64" }
    }

    /// Number of characters.
    pub fn len(&self) -> usize {
        self.digits.len()
    }

    /// True if the run has no characters.
    pub fn is_empty(&self) -> bool {
        self.digits.is_empty()
    }

    /// The decoded bytes without the first `skipped` characters.
    pub fn decoded(&self, skipped: usize) -> Option<Vec<u8>> {
        let digits = self.digits.get(skipped..)?;
        // A single trailing character encodes less than a byte.
        let digits = &digits[..digits.len() - usize::from(digits.len() % 4 == 1)];
        LENIENT.decode(digits).ok()
    }
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn base64_alphabets_decode_with_and_without_padding(bytes in prop::collection::vec(any::<u8>(), 1..100)) {
            for text in [STANDARD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
                prop_assert_eq!(Base64Run::of(text.as_bytes()).unwrap().decoded(0), Some(bytes.clone()));
            }
        }

        #[test]
        fn base64_run_after_other_characters_decodes_at_one_of_four_offsets(
            before in "[a-z]{0,9}", bytes in prop::collection::vec(any::<u8>(), 12..40),
        ) {
            let text = format!("'{before}{}'", STANDARD.encode(&bytes));
            let run = Base64Run::all(text.as_bytes(), 16).next().unwrap();
            prop_assert!((0..4).filter_map(|skipped| run.decoded(skipped)).any(|read| read.ends_with(&bytes)));
        }

        #[test]
        fn base64_search_in_any_text_does_not_panic(text: Vec<u8>) {
            for run in Base64Run::all(&text, 1).chain(Base64Run::of(&text)) {
                for skipped in 0..5 {
                    let _read = run.decoded(skipped);
                }
            }
        }
    }

    #[test]
    fn wrapped_base64_is_one_run() {
        assert_eq!(
            Base64Run::of(b"aGVs\r\nbG8=\n")
                .unwrap()
                .decoded(0)
                .as_deref(),
            Some(&b"hello"[..])
        );
        assert_eq!(Base64Run::of(b"not base64!"), None);
        assert_eq!(Base64Run::of(b""), None);
    }
}
