//! Protection of records: authentication and encryption by RFC 2246 §6.2.3, RFC 4346 §6.2.3, RFC
//! 5288 for AES-GCM, and RFC 6101 §5.2.3 for SSL 3.0.
//!
//! ```text
//!   CBC:      [ random block, TLS 1.1 and later ] content MAC padding      encrypted
//!   RC4:      content MAC                                                  encrypted
//!   NULL:     content MAC                                                  in clear text
//!   AES-GCM:  nonce, then content                                          encrypted, with its tag
//! ```

use std::io;

use aes::{Aes128, Aes256};
use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use cbc::cipher::{Block, BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
use cbc::{Decryptor, Encryptor};
use des::{Des, TdesEde3};
use subtle::ConstantTimeEq;

use super::invalid;
use super::rc4::Rc4;
use super::secrets::LegacyHash;
use super::suite::{BulkCipher, LegacySuite};
use crate::engine::tls::hello::{Version, push};

/// Bytes of content in a record.
pub const MAX_CONTENT: usize = 1 << 14;
/// Bytes of a protected record.
pub const MAX_RECORD: usize = MAX_CONTENT + 2048;

/// Which side of the connection uses the keys to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Seal,
    Open,
}

/// The keys of one direction, cut from the key block.
pub struct RecordKeys<'a> {
    pub mac: &'a [u8],
    pub key: &'a [u8],
    pub iv: &'a [u8],
}

/// The protection of one direction of a connection.
pub struct RecordCipher {
    version: Version,
    sequence: u64,
    mac: Option<(LegacyHash, Vec<u8>)>,
    cipher: Cipher,
}

/// Encrypts or decrypts whole blocks; each call continues the chain of the previous one.
type BlockChain = Box<dyn FnMut(&mut [u8]) + Send>;

enum Cipher {
    Gcm { key: LessSafeKey, salt: Vec<u8> },
    Stream(Box<Rc4>),
    Plain,
    Blocks { size: usize, chain: BlockChain },
}

/// The length of decrypted blocks without their padding.
fn unpadded_length(version: Version, body: &[u8], block: usize) -> io::Result<usize> {
    let padding = body.last().copied().ok_or_else(bad_record)?;
    let length = body
        .len()
        .checked_sub(usize::from(padding) + 1)
        .ok_or_else(bad_record)?;
    // In SSL 3.0, padding is any bytes, of at most a block.
    let is_wrong = match version {
        Version::Ssl3 => usize::from(padding) >= block,
        _ => body[length..].iter().any(|byte| *byte != padding),
    };
    if is_wrong {
        Err(bad_record())
    } else {
        Ok(length)
    }
}

/// The block chain of a cipher; none of one without blocks.
fn block_chain(
    cipher: BulkCipher,
    direction: Direction,
    key: &[u8],
    iv: &[u8],
) -> Option<BlockChain> {
    match (cipher, direction) {
        (BulkCipher::Aes128Cbc, Direction::Seal) => encryption::<Encryptor<Aes128>>(key, iv),
        (BulkCipher::Aes128Cbc, Direction::Open) => decryption::<Decryptor<Aes128>>(key, iv),
        (BulkCipher::Aes256Cbc, Direction::Seal) => encryption::<Encryptor<Aes256>>(key, iv),
        (BulkCipher::Aes256Cbc, Direction::Open) => decryption::<Decryptor<Aes256>>(key, iv),
        (BulkCipher::TripleDesCbc, Direction::Seal) => encryption::<Encryptor<TdesEde3>>(key, iv),
        (BulkCipher::TripleDesCbc, Direction::Open) => decryption::<Decryptor<TdesEde3>>(key, iv),
        (BulkCipher::DesCbc, Direction::Seal) => encryption::<Encryptor<Des>>(key, iv),
        (BulkCipher::DesCbc, Direction::Open) => decryption::<Decryptor<Des>>(key, iv),
        (BulkCipher::Aes128Gcm | BulkCipher::Aes256Gcm | BulkCipher::Null | BulkCipher::Rc4, _) => {
            None
        }
    }
}

