//! Checks of the server's certificate: names, validity, chain, key and signature.
//!
//! ```text
//!   chains (DER) ──check──► ChainFindings of each ──tests──► one test per check, with a finding if it failed
//! ```
//!
//! A server may hold a certificate for each kind of key. A finding lists every chain that failed the check.

use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;
use serde_json::{Value, json};
use x509_parser::prelude::*;
use x509_parser::public_key::PublicKey;

use super::finding;
use super::trust::{self, Trust};
use crate::contract::Stamp;
use crate::service::engine::TestDone;
use crate::service::engine::kinds::{FindingKind, tls};
use crate::service::engine::run::ScanRun;

const DAY: i64 = 24 * 3600;
/// Days before expiry at which a certificate should have been renewed.
const SOON: i64 = 14;
/// The longest validity of a certificate that a public authority issues from a day on, in days (CA/Browser Forum, ballot
/// SC-081v3: <https://cabforum.org/2025/04/11/ballot-sc081v3-introduce-schedule-of-reducing-validity-and-data-reuse-periods>).
const MAX_VALIDITY: [(Date, i64); 4] =
    [(date(2029, 3, 15), 47), (date(2027, 3, 15), 100), (date(2026, 3, 15), 200), (Date::MIN, 398)];

/// Signature algorithms with a broken hash.
const WEAK_SIGNATURES: &[(&str, &str)] = &[
    ("1.2.840.113549.1.1.2", "md2WithRSA"),
    ("1.2.840.113549.1.1.4", "md5WithRSA"),
    ("1.2.840.113549.1.1.5", "sha1WithRSA"),
    ("1.3.14.3.2.29", "sha1WithRSA"),
    ("1.2.840.10040.4.3", "dsaWithSHA1"),
    ("1.2.840.10045.4.1", "ecdsaWithSHA1"),
];

/// Names and descriptions of the tests of a certificate.
pub const CHECKS: &[(&str, &str)] = &[
    ("tls.certificate.days", "Validity period of the certificate"),
    ("tls.certificate.name", "Host names of the certificate"),
    ("tls.certificate.trust", "Trust of the certificate chain"),
    ("tls.certificate.key", "Strength of the keys in the chain"),
    ("tls.certificate.signature", "Strength of the signatures in the chain"),
    ("tls.certificate.san", "Subject alternative names of the certificate"),
    ("tls.certificate.order", "Order of the certificate chain"),
    ("tls.certificate.life", "Length of the validity period"),
];

/// The properties of one certificate.
#[derive(Clone, Debug)]
struct CertificateFacts {
    subject: String,
    issuer: String,
    names: Vec<String>,
    not_before: i64,
    not_after: i64,
    serial: String,
    key: String,
    weak_key: bool,
    signature: String,
    weak_signature: bool,
    /// Its signature proves nothing, so the strength of the signature does not matter.
    is_self_issued: bool,
}

/// The failed checks of a chain.
pub struct ChainFindings {
    chain: Vec<CertificateFacts>,
    failed: Vec<(usize, FindingKind, String)>,
    /// Lines for the raw log.
    pub lines: Vec<String>,
    /// A notice about the scan.
    pub note: Option<String>,
}

