//! Compressed bodies: gzip, zlib and raw deflate, decompressed up to a limit.

use std::io::Read;

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressionFormat {
    /// RFC 1952.
    Gzip,
    /// RFC 1950, called deflate in HTTP.
    Zlib,
    /// RFC 1951, which some clients send as deflate.
    Deflate,
}

/// Decompressed bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Inflated {
    /// Bytes up to the limit or the first error.
    pub bytes: Vec<u8>,
    /// True if the limit cut the result.
    pub more: bool,
    /// True if the data is truncated or damaged.
    pub broken: bool,
}

impl CompressionFormat {
    /// The format that the first bytes indicate.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match *bytes {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            [first, second, _, ..]
                if first & 0x8f == 8 && (u16::from(first) << 8 | u16::from(second)) % 31 == 0 =>
            {
                Some(Self::Zlib)
            }
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zlib | Self::Deflate => "deflate",
        }
    }

    /// At most `limit` decompressed bytes; `None` if there are none.
    pub fn inflated(self, bytes: &[u8], limit: usize) -> Option<Inflated> {
        match self {
            Self::Gzip => read(MultiGzDecoder::new(bytes), limit),
            Self::Zlib => read(ZlibDecoder::new(bytes), limit),
            Self::Deflate => read(DeflateDecoder::new(bytes), limit),
        }
    }
}

fn read(decoder: impl Read, limit: usize) -> Option<Inflated> {
    let mut bytes = Vec::new();
    let broken = decoder
        .take(limit as u64 + 1)
        .read_to_end(&mut bytes)
        .is_err();
    let more = bytes.len() > limit;
    bytes.truncate(limit);
    (!bytes.is_empty()).then_some(Inflated {
        bytes,
        more,
        broken,
    })
}

#[cfg(test)]
pub(in crate::oob) mod testing {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::CompressionFormat;

    /// Compresses.
    pub fn compress(how: CompressionFormat, bytes: &[u8]) -> Vec<u8> {
        fn written<W: Write>(mut encoder: W, bytes: &[u8]) -> W {
            encoder.write_all(bytes).unwrap();
            encoder
        }
        match how {
            CompressionFormat::Gzip => {
                written(GzEncoder::new(Vec::new(), Compression::default()), bytes)
                    .finish()
                    .unwrap()
            }
            CompressionFormat::Zlib => {
                written(ZlibEncoder::new(Vec::new(), Compression::default()), bytes)
                    .finish()
                    .unwrap()
            }
            CompressionFormat::Deflate => written(
                DeflateEncoder::new(Vec::new(), Compression::default()),
                bytes,
            )
            .finish()
            .unwrap(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::testing::compress;
    use super::*;

    const ALL: [CompressionFormat; 3] = [
        CompressionFormat::Gzip,
        CompressionFormat::Zlib,
        CompressionFormat::Deflate,
    ];

    proptest! {
        #[test]
        fn compression_round_trips(bytes in prop::collection::vec(any::<u8>(), 1..500)) {
            for how in ALL {
                let compressed = compress(how, &bytes);
                let inflated = how.inflated(&compressed, 500).unwrap();
                prop_assert_eq!((&inflated.bytes, inflated.more, inflated.broken), (&bytes, false, false));
                prop_assert!(how == CompressionFormat::Deflate || CompressionFormat::of(&compressed) == Some(how));
            }
        }

        #[test]
        fn decompression_of_any_bytes_respects_limit(bytes: Vec<u8>, limit in 0_usize..300) {
            for how in ALL {
                prop_assert!(how.inflated(&bytes, limit).is_none_or(|inflated| inflated.bytes.len() <= limit));
            }
        }
    }

    #[test]
    fn bomb_is_cut_and_damaged_stream_is_decoded_partly() {
        let bomb = compress(CompressionFormat::Gzip, &vec![0; 10 << 20]);
        let inflated = CompressionFormat::Gzip.inflated(&bomb, 1 << 16).unwrap();
        assert_eq!((inflated.bytes.len(), inflated.more), (1 << 16, true));
        let text: Vec<u8> = (0..50_000_u32).flat_map(u32::to_le_bytes).collect();
        let whole = compress(CompressionFormat::Gzip, &text);
        let inflated = CompressionFormat::Gzip
            .inflated(&whole[..whole.len() / 2], 1 << 20)
            .unwrap();
        assert!(
            inflated.broken && text.starts_with(&inflated.bytes) && inflated.bytes.len() > 1_000
        );
    }
}
