//! Ground truth of the TLS scanner: scripted servers, each with planted weaknesses, and the exact
//! findings of each.
//!
//! Current TLS libraries cannot speak SSL 2.0, SSL 3.0, export or NULL suites. The servers here
//! send the first flight of a handshake without any cryptography, which is all that the scanner
//! reads. The last servers use rustls.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use base64::Engine;
use futures::StreamExt;
use rcgen::{BasicConstraints, CertificateParams, CustomExtension, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ServerConfig, WebPkiClientVerifier};
use rustls::{RootCertStore, SupportedProtocolVersion};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::hello::{Version, push};
use crate::engine::ScanOutcome;
use crate::engine::testing::{ScanResult, TestScan};
use scandeck_wire::contract::Tool;

/// Recall that TLS scans must reach.
const RECALL: f64 = 0.95;
/// A certificate for 127.0.0.1 with an RSA key of 1024 bits and a SHA-1 signature of an unknown
/// authority, until 2044.
const WEAK: &str = "\
MIICeTCCAWGgAwIBAgIBATANBgkqhkiG9w0BAQUFADAbMRkwFwYDVQQDDBBXZWFrIFByYWN0aWNlIENBMB4XDTI0MDEwMTAwMDAwMFoXDTQ0MD\
EwMTAwMDAwMFowFDESMBAGA1UEAwwJMTI3LjAuMC4xMIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDA0Bs0vq7BB7UGXEPPFFmzxYStjbs6\
pNMBTspqw6jOQw2CIqUPzdpeJwTjC5VSIQKRg/ff9xEQdtSnb3FOlylb39vlMAb81thGgVWkHp4tJGMI/3hPWVO/Qh2f160Lo2vtAUSJbPkdiI\
wF6CGpu4EqBh11ZE8PiFi/X7ZsQcJCMwIDAQABo1MwUTAPBgNVHREECDAGhwR/AAABMB0GA1UdDgQWBBQJZMOQl71eXPrra3zM49L3dq23gDAf\
BgNVHSMEGDAWgBQxbNSk4UVPCQ9Pm38WBPfiZ+wjcTANBgkqhkiG9w0BAQUFAAOCAQEAD6fmU1Fq/93oGF2pDHgNAfz+jWDNZTSr9OvIIvMU/f\
awzWX2A3k06Pq00hgHEXX3Ada8GaPz9C3mnAc1cysHupQJwCyUIWg4CTQRLyn/1u+IHgm6Qqxcn+cvZS4RriCwQqCE1iwKXSv0V8HLd5sOD2wu\
LsLsVQ9h9X0TeR/gNlodQamq/aJg+h2UGltFh7DIkVYGGSn8cy98vdiOyMQ7ho6oNR0VmgGh3uWcTVByKucrICCaFMz+rwvXyBSM2POqBI82pd\
mcBn4PUxEE+8w8F4D+XREAoynAdZ/c/4blGeKky7zii7YyXjIPCngVP47ztAN2yixdnpxAWOTK7EmlcA==";

/// A certificate authority, valid until 2044.
const OLD_ANCHOR: &str = "\
MIIBZzCCAQ6gAwIBAgIUcV/gwNCokGtLO1PZc8YDCh/YUTkwCgYIKoZIzj0EAwIwGjEYMBYGA1UEAwwPT2xkIFByYWN0aWNlIENBMB4XDTI0MD\
EwMTAwMDAwMFoXDTQ0MDEwMTAwMDAwMFowGjEYMBYGA1UEAwwPT2xkIFByYWN0aWNlIENBMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAESprf\
EUHkZb+xmhZJdiFZKkYTJ/EiCrZtHdAlgVU7NYtX8OC5MMFgyHzq4xtgXvYBr2kRhDQp7zlUg+b9UfKGzKMyMDAwDwYDVR0TAQH/BAUwAwEB/z\
AdBgNVHQ4EFgQUg8faP+hEwp4Jh/1nknswoQucNtYwCgYIKoZIzj0EAwIDRwAwRAIgZlj4GNlCBFwTGYkm5ClXo316Z5pEgSVZ3EW/PlrXaWMC\
IHqphk+AXkqEgRz/pkW87b16WDnFFZCuSHZdajyRVW1m";
/// A certificate for 127.0.0.1 with a SHA-1 signature of this authority, until 2044.
const OLD_SIGNATURE: &str = "\
MIIBgTCCASigAwIBAgIURfpTZo/1eJ5CmMDITOCpO5CEFg0wCQYHKoZIzj0EATAaMRgwFgYDVQQDDA9PbGQgUHJhY3RpY2UgQ0EwHhcNMjQwMT\
AxMDAwMDAwWhcNNDQwMTAxMDAwMDAwWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQJeFCC/O/5e7vo\
WHT9B+uPBlSOzY6K0UfGF/icaEEtUxRv0uIxO45mcs/gDX+c26LiwQsiD0iVbu+dqtA0BJkVo1MwUTAPBgNVHREECDAGhwR/AAABMB0GA1UdDg\
QWBBSss97vLNAqrFYHYOdLnSjlOK1D3DAfBgNVHSMEGDAWgBSDx9o/6ETCngmH/WeSezChC5w21jAJBgcqhkjOPQQBA0gAMEUCIQC8ThyqXLNh\
mrM1P01dMyyFJCusaYzQOfi1qCvNmFduYQIgcJ1qii9kO88aF/6Gw2RYrLn2CJ7ciRMg+FBv0c2uLmY=";