impl RecordCipher {
    /// None if the keys have another size than those of the suite.
    pub fn new(
        suite: LegacySuite,
        version: Version,
        keys: &RecordKeys,
        direction: Direction,
    ) -> Option<Self> {
        let RecordKeys { key, iv, .. } = *keys;
        let gcm = |algorithm| {
            let key = LessSafeKey::new(UnboundKey::new(algorithm, key).ok()?);
            Some(Cipher::Gcm {
                key,
                salt: iv.to_vec(),
            })
        };
        let cipher = match suite.cipher {
            BulkCipher::Aes128Gcm => gcm(&AES_128_GCM)?,
            BulkCipher::Aes256Gcm => gcm(&AES_256_GCM)?,
            BulkCipher::Null => Cipher::Plain,
            BulkCipher::Rc4 => Cipher::Stream(Box::new(Rc4::new(key))),
            cipher => Cipher::Blocks {
                size: iv.len(),
                chain: block_chain(cipher, direction, key, iv)?,
            },
        };
        let mac = suite.mac.map(|hash| (hash, keys.mac.to_vec()));
        Some(Self {
            version,
            sequence: 0,
            mac,
            cipher,
        })
    }

    /// A whole record; `content` has at most [`MAX_CONTENT`] bytes.
    pub fn seal(&mut self, kind: u8, content: &[u8]) -> io::Result<Vec<u8>> {
        let header = header(self.sequence, self.version, kind, content.len());
        self.sequence += 1;
        let tag = self.tag(&header, content);
        // With a random first block as content, the chain needs no other initialisation vector (RFC
        // 4346 §6.2.3.2).
        let has_vector = self.has_vector();
        let body = match &mut self.cipher {
            Cipher::Gcm { key, salt } => {
                let sequence = &header[..8];
                let nonce = nonce(salt, sequence)?;
                let mut body = content.to_vec();
                key.seal_in_place_append_tag(nonce, Aad::from(&header), &mut body)
                    .map_err(|_| invalid("not sealed"))?;
                [sequence, &body].concat()
            }
            Cipher::Plain => [content, &tag].concat(),
            Cipher::Stream(stream) => {
                let mut body = [content, &tag].concat();
                stream.apply(&mut body);
                body
            }
            Cipher::Blocks { size, chain } => {
                let vector: [u8; 16] = rand::random();
                let mut body = if has_vector {
                    vector[..*size].to_vec()
                } else {
                    Vec::new()
                };
                body.extend_from_slice(content);
                body.extend(tag);
                let padding = *size - 1 - body.len() % *size;
                body.resize(body.len() + padding + 1, padding as u8);
                chain(&mut body);
                body
            }
        };
        Ok(record(kind, self.version, &body))
    }

    /// The content of a record.
    ///
    /// # Errors
    /// The record was changed on its way, or has impossible lengths.
    pub fn open(&mut self, kind: u8, mut body: Vec<u8>) -> io::Result<Vec<u8>> {
        let (sequence, has_vector) = (self.sequence, self.has_vector());
        self.sequence += 1;
        let content = match &mut self.cipher {
            Cipher::Gcm { key, salt } => {
                let length = body
                    .len()
                    .checked_sub(8 + key.algorithm().tag_len())
                    .ok_or_else(bad_record)?;
                let mut sealed = body.split_off(8);
                let nonce = nonce(salt, &body)?;
                let header = header(sequence, self.version, kind, length);
                key.open_in_place(nonce, Aad::from(&header), &mut sealed)
                    .map_err(|_| bad_record())?;
                sealed.truncate(length);
                sealed
            }
            Cipher::Plain => self.checked(sequence, kind, body)?,
            Cipher::Stream(stream) => {
                stream.apply(&mut body);
                self.checked(sequence, kind, body)?
            }
            Cipher::Blocks { size, chain } => {
                if body.is_empty() || !body.len().is_multiple_of(*size) {
                    return Err(bad_record());
                }
                chain(&mut body);
                if has_vector {
                    body.drain(..*size);
                }
                let length = unpadded_length(self.version, &body, *size)?;
                body.truncate(length);
                self.checked(sequence, kind, body)?
            }
        };
        if content.len() > MAX_CONTENT {
            Err(bad_record())
        } else {
            Ok(content)
        }
    }

    /// The content without its authentication code, which is checked.
    fn checked(&self, sequence: u64, kind: u8, mut body: Vec<u8>) -> io::Result<Vec<u8>> {
        let size = self.mac.as_ref().map_or(0, |(hash, _)| hash.size());
        let length = body.len().checked_sub(size).ok_or_else(bad_record)?;
        let tag = body.split_off(length);
        let header = header(sequence, self.version, kind, length);
        let expected = self.tag(&header, &body);
        if bool::from(tag.ct_eq(&expected)) {
            Ok(body)
        } else {
            Err(bad_record())
        }
    }

