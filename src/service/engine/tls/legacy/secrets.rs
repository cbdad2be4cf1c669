//! Secrets of TLS 1.0 to 1.2: the pseudorandom function (RFC 2246 §5, RFC 5246 §5) and the hash of the handshake.

use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384};

/// A hash function of a cipher suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegacyHash {
    Md5,
    Sha1,
    Sha256,
    Sha384,
}

impl LegacyHash {
    /// Bytes of a hash.
    pub fn size(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
        }
    }

    pub fn hmac(self, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
        match self {
            Self::Md5 => hmac_of::<Hmac<Md5>>(key, parts),
            Self::Sha1 => hmac_of::<Hmac<Sha1>>(key, parts),
            Self::Sha256 => hmac_of::<Hmac<Sha256>>(key, parts),
            Self::Sha384 => hmac_of::<Hmac<Sha384>>(key, parts),
        }
    }

    fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Md5 => Md5::digest(bytes).to_vec(),
            Self::Sha1 => Sha1::digest(bytes).to_vec(),
            Self::Sha256 => Sha256::digest(bytes).to_vec(),
            Self::Sha384 => Sha384::digest(bytes).to_vec(),
        }
    }

    /// `P_hash` of RFC 2246 §5.
    fn expand(self, secret: &[u8], seed: &[u8], length: usize) -> Vec<u8> {
        let (mut output, mut link) = (Vec::new(), seed.to_vec());
        while output.len() < length {
            link = self.hmac(secret, &[&link]);
            output.extend(self.hmac(secret, &[&link, seed]));
        }
        output.truncate(length);
        output
    }
}

fn hmac_of<M: Mac + KeyInit>(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    // HMAC accepts keys of every length.
    let Ok(mut mac) = <M as KeyInit>::new_from_slice(key) else { return Vec::new() };
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

/// The hash of secrets and handshake: one of the suite in TLS 1.2, MD5 together with SHA-1 before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrfHash {
    Md5AndSha1,
    Single(LegacyHash),
}

impl PrfHash {
    /// Derives `length` bytes from a secret.
    pub fn derive(self, secret: &[u8], label: &[u8], seed: &[u8], length: usize) -> Vec<u8> {
        let seed = [label, seed].concat();
        match self {
            Self::Single(hash) => hash.expand(secret, &seed, length),
            Self::Md5AndSha1 => {
                // The halves share the byte in the middle of an odd length.
                let half = secret.len().div_ceil(2);
                let first = LegacyHash::Md5.expand(&secret[..half], &seed, length);
                let second = LegacyHash::Sha1.expand(&secret[secret.len() - half..], &seed, length);
                first.iter().zip(second).map(|(first, second)| first ^ second).collect()
            }
        }
    }

    /// The hash of the handshake so far.
    pub fn digest(self, handshake: &[u8]) -> Vec<u8> {
        match self {
            Self::Single(hash) => hash.digest(handshake),
            Self::Md5AndSha1 => [LegacyHash::Md5.digest(handshake), LegacyHash::Sha1.digest(handshake)].concat(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seed of the vectors, which `openssl kdf … TLS1-PRF` computed; that of SHA-256 is known from the TLS mailing list.
    const SEED: &[u8] = b"\xa0\xba\x9f\x93\x6c\xda\x31\x18\x27\xa6\xf7\x96\xff\xd5\x19\x8c";
    const SECRET: [u8; 16] = 0x9bbe_436b_a940_f017_b176_5284_9a71_db35_u128.to_be_bytes();

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn derived_bytes_match_openssl() {
        for (hash, expected) in [
            (PrfHash::Md5AndSha1, "661740e6f98bc901efd2738502a71c03f76dd2f86298549b1148eff06714cf0f6b7c532cd8c69f15"),
            (
                PrfHash::Single(LegacyHash::Sha256),
                "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9",
            ),
            (
                PrfHash::Single(LegacyHash::Sha384),
                "dd88775cd827187b67a3f7652b5c13f715791cc46e0274a6d3fb16651103defc544cd8afb68369a2",
            ),
        ] {
            assert_eq!(hex(&hash.derive(&SECRET, b"test label", SEED, 40)), expected, "{hash:?}");
        }
        let odd = PrfHash::Md5AndSha1.derive(&SECRET[..15], b"test label", SEED, 24);
        assert_eq!(hex(&odd), "9cdd9053742667b628ac7c1c747825e1fcb0f2b91ed98fc3");
    }
}
