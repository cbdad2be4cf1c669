//! A hand-written ClientHello for SSL 3.0 to TLS 1.2, and the parser of the server's response.
//!
//! ```text
//!   ► record(22) [ ClientHello ]
//!   ◄ record(22) [ ServerHello, Certificate, … ]    version and cipher suite, certificates in clear text
//!   ◄ record(21) [ alert ]                          the version is not accepted
//! ```
//!
//! See RFC 6101, RFC 4346 and RFC 5246. The scanner closes the connection after the certificates.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::TlsAnswer;

/// Bytes of handshake that are read; chains are far smaller.
const MAX_HANDSHAKE: usize = 128 * 1024;

/// Protocol versions, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    Ssl3,
    Tls10,
    Tls11,
    Tls12,
    Tls13,
}

impl Version {
    pub const ALL: &[Version] = &[Version::Ssl3, Version::Tls10, Version::Tls11, Version::Tls12, Version::Tls13];

    pub fn name(self) -> &'static str {
        match self {
            Version::Ssl3 => "SSL 3.0",
            Version::Tls10 => "TLS 1.0",
            Version::Tls11 => "TLS 1.1",
            Version::Tls12 => "TLS 1.2",
            Version::Tls13 => "TLS 1.3",
        }
    }

    fn wire(self) -> [u8; 2] {
        [3, self as u8]
    }
}

/// Cipher suites of TLS 1.2 only (AEAD, SHA-256). Names without `TLS_` and `WITH_`.
#[rustfmt::skip]
const NEW_SUITES: &[(u16, &str)] = &[
    (0xc02b, "ECDHE_ECDSA_AES_128_GCM_SHA256"), (0xc02f, "ECDHE_RSA_AES_128_GCM_SHA256"),
    (0xc02c, "ECDHE_ECDSA_AES_256_GCM_SHA384"), (0xc030, "ECDHE_RSA_AES_256_GCM_SHA384"),
    (0xcca9, "ECDHE_ECDSA_CHACHA20_POLY1305"), (0xcca8, "ECDHE_RSA_CHACHA20_POLY1305"),
    (0x009e, "DHE_RSA_AES_128_GCM_SHA256"), (0x009f, "DHE_RSA_AES_256_GCM_SHA384"),
    (0x009c, "RSA_AES_128_GCM_SHA256"), (0x009d, "RSA_AES_256_GCM_SHA384"),
    (0xc023, "ECDHE_ECDSA_AES_128_CBC_SHA256"), (0xc027, "ECDHE_RSA_AES_128_CBC_SHA256"),
    (0xc024, "ECDHE_ECDSA_AES_256_CBC_SHA384"), (0xc028, "ECDHE_RSA_AES_256_CBC_SHA384"),
    (0x0067, "DHE_RSA_AES_128_CBC_SHA256"), (0x006b, "DHE_RSA_AES_256_CBC_SHA256"),
    (0x003c, "RSA_AES_128_CBC_SHA256"), (0x003d, "RSA_AES_256_CBC_SHA256"),
];

/// Cipher suites of all versions.
#[rustfmt::skip]
const OLD_SUITES: &[(u16, &str)] = &[
    (0xc009, "ECDHE_ECDSA_AES_128_CBC_SHA"), (0xc013, "ECDHE_RSA_AES_128_CBC_SHA"),
    (0xc00a, "ECDHE_ECDSA_AES_256_CBC_SHA"), (0xc014, "ECDHE_RSA_AES_256_CBC_SHA"),
    (0x0033, "DHE_RSA_AES_128_CBC_SHA"), (0x0039, "DHE_RSA_AES_256_CBC_SHA"), (0x002f, "RSA_AES_128_CBC_SHA"),
    (0x0035, "RSA_AES_256_CBC_SHA"), (0xc012, "ECDHE_RSA_3DES_EDE_CBC_SHA"), (0xc008, "ECDHE_ECDSA_3DES_EDE_CBC_SHA"),
    (0x0016, "DHE_RSA_3DES_EDE_CBC_SHA"), (0x000a, "RSA_3DES_EDE_CBC_SHA"), (0x0005, "RSA_RC4_128_SHA"),
    (0x0004, "RSA_RC4_128_MD5"), (0x0013, "DHE_DSS_3DES_EDE_CBC_SHA"), (0x0032, "DHE_DSS_AES_128_CBC_SHA"),
    (0x0038, "DHE_DSS_AES_256_CBC_SHA"),
];

/// Signals secure renegotiation (RFC 5746 §3.3).
const SAFE_RENEGOTIATION: u16 = 0x00ff;

/// Sends a ClientHello and reads the response up to the certificates; `None` without a response.
pub async fn handshake(mut stream: TcpStream, version: Version, host: &str) -> Option<TlsAnswer> {
    stream.write_all(&client_hello(version, host, rand::random())).await.ok()?;
    let mut messages = Vec::new();
    let mut answer = TlsAnswer::default();
    loop {
        let record = read_record(&mut stream).await?;
        match record {
            (22, body) => messages.extend_from_slice(&body),
            // An alert, or not TLS.
            _ => return Some(answer),
        }
        while let Some((kind, body, rest)) = next_message(&messages) {
            match kind {
                2 => answer = server_hello(body, version)?,
                11 => {
                    answer.chain = certificates(body);
                    return Some(answer);
                }
                _ => return Some(answer),
            }
            messages = rest.to_vec();
        }
        if messages.len() > MAX_HANDSHAKE || (!answer.accepted && answer != TlsAnswer::default()) {
            return Some(answer);
        }
    }
}

