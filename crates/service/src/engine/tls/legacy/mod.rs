//! A TLS client for servers that rustls refuses: SSL 3.0 to TLS 1.2 with the cipher suites of their
//! time.
//!
//! ```text
//!   ► ClientHello
//!   ◄ ServerHello, Certificate, [ServerKeyExchange], [CertificateRequest], ServerHelloDone     (../hello)
//!   ► [Certificate], ClientKeyExchange, ChangeCipherSpec, Finished                            (exchange, secrets)
//!   ◄ ChangeCipherSpec, Finished
//!   ◄► content                                                                                (record, stream)
//!   ► second ClientHello                                                                      (renegotiation)
//! ```
//!
//! Only scans use this client: to read pages and to name services of weak servers, and to test
//! renegotiation. It protects against nobody: it checks neither the certificate nor the signature
//! of the key exchange (the other clients of the scanner accept every certificate too), accepts
//! every prime and key length, and its arithmetic takes a time that depends on the secrets. What it
//! does check is that a record arrived as the peer sent it. See RFC 6101, RFC 2246, RFC 4346, RFC
//! 5246.

use std::mem::take;
use std::{fmt, io};

use rand::random;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::hello::{self, Offer, push};
use super::suites;
use exchange::{AgreedSecret, agree};
use record::{Direction, RecordCipher, RecordKeys, record};
use secrets::{PrfHash, Side};
use suite::{KeyExchange, LegacySuite};

mod exchange;
mod rc4;
mod record;
mod renegotiation;
mod secrets;
mod stream;
mod suite;
#[cfg(test)]
mod tests;

pub use super::hello::Version;
pub use secrets::LegacyHash;
pub use stream::LegacyStream;

// Types of records.
const CHANGE_CIPHER_SPEC: u8 = 20;
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const DATA: u8 = 23;

// Levels and kinds of alerts.
const WARNING: u8 = 1;
const CLOSE_NOTIFY: u8 = 0;
const NO_RENEGOTIATION: u8 = 100;
const NO_CERTIFICATE: u8 = 41;

/// Most bytes of a handshake that are read.
const MAX_HANDSHAKE: usize = 128 * 1024;
/// Most records of a handshake that are read.
const MAX_RECORDS: usize = 1000;

/// The versions to try: a hello of TLS 1.2 lets the server choose, but a few old ones understand no
/// hello but their own.
pub const HELLOS: [Version; 3] = [Version::Tls12, Version::Tls10, Version::Ssl3];

/// Connects. The caller limits the time.
///
/// # Errors
/// The server refused, broke the protocol, or chose something that was not offered.
pub async fn connect<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    host: &str,
    version: Version,
) -> io::Result<LegacyStream<S>> {
    let mut offer = Offer::new(version, LegacySuite::offered(version));
    offer.groups = exchange::CURVES.to_vec();
    let random: [u8; 32] = random();
    let hello = hello::client_hello(&offer, host, random);
    stream.write_all(&hello).await?;
    let mut handshake = Handshake {
        transcript: hello[5..].to_vec(),
        ..Handshake::default()
    };
    handshake.read_flight(&mut stream, &offer).await?;

    let (mut keys, key_exchange) = handshake.agree(&offer, random).await?;
    let flight = handshake.second_flight(&mut keys, &key_exchange)?;
    stream.write_all(&flight.records).await?;

    handshake.read_change(&mut stream).await?;
    let expected = keys.proof(Side::Server, &handshake.transcript);
    let (kind, body) = hello::read_record(&mut stream)
        .await
        .ok_or_else(no_answer)?;
    let finished = keys.read.open(kind, body)?;
    match (kind, hello::next_message(&finished)) {
        (HANDSHAKE, Some((20, proof, []))) if *proof == expected => {
            let mut stream = LegacyStream::new(stream, keys.negotiated, keys.read, keys.write);
            if handshake.secure_renegotiation {
                stream.renegotiation_proof = flight.proof;
            }
            Ok(stream)
        }
        (ALERT, _) => Err(refused(&finished)),
        _ => Err(invalid("wrong Finished")),
    }
}

/// The keys of a connection, and what made them.
struct AgreedKeys {
    negotiated: NegotiatedTls,
    prf: PrfHash,
    master: Vec<u8>,
    read: RecordCipher,
    write: RecordCipher,
}

impl AgreedKeys {
    /// The content of the Finished of a side.
    fn proof(&self, side: Side, transcript: &[u8]) -> Vec<u8> {
        self.prf.proof(&self.master, side, transcript)
    }
}