/// Checks a chain that begins with the server's certificate.
pub fn check(run: &ScanRun<'_>, host: &str, chain: &[Vec<u8>]) -> ChainFindings {
    let now = jiff::Timestamp::now().as_second();
    let facts: Vec<CertificateFacts> = chain.iter().filter_map(|der| CertificateFacts::parse(der)).collect();
    let lines = facts.iter().map(|one| format!("certificate {} issued by {}, {}", one.subject, one.issuer, one.key));
    let mut checked = ChainFindings { lines: lines.collect(), failed: Vec::new(), note: None, chain: facts };
    let Some(leaf) = checked.chain.first().cloned() else {
        checked.note = Some("The certificate of the server is not readable.".to_owned());
        return checked;
    };
    checked.failed.extend(check_days(&leaf, now).map(|(kind, why)| (0, kind, why)));
    // A certificate without names can match no host; the missing names are the finding.
    if leaf.names.is_empty() {
        checked.failed.push((5, tls::NO_NAMES, "no DNS name and no address".to_owned()));
    }
    if let Some(why) = check_order(&checked.chain) {
        checked.failed.push((6, tls::CHAIN_ORDER, why));
    }
    if !is_valid_for(host, &chain[0]) {
        let names = if leaf.names.is_empty() { "no name".to_owned() } else { leaf.names.join(", ") };
        checked.failed.push((1, tls::WRONG_NAME, format!("asked for {host}; it names {names}")));
    }
    let within = now.clamp(leaf.not_before, leaf.not_after.max(leaf.not_before));
    match trust::verify(chain, host, u64::try_from(within).unwrap_or(0), &run.settings.trust_anchors) {
        Trust::Trusted => {
            let days = (leaf.not_after - leaf.not_before) / DAY;
            if days > max_validity(leaf.not_before) {
                checked.failed.push((7, tls::LONG_LIFE, format!("valid for {days} days")));
            }
        }
        Trust::Untrusted(_) if leaf.is_self_issued => {
            checked.failed.push((2, tls::SELF_SIGNED, "issuer and subject are the same".to_owned()));
        }
        Trust::Untrusted(why) => checked.failed.push((2, tls::UNTRUSTED, why)),
        // Another check reports the signature.
        Trust::OldSignature if checked.chain.iter().any(|one| one.weak_signature) => {
            checked.note = Some("Trust was not checked: the signature in the chain is too weak.".to_owned());
        }
        Trust::OldSignature => {
            checked.failed.push((2, tls::UNTRUSTED, "its signature algorithm is not supported".to_owned()));
        }
        Trust::Unknown => {
            checked.note = Some("Trust was not checked: this machine has no trusted authorities.".to_owned())
        }
    }
    let weak = |weakness: fn(&CertificateFacts) -> Option<String>| {
        let all: Vec<String> = checked.chain.iter().filter_map(weakness).collect();
        (!all.is_empty()).then(|| all.join("; "))
    };
    let keys = weak(|one| one.weak_key.then(|| format!("{}: {}", one.subject, one.key)));
    let signatures =
        weak(|one| (one.weak_signature && !one.is_self_issued).then(|| format!("{}: {}", one.subject, one.signature)));
    checked.failed.extend(keys.map(|why| (3, tls::WEAK_KEY, why)));
    checked.failed.extend(signatures.map(|why| (4, tls::WEAK_SIGNATURE, why)));
    checked
}

impl ChainFindings {
    /// The chain for the scan's output.
    pub fn as_json(&self) -> Value {
        let all = self.chain.iter().map(|one| {
            json!({
                "subject": one.subject, "issuer": one.issuer, "names": one.names, "serial": one.serial,
                "not_before": stamp(one.not_before), "not_after": stamp(one.not_after),
                "key": one.key, "signature": one.signature,
            })
        });
        Value::Array(all.collect())
    }

    fn has_failed(&self, kind: FindingKind) -> bool {
        self.failed.iter().any(|(_, failed, _)| *failed == kind)
    }

    /// A summary for the status message.
    pub fn summary(&self) -> String {
        match self.chain.first() {
            None => "no readable certificate".to_owned(),
            Some(leaf) if self.has_failed(tls::EXPIRED) => format!("certificate expired {}", stamp(leaf.not_after)),
            Some(leaf) if self.has_failed(tls::NOT_YET_VALID) => {
                format!("certificate valid from {}", stamp(leaf.not_before))
            }
            Some(leaf) => format!("certificate valid until {}", stamp(leaf.not_after)),
        }
    }
}

/// One test per check, for all chains of a server.
pub fn tests(chains: &[ChainFindings], port: u16, service: &str) -> Vec<TestDone> {
    let subject = chains.first().and_then(|one| one.chain.first()).map(|one| one.subject.as_str()).unwrap_or_default();
    let test = |at: usize| {
        let (uid, description) = CHECKS[at];
        let mut kinds: Vec<FindingKind> = Vec::new();
        for (_, kind, _) in chains.iter().flat_map(|one| &one.failed).filter(|(check, ..)| *check == at) {
            if !kinds.contains(kind) {
                kinds.push(*kind);
            }
        }
        let rows = |kind: FindingKind| -> Vec<Vec<String>> { chains.iter().flat_map(|one| one.rows(kind)).collect() };
        let findings = kinds.into_iter().map(|kind| finding(kind, port, service, &["What", "Value"], rows(kind)));
        TestDone::new(uid, description, json!({"subject": subject}), findings.collect())
    };
    (0..CHECKS.len()).map(test).collect()
}

