//! Checks of the server's certificate: names, validity, chain, key and signature.
//!
//! ```text
//!   chains (DER) ──check──► ChainFindings of each ──tests──► one test per check, with a finding if it failed
//! ```
//!
//! A server may hold a certificate for each kind of key. A finding lists every chain that failed
//! the check.

use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;
use serde_json::{Value, json};
use x509_parser::der_parser::asn1_rs::{Any, Tag};
use x509_parser::nom;
use x509_parser::objects::{oid_registry, oid2abbrev};
use x509_parser::prelude::*;
use x509_parser::public_key::PublicKey;
use x509_parser::x509::AttributeTypeAndValue;

use super::results::finding;
use super::trust::{self, Trust, TrustAdvice};
use crate::engine::kinds::{FindingKind, tls};
use crate::engine::run::ScanRun;
use crate::engine::{NewFinding, TestDone};
use scandeck_wire::contract::Stamp;

const DAY: i64 = 24 * 3600;
/// Days before expiry at which a certificate should have been renewed.
const SOON: i64 = 14;
/// The longest validity of a certificate that a public authority issues from a day on, in days
/// (CA/Browser Forum, ballot SC-081v3:
/// <https://cabforum.org/2025/04/11/ballot-sc081v3-introduce-schedule-of-reducing-validity-and-data-reuse-periods>).
const MAX_VALIDITY: [(Date, i64); 4] = [
    (date(2029, 3, 15), 47),
    (date(2027, 3, 15), 100),
    (date(2026, 3, 15), 200),
    (Date::MIN, 398),
];

/// Signature algorithms with a broken hash.
const WEAK_SIGNATURES: &[(&str, &str)] = &[
    ("1.2.840.113549.1.1.2", "md2WithRSA"),
    ("1.2.840.113549.1.1.4", "md5WithRSA"),
    ("1.2.840.113549.1.1.5", "sha1WithRSA"),
    ("1.3.14.3.2.29", "sha1WithRSA"),
    ("1.2.840.10040.4.3", "dsaWithSHA1"),
    ("1.2.840.10045.4.1", "ecdsaWithSHA1"),
];

/// Other algorithms by their names. Each is one word with a digit, if it has one, so that evidence
/// with the number of an earlier version counts as the same.
const ALGORITHMS: &[(&str, &str)] = &[
    ("1.2.840.113549.1.1.11", "sha256WithRSA"),
    ("1.2.840.113549.1.1.12", "sha384WithRSA"),
    ("1.2.840.113549.1.1.13", "sha512WithRSA"),
    ("1.2.840.113549.1.1.14", "sha224WithRSA"),
    ("1.2.840.113549.1.1.10", "RSASSA-PSS"),
    ("1.2.840.10045.4.3.1", "ecdsaWithSHA224"),
    ("1.2.840.10045.4.3.2", "ecdsaWithSHA256"),
    ("1.2.840.10045.4.3.3", "ecdsaWithSHA384"),
    ("1.2.840.10045.4.3.4", "ecdsaWithSHA512"),
    ("2.16.840.1.101.3.4.3.2", "dsaWithSHA256"),
    ("1.3.101.112", "Ed25519"),
    ("1.3.101.113", "Ed448"),
];

/// The name of an algorithm, or its number.
fn algorithm_name(oid: String) -> String {
    let known = WEAK_SIGNATURES
        .iter()
        .chain(ALGORITHMS)
        .find(|(number, _)| *number == oid);
    known.map_or(oid, |(_, name)| (*name).to_owned())
}

// Names of the tests of a certificate.
pub const DAYS: &str = "tls.certificate.days";
pub const NAME: &str = "tls.certificate.name";
pub const TRUST: &str = "tls.certificate.trust";
pub const KEY: &str = "tls.certificate.key";
pub const SIGNATURE: &str = "tls.certificate.signature";
pub const SAN: &str = "tls.certificate.san";
pub const ORDER: &str = "tls.certificate.order";
pub const LIFE: &str = "tls.certificate.life";
pub const STAPLE: &str = "tls.certificate.staple";

