//! A hand-written ClientHello for SSL 3.0 to TLS 1.3, and the parser of the server's response.
//!
//! ```text
//!   ► record(22) [ ClientHello ]
//!   ◄ record(22) [ ServerHello, Certificate, … ]    version and cipher suite, certificates in clear text
//!   ◄ record(22) [ HelloRetryRequest ]              TLS 1.3: suite and group, as the hello contains no key share
//!   ◄ record(21) [ alert ]                          the version is not accepted
//! ```
//!
//! See RFC 6101, RFC 4346, RFC 5246 and RFC 8446. The scanner closes the connection before the
//! handshake is complete.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{TlsAnswer, suites};

/// Bytes of handshake that are read; chains are far smaller.
const MAX_HANDSHAKE: usize = 128 * 1024;

/// Protocol versions, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    Ssl2,
    Ssl3,
    Tls10,
    Tls11,
    Tls12,
    Tls13,
}

impl Version {
    pub const ALL: &[Version] = &[
        Version::Ssl2,
        Version::Ssl3,
        Version::Tls10,
        Version::Tls11,
        Version::Tls12,
        Version::Tls13,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Version::Ssl2 => "SSL 2.0",
            Version::Ssl3 => "SSL 3.0",
            Version::Tls10 => "TLS 1.0",
            Version::Tls11 => "TLS 1.1",
            Version::Tls12 => "TLS 1.2",
            Version::Tls13 => "TLS 1.3",
        }
    }

    pub(super) fn wire(self) -> [u8; 2] {
        match self {
            Version::Ssl2 => [0, 2],
            Version::Ssl3 => [3, 0],
            Version::Tls10 => [3, 1],
            Version::Tls11 => [3, 2],
            Version::Tls12 => [3, 3],
            Version::Tls13 => [3, 4],
        }
    }
}

/// Groups of TLS 1.2 and older: X25519, the NIST curves, X448, Brainpool, and old curves. Without
/// the finite field groups, because with them a server must not choose its own (RFC 7919 §4).
#[rustfmt::skip]
const OLD_GROUPS: &[u16] = &[
    29, 23, 24, 25, 30, 26, 27, 28, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
];
/// Groups of TLS 1.3: elliptic curves, finite fields, and hybrids with ML-KEM.
pub const NEW_GROUPS: &[(u16, &str)] = &[
    (29, "X25519"),
    (23, "P-256"),
    (24, "P-384"),
    (25, "P-521"),
    (30, "X448"),
    (0x11ec, "X25519MLKEM768"),
    (0x11eb, "P256MLKEM768"),
    (0x11ed, "P384MLKEM1024"),
    (256, "ffdhe2048"),
    (257, "ffdhe3072"),
    (258, "ffdhe4096"),
    (259, "ffdhe6144"),
    (260, "ffdhe8192"),
    (31, "brainpoolP256r1"),
    (32, "brainpoolP384r1"),
    (33, "brainpoolP512r1"),
    (0x6399, "X25519Kyber768Draft00"),
];

/// ECDSA, RSA-PSS (both kinds of key), Ed25519, Ed448, RSA, DSA, with SHA-1 and MD5 for old keys.
#[rustfmt::skip]
const SIGNATURES: &[u16] = &[
    0x0403, 0x0503, 0x0603, 0x0804, 0x0805, 0x0806, 0x0809, 0x080a, 0x080b, 0x0807, 0x0808, 0x0401, 0x0501, 0x0601,
    0x081a, 0x081b, 0x081c, 0x0303, 0x0301, 0x0203, 0x0201, 0x0402, 0x0302, 0x0202, 0x0101,
];

/// The random number that marks a HelloRetryRequest (RFC 8446 §4.1.3).
const RETRY: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// Signals secure renegotiation (RFC 5746 §3.3).
const SAFE_RENEGOTIATION: u16 = 0x00ff;
/// The extension with the proof of the first handshake (RFC 5746 §3.2).
const RENEGOTIATION_INFO: u16 = 0xff01;

