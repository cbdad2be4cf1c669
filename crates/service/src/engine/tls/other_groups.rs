//! Reads the certificates of a TLS 1.3 server that accepts only groups which rustls lacks: finite
//! fields (RFC 7919) and Brainpool curves (RFC 8734).
//!
//! ```text
//!   ► ClientHello with a key share ─► ◄ ServerHello ─► secret ─► keys (RFC 8446 §7.1) ─► ◄ encrypted: …, Certificate
//! ```
//!
//! The connection is closed after the certificates. Nothing is verified or sent under these keys,
//! so the arithmetic need not hide its secret from a clock.

use aws_lc_rs::aead::{
    AES_128_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey,
};
use num_bigint::BigUint;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;

use super::hello::{self, Offer, Version, push};
use super::legacy::LegacyHash;

/// Number, bits of the prime, and the X of its formula (RFC 7919, appendix A).
const FIELDS: &[(u16, u32, u32)] = &[
    (256, 2048, 560_316),
    (257, 3072, 2_625_351),
    (258, 4096, 5_736_041),
    (259, 6144, 15_705_020),
    (260, 8192, 10_965_728),
];
/// Number, prime, coefficient A, and base point (RFC 5639 §3).
const CURVES: &[(u16, &str, &str, &str, &str)] = &[
    (
        31,
        "a9fb57dba1eea9bc3e660a909d838d726e3bf623d52620282013481d1f6e5377",
        "7d5a0975fc2c3057eef67530417affe7fb8055c126dc5c6ce94a4b44f330b5d9",
        "8bd2aeb9cb7e57cb2c4b482ffc81b7afb9de27e1e3bd23c23a4453bd9ace3262",
        "547ef835c3dac4fd97f8461a14611dc9c27745132ded8e545c1d54c72f046997",
    ),
    (
        32,
        "8cb91e82a3386d280f5d6f7e50e641df152f7109ed5456b412b1da197fb71123acd3a729901d1a71874700133107ec53",
        "7bc382c63d8c150c3c72080ace05afa0c2bea28e4fb22787139165efba91f90f8aa5814a503ad4eb04a8c7dd22ce2826",
        "1d1c64f068cf45ffa2a63a81b7c13f6b8847a3e77ef14fe3db7fcafe0cbd10e8e826e03436d646aaef87b2e247d4af1e",
        "8abe1d7520f9c2a45cb1eb8e95cfd55262b70b29feec5864e19c054ff99129280e4646217791811142820341263c5315",
    ),
    (
        33,
        "aadd9db8dbe9c48b3fd4e6ae33c9fc07cb308db3b3c9d20ed6639cca703308717d4d9b009bc66842aecda12ae6a380e62881ff2f2d82c68528\
         aa6056583a48f3",
        "7830a3318b603b89e2327145ac234cc594cbdd8d3df91610a83441caea9863bc2ded5d5aa8253aa10a2ef1c98b9ac8b57f1117a72bf2c7b9e7\
         c1ac4d77fc94ca",
        "81aee4bdd82ed9645a21322e9c4c6a9385ed9f70b5d916c1b43b62eef4d0098eff3b1f78e2d0d48d50d1687b93b97d5f7c6d5047406a5e688b\
         352209bcb9f822",
        "7dde385d566332ecc0eabfa9cf7822fdf209f70024a57b1aa000c55b881f8111b2dcde494a5f485e5bca4bd88a2763aed1ca2b2fa8f0540678\
         cd1e0f3ad80892",
    ),
];
const SUITES: [u16; 3] = [0x1301, 0x1302, 0x1303];
/// Bytes of handshake that are read.
const MAX_HANDSHAKE: usize = 128 * 1024;

