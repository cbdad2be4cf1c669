//! Checks of the accepted cipher suites and of the handshakes themselves.

use serde_json::json;

use super::{Server, TlsAnswer, Version, VersionAnswer, finding, suites};
use crate::engine::TestDone;
use crate::engine::kinds::{FindingKind, tls};

/// Shorter primes of a Diffie-Hellman key exchange are weak.
const DH_BITS: usize = 2048;

/// A check of handshakes: id and description of its test, kind of finding, and the value that
/// proves it.
type HandshakeCheck = (
    &'static str,
    &'static str,
    FindingKind,
    fn(&VersionAnswer) -> Vec<String>,
);

const HANDSHAKES: &[HandshakeCheck] = &[
    (
        "tls.dh",
        "Size of Diffie-Hellman groups",
        tls::DH_WEAK,
        weak_primes,
    ),
    (
        "tls.compression",
        "Compression of TLS",
        tls::COMPRESSION,
        |one| {
            if one.compression {
                vec!["DEFLATE accepted".to_owned()]
            } else {
                Vec::new()
            }
        },
    ),
    (
        "tls.renegotiation",
        "Secure renegotiation",
        tls::INSECURE_RENEGOTIATION,
        |one| {
            let has_extension = one.version == Version::Tls13 || one.version == Version::Ssl2;
            let is_insecure =
                one.answer.accepted && !has_extension && !one.answer.secure_renegotiation;
            if is_insecure {
                vec!["no renegotiation_info in the response".to_owned()]
            } else {
                Vec::new()
            }
        },
    ),
    (
        "tls.renegotiation.client",
        "Renegotiation by clients",
        tls::CLIENT_RENEGOTIATION,
        |one| {
            if one.client_renegotiation {
                vec!["second ClientHello accepted".to_owned()]
            } else {
                Vec::new()
            }
        },
    ),
    (
        "tls.client_certificate",
        "Request of a client certificate",
        tls::CLIENT_CERTIFICATE,
        |one| {
            if one.answer.asks_certificate {
                vec!["CertificateRequest received".to_owned()]
            } else {
                Vec::new()
            }
        },
    ),
];

/// A check of everything that a server accepts: id and description of its test, kind of finding,
/// and the rows that prove it.
type ServerCheck = (
    &'static str,
    &'static str,
    FindingKind,
    fn(&[VersionAnswer]) -> Vec<Vec<String>>,
);

const SERVERS: &[ServerCheck] = &[
    (
        "tls.protocol.newest",
        "Newest version of TLS",
        tls::OLD_ONLY,
        old_only,
    ),
    (
        "tls.cipher.cbc_only",
        "Cipher suites with authenticated encryption",
        tls::CBC_ONLY,
        cbc_only,
    ),
];

/// The accepted versions of a server that accepts nothing above TLS 1.1.
fn old_only(answers: &[VersionAnswer]) -> Vec<Vec<String>> {
    let accepted: Vec<&VersionAnswer> = answers.iter().filter(|one| one.answer.accepted).collect();
    if accepted.iter().any(|one| one.version >= Version::Tls12) {
        return Vec::new();
    }
    accepted
        .iter()
        .map(|one| vec![one.version.name().to_owned(), "accepted".to_owned()])
        .collect()
}

/// The CBC suites of a server that accepts TLS 1.2 and no suite with authenticated encryption.
/// Older versions have none.
fn cbc_only(answers: &[VersionAnswer]) -> Vec<Vec<String>> {
    let suites = answers
        .iter()
        .flat_map(|one| one.suites.iter().map(|suite| suite.cipher.as_str()));
    let accepts_tls12 = answers
        .iter()
        .any(|one| one.version == Version::Tls12 && one.answer.accepted);
    let accepts_tls13 = answers
        .iter()
        .any(|one| one.version == Version::Tls13 && one.answer.accepted);
    if !accepts_tls12 || accepts_tls13 || suites.into_iter().any(suites::is_aead) {
        return Vec::new();
    }
    let newest = answers
        .iter()
        .filter(|one| one.version == Version::Tls12)
        .flat_map(|one| &one.suites);
    let cbc = newest.filter(|suite| suites::is_cbc(&suite.cipher));
    cbc.map(|suite| {
        vec![
            Version::Tls12.name().to_owned(),
            suites::iana(&suite.cipher),
        ]
    })
    .collect()
}

/// Whether each version was tested to its end, so that what the server did not accept is absent.
fn are_complete(server: &Server, answers: &[VersionAnswer]) -> bool {
    let is_open = |one: &VersionAnswer| one.answer.is_untested || one.answer.is_late;
    answers.len() == Version::ALL.len()
        && !answers.iter().any(is_open)
        && server.refusals().is_none()
}

fn weak_primes(one: &VersionAnswer) -> Vec<String> {
    let weak = |answer: &TlsAnswer| {
        let bits = answer.dh_bits.filter(|bits| *bits < DH_BITS)?;
        Some(format!("{}: {bits} bits", suites::iana(&answer.cipher)))
    };
    one.suites.iter().filter_map(weak).collect()
}

/// The number of tests.
pub fn count() -> usize {
    suites::CHECKS.len() + HANDSHAKES.len() + SERVERS.len()
}

pub fn tests(server: &Server, answers: &[VersionAnswer]) -> Vec<TestDone> {
    let port = server.address.port();
    let of_suites = suites::CHECKS.iter().map(|check| {
        let rows: Vec<Vec<String>> = answers
            .iter()
            .flat_map(|one| one.suites.iter().map(move |suite| (one.version, suite)))
            .filter(|(_, suite)| (check.has)(&suite.cipher))
            .map(|(version, suite)| vec![version.name().to_owned(), suites::iana(&suite.cipher)])
            .collect();
        (
            check.uid,
            check.description,
            check.kind,
            "Cipher suite",
            rows,
        )
    });
    let of_handshakes = HANDSHAKES.iter().map(|(uid, description, kind, values)| {
        let rows: Vec<Vec<String>> = answers
            .iter()
            .flat_map(|one| {
                values(one)
                    .into_iter()
                    .map(|value| vec![one.version.name().to_owned(), value])
            })
            .collect();
        (*uid, *description, *kind, "Value", rows)
    });
    let is_complete = are_complete(server, answers);
    let of_server = SERVERS.iter().map(|(uid, description, kind, rows)| {
        let header = if *kind == tls::OLD_ONLY {
            "Answer"
        } else {
            "Cipher suite"
        };
        (
            *uid,
            *description,
            *kind,
            header,
            if is_complete {
                rows(answers)
            } else {
                Vec::new()
            },
        )
    });
    let test = |(uid, description, kind, header, rows): (
        &str,
        &str,
        FindingKind,
        &str,
        Vec<Vec<String>>,
    )| {
        let metadata = json!({"found": rows.len()});
        let findings = if rows.is_empty() {
            Vec::new()
        } else {
            vec![finding(
                kind,
                port,
                server.service(),
                &["Version", header],
                rows,
            )]
        };
        TestDone::new(uid, description, metadata, findings)
    };
    of_suites
        .chain(of_handshakes)
        .chain(of_server)
        .map(test)
        .collect()
}