    fn tag(&self, header: &[u8], content: &[u8]) -> Vec<u8> {
        let Some((hash, key)) = &self.mac else {
            return Vec::new();
        };
        match self.version {
            // The header without the version.
            Version::Ssl3 => hash.ssl3_mac(key, &[&header[..9], &header[11..], content]),
            _ => hash.hmac(key, &[header, content]),
        }
    }

    fn has_vector(&self) -> bool {
        self.version >= Version::Tls11
    }
}

/// What is authenticated beside the content: sequence number, type, version and length.
fn header(sequence: u64, version: Version, kind: u8, length: usize) -> Vec<u8> {
    let mut header = sequence.to_be_bytes().to_vec();
    header.push(kind);
    header.extend(version.wire());
    header.extend((length as u16).to_be_bytes());
    header
}

/// A record with its header.
pub fn record(kind: u8, version: Version, body: &[u8]) -> Vec<u8> {
    let mut record = vec![kind];
    record.extend(version.wire());
    push(&mut record, 2, body);
    record
}

fn nonce(salt: &[u8], explicit: &[u8]) -> io::Result<Nonce> {
    Nonce::try_assume_unique_for_key(&[salt, explicit].concat()).map_err(|_| bad_record())
}

fn bad_record() -> io::Error {
    invalid("damaged record")
}

fn encryption<C: BlockModeEncrypt + KeyIvInit + Send + 'static>(
    key: &[u8],
    iv: &[u8],
) -> Option<BlockChain> {
    let mut mode = C::new_from_slices(key, iv).ok()?;
    Some(Box::new(move |bytes| {
        mode.encrypt_blocks(Block::<C>::slice_as_chunks_mut(bytes).0)
    }))
}