/// The certificates of a server that selected `group`; none if the group is not one of these.
pub async fn certificates(mut stream: TcpStream, host: &str, group: u16) -> Option<Vec<Vec<u8>>> {
    let exchange = spawn_blocking(move || GroupKeyShare::new(group))
        .await
        .ok()??;
    let mut offer = Offer::new(Version::Tls13, SUITES.to_vec());
    offer.groups = vec![group];
    offer.key_share = Some(exchange.public.clone());
    let hello = hello::client_hello(&offer, host, rand::random());
    stream.write_all(&hello).await.ok()?;
    // The transcript has no record headers.
    let mut transcript = hello.get(5..)?.to_vec();
    let (kind, body) = hello::read_record(&mut stream).await?;
    let (2, message, rest) = hello::next_message(&body).filter(|_| kind == 22)? else {
        return None;
    };
    transcript.extend(&body[..body.len() - rest.len()]);
    let answer = hello::server_hello(message, &offer)
        .filter(|answer| answer.accepted && !answer.is_retry)?;
    let theirs = hello::key_share(message)
        .filter(|(selected, _)| *selected == group)?
        .1;
    let secret = spawn_blocking(move || exchange.agree(&theirs))
        .await
        .ok()??;
    let mut keys = HandshakeKeys::new(answer.suite?, &secret, &transcript)?;
    read_certificates(&mut stream, &mut keys).await
}

/// Reads encrypted messages up to the certificates.
async fn read_certificates(
    stream: &mut TcpStream,
    keys: &mut HandshakeKeys,
) -> Option<Vec<Vec<u8>>> {
    let mut messages = Vec::new();
    while messages.len() < MAX_HANDSHAKE {
        let (kind, record) = hello::read_record(stream).await?;
        match kind {
            // ChangeCipherSpec, without a meaning in TLS 1.3.
            20 => continue,
            23 => messages.extend(keys.open(record)?),
            _ => return None,
        }
        while let Some((kind, body, rest)) = hello::next_message(&messages) {
            if kind == 11 {
                return Some(listed(body));
            }
            messages = rest.to_vec();
        }
    }
    None
}

/// The certificates of a Certificate message: each is followed by its extensions (RFC 8446 §4.4.2).
fn listed(body: &[u8]) -> Vec<Vec<u8>> {
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .fold(0, |all, byte| all << 8 | usize::from(*byte))
    };
    let mut chain = Vec::new();
    let context = usize::from(body.first().copied().unwrap_or_default());
    let mut rest = body.get(1 + context + 3..).unwrap_or_default();
    while let Some((length, tail)) = rest.split_at_checked(3) {
        let Some((certificate, tail)) = tail.split_at_checked(number(length)) else {
            break;
        };
        chain.push(certificate.to_vec());
        let Some((length, tail)) = tail.split_at_checked(2) else {
            break;
        };
        rest = tail.get(number(length)..).unwrap_or_default();
    }
    chain
}

/// The private part of a key exchange, and the public part for the hello.
struct GroupKeyShare {
    private: BigUint,
    arithmetic: GroupArithmetic,
    public: (u16, Vec<u8>),
}

enum GroupArithmetic {
    Field { prime: BigUint, size: usize },
    Curve(BrainpoolCurve),
}

impl GroupKeyShare {
    fn new(group: u16) -> Option<Self> {
        // 256 bits are enough to read a certificate.
        let private = BigUint::from_bytes_be(&rand::random::<[u8; 32]>());
        if let Some((_, bits, x)) = FIELDS.iter().find(|(number, ..)| *number == group) {
            let (prime, size) = (prime(*bits, *x), (*bits / 8) as usize);
            let public = padded(&BigUint::from(2_u8).modpow(&private, &prime), size);
            return Some(Self {
                private,
                arithmetic: GroupArithmetic::Field { prime, size },
                public: (group, public),
            });
        }
        let (curve, base) = BrainpoolCurve::of(group)?;
        let public = curve.encoded(&curve.multiple(&base, &private)?);
        Some(Self {
            private,
            arithmetic: GroupArithmetic::Curve(curve),
            public: (group, public),
        })
    }

    fn agree(&self, theirs: &[u8]) -> Option<Vec<u8>> {
        match &self.arithmetic {
            GroupArithmetic::Field { prime, size } => {
                let theirs = BigUint::from_bytes_be(theirs);
                let is_valid = theirs > BigUint::from(1_u8) && theirs < prime - 1_u8;
                // With leading zeros, unlike TLS 1.2 (RFC 8446 §7.4.1).
                is_valid.then(|| padded(&theirs.modpow(&self.private, prime), *size))
            }
            GroupArithmetic::Curve(curve) => {
                let (x, y) = theirs.strip_prefix(&[4])?.split_at_checked(curve.size)?;
                let theirs = (BigUint::from_bytes_be(x), BigUint::from_bytes_be(y));
                Some(padded(
                    &curve.multiple(&theirs, &self.private)?.0,
                    curve.size,
                ))
            }
        }
    }
}