/// The contents of a ClientHello.
#[derive(Clone, Debug)]
pub struct Offer {
    pub version: Version,
    pub suites: Vec<u16>,
    pub groups: Vec<u16>,
    /// Offers DEFLATE beside no compression.
    pub compression: bool,
    /// Set in a second hello on a connection: the client's verify_data of the first handshake,
    /// empty for a server without RFC 5746.
    pub renegotiation: Option<Vec<u8>>,
    /// A key share of TLS 1.3: the group, and the public key.
    pub key_share: Option<(u16, Vec<u8>)>,
    /// Requests the OCSP response of the certificate in the handshake (RFC 6066 §8).
    pub status_request: bool,
}

impl Offer {
    pub fn new(version: Version, suites: Vec<u16>) -> Self {
        let groups = match version {
            Version::Tls13 => NEW_GROUPS.iter().map(|(number, _)| *number).collect(),
            _ => OLD_GROUPS.to_vec(),
        };
        Self {
            version,
            suites,
            groups,
            compression: false,
            renegotiation: None,
            key_share: None,
            status_request: false,
        }
    }
}

/// A ClientHello of TLS 1.2 with the common suites, to recognize a TLS server: one that requires
/// TLS 1.3 sends an alert.
pub fn common_hello(host: &str) -> Vec<u8> {
    let suites = suites::offered(Version::Tls12)
        .into_iter()
        .take(40)
        .collect();
    client_hello(&Offer::new(Version::Tls12, suites), host, rand::random())
}

/// Whether bytes begin with a ServerHello or an alert.
pub fn is_server_record(bytes: &[u8]) -> bool {
    matches!(bytes, [21, 3, _, 0, 2, ..] | [22, 3, _, _, _, 2, ..])
}

/// Sends a ClientHello and reads the response up to the end of the server's part into `answer`.
/// When the future is dropped, `answer` contains what was read.
pub async fn handshake(mut stream: TcpStream, offer: &Offer, host: &str, answer: &mut TlsAnswer) {
    if stream
        .write_all(&client_hello(offer, host, rand::random()))
        .await
        .is_err()
    {
        return;
    }
    let mut messages = Vec::new();
    while let Some((kind, body)) = read_record(&mut stream).await {
        answer.is_tls = true;
        match kind {
            22 => messages.extend_from_slice(&body),
            21 => {
                answer.alert = body.get(1).copied().filter(|_| !answer.accepted);
                return;
            }
            _ => return,
        }
        while let Some((kind, body, rest)) = next_message(&messages) {
            if !read_message(kind, body, offer, answer) {
                return;
            }
            messages = rest.to_vec();
        }
        if messages.len() > MAX_HANDSHAKE {
            return;
        }
    }
}

/// Reads one message of the server; false when nothing after it matters.
fn read_message(kind: u8, body: &[u8], offer: &Offer, answer: &mut TlsAnswer) -> bool {
    match kind {
        2 => {
            if let Some(read) = server_hello(body, offer) {
                *answer = read;
            }
            // In TLS 1.3, all further messages are encrypted.
            answer.accepted && offer.version != Version::Tls13
        }
        11 => {
            answer.chain = certificates(body);
            true
        }
        12 => {
            answer.dh_bits = answer
                .suite
                .filter(|suite| has_dh_prime(*suite))
                .and_then(|_| prime_bits(body));
            true
        }
        13 => {
            answer.asks_certificate = true;
            true
        }
        // CertificateStatus comes before the key exchange: the type of OCSP, and a response.
        22 => {
            answer.is_stapled = matches!(body, [1, length @ .., _] if length.get(..3).is_some_and(|three| three != [0; 3]));
            true
        }
        _ => false,
    }
}