async fn read_record(stream: &mut TcpStream) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    stream.read_exact(&mut head).await.ok()?;
    let length = usize::from(u16::from_be_bytes([head[3], head[4]]));
    if head[1] != 3 || length > (1 << 14) + 2048 {
        return None;
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some((head[0], body))
}

/// The first complete handshake message: its type, its body, and the remaining bytes.
fn next_message(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let [kind, a, b, c, rest @ ..] = bytes else { return None };
    let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
    (rest.len() >= length).then(|| (*kind, &rest[..length], &rest[length..]))
}

/// The version and cipher suite of the server. A lower version than requested does not count as accepted.
fn server_hello(body: &[u8], requested: Version) -> Option<TlsAnswer> {
    let version = body.get(..2)?;
    let session = usize::from(*body.get(34)?);
    let cipher = body.get(35 + session..37 + session)?;
    let number = u16::from_be_bytes([cipher[0], cipher[1]]);
    Some(TlsAnswer { accepted: version == requested.wire(), cipher: suite_name(number), chain: Vec::new() })
}

fn suite_name(number: u16) -> String {
    let suite = NEW_SUITES.iter().chain(OLD_SUITES).find(|(suite, _)| *suite == number);
    suite.map_or_else(|| format!("0x{number:04x}"), |(_, name)| (*name).to_owned())
}

fn certificates(body: &[u8]) -> Vec<Vec<u8>> {
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

fn client_hello(version: Version, host: &str, random: [u8; 32]) -> Vec<u8> {
    let new = if version == Version::Tls12 { NEW_SUITES } else { &[] };
    let suites = new.iter().chain(OLD_SUITES).map(|(number, _)| *number).chain([SAFE_RENEGOTIATION]);
    let suites: Vec<u8> = suites.flat_map(u16::to_be_bytes).collect();
    let mut hello = Vec::from(version.wire());
    hello.extend(random);
    hello.push(0);
    push(&mut hello, 2, &suites);
    hello.extend([1, 0]);
    if version != Version::Ssl3 {
        push(&mut hello, 2, &extensions(version, host));
    }
    let mut message = vec![1];
    push(&mut message, 3, &hello);
    // All servers accept a first record of version 3.0 or 3.1.
    let mut record = vec![22, 3, u8::from(version != Version::Ssl3)];
    push(&mut record, 2, &message);
    record
}

fn extensions(version: Version, host: &str) -> Vec<u8> {
    let mut all = Vec::new();
    let mut add = |kind: u16, body: &[u8]| {
        all.extend(kind.to_be_bytes());
        push(&mut all, 2, body);
    };
    // Server name, which must not be an address (RFC 6066 §3).
    if host.parse::<std::net::IpAddr>().is_err() && host.len() < 256 {
        let mut name = vec![0];
        push(&mut name, 2, host.as_bytes());
        let mut list = Vec::new();
        push(&mut list, 2, &name);
        add(0, &list);
    }
    // Groups: X25519, P-256, P-384, P-521. Points: uncompressed.
    add(10, &[0, 8, 0, 29, 0, 23, 0, 24, 0, 25]);
    add(11, &[1, 0]);
    if version == Version::Tls12 {
        // ECDSA, RSA-PSS, RSA, and SHA-1 for old keys.
        add(13, &[0, 18, 4, 3, 5, 3, 6, 3, 8, 4, 8, 5, 8, 6, 4, 1, 5, 1, 2, 1]);
    }
    all
}

/// Appends bytes, preceded by their length in `width` bytes.
fn push(to: &mut Vec<u8>, width: usize, body: &[u8]) {
    let length = (body.len() as u32).to_be_bytes();
    to.extend_from_slice(&length[4 - width..]);
    to.extend_from_slice(body);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_hello_has_consistent_lengths() {
        for version in [Version::Ssl3, Version::Tls10, Version::Tls11, Version::Tls12] {
            let bytes = client_hello(version, "shop.test", [7; 32]);
            assert_eq!(usize::from(u16::from_be_bytes([bytes[3], bytes[4]])), bytes.len() - 5);
            let (kind, body, rest) = next_message(&bytes[5..]).unwrap();
            assert_eq!((kind, rest.len()), (1, 0));
            assert_eq!(body[..2], version.wire());
            let has_name = bytes.windows(9).any(|part| part == b"shop.test");
            assert_eq!(has_name, version != Version::Ssl3);
        }
        assert!(!client_hello(Version::Tls12, "127.0.0.1", [7; 32]).windows(9).any(|part| part == b"127.0.0.1"));
    }

    #[test]
    fn server_hello_with_lower_version_is_not_accepted() {
        let hello = |minor: u8| [vec![3, minor], vec![0; 32], vec![2, 9, 9], vec![0xc0, 0x2f], vec![0]].concat();
        let answer = server_hello(&hello(2), Version::Tls11).unwrap();
        assert_eq!((answer.accepted, answer.cipher.as_str()), (true, "ECDHE_RSA_AES_128_GCM_SHA256"));
        assert!(!server_hello(&hello(1), Version::Tls11).unwrap().accepted);
    }

    #[test]
    fn truncated_messages_are_ignored() {
        assert_eq!(server_hello(&[3, 3], Version::Tls12), None);
        assert_eq!(next_message(&[11, 0, 0]), None);
        assert_eq!(next_message(&[11, 0, 0, 9, 1]), None);
        assert!(certificates(&[0, 0, 9, 0, 0, 200, 1, 2]).is_empty());
        assert_eq!(certificates(&[0, 0, 9, 0, 0, 1, 5, 0, 0, 2, 6, 7]), [vec![5], vec![6, 7]]);
    }
}