/// What the client sends after the flight of the server.
struct SecondFlight {
    records: Vec<u8>,
    /// The content of its Finished.
    proof: Vec<u8>,
}

/// What client and server agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NegotiatedTls {
    pub version: Version,
    /// The number of the cipher suite.
    pub suite: u16,
}

impl NegotiatedTls {
    /// Whether current clients support neither this version nor this suite.
    pub fn is_outdated(self) -> bool {
        self.version < Version::Tls12
            || LegacySuite::of(self.suite).is_none_or(|suite| !suite.is_current())
    }
}

impl fmt::Display for NegotiatedTls {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "{} with {}",
            self.version.name(),
            suites::name(self.suite)
        )
    }
}

/// The messages so far.
#[derive(Default)]
struct Handshake {
    /// All messages of both sides, without the record headers.
    transcript: Vec<u8>,
    /// Received bytes that are no whole message yet.
    received: Vec<u8>,
    version: Option<Version>,
    suite: u16,
    records: usize,
    /// The random number of the server.
    random: [u8; 32],
    certificate: Vec<u8>,
    key_exchange: Vec<u8>,
    requests_certificate: bool,
    secure_renegotiation: bool,
}

impl Handshake {
    /// Reads from ServerHello to ServerHelloDone.
    async fn read_flight(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        offer: &Offer,
    ) -> io::Result<()> {
        loop {
            while let Some((kind, body)) = self.next_message() {
                match (kind, self.version) {
                    (2, None) => self.read_server_hello(&body, offer)?,
                    (11, Some(_)) => {
                        self.certificate = hello::certificates(&body)
                            .into_iter()
                            .next()
                            .unwrap_or_default()
                    }
                    (12, Some(_)) => self.key_exchange = body,
                    (13, Some(_)) => self.requests_certificate = true,
                    (14, Some(_)) => return Ok(()),
                    // CertificateStatus.
                    (22, Some(_)) => {}
                    _ => return Err(invalid("unexpected message")),
                }
            }
            self.read_more(stream).await?;
        }
    }

    /// Reads the server's ChangeCipherSpec; a NewSessionTicket may come before.
    async fn read_change(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
        while self.read_more(stream).await? != CHANGE_CIPHER_SPEC {
            while let Some((kind, _)) = self.next_message() {
                if kind != 4 {
                    return Err(invalid("unexpected message"));
                }
            }
        }
        if self.received.is_empty() {
            Ok(())
        } else {
            Err(invalid("unexpected message"))
        }
    }

