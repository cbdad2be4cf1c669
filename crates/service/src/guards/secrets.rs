//! Encryption of the credentials of a scan while it waits or runs, and the keys of the digests of
//! secrets that scans find.
//!
//! ```text
//!   POST /scans ─► seal ─► {"sealed": "…"} in the database ─► open ─► engine
//!                   └────── key file, outside the database ────┘
//! ```
//!
//! The database, its log and its backups contain the sealed form only. Whoever has the database
//! without the key file (0600) cannot read it. Nodes that share a database share the key file.

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::engine::SecretDigests;
use scandeck_wire::contract::WorkspaceId;

/// The field of the sealed form.
const SEALED: &str = "sealed";

/// Bound to each sealed value, so that it is valid for this purpose only.
const PURPOSE: &[u8] = b"scandeck scan parameters 1";

/// Before the key in its fingerprint, which therefore is no part of the key of the encryption.
const FINGERPRINT: &[u8] = b"scandeck fingerprint 1 ";

/// Before the id of a workspace whose key for digests is made, which therefore is no part of the
/// key of the encryption.
const DIGESTS: &str = "scandeck secret digests 1 ";

/// Why sealed parameters could not be opened; a message for the user.
pub const WRONG_KEY: &str = "the credentials of the scan cannot be decrypted: the key file has changed; start the scan again";

/// Whether two nodes have the same key, as text that does not reveal it.
pub fn fingerprint(secret: &str) -> String {
    let digest = Sha256::digest([FINGERPRINT, secret.as_bytes()].concat());
    let bytes = digest.iter().take(8);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// Seals and opens the parameters of scans, and makes the keys of digests.
#[derive(Debug)]
pub struct ScanSecrets {
    key: RandomizedNonceKey,
    /// Makes the keys of digests.
    digests: Hmac<Sha256>,
    fingerprint: String,
}

impl ScanSecrets {
    /// Uses the content of the key file.
    pub fn new(secret: &str) -> Option<Self> {
        let key = Sha256::digest(secret.as_bytes());
        Some(Self {
            key: RandomizedNonceKey::new(&AES_256_GCM, &key).ok()?,
            digests: Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?,
            fingerprint: fingerprint(secret),
        })
    }

    /// The [`fingerprint`] of the key.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The digests of the secrets that scans of a workspace find.
    pub fn digests_of(&self, workspace: WorkspaceId) -> SecretDigests {
        let mut key = self.digests.clone();
        key.update(format!("{DIGESTS}{workspace}").as_bytes());
        SecretDigests::new(key.finalize().into_bytes().to_vec())
    }

    /// The sealed form; `None` if the encryption failed.
    pub fn seal(&self, params: &Value) -> Option<Value> {
        let mut bytes = params.to_string().into_bytes();
        let nonce = self
            .key
            .seal_in_place_append_tag(Aad::from(PURPOSE), &mut bytes)
            .ok()?;
        let sealed = [nonce.as_ref().as_slice(), &bytes].concat();
        Some(json!({ SEALED: STANDARD_NO_PAD.encode(sealed) }))
    }

    /// The parameters; those that were not sealed are unchanged, `None` with another key.
    pub fn open(&self, stored: Value) -> Option<Value> {
        let Some(sealed) = sealed_text(&stored) else {
            return Some(stored);
        };
        let mut bytes = STANDARD_NO_PAD.decode(sealed).ok()?;
        let (nonce, text) = bytes.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        serde_json::from_slice(
            self.key
                .open_in_place(nonce, Aad::from(PURPOSE), text)
                .ok()?,
        )
        .ok()
    }
}

/// The text of the sealed form.
fn sealed_text(stored: &Value) -> Option<&str> {
    stored
        .as_object()
        .filter(|fields| fields.len() == 1)?
        .get(SEALED)?
        .as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SecretHash;

    #[test]
    fn digests_differ_between_workspaces_and_key_files() {
        let hash = SecretHash::of("hunter22");
        let digest = |key: &str, workspace: i64| {
            let secrets = ScanSecrets::new(key).unwrap();
            secrets.digests_of(WorkspaceId(workspace)).marked("", &hash)
        };
        assert_eq!(digest("one", 1), digest("one", 1));
        assert_ne!(digest("one", 1), digest("one", 2));
        assert_ne!(digest("one", 1), digest("two", 1));
        assert_eq!(digest("one", 1).len(), " #".len() + 20);
    }

    #[test]
    fn sealed_parameters_open_with_their_key_only() {
        let (secrets, other) = (
            ScanSecrets::new("one").unwrap(),
            ScanSecrets::new("two").unwrap(),
        );
        let again = ScanSecrets::new("one").unwrap();
        assert_eq!(secrets.fingerprint(), again.fingerprint());
        assert_ne!(secrets.fingerprint(), other.fingerprint());
        let params = json!({"scan_type": "light", "authentication": {"cookies": "sid=x1secret"}});
        let sealed = secrets.seal(&params).unwrap();
        assert!(
            !sealed.to_string().contains("x1secret") && sealed != secrets.seal(&params).unwrap()
        );
        assert_eq!(secrets.open(sealed.clone()), Some(params.clone()));
        assert_eq!(other.open(sealed), None);
        assert_eq!(secrets.open(json!({"sealed": "AAAA"})), None);
        assert_eq!(
            secrets.open(params.clone()),
            Some(params),
            "parameters of an earlier version"
        );
    }
}