/// Names and descriptions of the tests of a certificate.
pub const CHECKS: &[(&str, &str)] = &[
    (DAYS, "Validity period of the certificate"),
    (NAME, "Host names of the certificate"),
    (TRUST, "Trust of the certificate chain"),
    (KEY, "Strength of the keys in the chain"),
    (SIGNATURE, "Strength of the signatures in the chain"),
    (SAN, "Subject alternative names of the certificate"),
    (ORDER, "Order of the certificate chain"),
    (LIFE, "Length of the validity period"),
    (STAPLE, "OCSP response that the certificate requires"),
];

/// The properties of one certificate.
#[derive(Clone, Debug)]
struct CertificateFacts {
    /// Its position in the chain.
    depth: usize,
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
    /// The certificates that can be read.
    chain: Vec<CertificateFacts>,
    /// Why the server's own certificate cannot be read. Then the others are not described in its
    /// place.
    unreadable: Option<String>,
    failed: Vec<FailedCheck>,
    /// Lines for the raw log.
    pub lines: Vec<String>,
    /// A notice about the scan.
    pub note: Option<String>,
    /// What is missing for trust, and the remedy.
    advice: Option<TrustAdvice>,
}

/// A failed check of a chain.
struct FailedCheck {
    /// The test that reports it.
    uid: &'static str,
    kind: FindingKind,
    why: String,
}

/// Checks a chain that begins with the server's certificate.
///
/// `unstapled` are certificates that require an OCSP response in the handshake, which the server
/// did not send.
pub fn check(
    run: &ScanRun<'_>,
    host: &str,
    chain: &[Vec<u8>],
    unstapled: &[Vec<u8>],
) -> ChainFindings {
    let now = jiff::Timestamp::now().as_second();
    let mut checked = ChainFindings::read(chain);
    let Some(leaf) = checked.leaf().cloned() else {
        let why = checked.unreadable.as_deref().unwrap_or("no certificate");
        checked.note = Some(format!("The server's certificate cannot be read: {why}."));
        return checked;
    };
    if let Some((kind, why)) = check_days(&leaf, now) {
        checked.fail(DAYS, kind, why);
    }
    checked.check_names(host, &leaf, &chain[0]);
    if let Some(why) = check_order(&checked.chain) {
        checked.fail(ORDER, tls::CHAIN_ORDER, why);
    }
    if unstapled.contains(&chain[0]) {
        let why = "it requires an OCSP response in the handshake, and the server sent none";
        checked.fail(STAPLE, tls::MUST_STAPLE, why);
    }
    let within = now.clamp(leaf.not_before, leaf.not_after.max(leaf.not_before));
    let second = u64::try_from(within).unwrap_or(0);
    let trust = trust::verify(chain, host, second, &run.settings.trust_anchors);
    checked.check_trust(trust, &leaf, chain);
    checked.check_strength();
    checked
}

impl ChainFindings {
    fn fail(&mut self, uid: &'static str, kind: FindingKind, why: impl Into<String>) {
        let why = why.into();
        self.failed.push(FailedCheck { uid, kind, why });
    }

    fn check_names(&mut self, host: &str, leaf: &CertificateFacts, der: &[u8]) {
        // A certificate without names can match no host; the missing names are the finding.
        if leaf.names.is_empty() {
            self.fail(SAN, tls::NO_NAMES, "no DNS name and no address");
        }
        if !is_valid_for(host, der, &leaf.names) {
            let names = if leaf.names.is_empty() {
                "no name".to_owned()
            } else {
                leaf.names.join(", ")
            };
            let why = format!("asked for {host}; it names {names}");
            self.fail(NAME, tls::WRONG_NAME, why);
        }
    }