/// The versions and ciphers that a scripted server accepts, and the data that it sends.
#[derive(Clone)]
struct Script {
    versions: &'static [Version],
    suites: &'static [u16],
    chain: Vec<CertificateDer<'static>>,
    dh_bits: usize,
    compression: bool,
    renegotiation: bool,
    asks_certificate: bool,
    /// Whether an OCSP response comes with the certificate for clients that request it.
    staples: bool,
    /// Versions to which the server never responds.
    silent: &'static [Version],
}

/// Two authorities, and certificates that are valid for 127.0.0.1 unless changed.
struct Authority {
    anchor: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
    key: KeyPair,
}

impl Authority {
    fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let anchor = params.self_signed(&key).unwrap().der().clone();
        Self {
            anchor,
            issuer: Issuer::new(params, key),
            key: KeyPair::generate().unwrap(),
        }
    }

    fn params(names: &[&str], from_days: i64, to_days: i64) -> CertificateParams {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params
            .distinguished_name
            .push(DnType::CommonName, "127.0.0.1");
        let date = |days: i64| {
            let day = jiff::Zoned::now()
                .checked_add(jiff::Span::new().days(days))
                .unwrap();
            rcgen::date_time_ymd(
                day.year().into(),
                day.month().unsigned_abs(),
                day.day().unsigned_abs(),
            )
        };
        (params.not_before, params.not_after) = (date(from_days), date(to_days));
        params
    }

    fn sign(&self, names: &[&str], from_days: i64, to_days: i64) -> CertificateDer<'static> {
        Self::params(names, from_days, to_days)
            .signed_by(&self.key, &self.issuer)
            .unwrap()
            .der()
            .clone()
    }

    /// A certificate that requires an OCSP response.
    fn must_staple(&self) -> CertificateDer<'static> {
        let mut params = Self::params(&["127.0.0.1"], -30, 60);
        let features = vec![0x30, 3, 2, 1, 5];
        params
            .custom_extensions
            .push(CustomExtension::from_oid_content(
                &[1, 3, 6, 1, 5, 5, 7, 1, 24],
                features,
            ));
        params
            .signed_by(&self.key, &self.issuer)
            .unwrap()
            .der()
            .clone()
    }

    fn good(&self) -> CertificateDer<'static> {
        self.sign(&["127.0.0.1"], -30, 60)
    }
}

/// The bytes of a handshake message.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut all = vec![kind];
    push(&mut all, 3, body);
    all
}

fn record(kind: u8, minor: u8, body: &[u8]) -> Vec<u8> {
    let mut all = vec![kind, 3, minor];
    push(&mut all, 2, body);
    all
}