impl ChainFindings {
    /// Evidence rows of a failed check.
    fn rows(&self, kind: FindingKind) -> Vec<Vec<String>> {
        let Some((_, _, why)) = self.failed.iter().find(|(_, failed, _)| *failed == kind) else { return Vec::new() };
        let mut rows = vec![vec!["Reason".to_owned(), why.clone()]];
        rows.extend(self.chain.iter().enumerate().flat_map(|(depth, one)| one.rows(depth)));
        rows
    }
}

impl CertificateFacts {
    fn parse(der: &[u8]) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        let algorithm = certificate.signature_algorithm.algorithm.to_id_string();
        let weak = WEAK_SIGNATURES.iter().find(|(oid, _)| *oid == algorithm);
        let (key, weak_key) = describe_key(&certificate);
        Some(Self {
            subject: certificate.subject().to_string(),
            issuer: certificate.issuer().to_string(),
            names: names(&certificate),
            not_before: certificate.validity().not_before.timestamp(),
            not_after: certificate.validity().not_after.timestamp(),
            serial: certificate.tbs_certificate.raw_serial_as_string(),
            key,
            weak_key,
            signature: weak.map_or(algorithm, |(_, name)| (*name).to_owned()),
            weak_signature: weak.is_some(),
            is_self_issued: certificate.subject().as_raw() == certificate.issuer().as_raw(),
        })
    }

    fn rows(&self, depth: usize) -> Vec<Vec<String>> {
        let who = if depth == 0 { "Certificate".to_owned() } else { format!("Certificate {}", depth + 1) };
        let names = self.names.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
        [
            ("subject", self.subject.clone()),
            ("issuer", self.issuer.clone()),
            ("names", names),
            ("valid", format!("{} to {}", stamp(self.not_before), stamp(self.not_after))),
            ("key", self.key.clone()),
            ("signature", self.signature.clone()),
        ]
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(what, value)| vec![format!("{who} {what}"), value])
        .collect()
    }
}

fn check_days(leaf: &CertificateFacts, now: i64) -> Option<(FindingKind, String)> {
    let (from, to) = (stamp(leaf.not_before), stamp(leaf.not_after));
    match () {
        () if now > leaf.not_after => Some((tls::EXPIRED, format!("expired {to}"))),
        () if now < leaf.not_before => Some((tls::NOT_YET_VALID, format!("valid from {from}"))),
        () if leaf.not_after - now <= SOON * DAY => Some((tls::EXPIRES_SOON, format!("expires {to}"))),
        () => None,
    }
}

/// The limit of the validity at the time of the issue.
fn max_validity(issued: i64) -> i64 {
    let issued = jiff::Timestamp::from_second(issued).unwrap_or_default().to_zoned(TimeZone::UTC).date();
    MAX_VALIDITY.iter().find(|(from, _)| issued >= *from).map_or(i64::MAX, |(_, days)| *days)
}

/// Each certificate of a chain must be issued by the next one (RFC 5246 §7.4.2).
fn check_order(chain: &[CertificateFacts]) -> Option<String> {
    let wrong = chain.windows(2).find(|pair| pair[0].issuer != pair[1].subject)?;
    Some(format!("{} is issued by {}, but followed by {}", wrong[0].subject, wrong[0].issuer, wrong[1].subject))
}

/// By the rules of clients: subject alternative names only, one wildcard label (RFC 9525).
fn is_valid_for(host: &str, der: &[u8]) -> bool {
    let der = CertificateDer::from(der);
    match (ParsedCertificate::try_from(&der), ServerName::try_from(host)) {
        (Ok(certificate), Ok(name)) => verify_server_name(&certificate, &name).is_ok(),
        _ => false,
    }
}

