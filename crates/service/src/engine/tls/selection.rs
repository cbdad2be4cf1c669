//! The tests of a scan by name, for scans that run some tests alone.
//!
//! The tests share their handshakes, so a scan of one test sends nearly as much as a scan of all;
//! it reports the named ones only. Only renegotiation by clients has a connection of its own.

use serde_json::Value;

use super::hello::Version;
use super::results::{handshake_uid, protocol_uid};
use super::{certificate, checks};
use crate::engine::kinds::{FindingKind, tls};
use crate::engine::run::ScanRun;
use scandeck_wire::contract::scan::ONLY_TESTS;

/// Kinds of findings whose ids do not begin with the name of their test.
const OTHER_NAMES: &[(FindingKind, &str)] = &[
    (tls::NO_TLS13, "tls.protocol.tls13"),
    (tls::EXPIRED, certificate::DAYS),
    (tls::NOT_YET_VALID, certificate::DAYS),
    (tls::EXPIRES_SOON, certificate::DAYS),
    (tls::WRONG_NAME, certificate::NAME),
    (tls::SELF_SIGNED, certificate::TRUST),
    (tls::UNTRUSTED, certificate::TRUST),
    (tls::WEAK_KEY, certificate::KEY),
    (tls::WEAK_SIGNATURE, certificate::SIGNATURE),
    (tls::NO_NAMES, certificate::SAN),
    (tls::CHAIN_ORDER, certificate::ORDER),
    (tls::LONG_LIFE, certificate::LIFE),
    (tls::MUST_STAPLE, certificate::STAPLE),
];

/// Whether a name of `only_tests` means a test.
pub fn is_test(name: &str) -> bool {
    uids().iter().any(|uid| is_named(uid, name))
}

/// Whether the scan runs all tests.
pub fn is_whole(run: &ScanRun<'_>) -> bool {
    names(run).is_none()
}

/// Whether the scan reports a test.
pub fn is_selected(run: &ScanRun<'_>, uid: &str) -> bool {
    let mut all = names(run).into_iter().flatten().filter_map(Value::as_str);
    is_whole(run) || all.any(|name| is_named(uid, name))
}

/// The number of tests that the scan reports.
pub fn count(run: &ScanRun<'_>) -> usize {
    uids().iter().filter(|uid| is_selected(run, uid)).count()
}

fn names<'r>(run: &'r ScanRun<'_>) -> Option<&'r Vec<Value>> {
    run.job.params.get(ONLY_TESTS)?.as_array()
}

/// The names of all tests of this program.
fn uids() -> Vec<String> {
    let versions = Version::ALL.iter();
    let of_versions =
        versions.flat_map(|version| [handshake_uid(*version), protocol_uid(*version)]);
    let certificates = certificate::CHECKS.iter().map(|(uid, _)| *uid);
    let others = certificates.chain(checks::uids()).map(str::to_owned);
    of_versions.chain(others).collect()
}

/// Whether a name means a test: its own, the beginning of it up to a dot, or a kind of finding that
/// it reports.
fn is_named(uid: &str, name: &str) -> bool {
    let rest = uid.strip_prefix(name);
    let is_own = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    is_own || test_of(name) == Some(uid)
}

/// The test that reports a kind of finding.
fn test_of(kind: &str) -> Option<&'static str> {
    let mut others = OTHER_NAMES.iter();
    let other = others.find(|(one, _)| one.id() == kind);
    other.map(|(_, uid)| *uid).or_else(|| checks::uid_of(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::kinds;

    #[test]
    fn every_kind_of_tls_names_one_test() {
        for kind in kinds::ids().filter(|kind| kind.starts_with("tls.")) {
            let uids = uids();
            let named: Vec<&String> = uids.iter().filter(|uid| is_named(uid, kind)).collect();
            assert_eq!(named.len(), 1, "{kind}: {named:?}");
        }
    }

    #[test]
    fn names_of_single_tests_are_tests_groups_and_kinds() {
        for name in [
            "tls",
            "tls.dh",
            "tls.certificate",
            "tls.certificate.expired",
        ] {
            assert!(is_test(name), "{name}");
        }
        for name in ["", "tls.protocol.tls1", "tls.sslscan", "web.cors"] {
            assert!(!is_test(name), "{name}");
        }
        assert!(is_named("tls.certificate.days", "tls.certificate.expired"));
        assert!(!is_named("tls.certificate.name", "tls.certificate.expired"));
    }
}