    /// Reads a record, and returns its type.
    async fn read_more(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<u8> {
        let (kind, body) = hello::read_record(stream).await.ok_or_else(no_answer)?;
        match (kind, &body[..]) {
            (HANDSHAKE, _) => self.received.extend(body),
            // Such as: the server does not know this name.
            (ALERT, [WARNING, _]) | (CHANGE_CIPHER_SPEC, [1]) => {}
            (ALERT, _) => return Err(refused(&body)),
            _ => return Err(invalid("unexpected record")),
        }
        self.records += 1;
        if self.transcript.len() + self.received.len() > MAX_HANDSHAKE || self.records > MAX_RECORDS
        {
            return Err(invalid("handshake too long"));
        }
        Ok(kind)
    }

    /// Takes the next whole message.
    fn next_message(&mut self) -> Option<(u8, Vec<u8>)> {
        let (kind, body, _) = hello::next_message(&self.received)?;
        let (kind, body) = (kind, body.to_vec());
        self.transcript
            .extend(self.received.drain(..4 + body.len()));
        Some((kind, body))
    }

    /// A message of the client.
    fn message(&mut self, kind: u8, body: &[u8]) -> Vec<u8> {
        let mut message = vec![kind];
        push(&mut message, 3, body);
        self.transcript.extend(&message);
        message
    }

    /// Agrees on keys with the server, whose flight was read; also returns the content of the
    /// client's key exchange. `random` is the random number of the client.
    async fn agree(
        &mut self,
        offer: &Offer,
        random: [u8; 32],
    ) -> io::Result<(AgreedKeys, Vec<u8>)> {
        let (version, suite) = self
            .version
            .zip(LegacySuite::of(self.suite))
            .ok_or_else(|| invalid("no ServerHello with an offered suite"))?;
        let prf = suite.prf(version);
        let (certificate, key_exchange) =
            (take(&mut self.certificate), take(&mut self.key_exchange));
        let agreed = agree(suite.exchange, offer.version, certificate, key_exchange).await;
        let AgreedSecret {
            secret,
            mut message,
        } = agreed.ok_or_else(|| invalid("unusable key exchange"))?;
        if version == Version::Ssl3 && suite.exchange == KeyExchange::Rsa {
            // The encrypted secret without its length.
            message.drain(..2);
        }
        let master_seed = [random, self.random].concat();
        let master = prf.derive(&secret, b"master secret", &master_seed, 48);
        let key_seed = [self.random, random].concat();
        let (read, write) = ciphers(suite, version, prf, &master, &key_seed)
            .ok_or_else(|| invalid("unusable keys"))?;
        let negotiated = NegotiatedTls {
            version,
            suite: self.suite,
        };
        let keys = AgreedKeys {
            negotiated,
            prf,
            master,
            read,
            write,
        };
        Ok((keys, message))
    }

    fn second_flight(
        &mut self,
        keys: &mut AgreedKeys,
        key_exchange: &[u8],
    ) -> io::Result<SecondFlight> {
        let version = keys.negotiated.version;
        let mut records = Vec::new();
        let mut messages = Vec::new();
        // The scanner has no certificate. Since TLS 1.0, an empty list says so.
        match (self.requests_certificate, version) {
            (true, Version::Ssl3) => {
                records.extend(record(ALERT, version, &[WARNING, NO_CERTIFICATE]));
            }
            (true, _) => messages.extend(self.message(11, &[0, 0, 0])),
            _ => {}
        }
        messages.extend(self.message(16, key_exchange));
        let proof = keys.proof(Side::Client, &self.transcript);
        let finished = self.message(20, &proof);
        records.extend(record(HANDSHAKE, version, &messages));
        records.extend(record(CHANGE_CIPHER_SPEC, version, &[1]));
        records.extend(keys.write.seal(HANDSHAKE, &finished)?);
        Ok(SecondFlight { records, proof })
    }

    fn read_server_hello(&mut self, body: &[u8], offer: &Offer) -> io::Result<()> {
        let answer =
            hello::server_hello(body, offer).ok_or_else(|| invalid("truncated ServerHello"))?;
        let versions = [
            Version::Ssl3,
            Version::Tls10,
            Version::Tls11,
            Version::Tls12,
        ];
        let version = versions
            .into_iter()
            .find(|one| body.starts_with(&one.wire()));
        let version = version.filter(|version| *version <= offer.version);
        self.version = Some(version.ok_or_else(|| invalid("version not offered"))?);
        self.suite = answer
            .suite
            .filter(|suite| offer.suites.contains(suite))
            .ok_or_else(|| invalid("suite not offered"))?;
        if answer.compression {
            return Err(invalid("compression not offered"));
        }
        self.secure_renegotiation = answer.secure_renegotiation;
        self.random = body
            .get(2..34)
            .and_then(|random| random.try_into().ok())
            .ok_or_else(no_answer)?;
        Ok(())
    }
}

/// Cuts the key block: the protection of what the server sends, and of what the client sends.
fn ciphers(
    suite: LegacySuite,
    version: Version,
    prf: PrfHash,
    master: &[u8],
    seed: &[u8],
) -> Option<(RecordCipher, RecordCipher)> {
    let sizes = [
        suite.mac.map_or(0, |hash| hash.size()),
        suite.cipher.key_size(),
        suite.cipher.iv_size(),
    ];
    let block = prf.derive(
        master,
        b"key expansion",
        seed,
        2 * sizes.iter().sum::<usize>(),
    );
    let mut rest = &block[..];
    // MAC keys, keys and IVs, of the client first.
    let mut cut = |size| {
        let (part, tail) = rest.split_at_checked(size)?;
        rest = tail;
        Some(part)
    };
    let [mac, key, iv] = sizes.map(|size| Some([cut(size)?, cut(size)?]));
    let (mac, key, iv) = (mac?, key?, iv?);
    let keys = |side: usize| RecordKeys {
        mac: mac[side],
        key: key[side],
        iv: iv[side],
    };
    let write = RecordCipher::new(suite, version, &keys(0), Direction::Seal)?;
    let read = RecordCipher::new(suite, version, &keys(1), Direction::Open)?;
    Some((read, write))
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn no_answer() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the server ended the TLS handshake",
    )
}

/// The error of an alert.
fn refused(alert: &[u8]) -> io::Error {
    invalid(&format!(
        "the server refused the TLS handshake (alert {})",
        alert.get(1).copied().unwrap_or_default()
    ))
}
