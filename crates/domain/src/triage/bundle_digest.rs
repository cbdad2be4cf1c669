//! The digest of a bundle, in its manifest: it finds damage that leaves every line valid.
//!
//! ```text
//!   {"manifest":{…,"digest":"9f…"}}   SHA-256 of all lines, of the first one without this digest
//!   {"event":{…}}
//! ```
//!
//! Ends of lines and empty lines do not count, because mail and git change them.

use sha2::{Digest, Sha256};

/// The empty digest in the manifest of a file that is written.
const EMPTY: &str = "\"digest\":\"\"";

/// Adds the digest to a file whose manifest has an empty one.
pub(super) fn add(file: &mut String) {
    let digest = digest_without(file, "");
    if let Some(at) = file.find(EMPTY) {
        file.insert_str(at + EMPTY.len() - 1, &digest);
    }
}

/// Whether a file fits the digest of its manifest, which is empty in a file of an older version.
pub(super) fn fits(file: &str, digest: &str) -> bool {
    digest.is_empty() || digest_without(file, digest) == digest
}

/// The digest of the lines, of the first one without this text.
fn digest_without(file: &str, own: &str) -> String {
    let mut hash = Sha256::new();
    let lines = file.lines().filter(|line| !line.trim().is_empty());
    for (at, line) in lines.enumerate() {
        match at {
            0 => hash.update(line.replacen(own, "", 1)),
            _ => hash.update(line),
        }
        hash.update("\n");
    }
    let bytes = hash.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
