//! The key of a finding: its fingerprint.

use std::fmt;
use std::str::FromStr;

use scandeck_wire::contract::serde_as_text;

/// 128 bits of a fingerprint, the key of decisions. Printed as 32 hex digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FindingKey(pub u128);

impl fmt::Display for FindingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for FindingKey {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.len() {
            32 => u128::from_str_radix(text, 16)
                .map(Self)
                .map_err(|_| format!("invalid fingerprint {text:?}")),
            _ => Err(format!(
                "invalid fingerprint {text:?}: a fingerprint has 32 hex digits"
            )),
        }
    }
}

serde_as_text!(FindingKey);