    fn check_trust(&mut self, trust: Trust, leaf: &CertificateFacts, chain: &[Vec<u8>]) {
        match trust {
            Trust::Trusted => {
                let days = (leaf.not_after - leaf.not_before) / DAY;
                if days > max_validity(leaf.not_before) {
                    self.fail(LIFE, tls::LONG_LIFE, format!("valid for {days} days"));
                }
            }
            Trust::Untrusted(_) if leaf.is_self_issued => {
                self.fail(TRUST, tls::SELF_SIGNED, "issuer and subject are the same");
            }
            Trust::Untrusted(why) => {
                self.advice = trust::advice(chain);
                self.fail(TRUST, tls::UNTRUSTED, why);
            }
            // Another check reports the signature.
            Trust::OldSignature if self.chain.iter().any(|one| one.weak_signature) => {
                self.skip_trust("the signature in the chain is too weak");
            }
            Trust::OldSignature => {
                let why = "its signature algorithm is not supported";
                self.fail(TRUST, tls::UNTRUSTED, why);
            }
            Trust::Unknown => self.skip_trust("this machine has no trusted authorities"),
        }
    }

    fn skip_trust(&mut self, why: &str) {
        self.note = Some(format!("Trust was not checked: {why}."));
    }

    /// Checks keys and signatures of all certificates of the chain.
    fn check_strength(&mut self) {
        let weak = |weakness: fn(&CertificateFacts) -> Option<String>| {
            let all: Vec<String> = self.chain.iter().filter_map(weakness).collect();
            (!all.is_empty()).then(|| all.join("; "))
        };
        let keys = weak(|one| {
            one.weak_key
                .then(|| format!("{}: {}", one.subject, one.key))
        });
        let signatures = weak(|one| {
            (one.weak_signature && !one.is_self_issued)
                .then(|| format!("{}: {}", one.subject, one.signature))
        });
        if let Some(why) = keys {
            self.fail(KEY, tls::WEAK_KEY, why);
        }
        if let Some(why) = signatures {
            self.fail(SIGNATURE, tls::WEAK_SIGNATURE, why);
        }
    }
}

impl ChainFindings {
    fn read(chain: &[Vec<u8>]) -> Self {
        let mut all = Self {
            chain: Vec::new(),
            unreadable: None,
            failed: Vec::new(),
            lines: Vec::new(),
            note: None,
            advice: None,
        };
        for (depth, der) in chain.iter().enumerate() {
            match CertificateFacts::parse(der) {
                Ok(facts) => {
                    let CertificateFacts {
                        subject,
                        issuer,
                        key,
                        ..
                    } = &facts;
                    all.lines
                        .push(format!("certificate {subject} issued by {issuer}, {key}"));
                    all.chain.push(CertificateFacts { depth, ..facts });
                }
                Err(why) => {
                    all.lines.push(format!(
                        "certificate {} of the chain cannot be read: {why}",
                        depth + 1
                    ));
                    if depth == 0 {
                        all.unreadable = Some(why);
                    }
                }
            }
        }
        all
    }

    /// The server's own certificate.
    fn leaf(&self) -> Option<&CertificateFacts> {
        self.chain.first().filter(|first| first.depth == 0)
    }

    /// The chain for the scan's output.
    pub fn as_json(&self) -> Value {
        let all = self.chain.iter().map(|one| {
            json!({
                "subject": one.subject, "issuer": one.issuer, "names": one.names, "serial": one.serial,
                "not_before": stamp(one.not_before), "not_after": stamp(one.not_after),
                "key": one.key, "signature": one.signature,
            })
        });
        self.unreadable
            .iter()
            .map(|why| json!({"error": why}))
            .chain(all)
            .collect()
    }

    fn has_failed(&self, kind: FindingKind) -> bool {
        self.failed.iter().any(|failed| failed.kind == kind)
    }

    /// A summary for the status message.
    pub fn summary(&self) -> String {
        match self.leaf() {
            None => match &self.unreadable {
                Some(why) => format!("the server's certificate cannot be read: {why}"),
                None => "no readable certificate".to_owned(),
            },
            Some(leaf) if self.has_failed(tls::EXPIRED) => {
                format!("certificate expired {}", stamp(leaf.not_after))
            }
            Some(leaf) if self.has_failed(tls::NOT_YET_VALID) => {
                format!("certificate valid from {}", stamp(leaf.not_before))
            }
            Some(leaf) if leaf.not_after >= NO_EXPIRY => {
                "certificate without expiry date".to_owned()
            }
            Some(leaf) => format!("certificate valid until {}", stamp(leaf.not_after)),
        }
    }
}

