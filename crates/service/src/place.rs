//! The place of a worker: a network from which its scans run, such as an office.
//!
//! Clients of the API choose a place as a VPN profile, whose id follows from the name of the place:
//! it is the same on each node and after each start.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Most characters of a name.
const LONGEST_NAME: usize = 64;

/// The name of a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkerPlace(String);

impl WorkerPlace {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The UUID with which a client of the API chooses this place.
    pub fn profile_uuid(&self) -> String {
        let digest = Sha256::digest(format!("scandeck place {}", self.0));
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        // Version 8 of RFC 9562: the rest is defined by the program.
        bytes[6] = (bytes[6] & 0x0f) | 0x80;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let parts = [
            &hex[..8],
            &hex[8..12],
            &hex[12..16],
            &hex[16..20],
            &hex[20..],
        ];
        parts.join("-")
    }
}

impl FromStr for WorkerPlace {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        match (1..=LONGEST_NAME).contains(&text.len()) && text.chars().all(is_allowed) {
            true => Ok(Self(text.to_owned())),
            false => Err("use at most 64 letters, digits and . _ -"),
        }
    }
}

impl TryFrom<String> for WorkerPlace {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<WorkerPlace> for String {
    fn from(place: WorkerPlace) -> Self {
        place.0
    }
}

impl fmt::Display for WorkerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_of_a_place_is_a_stable_uuid() {
        let uuid = |name: &str| name.parse::<WorkerPlace>().unwrap().profile_uuid();
        assert_eq!(uuid("office"), uuid("office"));
        assert_ne!(uuid("office"), uuid("lab"));
        let uuid = uuid("office");
        let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert_eq!(uuid.as_bytes()[14], b'8', "the version");
        assert!(b"89ab".contains(&uuid.as_bytes()[19]), "the variant");
    }

    #[test]
    fn name_of_a_place_has_no_space_and_no_control_character() {
        for name in ["", "two words", "office\n", &"a".repeat(65)] {
            assert!(name.parse::<WorkerPlace>().is_err(), "{name:?}");
        }
        assert!(serde_json::from_str::<WorkerPlace>("\"a b\"").is_err());
    }
}