fn decryption<C: BlockModeDecrypt + KeyIvInit + Send + 'static>(
    key: &[u8],
    iv: &[u8],
) -> Option<BlockChain> {
    let mut mode = C::new_from_slices(key, iv).ok()?;
    Some(Box::new(move |bytes| {
        mode.decrypt_blocks(Block::<C>::slice_as_chunks_mut(bytes).0)
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const REQUEST: &[u8] = b"GET / HTTP/1.0\r\n\r\n";
    const VERSIONS: [Version; 3] = [Version::Tls10, Version::Tls11, Version::Tls12];
    /// NULL, RC4, DES and 3DES, then AES-CBC with each hash, then AES-GCM.
    const SUITES: [u16; 10] = [
        0x0002, 0x0004, 0x0005, 0x0009, 0x000a, 0x002f, 0x0035, 0xc028, 0x009c, 0x009d,
    ];

    fn cipher(number: u16, version: Version, direction: Direction) -> RecordCipher {
        let suite = LegacySuite::of(number).unwrap();
        let bytes = |from: u8, size: usize| (from..).take(size).collect::<Vec<u8>>();
        let mac = bytes(1, suite.mac.map_or(0, LegacyHash::size));
        let (key, iv) = (
            bytes(0x40, suite.cipher.key_size()),
            bytes(0x80, suite.cipher.iv_size()),
        );
        RecordCipher::new(
            suite,
            version,
            &RecordKeys {
                mac: &mac,
                key: &key,
                iv: &iv,
            },
            direction,
        )
        .unwrap()
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The expected bytes are from Python's hmac, `openssl enc`, and AES-GCM of tlslite-ng.
    #[test]
    fn records_match_other_implementations() {
        let mut aes = cipher(0x002f, Version::Tls10, Direction::Seal);
        let mut triple_des = cipher(0x000a, Version::Tls10, Direction::Seal);
        for (cipher, expected) in [
            (
                &mut aes,
                [
                    "dfcfb73deb1f6d724a4c2f26fe2624074db52039d4e29e465858caefb49ec1850f23edd6c151d44ca7e38ca58e2de2e5",
                    "ea3b4561dd52b3b8d010f9a7a746be45518658e74c91ea72e7e75afc7e243219d9f1163ed4f3b5e3cb5c5eb35cd83bc5",
                ],
            ),
            (
                &mut triple_des,
                [
                    "ecae3d04f3b549430070937cbdcb06e61b4ae8fc7b22f989c1f86380f8c34c41659a80b2d4d101ae",
                    "e6e9a9073b919372af3185552e7015458aadaaa58748b8f89b5677c0ebf087242ebaaf083c6f19c1",
                ],
            ),
        ] {
            for expected in expected {
                assert_eq!(hex(&cipher.seal(23, REQUEST).unwrap()[5..]), expected);
            }
        }
        let gcm = cipher(0x009c, Version::Tls12, Direction::Seal)
            .seal(23, REQUEST)
            .unwrap();
        let expected =
            "0000000000000000cc6d685f2c8defc23c947def5078086ee31849bde767261275ce454e6dd9ca5203b9";
        assert_eq!(
            (&gcm[..5], hex(&gcm[5..]).as_str()),
            (&[23, 3, 3, 0, 42][..], expected)
        );
    }

    /// The expected codes are from tlslite-ng, that of MD5 from Python's hashlib.
    #[test]
    fn records_of_ssl3_have_its_authentication_code() {
        let mut null = cipher(0x0002, Version::Ssl3, Direction::Seal);
        for expected in [
            "2ff14f43d72f79be4ceebc7236b0e4dd89e6070e",
            "047f5dc866eb91d99dbdfe6537b55b0a69ae8f12",
        ] {
            let record = null.seal(23, REQUEST).unwrap();
            assert_eq!(
                (&record[..5], &record[5..23]),
                (&[23, 3, 0, 0, 38][..], REQUEST)
            );
            assert_eq!(hex(&record[23..]), expected);
        }
        let record = cipher(0x0001, Version::Ssl3, Direction::Seal)
            .seal(23, REQUEST)
            .unwrap();
        assert_eq!(hex(&record[23..]), "3061cd1b74ebf1b2f17a9f4d9afabe60");
    }

    #[test]
    fn padding_of_ssl3_is_any_bytes_of_at_most_a_block() {
        // Content and code from a suite without encryption and with the same key, then padding.
        let sealed = |padding: u8| {
            let mut chain = cipher(0x002f, Version::Ssl3, Direction::Seal);
            let record = cipher(0x0002, Version::Ssl3, Direction::Seal)
                .seal(23, b"page")
                .unwrap();
            let mut body = record[5..].to_vec();
            body.extend([9; 8]);
            *body.last_mut().unwrap() = padding;
            let Cipher::Blocks { chain: encrypt, .. } = &mut chain.cipher else {
                panic!("not in blocks")
            };
            encrypt(&mut body);
            body
        };
        let open =
            |padding| cipher(0x002f, Version::Ssl3, Direction::Open).open(23, sealed(padding));
        assert_eq!(open(7).unwrap(), b"page");
        assert!(open(23).is_err() && open(16).is_err());
    }

    #[test]
    fn record_of_another_position_or_type_is_refused() {
        for number in SUITES {
            let mut seal = cipher(number, Version::Tls12, Direction::Seal);
            let records = [
                seal.seal(23, REQUEST).unwrap(),
                seal.seal(23, REQUEST).unwrap(),
            ];
            let mut open = cipher(number, Version::Tls12, Direction::Open);
            assert!(
                open.open(23, records[1][5..].to_vec()).is_err(),
                "{number:#06x}"
            );
            let mut open = cipher(number, Version::Tls12, Direction::Open);
            assert!(
                open.open(22, records[0][5..].to_vec()).is_err(),
                "{number:#06x}"
            );
        }
    }

    proptest! {
        #[test]
        fn sealed_records_open_and_changed_ones_are_refused(
            number in proptest::sample::select(&SUITES[..]), version in proptest::sample::select(&VERSIONS[..]),
            contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..4),
            at in any::<prop::sample::Index>(), change in 1_u8.., is_cut in any::<bool>(),
        ) {
            let mut seal = cipher(number, version, Direction::Seal);
            let mut open = cipher(number, version, Direction::Open);
            for content in &contents {
                let record = seal.seal(23, content).unwrap();
                prop_assert_eq!(&open.open(23, record[5..].to_vec()).unwrap(), content);
            }
            let mut body = seal.seal(23, &contents[0]).unwrap()[5..].to_vec();
            // In TLS 1.1 and later, the random first block has no meaning.
            let vector = if version > Version::Tls10 { LegacySuite::of(number).unwrap().cipher.iv_size() } else { 0 };
            let vector = if vector > 4 { vector } else { 0 };
            let at = vector + at.index(body.len() - vector);
            if is_cut { body.truncate(at) } else { body[at] ^= change }
            prop_assert!(open.open(23, body).is_err());
        }

        #[test]
        fn any_bytes_are_refused(
            number in proptest::sample::select(&SUITES[..]), version in proptest::sample::select(&VERSIONS[..]),
            body in prop::collection::vec(any::<u8>(), 0..400), kind in any::<u8>(),
        ) {
            prop_assert!(cipher(number, version, Direction::Open).open(kind, body).is_err());
        }
    }
}
