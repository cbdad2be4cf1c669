//! What a finding is, whatever its id of today: fingerprints made of asset, class, service and place.

use sha2::{Digest, Sha256};

use super::event::{EventId, Key};

/// Parts of a fingerprint are joined by the unit separator, U+001F, which no name holds.
const SEPARATOR: char = '\u{1f}';

/// What the decisions about a finding of one's own are kept under.
pub fn own_key(id: EventId) -> Key {
    fingerprint(&["scandeck-own", &id.to_string()])
}

/// The first 128 bits of the SHA-256 of the parts, joined by [`SEPARATOR`].
fn fingerprint(parts: &[&str]) -> Key {
    let mut hash = Sha256::new();
    let mut separator = [0; 4];
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            hash.update(SEPARATOR.encode_utf8(&mut separator).as_bytes());
        }
        hash.update(part.as_bytes());
    }
    Key(hash.finalize().iter().take(16).fold(0, |all, &byte| all << 8 | u128::from(byte)))
}