/// Whether the server's key exchange begins with a prime.
fn has_dh_prime(suite: u16) -> bool {
    let name = suites::name(suite);
    name.starts_with("DHE_") || name.starts_with("DH_anon_")
}

/// The length of the prime of a finite field key exchange.
fn prime_bits(body: &[u8]) -> Option<usize> {
    let length = usize::from(u16::from_be_bytes([*body.first()?, *body.get(1)?]));
    let prime = body.get(2..2 + length)?;
    let zeros = prime.iter().take_while(|byte| **byte == 0).count();
    let first = prime.get(zeros)?;
    Some((prime.len() - zeros) * 8 - first.leading_zeros() as usize)
}

pub(super) async fn read_record(stream: &mut (impl AsyncRead + Unpin)) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    stream.read_exact(&mut head).await.ok()?;
    let length = usize::from(u16::from_be_bytes([head[3], head[4]]));
    if !(20..=24).contains(&head[0]) || head[1] != 3 || length > (1 << 14) + 2048 {
        return None;
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some((head[0], body))
}

/// The first complete handshake message: its type, its body, and the remaining bytes.
pub(super) fn next_message(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let [kind, a, b, c, rest @ ..] = bytes else {
        return None;
    };
    let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
    (rest.len() >= length).then(|| (*kind, &rest[..length], &rest[length..]))
}

/// The version and cipher suite of the server. Another version than requested does not count as
/// accepted, and neither does a suite that was not offered.
pub(super) fn server_hello(body: &[u8], offer: &Offer) -> Option<TlsAnswer> {
    let version = body.get(..2)?;
    let session = usize::from(*body.get(34)?);
    let rest = body.get(35 + session..)?;
    let [a, b, compression, rest @ ..] = rest else {
        return None;
    };
    let suite = u16::from_be_bytes([*a, *b]);
    let mut answer = TlsAnswer {
        is_tls: true,
        suite: Some(suite),
        cipher: suites::name(suite),
        ..TlsAnswer::default()
    };
    let mut version = [version[0], version[1]];
    for (kind, value) in extensions_of(rest) {
        match (kind, value) {
            (43, [major, minor]) => version = [*major, *minor],
            (RENEGOTIATION_INFO, _) => answer.secure_renegotiation = true,
            // The group of a HelloRetryRequest or of a key share.
            (51, [a, b, ..]) => answer.group = Some(u16::from_be_bytes([*a, *b])),
            _ => {}
        }
    }
    answer.is_retry = body.get(2..34) == Some(&RETRY[..]);
    answer.compression = *compression != 0;
    answer.accepted = version == offer.version.wire() && offer.suites.contains(&suite);
    Some(answer)
}

/// The key share in a ServerHello: the group, and the public key of the server.
pub(super) fn key_share(body: &[u8]) -> Option<(u16, Vec<u8>)> {
    let session = usize::from(*body.get(34)?);
    let extensions = extensions_of(body.get(35 + session + 3..)?);
    let (_, value) = extensions.into_iter().find(|(kind, _)| *kind == 51)?;
    let [a, b, c, d, key @ ..] = value else {
        return None;
    };
    (key.len() == usize::from(u16::from_be_bytes([*c, *d])))
        .then(|| (u16::from_be_bytes([*a, *b]), key.to_vec()))
}

/// The extensions at the end of a ServerHello.
fn extensions_of(bytes: &[u8]) -> Vec<(u16, &[u8])> {
    let mut all = Vec::new();
    let mut rest = bytes.get(2..).unwrap_or_default();
    while let [a, b, c, d, tail @ ..] = rest {
        let length = usize::from(u16::from_be_bytes([*c, *d]));
        let Some(value) = tail.get(..length) else {
            break;
        };
        all.push((u16::from_be_bytes([*a, *b]), value));
        rest = &tail[length..];
    }
    all
}

