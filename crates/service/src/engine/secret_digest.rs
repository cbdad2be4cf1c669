//! Digests of the secrets that scans find: equal secrets have equal digests, and a digest shows
//! nothing else of its secret.
//!
//! ```text
//!   secret ──SHA-256──► SecretHash ──HMAC with the key of the workspace──► AKIAQ3EG…BNM7 (12:8) #06021…
//! ```
//!
//! A weak secret could be guessed from a plain hash, so that hash never leaves the scan. The key
//! is made of the key file of the service (`guards/secrets.rs`), and is in no database. Workspaces
//! have different keys: two clients cannot compare their reports.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The plain hash of a secret.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    pub fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }
}

impl fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("•••")
    }
}

/// Makes the digests of a workspace; without a key there are none.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct SecretDigests(Vec<u8>);

impl SecretDigests {
    /// Uses a key that nobody else has.
    pub fn new(key: Vec<u8>) -> Self {
        Self(key)
    }

    /// The masked value of a secret, followed by its digest: 20 decimal digits. A comparison of
    /// two scans ignores words with digits, so evidence of earlier versions counts as the same.
    pub fn marked(&self, shown: &str, hash: &SecretHash) -> String {
        match self.digest(hash) {
            Some(digest) => format!("{shown} #{digest:020}"),
            None => shown.to_owned(),
        }
    }

    fn digest(&self, hash: &SecretHash) -> Option<u64> {
        if self.0.is_empty() {
            return None;
        }
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(&hash.0);
        let bytes = mac.finalize().into_bytes();
        let first = bytes.iter().take(8);
        Some(first.fold(0_u64, |digest, byte| (digest << 8) | u64::from(*byte)))
    }
}

impl fmt::Debug for SecretDigests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("•••")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_equal_for_equal_secrets_of_one_workspace() {
        let [one, other] = [b"key 1", b"key 2"].map(|key| SecretDigests::new(key.to_vec()));
        let [secret, another] = ["hunter22", "hunter23"].map(SecretHash::of);
        let shown = one.marked("hu…2 (1:5)", &secret);
        let digest = shown.strip_prefix("hu…2 (1:5) #").unwrap();
        assert_eq!(digest.len(), 20, "{digest}");
        assert!(digest.bytes().all(|byte| byte.is_ascii_digit()), "{digest}");
        assert!(one.marked("(line 2)", &secret).ends_with(digest));
        assert!(!one.marked("", &another).ends_with(digest));
        assert!(!other.marked("", &secret).ends_with(digest));
    }

    #[test]
    fn without_a_key_there_is_no_digest_and_no_key_is_printed() {
        let hash = SecretHash::of("hunter22");
        assert_eq!(SecretDigests::default().marked("hu…2", &hash), "hu…2");
        let digests = SecretDigests::new(vec![77]);
        assert_eq!(format!("{hash:?} {digests:?}"), "••• •••");
        let sent = serde_json::to_value(&digests).unwrap();
        let received: SecretDigests = serde_json::from_value(sent).unwrap();
        assert_eq!(received.marked("", &hash), digests.marked("", &hash));
    }
}