/// `2^b - 2^(b-64) + (floor(2^(b-130) e) + X) 2^64 - 1`.
fn prime(bits: u32, x: u32) -> BigUint {
    let one = BigUint::from(1_u8);
    // Euler's number in fixed point, with 64 bits for the errors of rounding.
    let (mut e, mut term, mut divisor) = (BigUint::default(), &one << (bits - 130 + 64), 1_u32);
    while term != BigUint::default() {
        e += &term;
        term /= divisor;
        divisor += 1;
    }
    let middle = ((e >> 64_u32) + x) << 64_u32;
    (&one << bits) - (&one << (bits - 64)) + middle - one
}

type CurvePoint = (BigUint, BigUint);

/// A curve `y² = x³ + ax + b`.
struct BrainpoolCurve {
    prime: BigUint,
    a: BigUint,
    size: usize,
}

impl BrainpoolCurve {
    /// A curve with its base point.
    fn of(group: u16) -> Option<(Self, CurvePoint)> {
        let (_, prime, a, x, y) = CURVES.iter().find(|(number, ..)| *number == group)?;
        let read = |text: &str| BigUint::parse_bytes(text.as_bytes(), 16);
        Some((
            Self {
                prime: read(prime)?,
                a: read(a)?,
                size: prime.len() / 2,
            },
            (read(x)?, read(y)?),
        ))
    }

    fn encoded(&self, (x, y): &CurvePoint) -> Vec<u8> {
        [vec![4], padded(x, self.size), padded(y, self.size)].concat()
    }

    /// `point * factor`; none for the point at infinity.
    fn multiple(&self, point: &CurvePoint, factor: &BigUint) -> Option<CurvePoint> {
        let mut sum: Option<CurvePoint> = None;
        for bit in (0..factor.bits()).rev() {
            sum = sum.and_then(|sum| self.sum(&sum, &sum));
            if factor.bit(bit) {
                sum = match sum {
                    None => Some(point.clone()),
                    Some(sum) => self.sum(&sum, point),
                };
            }
        }
        sum
    }

    fn sum(&self, (x1, y1): &CurvePoint, (x2, y2): &CurvePoint) -> Option<CurvePoint> {
        let prime = &self.prime;
        let minus = |a: &BigUint, b: &BigUint| (a + prime - b % prime) % prime;
        let (above, below) = match x1 == x2 {
            false => (minus(y2, y1), minus(x2, x1)),
            true if y1 == y2 => (x1 * x1 * 3_u8 + &self.a, y1 * 2_u8),
            true => return None,
        };
        let slope = above * below.modinv(prime)? % prime;
        let x = minus(&minus(&(&slope * &slope % prime), x1), x2);
        let y = minus(&(&slope * minus(x1, &x) % prime), y1);
        Some((x, y))
    }
}

fn padded(number: &BigUint, size: usize) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    [vec![0; size.saturating_sub(bytes.len())], bytes].concat()
}

/// The key of the server's handshake records.
struct HandshakeKeys {
    key: LessSafeKey,
    iv: [u8; 12],
    records: u64,
}

impl HandshakeKeys {
    /// The key schedule of RFC 8446 §7.1 up to the handshake traffic secret of the server.
    fn new(suite: u16, secret: &[u8], transcript: &[u8]) -> Option<Self> {
        let (algorithm, key_size, hash): (&'static Algorithm, usize, LegacyHash) = match suite {
            0x1301 => (&AES_128_GCM, 16, LegacyHash::Sha256),
            0x1302 => (&AES_256_GCM, 32, LegacyHash::Sha384),
            0x1303 => (&CHACHA20_POLY1305, 32, LegacyHash::Sha256),
            _ => return None,
        };
        let zeros = vec![0; hash.size()];
        let early = hash.hmac(&zeros, &[&zeros]);
        let derived = expand(hash, &early, b"derived", &hash.digest(b""), hash.size());
        let handshake = hash.hmac(&derived, &[secret]);
        let server = expand(
            hash,
            &handshake,
            b"s hs traffic",
            &hash.digest(transcript),
            hash.size(),
        );
        let key = expand(hash, &server, b"key", b"", key_size);
        let iv = expand(hash, &server, b"iv", b"", 12).try_into().ok()?;
        Some(Self {
            key: LessSafeKey::new(UnboundKey::new(algorithm, &key).ok()?),
            iv,
            records: 0,
        })
    }

