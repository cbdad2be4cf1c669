//! Cipher suites that the client can use, read from their names.

use super::secrets::{LegacyHash, PrfHash};
use crate::engine::tls::hello::Version;
use crate::engine::tls::suites;

/// How client and server agree on a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyExchange {
    /// The client encrypts it with the key of the certificate.
    Rsa,
    /// Diffie-Hellman with a prime that the server chooses.
    FiniteField,
    EllipticCurve,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkCipher {
    Aes128Gcm,
    Aes256Gcm,
    Aes128Cbc,
    Aes256Cbc,
    TripleDesCbc,
    DesCbc,
    Rc4,
    /// No encryption.
    Null,
}

/// A cipher suite of TLS 1.2 or older.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegacySuite {
    pub exchange: KeyExchange,
    pub cipher: BulkCipher,
    /// The hash of the message authentication code; AES-GCM has none.
    pub mac: Option<LegacyHash>,
    /// The hash of secrets in TLS 1.2.
    hash: LegacyHash,
}

const EXCHANGES: &[(&str, KeyExchange)] = &[
    ("RSA_", KeyExchange::Rsa),
    ("DHE_RSA_", KeyExchange::FiniteField),
    ("DHE_DSS_", KeyExchange::FiniteField),
    ("ECDHE_RSA_", KeyExchange::EllipticCurve),
    ("ECDHE_ECDSA_", KeyExchange::EllipticCurve),
    ("DH_anon_", KeyExchange::FiniteField),
    ("ECDH_anon_", KeyExchange::EllipticCurve),
];

const CIPHERS: &[(&str, BulkCipher)] = &[
    ("AES_128_GCM_", BulkCipher::Aes128Gcm),
    ("AES_256_GCM_", BulkCipher::Aes256Gcm),
    ("AES_128_CBC_", BulkCipher::Aes128Cbc),
    ("AES_256_CBC_", BulkCipher::Aes256Cbc),
    ("3DES_EDE_CBC_", BulkCipher::TripleDesCbc),
    ("DES_CBC_", BulkCipher::DesCbc),
    ("RC4_128_", BulkCipher::Rc4),
    ("NULL_", BulkCipher::Null),
];

const HASHES: &[(&str, LegacyHash)] = &[
    ("MD5", LegacyHash::Md5),
    ("SHA", LegacyHash::Sha1),
    ("SHA256", LegacyHash::Sha256),
    ("SHA384", LegacyHash::Sha384),
];

impl BulkCipher {
    /// Bytes of the key.
    pub fn key_size(self) -> usize {
        match self {
            Self::Aes128Gcm | Self::Aes128Cbc | Self::Rc4 => 16,
            Self::Aes256Gcm | Self::Aes256Cbc => 32,
            Self::TripleDesCbc => 24,
            Self::DesCbc => 8,
            Self::Null => 0,
        }
    }

    /// Bytes of the key block that are the first initialisation vector, or the fixed part of all
    /// nonces.
    pub fn iv_size(self) -> usize {
        match self {
            Self::Aes128Gcm | Self::Aes256Gcm => 4,
            Self::Aes128Cbc | Self::Aes256Cbc => 16,
            Self::TripleDesCbc | Self::DesCbc => 8,
            Self::Rc4 | Self::Null => 0,
        }
    }
}

impl LegacySuite {
    pub fn of(number: u16) -> Option<Self> {
        let name = suites::name(number);
        let (rest, exchange) = strip(&name, EXCHANGES)?;
        let (rest, cipher) = strip(rest, CIPHERS)?;
        let (_, hash) = *HASHES.iter().find(|(name, _)| *name == rest)?;
        let is_gcm = matches!(cipher, BulkCipher::Aes128Gcm | BulkCipher::Aes256Gcm);
        Some(Self {
            exchange,
            cipher,
            mac: (!is_gcm).then_some(hash),
            hash,
        })
    }

    /// The numbers of all suites for a hello of this version, the preferred ones first.
    pub fn offered(version: Version) -> Vec<u16> {
        suites::offered(version)
            .into_iter()
            .filter(|number| Self::of(*number).is_some())
            .collect()
    }

    /// Whether current clients offer it.
    pub fn is_current(self) -> bool {
        self.exchange == KeyExchange::EllipticCurve && self.mac.is_none()
    }

    /// SHA-256 is the least in TLS 1.2 (RFC 5246 §5).
    pub fn prf(self, version: Version) -> PrfHash {
        match (version, self.hash) {
            (Version::Tls12, LegacyHash::Sha384) => PrfHash::Single(LegacyHash::Sha384),
            (Version::Tls12, _) => PrfHash::Single(LegacyHash::Sha256),
            (Version::Ssl3, _) => PrfHash::Ssl3,
            _ => PrfHash::Md5AndSha1,
        }
    }
}

fn strip<'a, T: Copy>(name: &'a str, table: &[(&str, T)]) -> Option<(&'a str, T)> {
    table
        .iter()
        .find_map(|(prefix, value)| Some((name.strip_prefix(prefix)?, *value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_are_read_from_their_names() {
        let suite = LegacySuite::of(0xc030).unwrap();
        assert_eq!(
            (suite.exchange, suite.cipher, suite.mac),
            (KeyExchange::EllipticCurve, BulkCipher::Aes256Gcm, None)
        );
        assert_eq!(
            suite.prf(Version::Tls12),
            PrfHash::Single(LegacyHash::Sha384)
        );
        let suite = LegacySuite::of(0x0005).unwrap();
        let expected = (KeyExchange::Rsa, BulkCipher::Rc4, Some(LegacyHash::Sha1));
        assert_eq!((suite.exchange, suite.cipher, suite.mac), expected);
        assert_eq!(
            suite.prf(Version::Tls12),
            PrfHash::Single(LegacyHash::Sha256)
        );
        assert_eq!(suite.prf(Version::Tls10), PrfHash::Md5AndSha1);
        let suite = LegacySuite::of(0xc015).unwrap();
        let expected = (
            KeyExchange::EllipticCurve,
            BulkCipher::Null,
            Some(LegacyHash::Sha1),
        );
        assert_eq!((suite.exchange, suite.cipher, suite.mac), expected);
        // Export, without certificate, TLS 1.3.
        for number in [0x0003, 0x0008, 0x008c, 0x1301] {
            assert_eq!(LegacySuite::of(number), None, "{number:#06x}");
        }
    }

    #[test]
    fn offers_fit_their_version() {
        let (old, new) = (
            LegacySuite::offered(Version::Tls10),
            LegacySuite::offered(Version::Tls12),
        );
        assert_eq!(
            (old.contains(&0x003c), new.contains(&0x003c)),
            (false, true)
        );
        for number in [
            0x0002, 0x0004, 0x0005, 0x0009, 0x000a, 0x0013, 0x002f, 0x0033, 0x0034, 0xc009, 0xc013,
            0xc018,
        ] {
            assert!(
                old.contains(&number) && new.contains(&number),
                "{number:#06x}"
            );
        }
    }
}
