//! Checks of the accepted cipher suites and of the handshakes themselves.

use serde_json::json;

use super::hello::Version;
use super::results::finding;
use super::{Server, TlsAnswer, VersionAnswer, suites};
use crate::engine::TestDone;
use crate::engine::kinds::{FindingKind, tls};

/// Shorter primes of a Diffie-Hellman key exchange are weak.
const DH_BITS: usize = 2048;

/// The test of renegotiation by clients, which has a connection of its own.
pub const RENEGOTIATION_BY_CLIENTS: &str = "tls.renegotiation.client";

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
        RENEGOTIATION_BY_CLIENTS,
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

/// A test of this module, and the kind of finding that it reports.
fn kinds_of_tests() -> impl Iterator<Item = (&'static str, FindingKind)> {
    let of_suites = suites::CHECKS.iter().map(|check| (check.uid, check.kind));
    let of_handshakes = HANDSHAKES.iter().map(|(uid, _, kind, _)| (*uid, *kind));
    let of_servers = SERVERS.iter().map(|(uid, _, kind, _)| (*uid, *kind));
    of_suites.chain(of_handshakes).chain(of_servers)
}

/// The names of the tests.
pub fn uids() -> impl Iterator<Item = &'static str> {
    kinds_of_tests().map(|(uid, _)| uid)
}

/// The name of the test that reports a kind of finding.
pub fn uid_of(kind: &str) -> Option<&'static str> {
    let mut all = kinds_of_tests();
    all.find(|(_, one)| one.id() == kind).map(|(uid, _)| uid)
}

/// The result of one check.
struct CheckResult {
    uid: &'static str,
    description: &'static str,
    kind: FindingKind,
    /// The second header of the evidence.
    header: &'static str,
    rows: Vec<Vec<String>>,
}

pub fn tests(server: &Server, answers: &[VersionAnswer]) -> Vec<TestDone> {
    let of_suites = suites::CHECKS.iter().map(|check| CheckResult {
        uid: check.uid,
        description: check.description,
        kind: check.kind,
        header: "Cipher suite",
        rows: suite_rows(check, answers),
    });
    let of_handshakes = HANDSHAKES
        .iter()
        .map(|(uid, description, kind, values)| CheckResult {
            uid,
            description,
            kind: *kind,
            header: "Value",
            rows: value_rows(*values, answers),
        });
    let is_complete = are_complete(server, answers);
    let of_server = SERVERS
        .iter()
        .map(|(uid, description, kind, rows)| CheckResult {
            uid,
            description,
            kind: *kind,
            header: if *kind == tls::OLD_ONLY {
                "Answer"
            } else {
                "Cipher suite"
            },
            rows: if is_complete {
                rows(answers)
            } else {
                Vec::new()
            },
        });
    of_suites
        .chain(of_handshakes)
        .chain(of_server)
        .map(|result| result.test(server))
        .collect()
}

/// The accepted suites that have the weakness.
fn suite_rows(check: &suites::SuiteCheck, answers: &[VersionAnswer]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for one in answers {
        let weak = one.suites.iter().filter(|suite| (check.has)(&suite.cipher));
        let version = one.version.name();
        rows.extend(weak.map(|suite| vec![version.to_owned(), suites::iana(&suite.cipher)]));
    }
    rows
}

fn value_rows(
    values: fn(&VersionAnswer) -> Vec<String>,
    answers: &[VersionAnswer],
) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for one in answers {
        let version = one.version.name();
        rows.extend(
            values(one)
                .into_iter()
                .map(|value| vec![version.to_owned(), value]),
        );
    }
    rows
}

impl CheckResult {
    fn test(self, server: &Server) -> TestDone {
        let metadata = json!({"found": self.rows.len()});
        let headers = ["Version", self.header];
        let port = server.address.port();
        let finding = (!self.rows.is_empty())
            .then(|| finding(self.kind, port, server.service(), &headers, self.rows));
        TestDone::new(
            self.uid,
            self.description,
            metadata,
            finding.into_iter().collect(),
        )
    }
}