pub(super) fn certificates(body: &[u8]) -> Vec<Vec<u8>> {
    let mut chain = Vec::new();
    let mut rest = body.get(3..).unwrap_or_default();
    while let [a, b, c, tail @ ..] = rest {
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        let Some(one) = tail.get(..length) else { break };
        chain.push(one.to_vec());
        rest = &tail[length..];
    }
    chain
}

pub(super) fn client_hello(offer: &Offer, host: &str, random: [u8; 32]) -> Vec<u8> {
    let version = offer.version;
    // A second hello proves the first handshake by an extension, and must not contain the signal
    // (RFC 5746 §3.5).
    let signal =
        (version != Version::Tls13 && offer.renegotiation.is_none()).then_some(SAFE_RENEGOTIATION);
    let suites: Vec<u8> = offer
        .suites
        .iter()
        .copied()
        .chain(signal)
        .flat_map(u16::to_be_bytes)
        .collect();
    // TLS 1.3 is requested by an extension.
    let mut hello = Vec::from(version.min(Version::Tls12).wire());
    hello.extend(random);
    // A session id, because devices on the way may refuse a hello of TLS 1.3 without one.
    push(
        &mut hello,
        1,
        if version == Version::Tls13 {
            &random[..]
        } else {
            &[]
        },
    );
    push(&mut hello, 2, &suites);
    push(
        &mut hello,
        1,
        if offer.compression { &[1, 0][..] } else { &[0] },
    );
    if version != Version::Ssl3 {
        push(&mut hello, 2, &extensions(offer, host));
    }
    let mut message = vec![1];
    push(&mut message, 3, &hello);
    // All servers accept a first record of version 3.0 or 3.1.
    let mut record = vec![22, 3, u8::from(version != Version::Ssl3)];
    push(&mut record, 2, &message);
    record
}

fn extensions(offer: &Offer, host: &str) -> Vec<u8> {
    let mut all = Vec::new();
    let mut add = |kind: u16, body: &[u8]| {
        all.extend(kind.to_be_bytes());
        push(&mut all, 2, body);
    };
    // Server name, which must not be an address (RFC 6066 §3).
    if host.parse::<std::net::IpAddr>().is_err() && host.len() < 256 {
        let mut name = vec![0];
        push(&mut name, 2, host.as_bytes());
        add(0, &prefixed(2, &name));
    }
    if offer.status_request {
        // OCSP, any responder, no extensions.
        add(5, &[1, 0, 0, 0, 0]);
    }
    add(10, &number_list(&offer.groups));
    // Points: uncompressed.
    add(11, &[1, 0]);
    if offer.version >= Version::Tls12 {
        add(13, &number_list(SIGNATURES));
    }
    let proof = offer.renegotiation.as_deref();
    if let Some(proof) = proof.filter(|proof| !proof.is_empty()) {
        add(RENEGOTIATION_INFO, &prefixed(1, proof));
    }
    if offer.version == Version::Tls13 {
        add(43, &[2, 3, 4]);
        // Without a key share, the server selects a group by a HelloRetryRequest, and no key has to
        // be computed.
        let mut shares = Vec::new();
        if let Some((group, key)) = &offer.key_share {
            shares.extend(group.to_be_bytes());
            push(&mut shares, 2, key);
        }
        add(51, &prefixed(2, &shares));
    }
    all
}

/// Bytes, preceded by their length in `width` bytes.
fn prefixed(width: usize, body: &[u8]) -> Vec<u8> {
    let mut prefixed = Vec::new();
    push(&mut prefixed, width, body);
    prefixed
}

fn number_list(numbers: &[u16]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().copied().flat_map(u16::to_be_bytes).collect();
    prefixed(2, &bytes)
}