/// One test per check, for all chains of a server.
pub fn tests(chains: &[ChainFindings], port: u16, service: &str) -> Vec<TestDone> {
    let subject = chains
        .first()
        .and_then(ChainFindings::leaf)
        .map(|one| one.subject.as_str())
        .unwrap_or_default();
    let test = |&(uid, description): &(&'static str, &'static str)| {
        let failed = chains.iter().flat_map(|one| &one.failed);
        let mut kinds: Vec<FindingKind> = Vec::new();
        for check in failed.filter(|check| check.uid == uid) {
            if !kinds.contains(&check.kind) {
                kinds.push(check.kind);
            }
        }
        let rows = |kind: FindingKind| -> Vec<Vec<String>> {
            chains.iter().flat_map(|one| one.rows(kind)).collect()
        };
        let advice = chains.iter().find_map(|one| one.advice.as_ref());
        let findings = kinds.into_iter().map(|kind| {
            let finding = finding(kind, port, service, &["What", "Value"], rows(kind));
            match advice.filter(|_| kind == tls::UNTRUSTED) {
                Some(TrustAdvice { cause, remedy }) => NewFinding {
                    vuln_description: format!("{} {cause}", finding.vuln_description),
                    recommendation: remedy.clone(),
                    ..finding
                },
                None => finding,
            }
        });
        TestDone::new(
            uid,
            description,
            json!({"subject": subject}),
            findings.collect(),
        )
    };
    CHECKS.iter().map(test).collect()
}

impl ChainFindings {
    /// Evidence rows of a failed check.
    fn rows(&self, kind: FindingKind) -> Vec<Vec<String>> {
        let Some(failed) = self.failed.iter().find(|failed| failed.kind == kind) else {
            return Vec::new();
        };
        let mut rows = vec![vec!["Reason".to_owned(), failed.why.clone()]];
        rows.extend(self.chain.iter().flat_map(CertificateFacts::rows));
        rows
    }
}

impl CertificateFacts {
    fn parse(der: &[u8]) -> Result<Self, String> {
        let (_, certificate) = X509Certificate::from_der(der).map_err(|error| match error {
            nom::Err::Error(X509Error::Der(why)) | nom::Err::Failure(X509Error::Der(why)) => {
                why.to_string()
            }
            nom::Err::Error(why) | nom::Err::Failure(why) => why.to_string(),
            nom::Err::Incomplete(_) => "it ends early".to_owned(),
        })?;
        let algorithm = certificate.signature_algorithm.algorithm.to_id_string();
        let weak = WEAK_SIGNATURES.iter().find(|(oid, _)| *oid == algorithm);
        let (key, weak_key) = describe_key(&certificate);
        Ok(Self {
            depth: 0,
            subject: name_text(certificate.subject()),
            issuer: name_text(certificate.issuer()),
            names: names(&certificate),
            not_before: certificate.validity().not_before.timestamp(),
            not_after: certificate.validity().not_after.timestamp(),
            serial: certificate.tbs_certificate.raw_serial_as_string(),
            key,
            weak_key,
            weak_signature: weak.is_some(),
            signature: algorithm_name(algorithm),
            is_self_issued: certificate.subject().as_raw() == certificate.issuer().as_raw(),
        })
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let who = if self.depth == 0 {
            "Certificate".to_owned()
        } else {
            format!("Certificate {}", self.depth + 1)
        };
        let names = self
            .names
            .iter()
            .take(10)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ");
        [
            ("subject", self.subject.clone()),
            ("issuer", self.issuer.clone()),
            ("names", names),
            (
                "valid",
                format!("{} to {}", stamp(self.not_before), stamp(self.not_after)),
            ),
            ("key", self.key.clone()),
            ("signature", self.signature.clone()),
        ]
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(what, value)| vec![format!("{who} {what}"), value])
        .collect()
    }
}

/// The extension by which a certificate requires extensions of TLS (RFC 7633).
const TLS_FEATURE: &str = "1.3.6.1.5.5.7.1.24";