    /// The handshake messages in a record.
    fn open(&mut self, mut body: Vec<u8>) -> Option<Vec<u8>> {
        let mut nonce = self.iv;
        nonce[4..]
            .iter_mut()
            .zip(self.records.to_be_bytes())
            .for_each(|(byte, count)| *byte ^= count);
        self.records += 1;
        let [high, low] = u16::try_from(body.len()).ok()?.to_be_bytes();
        let head = Aad::from([23, 3, 3, high, low]);
        let opened = self
            .key
            .open_in_place(Nonce::assume_unique_for_key(nonce), head, &mut body)
            .ok()?;
        // The type of the content follows it, and then zeros.
        let end = opened.iter().rposition(|byte| *byte != 0)?;
        (opened[end] == 22).then(|| opened[..end].to_vec())
    }
}

/// `HKDF-Expand-Label`.
fn expand(hash: LegacyHash, secret: &[u8], label: &[u8], context: &[u8], length: usize) -> Vec<u8> {
    let mut info = (length as u16).to_be_bytes().to_vec();
    push(&mut info, 1, &[&b"tls13 "[..], label].concat());
    push(&mut info, 1, context);
    let (mut output, mut block) = (Vec::new(), Vec::new());
    for counter in 1..=u8::MAX {
        if output.len() >= length {
            break;
        }
        block = hash.hmac(secret, &[&block, &info, &[counter]]);
        output.extend(&block);
    }
    output.truncate(length);
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn primes_are_those_of_the_registry() {
        for (_, bits, x) in FIELDS {
            let text = hex(&prime(*bits, *x).to_bytes_be());
            assert!(
                text.starts_with(
                    "ffffffffffffffffadf85458a2bb4a9aafdc5620273d3cf1d8b9c583ce2d3695"
                ),
                "{text}"
            );
            assert!(
                text.ends_with("ffffffffffffffff") && text.len() == *bits as usize / 4,
                "{text}"
            );
        }
        // The last words of ffdhe2048 and ffdhe4096 (RFC 7919, appendix A).
        assert!(
            hex(&prime(2048, 560_316).to_bytes_be()).ends_with("886b423861285c97ffffffffffffffff")
        );
        assert!(
            hex(&prime(4096, 5_736_041).to_bytes_be())
                .ends_with("c68a007e5e655f6affffffffffffffff")
        );
    }

    #[test]
    fn both_sides_agree_in_every_group() {
        for group in FIELDS
            .iter()
            .map(|(number, ..)| *number)
            .take(2)
            .chain([31, 32, 33])
        {
            let [mine, theirs] = [0, 1].map(|_| GroupKeyShare::new(group).unwrap());
            let secret = mine.agree(&theirs.public.1).unwrap();
            assert_eq!(secret, theirs.agree(&mine.public.1).unwrap(), "{group}");
            assert!(mine.agree(b"").is_none());
        }
        assert!(GroupKeyShare::new(29).is_none());
    }

    /// A vector that `openssl pkeyutl -derive` computed.
    #[test]
    fn brainpool_secret_matches_openssl() {
        let number = |text: &str| BigUint::parse_bytes(text.as_bytes(), 16).unwrap();
        let (curve, _) = BrainpoolCurve::of(31).unwrap();
        let share = GroupKeyShare {
            private: number("9132c378375bf8e351311e09086852492df863965cab07420a74d01b4f766825"),
            arithmetic: GroupArithmetic::Curve(curve),
            public: (31, Vec::new()),
        };
        let secret = share.agree(&number(
            "04141e4612bce99b578cd01beba2eebb94953c2f831c112a70463427269b0882f95b085737b94c03562a4ab2cec746c32f522238e6cb1ffeac\
             469bbe71c50487d3",
        ).to_bytes_be()).unwrap();
        assert_eq!(
            hex(&secret),
            "203d3ff3ea56679120607dbf11968c885b0a567f6f68034d3d0b7b16433c78c0"
        );
    }

    #[test]
    fn certificates_are_listed_without_their_extensions() {
        let body = [0, 0, 0, 14, 0, 0, 2, 1, 2, 0, 0, 0, 0, 1, 3, 0, 1, 9];
        assert_eq!(listed(&body), [vec![1, 2], vec![3]]);
        assert!(listed(b"").is_empty() && listed(&[9, 1]).is_empty());
    }
}