fn names(certificate: &X509Certificate) -> Vec<String> {
    let Ok(Some(extension)) = certificate.subject_alternative_name() else { return Vec::new() };
    let name = |name: &GeneralName| match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => match *bytes {
            [a, b, c, d] => Some(std::net::Ipv4Addr::new(*a, *b, *c, *d).to_string()),
            bytes => Some(std::net::Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).to_string()),
        },
        _ => None,
    };
    extension.value.general_names.iter().filter_map(name).collect()
}

/// The key as text, and whether it is too short (NIST SP 800-131A: RSA and DSA below 2048 bits, elliptic below 224).
fn describe_key(certificate: &X509Certificate) -> (String, bool) {
    match certificate.public_key().parsed() {
        Ok(PublicKey::RSA(key)) => (format!("RSA {} bits", key.key_size()), key.key_size() < 2048),
        Ok(PublicKey::EC(key)) => (format!("elliptic {} bits", key.key_size()), key.key_size() < 224),
        Ok(PublicKey::DSA(key)) => (format!("DSA {} bits", key.len() * 8), key.len() * 8 < 2048),
        _ => (certificate.public_key().algorithm.algorithm.to_id_string(), false),
    }
}

fn stamp(second: i64) -> String {
    jiff::Timestamp::from_second(second).map(|at| Stamp(at).to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn facts(from: i32, to: i32) -> CertificateFacts {
        let mut params = CertificateParams::new(vec!["shop.test".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        params.not_before = date_time_ymd(from, 1, 1);
        params.not_after = date_time_ymd(to, 1, 1);
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        CertificateFacts::parse(certificate.der()).unwrap()
    }

    #[test]
    fn check_days_reports_expiry_two_weeks_ahead() {
        let facts = facts(2020, 2030);
        for (now, expected) in [
            (facts.not_before - 1, Some(tls::NOT_YET_VALID)),
            (facts.not_before, None),
            (facts.not_after - 15 * DAY, None),
            (facts.not_after - 14 * DAY, Some(tls::EXPIRES_SOON)),
            (facts.not_after + 1, Some(tls::EXPIRED)),
        ] {
            assert_eq!(check_days(&facts, now).map(|(kind, _)| kind), expected);
        }
    }

    #[test]
    fn max_validity_depends_on_issue_date() {
        for (issued, days) in [
            (date(2024, 6, 1), 398),
            (date(2026, 3, 14), 398),
            (date(2026, 3, 15), 200),
            (date(2027, 3, 14), 200),
            (date(2027, 3, 15), 100),
            (date(2029, 3, 14), 100),
            (date(2029, 3, 15), 47),
        ] {
            let second = issued.to_zoned(TimeZone::UTC).unwrap().timestamp().as_second();
            assert_eq!(max_validity(second), days, "{issued}");
        }
    }

    #[test]
    fn summary_of_expired_certificate_names_the_expiry() {
        let summary = |kind: Option<FindingKind>| {
            let failed = kind.map(|kind| (0, kind, String::new())).into_iter().collect();
            ChainFindings { chain: vec![facts(2020, 2030)], failed, lines: Vec::new(), note: None }.summary()
        };
        assert!(summary(None).starts_with("certificate valid until 2030-01-01"));
        assert!(summary(Some(tls::EXPIRED)).starts_with("certificate expired 2030-01-01"));
        assert!(summary(Some(tls::NOT_YET_VALID)).starts_with("certificate valid from 2020-01-01"));
    }

    #[test]
    fn chain_order_follows_the_issuers() {
        let [leaf, middle, root] =
            [("leaf", "middle"), ("middle", "root"), ("root", "root")].map(|(subject, issuer)| CertificateFacts {
                subject: subject.to_owned(),
                issuer: issuer.to_owned(),
                ..facts(2020, 2030)
            });
        assert_eq!(check_order(&[leaf.clone(), middle.clone(), root.clone()]), None);
        assert!(check_order(&[leaf, root, middle]).unwrap().contains("followed by root"));
    }

    #[test]
    fn certificate_facts_are_parsed() {
        let facts = facts(2020, 2030);
        assert_eq!(facts.names, ["shop.test", "127.0.0.1"]);
        assert_eq!((facts.key.as_str(), facts.weak_key, facts.weak_signature), ("elliptic 256 bits", false, false));
        assert!(facts.is_self_issued);
        assert!(CertificateFacts::parse(b"nothing").is_none());
    }
}