impl Script {
    async fn serve(self) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let script = self.clone();
                tokio::spawn(async move { script.answer(stream).await });
            }
        });
        port
    }

    async fn answer(self, mut stream: TcpStream) -> Option<()> {
        let mut head = [0; 5];
        stream.read_exact(&mut head).await.ok()?;
        let answer = if head[0] & 0x80 != 0 {
            let mut rest = vec![0; (usize::from(head[0] & 0x7f) << 8 | usize::from(head[1])) - 3];
            stream.read_exact(&mut rest).await.ok()?;
            self.ssl2()?
        } else {
            let mut hello = vec![0; usize::from(u16::from_be_bytes([head[3], head[4]]))];
            stream.read_exact(&mut hello).await.ok()?;
            self.hello(&hello)?
        };
        stream.write_all(&answer).await.ok()?;
        // The client closes the connection.
        let _ = stream.read(&mut head).await;
        Some(())
    }

    fn ssl2(&self) -> Option<Vec<u8>> {
        let leaf = self
            .versions
            .contains(&Version::Ssl2)
            .then(|| &self.chain[0])?;
        let mut body = vec![4, 0, 1, 0, 2];
        body.extend((leaf.len() as u16).to_be_bytes());
        body.extend([0, 3, 0, 16]);
        body.extend(leaf.iter());
        body.extend([7, 0, 0xc0]);
        body.extend([9; 16]);
        let mut all = (0x8000 | body.len() as u16).to_be_bytes().to_vec();
        all.extend(body);
        Some(all)
    }

    /// The answer to a ClientHello (its handshake message).
    fn hello(&self, hello: &[u8]) -> Option<Vec<u8>> {
        let body = hello.get(4..)?;
        let session = usize::from(*body.get(34)?);
        let rest = body.get(35 + session..)?;
        let length = usize::from(u16::from_be_bytes([rest[0], rest[1]]));
        let offered: Vec<u16> = rest
            .get(2..2 + length)?
            .chunks(2)
            .map(|two| u16::from_be_bytes([two[0], two[1]]))
            .collect();
        let compressions = rest.get(2 + length..)?;
        let wants_compression = compressions
            .get(1..1 + usize::from(compressions[0]))?
            .contains(&1);
        let is_new = hello.windows(7).any(|part| part == [0, 43, 0, 3, 2, 3, 4]);
        let version = match (is_new, body[1]) {
            (true, _) => Version::Tls13,
            (_, 0) => Version::Ssl3,
            (_, 1) => Version::Tls10,
            (_, 2) => Version::Tls11,
            _ => Version::Tls12,
        };
        if self.silent.contains(&version) {
            return Some(Vec::new());
        }
        if !self.versions.contains(&version) {
            return Some(record(21, 1, &[2, 70]));
        }
        let Some(suite) = self.suites.iter().find(|suite| offered.contains(suite)) else {
            return Some(record(21, 1, &[2, 40]));
        };
        let minor = body[1];
        let mut hello = vec![3, minor];
        let mut extensions = Vec::new();
        if version == Version::Tls13 {
            // A HelloRetryRequest for X25519; its random number is that of RFC 8446.
            let retry = "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c";
            hello.extend(
                (0..32).map(|at| u8::from_str_radix(&retry[2 * at..2 * at + 2], 16).unwrap()),
            );
            extensions.extend([0, 43, 0, 2, 3, 4, 0, 51, 0, 2, 0, 29]);
        } else {
            hello.extend([7; 32]);
            if self.renegotiation {
                extensions.extend([0xff, 1, 0, 1, 0]);
            }
        }
        hello.push(0);
        hello.extend(suite.to_be_bytes());
        hello.push(u8::from(self.compression && wants_compression));
        if !extensions.is_empty() {
            push(&mut hello, 2, &extensions);
        }
        let mut flight = message(2, &hello);
        if version != Version::Tls13 {
            let wants_staple = body
                .windows(9)
                .any(|part| part == [0, 5, 0, 5, 1, 0, 0, 0, 0]);
            flight.extend(self.rest_of_flight(*suite, wants_staple));
        }
        Some(record(22, minor, &flight))
    }

    /// Certificate, key exchange, request of a certificate, and the end.
    fn rest_of_flight(&self, suite: u16, wants_staple: bool) -> Vec<u8> {
        let mut list = Vec::new();
        self.chain.iter().for_each(|one| push(&mut list, 3, one));
        let mut certificates = Vec::new();
        push(&mut certificates, 3, &list);
        let mut flight = message(11, &certificates);
        if self.staples && wants_staple {
            flight.extend(message(22, &[1, 0, 0, 3, 0x30, 1, 0]));
        }
        if super::suites::name(suite).starts_with("DHE_") {
            let mut exchange = Vec::new();
            push(&mut exchange, 2, &vec![0xff; self.dh_bits / 8]);
            push(&mut exchange, 2, &[2]);
            push(&mut exchange, 2, &[3; 64]);
            flight.extend(message(12, &exchange));
        }
        if self.asks_certificate {
            flight.extend(message(13, &[1, 1, 0, 2, 4, 1, 0, 0]));
        }
        flight.extend(message(14, &[]));
        flight
    }
}

async fn scan(port: u16, anchors: &[&Authority]) -> ScanResult {
    let mut scan = TestScan::new(Tool::TLS, &format!("https://127.0.0.1:{port}/"), json!({}));
    scan.trust_anchors = anchors
        .iter()
        .map(|authority| authority.anchor.clone())
        .collect();
    let result = scan.run().await;
    result.check();
    result
}

fn kinds(result: &ScanResult) -> BTreeSet<String> {
    result
        .findings()
        .map(|finding| finding.vuln_id.trim_start_matches("tls.").to_owned())
        .collect()
}