/// Appends bytes, preceded by their length in `width` bytes.
pub(super) fn push(to: &mut Vec<u8>, width: usize, body: &[u8]) {
    let length = (body.len() as u32).to_be_bytes();
    to.extend_from_slice(&length[4 - width..]);
    to.extend_from_slice(body);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn offer(version: Version) -> Offer {
        Offer::new(version, suites::offered(version))
    }

    #[test]
    fn client_hello_has_consistent_lengths() {
        for version in &Version::ALL[1..] {
            let bytes = client_hello(&offer(*version), "shop.test", [7; 32]);
            assert_eq!(
                usize::from(u16::from_be_bytes([bytes[3], bytes[4]])),
                bytes.len() - 5
            );
            let (kind, body, rest) = next_message(&bytes[5..]).unwrap();
            assert_eq!((kind, rest.len()), (1, 0));
            assert_eq!(body[..2], (*version).min(Version::Tls12).wire());
            let has_name = bytes.windows(9).any(|part| part == b"shop.test");
            assert_eq!(has_name, *version != Version::Ssl3);
        }
        let hello = client_hello(&offer(Version::Tls12), "127.0.0.1", [7; 32]);
        assert!(!hello.windows(9).any(|part| part == b"127.0.0.1"));
    }

    #[test]
    fn server_hello_with_other_version_or_suite_is_not_accepted() {
        let hello = |minor: u8, suite: [u8; 2]| {
            [
                vec![3, minor],
                vec![0; 32],
                vec![2, 9, 9],
                suite.to_vec(),
                vec![0],
            ]
            .concat()
        };
        let answer = server_hello(&hello(2, [0xc0, 0x13]), &offer(Version::Tls11)).unwrap();
        assert_eq!(
            (answer.accepted, answer.cipher.as_str()),
            (true, "ECDHE_RSA_AES_128_CBC_SHA")
        );
        assert!(
            !server_hello(&hello(1, [0xc0, 0x13]), &offer(Version::Tls11))
                .unwrap()
                .accepted
        );
        assert!(
            !server_hello(&hello(2, [0xc0, 0x2f]), &offer(Version::Tls11))
                .unwrap()
                .accepted
        );
    }

    #[test]
    fn hello_retry_request_names_version_suite_and_group() {
        let mut body = vec![3, 3];
        body.extend(RETRY);
        body.extend([
            0, 0x13, 0x01, 0, 0, 12, 0, 43, 0, 2, 3, 4, 0, 51, 0, 2, 0, 25,
        ]);
        let answer = server_hello(&body, &offer(Version::Tls13)).unwrap();
        assert_eq!(
            (answer.accepted, answer.is_retry, answer.group),
            (true, true, Some(25))
        );
        assert_eq!(answer.cipher, "AES_128_GCM_SHA256");
    }

    #[test]
    fn prime_is_measured_without_leading_zeros() {
        assert_eq!(prime_bits(&[0, 3, 0, 0x7f, 0xff, 0, 1, 2]), Some(15));
        assert_eq!(prime_bits(&[0, 9, 1]), None);
        assert_eq!(prime_bits(&[0, 1, 0]), None);
    }

    #[test]
    fn truncated_messages_are_ignored() {
        assert_eq!(server_hello(&[3, 3], &offer(Version::Tls12)), None);
        assert_eq!(next_message(&[11, 0, 0]), None);
        assert_eq!(next_message(&[11, 0, 0, 9, 1]), None);
        assert!(certificates(&[0, 0, 9, 0, 0, 200, 1, 2]).is_empty());
        assert_eq!(
            certificates(&[0, 0, 9, 0, 0, 1, 5, 0, 0, 2, 6, 7]),
            [vec![5], vec![6, 7]]
        );
    }

    proptest! {
        #[test]
        fn arbitrary_messages_are_read_without_panic(kind: u8, body in proptest::collection::vec(any::<u8>(), 0..200)) {
            for version in &Version::ALL[1..] {
                let mut answer = TlsAnswer { suite: Some(0x33), ..TlsAnswer::default() };
                for kind in [kind, 2, 11, 12] {
                    read_message(kind, &body, &offer(*version), &mut answer);
                }
            }
        }
    }
}