/// Whether a certificate requires its OCSP response in the handshake: `status_request` (5) among
/// the features.
pub fn requires_staple(der: &[u8]) -> bool {
    let Ok((_, certificate)) = X509Certificate::from_der(der) else {
        return false;
    };
    let mut features = certificate
        .extensions()
        .iter()
        .filter(|one| one.oid.to_id_string() == TLS_FEATURE);
    // An INTEGER of one byte.
    features.any(|one| one.value.windows(3).any(|number| number == [2, 1, 5]))
}

fn check_days(leaf: &CertificateFacts, now: i64) -> Option<(FindingKind, String)> {
    let (from, to) = (stamp(leaf.not_before), stamp(leaf.not_after));
    match () {
        () if now > leaf.not_after => Some((tls::EXPIRED, format!("expired {to}"))),
        () if now < leaf.not_before => Some((tls::NOT_YET_VALID, format!("valid from {from}"))),
        () if leaf.not_after - now <= SOON * DAY => {
            Some((tls::EXPIRES_SOON, format!("expires {to}")))
        }
        () => None,
    }
}

/// The limit of the validity at the time of the issue.
fn max_validity(issued: i64) -> i64 {
    let issued = jiff::Timestamp::from_second(issued)
        .unwrap_or_default()
        .to_zoned(TimeZone::UTC)
        .date();
    MAX_VALIDITY
        .iter()
        .find(|(from, _)| issued >= *from)
        .map_or(i64::MAX, |(_, days)| *days)
}

/// Each certificate of a chain must be issued by the next one (RFC 5246 §7.4.2).
fn check_order(chain: &[CertificateFacts]) -> Option<String> {
    // A certificate that cannot be read may be the right one.
    let is_next = |pair: &&[CertificateFacts]| pair[0].depth + 1 == pair[1].depth;
    let wrong = chain
        .windows(2)
        .filter(is_next)
        .find(|pair| pair[0].issuer != pair[1].subject)?;
    Some(format!(
        "{} is issued by {}, but followed by {}",
        wrong[0].subject, wrong[0].issuer, wrong[1].subject
    ))
}

/// By the rules of clients: subject alternative names only, one wildcard label (RFC 9525). A
/// certificate that webpki refuses, such as one with an unknown critical extension, still has
/// names.
fn is_valid_for(host: &str, der: &[u8], names: &[String]) -> bool {
    let der = CertificateDer::from(der);
    match (
        ParsedCertificate::try_from(&der),
        ServerName::try_from(host),
    ) {
        (Ok(certificate), Ok(name)) => verify_server_name(&certificate, &name).is_ok(),
        (_, Ok(ServerName::IpAddress(_))) => names.iter().any(|name| name == host),
        (_, Ok(_)) => names.iter().any(|name| is_named(host, name)),
        _ => false,
    }
}

/// Whether a DNS name of a certificate, which may begin with a wildcard, is that of the host.
fn is_named(host: &str, name: &str) -> bool {
    let host = host.trim_end_matches('.');
    match name.strip_prefix("*.") {
        Some(parent) => host
            .split_once('.')
            .is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(parent)),
        None => host.eq_ignore_ascii_case(name),
    }
}

/// A subject or issuer as text. Old certificates have it in encodings that the parser refuses.
fn name_text(name: &X509Name) -> String {
    let is_utf_32 = |one: &AttributeTypeAndValue| one.attr_value().tag() == Tag::UniversalString;
    match name.to_string_with_registry(oid_registry()) {
        Ok(text) if !name.iter_attributes().any(is_utf_32) => text,
        _ => {
            let names = name.iter_rdn().map(|rdn| {
                rdn.iter()
                    .map(attribute_text)
                    .collect::<Vec<_>>()
                    .join(" + ")
            });
            names.collect::<Vec<_>>().join(", ")
        }
    }
}