/// The servers with their planted weaknesses.
fn servers(authority: &Authority) -> Vec<(&'static str, Script, &'static [&'static str])> {
    use Version::{Ssl2, Ssl3, Tls10, Tls11, Tls12, Tls13};
    let base = Script {
        versions: &[Tls12, Tls13],
        suites: &[0x1301, 0xc02f, 0xcca8],
        chain: vec![authority.good()],
        dh_bits: 2048,
        compression: false,
        renegotiation: true,
        asks_certificate: false,
        staples: false,
        silent: &[],
    };
    let versions = |versions| Script {
        versions,
        suites: &[0x1301, 0xc02f, 0xc013],
        ..base.clone()
    };
    let suites = |suites| Script {
        suites,
        ..base.clone()
    };
    let chain = |chain: Vec<CertificateDer<'static>>| Script {
        chain,
        ..base.clone()
    };
    let other = Authority::new("Unknown authority");
    let params = Authority::params(&["127.0.0.1"], -30, 60);
    let self_signed = params.self_signed(&other.key).unwrap().der().clone();
    let weak = base64::engine::general_purpose::STANDARD
        .decode(WEAK)
        .unwrap();
    Vec::from([
        ("hardened", base.clone(), &[][..]),
        ("large prime", suites(&[0x1301, 0x009e]), &[]),
        (
            "SSL 2.0",
            versions(&[Ssl2, Tls12, Tls13]),
            &["protocol.ssl2"],
        ),
        (
            "SSL 3.0",
            versions(&[Ssl3, Tls12, Tls13]),
            &["protocol.ssl3"],
        ),
        (
            "TLS 1.0",
            versions(&[Tls10, Tls12, Tls13]),
            &["protocol.tls10"],
        ),
        (
            "TLS 1.1",
            versions(&[Tls11, Tls12, Tls13]),
            &["protocol.tls11"],
        ),
        (
            "old versions only",
            versions(&[Ssl2, Ssl3, Tls10]),
            &[
                "protocol.ssl2",
                "protocol.ssl3",
                "protocol.tls10",
                "protocol.old_only",
            ],
        ),
        (
            "TLS 1.0 only",
            versions(&[Tls10]),
            &["protocol.tls10", "protocol.old_only"],
        ),
        (
            "TLS 1.1 only",
            versions(&[Tls11]),
            &["protocol.tls11", "protocol.old_only"],
        ),
        (
            "CBC only",
            Script {
                versions: &[Tls11, Tls12],
                ..suites(&[0xc013, 0xc027])
            },
            &["protocol.tls11", "protocol.no_tls13", "cipher.cbc_only"],
        ),
        (
            "CBC beside GCM",
            Script {
                versions: &[Tls12],
                ..suites(&[0xc013, 0xc02f])
            },
            &["protocol.no_tls13"],
        ),
        ("CBC before TLS 1.3", suites(&[0x1301, 0xc013]), &[]),
        (
            "MD5",
            suites(&[0x1301, 0xc02f, 0x0018]),
            &["cipher.anon", "cipher.rc4", "cipher.md5"],
        ),
        (
            "RC2",
            suites(&[0x1301, 0xc02f, 0x0006]),
            &[
                "cipher.export",
                "cipher.rc2",
                "cipher.md5",
                "cipher.rsa_exchange",
                "cipher.no_forward_secrecy",
            ],
        ),
        (
            "IDEA",
            suites(&[0x1301, 0xc02f, 0x0007]),
            &[
                "cipher.idea",
                "cipher.rsa_exchange",
                "cipher.no_forward_secrecy",
            ],
        ),
        (
            "must-staple",
            chain(vec![authority.must_staple()]),
            &["certificate.must_staple"],
        ),
        (
            "must-staple with response",
            Script {
                staples: true,
                ..chain(vec![authority.must_staple()])
            },
            &[],
        ),
        (
            "response without request",
            Script {
                staples: true,
                ..base.clone()
            },
            &[],
        ),
        ("no TLS 1.3", versions(&[Tls12]), &["protocol.no_tls13"]),
        ("NULL", suites(&[0x1301, 0xc02f, 0xc010]), &["cipher.null"]),
        (
            "anonymous",
            suites(&[0x1301, 0xc02f, 0xc018, 0x00a6]),
            &["cipher.anon"],
        ),
        (
            "export",
            suites(&[0x1301, 0xc02f, 0x0014]),
            &["cipher.export", "cipher.des", "dh.weak"],
        ),
        (
            "export RC4",
            suites(&[0x0003]),
            &[
                "cipher.export",
                "cipher.rc4",
                "cipher.md5",
                "cipher.rsa_exchange",
                "cipher.no_forward_secrecy",
                "protocol.no_tls13",
            ],
        ),
        ("DES", suites(&[0x1301, 0xc02f, 0x0015]), &["cipher.des"]),
        ("RC4", suites(&[0x1301, 0xc02f, 0xc011]), &["cipher.rc4"]),
        ("3DES", suites(&[0x1301, 0xc02f, 0xc012]), &["cipher.3des"]),
        (
            "static RSA",
            suites(&[0x1301, 0xc02f, 0x002f]),
            &["cipher.rsa_exchange", "cipher.no_forward_secrecy"],
        ),
        (
            "short prime",
            Script {
                dh_bits: 1024,
                ..suites(&[0x1301, 0x0033])
            },
            &["dh.weak"],
        ),
        (
            "compression",
            Script {
                compression: true,
                ..base.clone()
            },
            &["compression"],
        ),
        (
            "old renegotiation",
            Script {
                renegotiation: false,
                ..base.clone()
            },
            &["renegotiation.insecure"],
        ),
        (
            "client certificate",
            Script {
                asks_certificate: true,
                ..base.clone()
            },
            &["client_certificate"],
        ),
        (
            "expired",
            chain(vec![authority.sign(&["127.0.0.1"], -90, -2)]),
            &["certificate.expired"],
        ),
        (
            "future",
            chain(vec![authority.sign(&["127.0.0.1"], 2, 90)]),
            &["certificate.not_yet_valid"],
        ),
        (
            "expires soon",
            chain(vec![authority.sign(&["127.0.0.1"], -80, 5)]),
            &["certificate.expires_soon"],
        ),
        (
            "other name",
            chain(vec![authority.sign(&["shop.test"], -30, 60)]),
            &["certificate.wrong_name"],
        ),
        (
            "long life",
            chain(vec![authority.sign(&["127.0.0.1"], -30, 700)]),
            &["certificate.long_life"],
        ),
        (
            "no names",
            chain(vec![authority.sign(&[], -30, 60)]),
            &["certificate.no_san", "certificate.wrong_name"],
        ),
        (
            "self-signed",
            chain(vec![self_signed]),
            &["certificate.self_signed"],
        ),
        (
            "unknown authority",
            chain(vec![other.good()]),
            &["certificate.untrusted"],
        ),
        (
            "wrong order",
            chain(vec![authority.good(), other.anchor.clone()]),
            &["certificate.chain_order"],
        ),
        (
            "weak key",
            chain(vec![CertificateDer::from(weak)]),
            &[
                "certificate.weak_key",
                "certificate.weak_signature",
                "certificate.untrusted",
            ],
        ),
    ])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tls_scan_finds_planted_weaknesses_and_nothing_else() {
    let authority = Authority::new("Practice authority");
    let (mut planted, mut found, mut false_alarms, mut missed) = (0, 0, Vec::new(), Vec::new());
    let mut slowest = std::time::Duration::ZERO;
    let scans = servers(&authority)
        .into_iter()
        .map(|(name, mut script, expected)| {
            if name == "export" {
                script.dh_bits = 512;
            }
            let authority = &authority;
            async move {
                (
                    name,
                    expected,
                    scan(script.serve().await, &[authority]).await,
                )
            }
        });
    let mut scans = futures::stream::iter(scans).buffer_unordered(8);
    while let Some((name, expected, result)) = scans.next().await {
        slowest = slowest.max(result.elapsed);
        let seen = kinds(&result);
        planted += expected.len();
        found += expected.iter().filter(|kind| seen.contains(**kind)).count();
        missed.extend(
            expected
                .iter()
                .filter(|kind| !seen.contains(**kind))
                .map(|kind| format!("{name}: {kind}")),
        );
        let wrong = seen
            .iter()
            .filter(|kind| !expected.contains(&kind.as_str()));
        false_alarms.extend(wrong.map(|kind| format!("{name}: {kind}")));
    }
    let recall = found as f64 / planted as f64;
    let line = format!(
        "tls: {found} of {planted} planted weaknesses found, recall {recall:.2}; {} false alarms; slowest scan {slowest:?}",
        false_alarms.len()
    );
    let _ = writeln!(std::io::stderr(), "{line}");
    assert!(false_alarms.is_empty(), "{false_alarms:?}");
    assert!(recall >= RECALL, "{missed:?}");
}

/// The CVEs of the findings of a server, by kind.
async fn cves(authority: &Authority, name: &str) -> Vec<(String, Vec<String>)> {
    let mut all = servers(authority);
    let at = all.iter().position(|(known, ..)| *known == name).unwrap();
    let result = scan(all.swap_remove(at).1.serve().await, &[authority]).await;
    assert!(result.findings().all(|one| !one.in_cisa_catalog), "{name}");
    let with_cve = result.findings().filter(|one| !one.cve.is_empty());
    let mut cves: Vec<_> = with_cve
        .map(|one| (one.vuln_id.clone(), one.cve.clone()))
        .inspect(|(kind, _)| assert!(kind.starts_with("tls.")))
        .collect();
    cves.sort();
    cves
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn findings_name_the_cves_that_their_evidence_proves() {
    let authority = Authority::new("Practice authority");
    let sweet32 = "CVE-2016-2183";
    for (name, expected) in [
        ("hardened", &[][..]),
        ("TLS 1.0", &[]),
        ("static RSA", &[]),
        ("weak key", &[]),
        ("SSL 2.0", &[("tls.protocol.ssl2", &["CVE-2016-0800"][..])]),
        ("SSL 3.0", &[("tls.protocol.ssl3", &["CVE-2014-3566"])]),
        (
            "export",
            &[
                ("tls.cipher.des", &[sweet32]),
                ("tls.cipher.export", &["CVE-2015-4000"]),
            ],
        ),
        (
            "export RC4",
            &[
                ("tls.cipher.export", &["CVE-2015-0204"]),
                ("tls.cipher.rc4", &["CVE-2013-2566", "CVE-2015-2808"]),
            ],
        ),
        ("3DES", &[("tls.cipher.3des", &[sweet32])]),
        ("IDEA", &[("tls.cipher.idea", &[sweet32])]),
        ("compression", &[("tls.compression", &["CVE-2012-4929"])]),
        (
            "old renegotiation",
            &[("tls.renegotiation.insecure", &["CVE-2009-3555"])],
        ),
    ] {
        let found = cves(&authority, name).await;
        let found: Vec<(&str, Vec<&str>)> = found
            .iter()
            .map(|(kind, cves)| (kind.as_str(), cves.iter().map(String::as_str).collect()))
            .collect();
        let expected: Vec<(&str, Vec<&str>)> = expected
            .iter()
            .map(|(kind, cves)| (*kind, cves.to_vec()))
            .collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn must_staple_certificate_of_a_current_server_needs_an_ocsp_response() {
    let authority = &Authority::new("Practice authority");
    let judged = |(version, response, is_missing): (
        &'static SupportedProtocolVersion,
        Vec<u8>,
        bool,
    )| async move {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(authority.key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap();
        let chain = vec![authority.must_staple()];
        let config = builder
            .with_no_client_auth()
            .with_single_cert_with_ocsp(chain, key, response)
            .unwrap();
        let result = scan(serve_rustls(config).await, &[authority]).await;
        let found = result.of("tls.certificate.must_staple");
        assert_eq!(
            found.len(),
            usize::from(is_missing),
            "{version:?} {:?}",
            kinds(&result)
        );
        assert!(
            found
                .iter()
                .all(|one| one.evidence.as_json().contains("the server sent none"))
        );
    };
    let response = vec![0x30, 3, 0x0a, 1, 6];
    let cases = [
        (&rustls::version::TLS13, Vec::new(), true),
        (&rustls::version::TLS13, response.clone(), false),
        (&rustls::version::TLS12, Vec::new(), true),
        (&rustls::version::TLS12, response, false),
    ];
    futures::future::join_all(cases.map(judged)).await;
}

/// A scan that is stopped after this number of tests.
async fn stopped_after(tests: usize, script: Script, authority: &Authority) -> ScanResult {
    let port = script.serve().await;
    let mut scan = TestScan::new(Tool::TLS, "127.0.0.1", json!({"port": port}));
    scan.trust_anchors = vec![authority.anchor.clone()];
    let (stop, mut reported) = (scan.stop.clone(), 0);
    let result = scan
        .run_with(|_| {
            reported += 1;
            if reported == tests {
                stop.cancel();
            }
        })
        .await;
    assert_eq!(result.outcome, ScanOutcome::Cancelled);
    result
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_scan_reports_findings_of_versions_that_responded() {
    let authority = Authority::new("Practice authority");
    let (_, mut script, _) = servers(&authority).remove(0);
    (script.silent, script.chain) = (
        &[Version::Tls10],
        vec![authority.sign(&["127.0.0.1"], -90, -2)],
    );
    // The handshakes of all versions but one.
    let result = stopped_after(Version::ALL.len() - 1, script, &authority).await;
    assert_eq!(
        kinds(&result),
        BTreeSet::from(["certificate.expired".to_owned()])
    );
    let uids: Vec<&str> = result.tests.iter().map(|test| test.uid.as_str()).collect();
    assert!(
        !uids.contains(&"tls.handshake.tls10") && !uids.contains(&"tls.cipher.null"),
        "not tested: {uids:?}"
    );
    let protocols = &result.output.unwrap().output_data["protocols"];
    assert_eq!(protocols.as_array().unwrap().len(), Version::ALL.len() - 1);
}

/// On one thread, the scan is stopped before it can report more tests than the channel holds.
#[tokio::test]
async fn stop_between_reports_loses_no_test() {
    let authority = Authority::new("Practice authority");
    let (_, mut script, _) = servers(&authority).remove(0);
    script.asks_certificate = true;
    let result = stopped_after(Version::ALL.len() + 1, script, &authority).await;
    assert_eq!(
        kinds(&result),
        BTreeSet::from(["client_certificate".to_owned()])
    );
    assert_eq!(result.tests.len(), result.planned as usize);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chain_with_sha1_signature_of_trusted_authority_is_not_untrusted() {
    let decode = |text| {
        CertificateDer::from(
            base64::engine::general_purpose::STANDARD
                .decode(text)
                .unwrap(),
        )
    };
    let mut authority = Authority::new("Practice authority");
    let (_, mut script, _) = servers(&authority).remove(0);
    (authority.anchor, script.chain) = (decode(OLD_ANCHOR), vec![decode(OLD_SIGNATURE)]);
    let result = scan(script.serve().await, &[&authority]).await;
    assert_eq!(
        kinds(&result),
        BTreeSet::from(["certificate.weak_signature".to_owned()])
    );
    assert!(
        result
            .info
            .iter()
            .any(|line| line.starts_with("Trust was not checked")),
        "{:?}",
        result.info
    );
}

/// A server of rustls with these versions that asks for a certificate of the client when `asks`.
async fn rustls_server(
    authority: &Authority,
    versions: &[&'static SupportedProtocolVersion],
    asks: bool,
) -> u16 {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(authority.key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .unwrap();
    let builder = if asks {
        let mut roots = RootCertStore::empty();
        roots.add(authority.anchor.clone()).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .unwrap();
        builder.with_client_cert_verifier(verifier)
    } else {
        builder.with_no_client_auth()
    };
    serve_rustls(
        builder
            .with_single_cert(vec![authority.good()], key)
            .unwrap(),
    )
    .await
}

async fn serve_rustls(config: ServerConfig) -> u16 {
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                if let Ok(mut stream) = acceptor.accept(stream).await {
                    let _ = stream.read(&mut [0; 64]).await;
                }
            });
        }
    });
    port
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn modern_server_has_no_findings_and_its_groups_are_listed() {
    let authority = Authority::new("Practice authority");
    let port = rustls_server(&authority, rustls::ALL_VERSIONS, false).await;
    let result = scan(port, &[&authority]).await;
    assert_eq!(kinds(&result), BTreeSet::new(), "{:?}", result.raw);
    let output = result.output.unwrap().output_data;
    let newest = &output["protocols"][5];
    assert_eq!(
        (&newest["name"], &newest["accepted"]),
        (&json!("TLS 1.3"), &json!(true))
    );
    let groups = newest["groups"].to_string();
    assert!(
        groups.contains("X25519") && groups.contains("P-384"),
        "{groups}"
    );
    assert!(
        newest["cipher_suites"].as_array().unwrap().len() >= 3,
        "{newest}"
    );
    if result.info.iter().any(|line| line.contains("sslscan")) {
        assert!(
            result
                .info
                .iter()
                .any(|line| line.contains("found the same")),
            "{:?}",
            result.info
        );
    } else {
        let _ = writeln!(std::io::stderr(), "skipped: sslscan is not installed");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_of_client_certificate_in_tls13_is_found() {
    let authority = Authority::new("Practice authority");
    let port = rustls_server(&authority, &[&rustls::version::TLS13], true).await;
    assert_eq!(
        kinds(&scan(port, &[&authority]).await),
        BTreeSet::from(["client_certificate".to_owned()])
    );
}

#[tokio::test]
async fn certificate_of_server_with_finite_field_groups_only_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let (key, certificate) = (
        directory.path().join("key.pem"),
        directory.path().join("certificate.pem"),
    );
    let own = KeyPair::generate().unwrap();
    let params = Authority::params(&["127.0.0.1"], -30, 60);
    std::fs::write(&key, own.serialize_pem()).unwrap();
    std::fs::write(&certificate, params.self_signed(&own).unwrap().pem()).unwrap();
    let (key, certificate) = (&key, &certificate);
    let scan = |suite: &'static str| async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let server = tokio::process::Command::new("openssl")
            .args([
                "s_server",
                "-quiet",
                "-tls1_3",
                "-groups",
                "ffdhe2048",
                "-ciphersuites",
                suite,
                "-accept",
            ])
            .arg(format!("127.0.0.1:{port}"))
            .arg("-key")
            .arg(key)
            .arg("-cert")
            .arg(certificate)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .kill_on_drop(true)
            .spawn();
        let Ok(mut server) = server else {
            let _ = writeln!(std::io::stderr(), "skipped: openssl is not installed");
            return;
        };
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        let result = TestScan::new(Tool::TLS, &format!("https://127.0.0.1:{port}/"), json!({}))
            .run()
            .await;
        result.check();
        assert_eq!(
            result.output.as_ref().unwrap().output_data["certificates"][0]["names"][0],
            "127.0.0.1",
            "{suite}"
        );
        assert_eq!(
            kinds(&result),
            BTreeSet::from(["certificate.self_signed".to_owned()]),
            "{suite}: {:?}",
            result.raw
        );
        server.kill().await.unwrap();
    };
    let suites = [
        "TLS_AES_128_GCM_SHA256",
        "TLS_AES_256_GCM_SHA384",
        "TLS_CHACHA20_POLY1305_SHA256",
    ];
    futures::future::join_all(suites.map(scan)).await;
}

/// The port of a server whose first handshakes take longer than the usual limit of this machine.
async fn slow_server(script: &Script, slow: usize) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = script.clone();
    tokio::spawn(async move {
        let mut handshakes = 0;
        while let Ok((stream, _)) = listener.accept().await {
            handshakes += 1;
            let (script, is_slow) = (script.clone(), handshakes <= slow);
            tokio::spawn(async move {
                if is_slow {
                    tokio::time::sleep(std::time::Duration::from_millis(3200)).await;
                }
                script.answer(stream).await
            });
        }
    });
    port
}

#[tokio::test]
async fn slow_handshakes_get_the_time_that_the_first_one_takes() {
    let authority = Authority::new("Practice authority");
    let (_, script, _) = servers(&authority).remove(4);
    let scan = |port| TestScan::new(Tool::TLS, &format!("https://127.0.0.1:{port}/"), json!({}));
    // Enough of them to see that those after the first one get its time.
    let mut slow = scan(slow_server(&script, 5).await);
    slow.trust_anchors = vec![authority.anchor.clone()];
    let mut limited = scan(slow_server(&script, usize::MAX).await);
    limited.limits.handshake_time = Some(std::time::Duration::from_secs(1));
    let (result, limited) = tokio::join!(slow.run(), limited.run());
    result.check();
    assert!(
        result
            .info
            .iter()
            .any(|line| line.starts_with("The first TLS handshake took 3.")),
        "{:?}",
        result.info
    );
    let found: Vec<_> = result.findings().map(|one| one.vuln_id.as_str()).collect();
    assert_eq!(found, ["tls.protocol.tls10"]);
    assert!(matches!(limited.outcome, ScanOutcome::ConnectionError(_)));
}

#[tokio::test]
async fn server_that_refuses_every_handshake_is_still_tls() {
    let authority = Authority::new("Practice authority");
    let (_, mut script, _) = servers(&authority).remove(0);
    script.versions = &[];
    let port = script.serve().await;
    let result = TestScan::new(Tool::TLS, &format!("https://127.0.0.1:{port}/"), json!({}))
        .run()
        .await;
    let ScanOutcome::ConnectionError(why) = result.outcome else {
        panic!("{:?}", result.outcome)
    };
    assert!(
        why.ends_with("responds with TLS, but refuses every handshake (alert 70)"),
        "{why}"
    );
}

#[tokio::test]
async fn mail_server_is_scanned_after_starttls() {
    let authority = Authority::new("Practice authority");
    let (_, script, _) = servers(&authority).remove(4);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let script = script.clone();
            tokio::spawn(async move {
                let mut request = [0; 256];
                for answer in [
                    "220 mail.test ESMTP\r\n",
                    "250-mail.test\r\n250 STARTTLS\r\n",
                    "220 go\r\n",
                ] {
                    stream.write_all(answer.as_bytes()).await.ok()?;
                    if !answer.ends_with("go\r\n") {
                        stream
                            .read(&mut request)
                            .await
                            .ok()
                            .filter(|count| *count > 0)?;
                    }
                }
                script.answer(stream).await
            });
        }
    });
    let mut scan = TestScan::new(
        Tool::TLS,
        "127.0.0.1",
        json!({"port": port, "starttls": "smtp"}),
    );
    scan.trust_anchors = vec![authority.anchor.clone()];
    let result = scan.run().await;
    result.check();
    let found: Vec<_> = result
        .findings()
        .map(|one| (one.vuln_id.as_str(), one.service.as_str(), one.port))
        .collect();
    assert_eq!(found, [("tls.protocol.tls10", "smtp", port)]);
}
