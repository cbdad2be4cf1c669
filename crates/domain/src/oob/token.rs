//! Tokens identify payload URLs and are searched for in every captured request.
//!
//! Twelve characters of `a-z2-7` are sixty random bits and fit a machine word, so a text is
//! searched with a sliding window. Case is ignored because targets change it.

use std::fmt;
use std::str::FromStr;

use scandeck_wire::contract::serde_as_text;

/// Characters of a token.
pub const LENGTH: usize = 12;

const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
const BITS: u32 = 5;
const MASK: u64 = (1 << (BITS * LENGTH as u32)) - 1;

/// A token of sixty bits, five per character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(u64);

impl Token {
    /// The token for a random number.
    pub fn of(random: u64) -> Self {
        Self(random & MASK)
    }

    /// The number, which fits an `i64`.
    pub fn number(self) -> u64 {
        self.0
    }

    /// Every token-sized window of a text with its offset, including overlapping ones.
    pub fn windows(text: &[u8]) -> impl Iterator<Item = (usize, Self)> + '_ {
        let (mut word, mut run) = (0_u64, 0_usize);
        text.iter().enumerate().filter_map(move |(at, &byte)| {
            match value(byte) {
                Some(value) => (word, run) = ((word << BITS | u64::from(value)) & MASK, run + 1),
                None => run = 0,
            }
            (run >= LENGTH).then(|| (at + 1 - LENGTH, Self(word)))
        })
    }
}

impl From<Token> for i64 {
    fn from(token: Token) -> Self {
        // Sixty bits.
        token.0 as Self
    }
}

impl From<i64> for Token {
    fn from(number: i64) -> Self {
        Self(number as u64)
    }
}

/// The five bits of a character.
fn value(byte: u8) -> Option<u8> {
    match byte.to_ascii_lowercase() {
        byte @ b'a'..=b'z' => Some(byte - b'a'),
        byte @ b'2'..=b'7' => Some(byte - b'2' + 26),
        _ => None,
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let character = |place: usize| {
            let value = self.0 >> (BITS as usize * (LENGTH - 1 - place)) & 31;
            char::from(ALPHABET[value as usize])
        };
        let text: String = (0..LENGTH).map(character).collect();
        f.pad(&text)
    }
}

impl FromStr for Token {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let found = (text.len() == LENGTH)
            .then(|| Self::windows(text.as_bytes()).next())
            .flatten();
        found.map(|(_, token)| token).ok_or_else(|| {
            format!("{text:?} is not a token: use {LENGTH} characters of a-z and 2-7")
        })
    }
}

serde_as_text!(Token);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn token_text_round_trips_in_any_case(random: u64) {
            let token = Token::of(random);
            let text = token.to_string();
            prop_assert_eq!(text.parse(), Ok(token));
            prop_assert_eq!(text.to_uppercase().parse(), Ok(token));
            prop_assert_eq!(text.len(), LENGTH);
        }

        #[test]
        fn token_is_found_in_any_context(random: u64, before in ".{0,20}", after in ".{0,20}") {
            let token = Token::of(random);
            let text = format!("{before}{token}{after}");
            prop_assert!(Token::windows(text.as_bytes()).any(|found| found == (before.len(), token)));
        }
    }

    #[test]
    fn invalid_token_text_is_rejected() {
        for text in [
            "",
            "abcdefghijk",
            "abcdefghijkl2",
            "abcdef-hijkl",
            "abcdefghijk1",
            "abcdefghijk8",
        ] {
            assert!(text.parse::<Token>().is_err(), "{text}");
        }
    }
}