fn attribute_text(attribute: &AttributeTypeAndValue) -> String {
    let oid = attribute.attr_type();
    let kind = oid2abbrev(oid, oid_registry()).map_or_else(|_| oid.to_id_string(), str::to_owned);
    let value = attribute.attr_value();
    let hex = || {
        value
            .data
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    format!(
        "{kind}={}",
        string_text(value).unwrap_or_else(|| format!("#{}", hex()))
    )
}

/// A string of ASN.1. T61String has no practical definition; as in OpenSSL, it is Latin-1.
fn string_text(value: &Any) -> Option<String> {
    let bytes = value.data;
    match value.tag() {
        Tag::BmpString => {
            let (units, rest) = bytes.as_chunks::<2>();
            let units: Vec<u16> = units.iter().map(|unit| u16::from_be_bytes(*unit)).collect();
            String::from_utf16(&units).ok().filter(|_| rest.is_empty())
        }
        Tag::UniversalString => {
            let (units, rest) = bytes.as_chunks::<4>();
            let text: Option<String> = units
                .iter()
                .map(|unit| char::from_u32(u32::from_be_bytes(*unit)))
                .collect();
            text.filter(|_| rest.is_empty())
        }
        Tag::T61String
        | Tag::PrintableString
        | Tag::Ia5String
        | Tag::VisibleString
        | Tag::GeneralString => {
            let text = str::from_utf8(bytes).map(str::to_owned);
            Some(text.unwrap_or_else(|_| bytes.iter().map(|byte| char::from(*byte)).collect()))
        }
        Tag::Utf8String => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }
}

fn names(certificate: &X509Certificate) -> Vec<String> {
    let Ok(Some(extension)) = certificate.subject_alternative_name() else {
        return Vec::new();
    };
    let name = |name: &GeneralName| match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => match *bytes {
            [a, b, c, d] => Some(std::net::Ipv4Addr::new(*a, *b, *c, *d).to_string()),
            bytes => Some(std::net::Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).to_string()),
        },
        _ => None,
    };
    extension
        .value
        .general_names
        .iter()
        .filter_map(name)
        .collect()
}

/// The key as text, and whether it is too short (NIST SP 800-131A: RSA and DSA below 2048 bits,
/// elliptic below 224).
fn describe_key(certificate: &X509Certificate) -> (String, bool) {
    match certificate.public_key().parsed() {
        Ok(PublicKey::RSA(key)) => (
            format!("RSA {} bits", key.key_size()),
            key.key_size() < 2048,
        ),
        Ok(PublicKey::EC(key)) => (
            format!("elliptic {} bits", key.key_size()),
            key.key_size() < 224,
        ),
        Ok(PublicKey::DSA(key)) => (format!("DSA {} bits", key.len() * 8), key.len() * 8 < 2048),
        _ => (
            algorithm_name(certificate.public_key().algorithm.algorithm.to_id_string()),
            false,
        ),
    }
}

/// 9999-12-31 23:59:59, which means that a certificate has no expiry date (RFC 5280 §4.1.2.5).
const NO_EXPIRY: i64 = 253_402_300_799;

