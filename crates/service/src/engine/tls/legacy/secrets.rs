//! Secrets of TLS 1.0 to 1.2: the pseudorandom function (RFC 2246 §5, RFC 5246 §5) and the hash of
//! the handshake. Those of SSL 3.0 are its own (RFC 6101 §5.2.3.1, §5.6.9, §6).

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

    /// The authentication code of SSL 3.0, a forerunner of HMAC.
    pub fn ssl3_mac(self, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
        let pad = |byte: u8| vec![byte; if self == Self::Md5 { 48 } else { 40 }];
        let inner = self.digest(&[key, &pad(0x36), &parts.concat()].concat());
        self.digest(&[key, &pad(0x5c), &inner].concat())
    }

    /// Its proof of the handshake has the key last.
    fn ssl3_proof(self, key: &[u8], handshake: &[u8]) -> Vec<u8> {
        let pad = |byte: u8| vec![byte; if self == Self::Md5 { 48 } else { 40 }];
        let inner = self.digest(&[handshake, key, &pad(0x36)].concat());
        self.digest(&[key, &pad(0x5c), &inner].concat())
    }

    pub fn digest(self, bytes: &[u8]) -> Vec<u8> {
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
    let Ok(mut mac) = <M as KeyInit>::new_from_slice(key) else {
        return Vec::new();
    };
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

/// The hash of secrets and handshake: one of the suite in TLS 1.2, MD5 together with SHA-1 before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrfHash {
    Ssl3,
    Md5AndSha1,
    Single(LegacyHash),
}

impl PrfHash {
    /// Derives `length` bytes from a secret. SSL 3.0 has no labels.
    pub fn derive(self, secret: &[u8], label: &[u8], seed: &[u8], length: usize) -> Vec<u8> {
        let labelled = || [label, seed].concat();
        match self {
            Self::Ssl3 => ssl3_derive(secret, seed, length),
            Self::Single(hash) => hash.expand(secret, &labelled(), length),
            Self::Md5AndSha1 => {
                let seed = labelled();
                // The halves share the byte in the middle of an odd length.
                let half = secret.len().div_ceil(2);
                let first = LegacyHash::Md5.expand(&secret[..half], &seed, length);
                let second = LegacyHash::Sha1.expand(&secret[secret.len() - half..], &seed, length);
                first
                    .iter()
                    .zip(second)
                    .map(|(first, second)| first ^ second)
                    .collect()
            }
        }
    }

    /// The proof of one side that it knows the secret and all messages so far.
    pub fn proof(self, secret: &[u8], side: Side, handshake: &[u8]) -> Vec<u8> {
        let (md5, sha1) = (LegacyHash::Md5, LegacyHash::Sha1);
        let digest = match self {
            Self::Ssl3 => {
                let handshake = [handshake, side.ssl3_label()].concat();
                return [
                    md5.ssl3_proof(secret, &handshake),
                    sha1.ssl3_proof(secret, &handshake),
                ]
                .concat();
            }
            Self::Md5AndSha1 => [md5.digest(handshake), sha1.digest(handshake)].concat(),
            Self::Single(hash) => hash.digest(handshake),
        };
        self.derive(secret, side.label(), &digest, PROOF)
    }
}

/// Bytes of a proof in TLS.
const PROOF: usize = 12;

/// Who proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

impl Side {
    fn label(self) -> &'static [u8] {
        match self {
            Self::Client => b"client finished",
            Self::Server => b"server finished",
        }
    }

    fn ssl3_label(self) -> &'static [u8] {
        match self {
            Self::Client => b"CLNT",
            Self::Server => b"SRVR",
        }
    }
}

/// Each 16 bytes begin with one more letter: `A`, `BB`, `CCC`.
fn ssl3_derive(secret: &[u8], seed: &[u8], length: usize) -> Vec<u8> {
    let part = |(count, letter): (usize, u8)| {
        let inner = LegacyHash::Sha1.digest(&[&vec![letter; count][..], secret, seed].concat());
        LegacyHash::Md5.digest(&[secret, &inner].concat())
    };
    let mut output: Vec<u8> = (1..)
        .zip(b'A'..=b'Z')
        .take(length.div_ceil(16))
        .flat_map(part)
        .collect();
    output.truncate(length);
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seed of the vectors, which `openssl kdf … TLS1-PRF` computed; that of SHA-256 is known
    /// from the TLS mailing list.
    const SEED: &[u8] = b"\xa0\xba\x9f\x93\x6c\xda\x31\x18\x27\xa6\xf7\x96\xff\xd5\x19\x8c";
    const SECRET: [u8; 16] = 0x9bbe_436b_a940_f017_b176_5284_9a71_db35_u128.to_be_bytes();

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn derived_bytes_match_openssl() {
        for (hash, expected) in [
            (
                PrfHash::Md5AndSha1,
                "661740e6f98bc901efd2738502a71c03f76dd2f86298549b1148eff06714cf0f6b7c532cd8c69f15",
            ),
            (
                PrfHash::Single(LegacyHash::Sha256),
                "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9",
            ),
            (
                PrfHash::Single(LegacyHash::Sha384),
                "dd88775cd827187b67a3f7652b5c13f715791cc46e0274a6d3fb16651103defc544cd8afb68369a2",
            ),
        ] {
            assert_eq!(
                hex(&hash.derive(&SECRET, b"test label", SEED, 40)),
                expected,
                "{hash:?}"
            );
        }
        // By tlslite-ng.
        let ssl3 = PrfHash::Ssl3.derive(&SECRET, b"test label", SEED, 40);
        assert_eq!(
            hex(&ssl3),
            "808d751749e3199a086430d9a22f92cf9b3d7bc8f3e2bb5a649a006cc0c8671bd4905c378a85312d"
        );
        let proofs = [Side::Client, Side::Server]
            .map(|side| hex(&PrfHash::Ssl3.proof(&SECRET, side, b"hello")));
        assert_eq!(
            proofs,
            [
                "a186d16ad8a7963f788d9630a99188b690f0db1c992295e75809728472c62b9f21508dd9",
                "c515ebc1de21c42a31a0b74b3648d7c5b70b07587a327fee23816cb14db768d43322e6e0"
            ]
        );
        let odd = PrfHash::Md5AndSha1.derive(&SECRET[..15], b"test label", SEED, 24);
        assert_eq!(
            hex(&odd),
            "9cdd9053742667b628ac7c1c747825e1fcb0f2b91ed98fc3"
        );
    }
}
