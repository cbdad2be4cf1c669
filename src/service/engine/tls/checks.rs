//! Checks of the accepted cipher suites and of the handshakes themselves.

use serde_json::json;

use super::{Server, TlsAnswer, Version, VersionAnswer, finding, suites};
use crate::service::engine::TestDone;
use crate::service::engine::kinds::{FindingKind, tls};

/// Shorter primes of a Diffie-Hellman key exchange are weak.
const DH_BITS: usize = 2048;

/// A check of handshakes: id and description of its test, kind of finding, and the value that proves it.
type HandshakeCheck = (&'static str, &'static str, FindingKind, fn(&VersionAnswer) -> Vec<String>);

const HANDSHAKES: &[HandshakeCheck] = &[
    ("tls.dh", "Size of Diffie-Hellman groups", tls::DH_WEAK, weak_primes),
    ("tls.compression", "Compression of TLS", tls::COMPRESSION, |one| {
        if one.compression { vec!["DEFLATE accepted".to_owned()] } else { Vec::new() }
    }),
    ("tls.renegotiation", "Secure renegotiation", tls::INSECURE_RENEGOTIATION, |one| {
        let has_extension = one.version == Version::Tls13 || one.version == Version::Ssl2;
        let is_insecure = one.answer.accepted && !has_extension && !one.answer.secure_renegotiation;
        if is_insecure { vec!["no renegotiation_info in the response".to_owned()] } else { Vec::new() }
    }),
    ("tls.renegotiation.client", "Renegotiation by clients", tls::CLIENT_RENEGOTIATION, |one| {
        if one.client_renegotiation { vec!["second ClientHello accepted".to_owned()] } else { Vec::new() }
    }),
    ("tls.client_certificate", "Request of a client certificate", tls::CLIENT_CERTIFICATE, |one| {
        if one.answer.asks_certificate { vec!["CertificateRequest received".to_owned()] } else { Vec::new() }
    }),
];

fn weak_primes(one: &VersionAnswer) -> Vec<String> {
    let weak = |answer: &TlsAnswer| {
        let bits = answer.dh_bits.filter(|bits| *bits < DH_BITS)?;
        Some(format!("{}: {bits} bits", suites::iana(&answer.cipher)))
    };
    one.suites.iter().filter_map(weak).collect()
}

/// The number of tests.
pub fn count() -> usize {
    suites::CHECKS.len() + HANDSHAKES.len()
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
        (check.uid, check.description, check.kind, "Cipher suite", rows)
    });
    let of_handshakes = HANDSHAKES.iter().map(|(uid, description, kind, values)| {
        let rows: Vec<Vec<String>> = answers
            .iter()
            .flat_map(|one| values(one).into_iter().map(|value| vec![one.version.name().to_owned(), value]))
            .collect();
        (*uid, *description, *kind, "Value", rows)
    });
    let test = |(uid, description, kind, header, rows): (&str, &str, FindingKind, &str, Vec<Vec<String>>)| {
        let metadata = json!({"found": rows.len()});
        let findings = if rows.is_empty() {
            Vec::new()
        } else {
            vec![finding(kind, port, server.service(), &["Version", header], rows)]
        };
        TestDone::new(uid, description, metadata, findings)
    };
    of_suites.chain(of_handshakes).map(test).collect()
}