/// A date as text.
fn stamp(second: i64) -> String {
    match jiff::Timestamp::from_second(second) {
        Ok(at) => Stamp(at).to_string(),
        // Timestamps end some hours before the year.
        Err(_) if second >= NO_EXPIRY => "no expiry date".to_owned(),
        Err(_) => "9999-12-31".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{
        CertificateParams, CustomExtension, DistinguishedName, DnType, DnValue, KeyPair,
        date_time_ymd,
    };

    use super::*;

    fn facts(from: i32, to: i32) -> CertificateFacts {
        let mut params =
            CertificateParams::new(vec!["shop.test".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        params.not_before = date_time_ymd(from, 1, 1);
        params.not_after = date_time_ymd(to, 1, 1);
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        CertificateFacts::parse(certificate.der()).unwrap()
    }

    /// A chain of certificates, of which the first one has a certain subject or extension.
    fn chain_of(change: impl FnOnce(&mut CertificateParams)) -> Vec<Vec<u8>> {
        let mut params =
            CertificateParams::new(vec!["shop.test".to_owned(), "*.cdn.test".to_owned()]).unwrap();
        change(&mut params);
        vec![
            params
                .self_signed(&KeyPair::generate().unwrap())
                .unwrap()
                .der()
                .to_vec(),
        ]
    }

    #[test]
    fn unreadable_certificate_is_not_replaced_by_the_next_one() {
        let readable = chain_of(|_| ()).remove(0);
        let cut = readable[..readable.len() - 9].to_vec();
        for leaf in [b"nothing".to_vec(), cut] {
            let checked = ChainFindings::read(&[leaf, readable.clone()]);
            assert!(checked.leaf().is_none() && checked.chain.len() == 1);
            assert!(
                checked
                    .summary()
                    .starts_with("the server's certificate cannot be read: "),
                "{}",
                checked.summary()
            );
            assert!(
                checked.lines[0].starts_with("certificate 1 of the chain cannot be read: "),
                "{:?}",
                checked.lines
            );
            let json = checked.as_json();
            assert!(
                json[0]["error"].is_string() && json[0]["subject"].is_null(),
                "{json}"
            );
            assert!(json[1]["subject"].is_string(), "{json}");
            let tests = tests(&[checked], 443, "tls");
            assert!(
                tests
                    .iter()
                    .all(|test| test.metadata["subject"] == "" && test.findings.is_empty())
            );
        }
        let checked = ChainFindings::read(&[readable.clone(), b"nothing".to_vec(), readable]);
        assert!(checked.leaf().is_some() && checked.unreadable.is_none());
        let [first, last] = &checked.chain[..] else {
            panic!("{:?}", checked.chain)
        };
        let other = CertificateFacts {
            subject: "CN=other".to_owned(),
            ..last.clone()
        };
        assert_eq!(
            check_order(&[first.clone(), other]),
            None,
            "the certificate between them may be the issuer"
        );
    }

    #[test]
    fn subject_in_old_encodings_is_decoded() {
        let bmp = |text: &str| DnValue::BmpString(text.try_into().unwrap());
        for (value, expected) in [
            (bmp("Müller Ω"), "CN=Müller Ω"),
            (
                DnValue::TeletexString("Acme".try_into().unwrap()),
                "CN=Acme",
            ),
            (
                DnValue::UniversalString("Zoë".try_into().unwrap()),
                "CN=Zoë",
            ),
            (DnValue::Utf8String("Zoë".to_owned()), "CN=Zoë"),
        ] {
            let chain = chain_of(|params| {
                params.distinguished_name = DistinguishedName::new();
                params.distinguished_name.push(DnType::CommonName, value);
            });
            assert_eq!(
                CertificateFacts::parse(&chain[0]).unwrap().subject,
                expected
            );
        }
        // Bytes that the certificates of rcgen cannot have: tag and content of the value.
        for (tag, bytes, expected) in [
            (Tag::T61String, &b"M\xfcller"[..], Some("Müller")),
            (Tag::PrintableString, b"M\xfcller", Some("Müller")),
            (Tag::BmpString, b"\0A\0", None),
            (Tag::BmpString, b"\xd8\0\0A", None),
            (Tag::UniversalString, b"\0\0\0A\xff", None),
            (Tag::OctetString, b"A", None),
        ] {
            let value = Any::from_tag_and_data(tag, bytes);
            assert_eq!(string_text(&value).as_deref(), expected, "{tag:?}");
        }
    }

    /// sslyze 497, cyprob 319: some devices have such certificates.
    #[test]
    fn certificate_with_negative_serial_number_is_read() {
        let serial = [0x5a, 0x11, 0x52, 0xc7, 0x33, 0x91, 0x77, 0x0e];
        let mut der =
            chain_of(|params| params.serial_number = Some(serial.to_vec().into())).remove(0);
        let at = der
            .windows(serial.len())
            .position(|part| part == serial)
            .unwrap();
        der[at] |= 0x80;
        // pyca/cryptography 7901: bytes after the certificate.
        der.extend(b"\0\0");
        let facts = CertificateFacts::parse(&der).unwrap();
        assert_eq!(facts.names, ["shop.test", "*.cdn.test"]);
        assert!(facts.serial.starts_with("da:11"), "{}", facts.serial);
        assert!(
            is_valid_for("shop.test", &der, &facts.names)
                && !is_valid_for("other.test", &der, &facts.names)
        );
    }

    #[test]
    fn names_count_with_unknown_critical_extension() {
        let chain = chain_of(|params| {
            let mut extension =
                CustomExtension::from_oid_content(&[1, 3, 6, 1, 4, 1, 99999, 1], vec![5, 0]);
            extension.set_criticality(true);
            params.custom_extensions.push(extension);
        });
        let names = CertificateFacts::parse(&chain[0]).unwrap().names;
        assert!(ParsedCertificate::try_from(&CertificateDer::from(chain[0].as_slice())).is_err());
        for (host, is_valid) in [
            ("shop.test", true),
            ("SHOP.test", true),
            ("a.cdn.test", true),
            ("a.b.cdn.test", false),
            ("cdn.test", false),
            ("evilshop.test", false),
            ("127.0.0.1", false),
        ] {
            assert_eq!(is_valid_for(host, &chain[0], &names), is_valid, "{host}");
        }
        assert!(is_valid_for(
            "127.0.0.1",
            &chain[0],
            &["127.0.0.1".to_owned()]
        ));
    }

    #[test]
    fn every_date_of_a_certificate_is_shown() {
        for (second, expected) in [
            (0, "1970-01-01"),
            (-631_152_000, "1950-01-01"),
            (-62_135_596_800, "0001-01-01"),
            (2_524_608_000, "2050-01-01"),
            (253_402_300_700, "9999-12-31"),
            (NO_EXPIRY, "no expiry date"),
        ] {
            assert!(
                stamp(second).starts_with(expected),
                "{second}: {}",
                stamp(second)
            );
        }
        let mut endless = facts(2020, 2030);
        endless.not_after = NO_EXPIRY;
        let checked = ChainFindings {
            chain: vec![endless],
            ..ChainFindings::read(&[])
        };
        assert_eq!(checked.summary(), "certificate without expiry date");
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
            let second = issued
                .to_zoned(TimeZone::UTC)
                .unwrap()
                .timestamp()
                .as_second();
            assert_eq!(max_validity(second), days, "{issued}");
        }
    }

    #[test]
    fn summary_of_expired_certificate_names_the_expiry() {
        let summary = |kind: Option<FindingKind>| {
            let failed = kind
                .map(|kind| FailedCheck {
                    uid: DAYS,
                    kind,
                    why: String::new(),
                })
                .into_iter()
                .collect();
            ChainFindings {
                chain: vec![facts(2020, 2030)],
                failed,
                ..ChainFindings::read(&[])
            }
            .summary()
        };
        assert!(summary(None).starts_with("certificate valid until 2030-01-01"));
        assert!(summary(Some(tls::EXPIRED)).starts_with("certificate expired 2030-01-01"));
        assert!(summary(Some(tls::NOT_YET_VALID)).starts_with("certificate valid from 2020-01-01"));
    }

    #[test]
    fn chain_order_follows_the_issuers() {
        let [leaf, middle, root] =
            [("leaf", "middle"), ("middle", "root"), ("root", "root")].map(|(subject, issuer)| {
                CertificateFacts {
                    subject: subject.to_owned(),
                    issuer: issuer.to_owned(),
                    ..facts(2020, 2030)
                }
            });
        let order = |chain: [&CertificateFacts; 3]| {
            let numbered = chain.into_iter().enumerate();
            check_order(
                &numbered
                    .map(|(depth, one)| CertificateFacts {
                        depth,
                        ..one.clone()
                    })
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(order([&leaf, &middle, &root]), None);
        assert!(
            order([&leaf, &root, &middle])
                .unwrap()
                .contains("followed by root")
        );
    }

    #[test]
    fn certificate_facts_are_parsed() {
        let facts = facts(2020, 2030);
        assert_eq!(facts.names, ["shop.test", "127.0.0.1"]);
        assert_eq!(
            (facts.key.as_str(), facts.weak_key, facts.weak_signature),
            ("elliptic 256 bits", false, false)
        );
        assert!(facts.is_self_issued);
        assert_eq!(
            (
                facts.signature.as_str(),
                algorithm_name("1.2.3".to_owned()).as_str()
            ),
            ("ecdsaWithSHA256", "1.2.3")
        );
        assert!(CertificateFacts::parse(b"nothing").is_err());
    }
}
