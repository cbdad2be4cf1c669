//! Base64 in both alphabets, found inside other text as well.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Reads what others wrote carelessly: padding or none, odd last bits.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// A stretch of one or both alphabets, line breaks and padding taken out, brought to the first alphabet.
#[derive(Debug, PartialEq, Eq)]
pub struct Base64Run {
    digits: Vec<u8>,
    /// It has a character that only the alphabet for URLs has.
    pub for_urls: bool,
}

impl Base64Run {
    /// The run that a whole text is.
    pub fn of(text: &[u8]) -> Option<Self> {
        let end = text.len() - text.iter().rev().take_while(|&&byte| byte == b'=' || is_break(byte)).count();
        (end > 0 && text[..end].iter().all(|&byte| is_digit(byte) || is_break(byte))).then(|| Self::taken(&text[..end]))
    }

    /// Every stretch of at least `least` characters in a text.
    pub fn all(text: &[u8], least: usize) -> impl Iterator<Item = Self> + '_ {
        let stretches = text.split(|&byte| !is_digit(byte) && !is_break(byte));
        stretches.filter(move |stretch| stretch.len() >= least).map(Self::taken)
    }

    fn taken(stretch: &[u8]) -> Self {
        let for_urls = stretch.iter().any(|byte| matches!(byte, b'-' | b'_'));
        let digits = stretch.iter().filter(|&&byte| !is_break(byte)).map(|&byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            byte => byte,
        });
        Self { digits: digits.collect(), for_urls }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        if self.for_urls { "base64url" } else { "base64" }
    }

    /// Its characters.
    pub fn len(&self) -> usize {
        self.digits.len()
    }

    /// It has none.
    pub fn is_empty(&self) -> bool {
        self.digits.is_empty()
    }

    /// What it stands for when its first `skipped` characters belong to something else.
    pub fn decoded(&self, skipped: usize) -> Option<Vec<u8>> {
        let digits = self.digits.get(skipped..)?;
        // One character alone stands for less than a byte.
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
        fn either_alphabet_is_read_with_padding_and_without(bytes in prop::collection::vec(any::<u8>(), 1..100)) {
            for text in [STANDARD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
                prop_assert_eq!(Base64Run::of(text.as_bytes()).unwrap().decoded(0), Some(bytes.clone()));
            }
        }

        #[test]
        fn a_run_behind_other_characters_is_read_at_one_of_four_places(
            before in "[a-z]{0,9}", bytes in prop::collection::vec(any::<u8>(), 12..40),
        ) {
            let text = format!("'{before}{}'", STANDARD.encode(&bytes));
            let run = Base64Run::all(text.as_bytes(), 16).next().unwrap();
            prop_assert!((0..4).filter_map(|skipped| run.decoded(skipped)).any(|read| read.ends_with(&bytes)));
        }

        #[test]
        fn no_text_makes_it_panic(text: Vec<u8>) {
            for run in Base64Run::all(&text, 1).chain(Base64Run::of(&text)) {
                for skipped in 0..5 {
                    let _read = run.decoded(skipped);
                }
            }
        }
    }

    #[test]
    fn lines_are_one_run() {
        assert_eq!(Base64Run::of(b"aGVs\r\nbG8=\n").unwrap().decoded(0).as_deref(), Some(&b"hello"[..]));
        assert_eq!(Base64Run::of(b"not base64!"), None);
        assert_eq!(Base64Run::of(b""), None);
    }
}
