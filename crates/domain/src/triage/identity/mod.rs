//! Fingerprints of findings, made of asset, class, service and place.
//!
//! ```text
//!   F1 = H("scandeck-f1" ␟ workspace alias ␟ asset ␟ class ␟ service)        what, where
//!   F2 = H("scandeck-f2" ␟ F1 ␟ locators…)                                   which of several of that kind
//! ```
//!
//! `H` is the first 128 bits of SHA-256 and ␟ the unit separator, U+001F, which no name holds.
//! Risk, texts, values in the evidence and ids of the service are never part of it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use url::{Host, Url};

use super::event::{EventId, Identity, ManualFinding};
use super::listed::ListedFinding;
use crate::finding::FindingKey;
use scandeck_wire::contract::{Evidence, FindingId, ScanId, Shared};

mod class;
mod locators;

pub use class::class;
pub use locators::differ;

/// Version of the formula.
pub const VERSION: u32 = 1;
/// Characters of a place that an identity carries; the fingerprint counts all.
const MAX_PLACE: usize = 300;
const SEPARATOR: &str = "\u{1f}";

/// Makes identities of many findings: what repeats is worked out once.
#[derive(Default)]
pub struct Identifier {
    alias: Shared,
    classes: HashMap<(Shared, Shared), Shared>,
    services: HashMap<(i64, Shared), Shared>,
    places: HashMap<Arc<str>, Shared>,
    /// The shown form of locators: evidence changes more often than the place that it names.
    shown: HashMap<Shared, Shared>,
}

impl Identifier {
    /// `alias` replaces the workspace and is usually empty.
    pub fn new(alias: &Shared) -> Self {
        Self {
            alias: alias.clone(),
            ..Self::default()
        }
    }

    /// The identity of a finding on an asset in canonical form (see [`asset`]).
    pub fn identify(&mut self, finding: &ListedFinding, asset: &Shared) -> Identity {
        let class = self.class(finding);
        let service = self.service(finding);
        let locators = finding.place(|evidence| self.place(evidence));
        let f1 = f1(&self.alias, asset, &class, &service);
        let f2 = f2(f1, &locators);
        let (asset, name, place) = (asset.clone(), finding.name.clone(), self.shown(&locators));
        Identity {
            key: f2,
            f1,
            f2,
            version: VERSION,
            asset,
            class,
            service,
            name,
            place,
            ordinal: 0,
        }
    }

    fn class(&mut self, finding: &ListedFinding) -> Shared {
        if !finding.vuln_id.is_empty() || finding.cve.len() == 1 {
            return class(finding);
        }
        let known = self
            .classes
            .entry((finding.vuln_id.clone(), finding.name.clone()));
        known.or_insert_with(|| class(finding)).clone()
    }

    fn service(&mut self, finding: &ListedFinding) -> Shared {
        let known = self
            .services
            .entry((finding.port(), finding.protocol.clone()));
        known
            .or_insert_with(|| service(finding.port(), &finding.protocol))
            .clone()
    }

    fn place(&mut self, evidence: &Evidence) -> Shared {
        // Each exchange is another text.
        if let Cow::Owned(bare) = evidence.without_exchange() {
            return place_of(&bare);
        }
        let known = self.places.get(evidence.shared()).cloned();
        known.unwrap_or_else(|| {
            let place = place_of(evidence);
            self.places
                .insert(Arc::clone(evidence.shared()), place.clone());
            place
        })
    }

    /// The locators as an identity carries them.
    fn shown(&mut self, locators: &Shared) -> Shared {
        if locators.len() <= MAX_PLACE && !locators.contains(SEPARATOR) {
            return locators.clone();
        }
        let shown = || {
            locators
                .replace(SEPARATOR, " ")
                .chars()
                .take(MAX_PLACE)
                .collect::<String>()
        };
        self.shown
            .entry(locators.clone())
            .or_insert_with(|| shown().into())
            .clone()
    }
}

/// The locators of an evidence, joined by the separator.
pub fn place_of(evidence: &Evidence) -> Shared {
    locators::locators(evidence).join(SEPARATOR).into()
}

/// The name of a target in one form: IDNA host or IP address; of a URL scheme, host, port and path.
pub fn asset(target: &str) -> Shared {
    let target = target.trim();
    if target.contains("://")
        && let Ok(url) = Url::parse(target)
        && let Some(host) = url.host_str()
    {
        let port = url
            .port_or_known_default()
            .map(|port| format!(":{port}"))
            .unwrap_or_default();
        return format!(
            "{}://{}{port}{}",
            url.scheme(),
            host.trim_end_matches('.'),
            url.path()
        )
        .into();
    }
    let bare = target
        .trim_start_matches('[')
        .trim_end_matches(']')
        .trim_end_matches('.');
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return ip.to_string().into();
    }
    match Host::parse(bare) {
        Ok(host) => host.to_string().into(),
        Err(_) => bare.to_lowercase().into(),
    }
}

/// The host of an asset in canonical form.
pub fn host(asset: &str) -> &str {
    let Some((_, rest)) = asset.split_once("://") else {
        return asset;
    };
    let authority = rest.split('/').next().unwrap_or(rest);
    let bracketed = authority
        .strip_prefix('[')
        .and_then(|inner| inner.split_once(']'));
    match bracketed {
        Some((address, _)) => address,
        None => authority.split(':').next().unwrap_or(authority),
    }
}

/// Placeholder asset of a finding without a known target: its id is the only identity.
pub fn unknown_asset(finding: FindingId) -> Shared {
    format!("{UNKNOWN}{finding}").into()
}

/// True for placeholder assets.
pub fn is_unknown(asset: &str) -> bool {
    asset.starts_with(UNKNOWN)
}

const UNKNOWN: &str = "finding/";

/// `tcp/443`; `-` without a port. The default protocol is TCP.
pub fn service(port: i64, protocol: &str) -> Shared {
    match (port, protocol.trim()) {
        (..=0, _) => "-".into(),
        (port, "") => format!("tcp/{port}").into(),
        (port, protocol) => format!("{}/{port}", protocol.to_lowercase()).into(),
    }
}

/// The identity of a manual finding.
pub fn of_manual(id: EventId, own: &ManualFinding, alias: &str) -> Identity {
    let key = manual_key(id);
    let class: Shared = if own.class.trim().is_empty() {
        class::of_name(&own.name).into()
    } else {
        own.class.clone()
    };
    let (asset, service) = (asset(&own.target), service(own.port, ""));
    let f1 = f1(alias, &asset, &class, &service);
    Identity {
        key,
        f1,
        f2: key,
        version: VERSION,
        asset,
        class,
        service,
        name: own.name.clone(),
        ..Identity::default()
    }
}

/// Key of the decisions on a manual finding.
pub fn manual_key(id: EventId) -> FindingKey {
    fingerprint(&["scandeck-own", &id.to_string()])
}

/// Key of one of several identical findings: no other scan produces it, so nothing inherits from
/// it.
pub fn sibling_key(f2: FindingKey, scan: Option<ScanId>, ordinal: u32) -> FindingKey {
    let scan = scan.map(|scan| scan.to_string()).unwrap_or_default();
    fingerprint(&[
        "scandeck-sibling",
        &f2.to_string(),
        &scan,
        &ordinal.to_string(),
    ])
}

fn f1(alias: &str, asset: &str, class: &str, service: &str) -> FindingKey {
    fingerprint(&["scandeck-f1", alias, asset, class, service])
}

fn f2(f1: FindingKey, locators: &str) -> FindingKey {
    fingerprint(&["scandeck-f2", &f1.to_string(), locators])
}

/// The first 128 bits of the SHA-256 of the parts, joined by the separator.
fn fingerprint(parts: &[&str]) -> FindingKey {
    let mut hash = Sha256::new();
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            hash.update(SEPARATOR);
        }
        hash.update(part);
    }
    FindingKey(
        hash.finalize()
            .iter()
            .take(16)
            .fold(0, |all, &byte| all << 8 | u128::from(byte)),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use scandeck_wire::contract::{EvidenceExchange, Finding, Risk};

    fn identify(finding: &Finding, target: &str) -> Identity {
        Identifier::new(&Shared::default()).identify(&finding.clone().into(), &asset(target))
    }

    fn finding() -> Finding {
        Finding {
            vuln_id: "web.hsts".into(),
            port: 443,
            protocol: "tcp".into(),
            ..Finding::default()
        }
    }

    #[test]
    fn fingerprint_matches_documented_formula() {
        let digest = Sha256::digest(
            "scandeck-f1\u{1f}\u{1f}shop.test\u{1f}web.hsts\u{1f}tcp/443".as_bytes(),
        );
        let first: String = digest
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let identity = identify(&finding(), "shop.test");
        assert_eq!(identity.f1.to_string(), first);
        assert_eq!(
            (identity.service.as_str(), identity.class.as_str()),
            ("tcp/443", "web.hsts")
        );
        assert_eq!(identity.key, identity.f2);
    }

    #[test]
    fn target_spellings_share_canonical_name() {
        for (target, canonical) in [
            (" Shop.TEST. ", "shop.test"),
            ("bücher.test", "xn--bcher-kva.test"),
            ("[2001:DB8:0::1]", "2001:db8::1"),
            ("10.0.0.7", "10.0.0.7"),
            ("HTTPS://Shop.test", "https://shop.test:443/"),
            (
                "http://u:p@shop.test:8080/a/B?q=1#x",
                "http://shop.test:8080/a/B",
            ),
            ("not a name", "not a name"),
            ("", ""),
        ] {
            assert_eq!(asset(target), canonical);
        }
    }

    #[test]
    fn host_of_every_asset_is_named_alike() {
        for (target, name) in [
            ("shop.test", "shop.test"),
            ("https://shop.test", "shop.test"),
            ("http://shop.test:8080/a/b", "shop.test"),
            ("2001:db8::1", "2001:db8::1"),
            ("http://[2001:db8::1]:8080/", "2001:db8::1"),
            ("ftp://shop.test", "shop.test"),
        ] {
            assert_eq!(host(&asset(target)), name);
        }
    }

    #[test]
    fn identity_part_change_changes_fingerprint() {
        let same = identify(&finding(), "a.test");
        let other = |finding: Finding| identify(&finding, "a.test").f1 != same.f1;
        assert!(other(Finding {
            vuln_id: "web.csp".into(),
            ..finding()
        }));
        assert!(other(Finding {
            port: 8443,
            ..finding()
        }));
        assert!(other(Finding {
            protocol: "udp".into(),
            ..finding()
        }));
        assert!(!other(Finding {
            protocol: "TCP".into(),
            ..finding()
        }));
        assert_ne!(identify(&finding(), "b.test").f1, same.f1);
        assert_ne!(
            Identifier::new(&"acme".into())
                .identify(&finding().into(), &asset("a.test"))
                .f1,
            same.f1
        );
    }

    #[test]
    fn place_changes_second_fingerprint_only() {
        let cookie = |name: &str| Finding {
            vuln_evidence: Evidence::table(
                &["URL", "Cookie"],
                [vec!["https://a.test/".into(), name.into()]],
            ),
            ..finding()
        };
        let (sid, lang) = (
            identify(&cookie("sid"), "a.test"),
            identify(&cookie("lang"), "a.test"),
        );
        assert_eq!((sid.f1, sid.place.as_str()), (lang.f1, "cookie:sid"));
        assert_ne!(sid.f2, lang.f2);
    }

    #[test]
    fn exchange_in_the_evidence_is_no_part_of_the_place() {
        let exchange = EvidenceExchange {
            url: "https://a.test/x?q=1".into(),
            request: "GET /x?q=1 HTTP/1.1\nhost: a.test".into(),
            response: "HTTP/1.1 200 OK\nset-cookie: sid=•••".into(),
        };
        for (headers, cells) in [
            (["URL", "Header"], ["https://a.test/", "csp"]),
            (["Host name", "Status"], ["b.test", "200"]),
            (["Request", "Status"], ["GET https://a.test/.env", "200"]),
            (["Header", "Software"], ["server", "nginx 1.2"]),
        ] {
            let row = cells.map(str::to_owned).to_vec();
            let before = Evidence::table(&headers, [row]);
            let with = before.with_exchange(exchange.clone());
            assert_eq!(place_of(&with), place_of(&before), "{headers:?}");
            let mut identifier = Identifier::default();
            assert_eq!(identifier.place(&with), place_of(&before));
            assert!(identifier.places.is_empty(), "an exchange is not cached");
        }
    }

    proptest! {
        #[test]
        fn fingerprint_ignores_risk_texts_ids_and_values(
            id in any::<i64>(), scan in any::<i64>(), risk in 0..5i64, text in ".{0,20}", epss in any::<f64>(),
            number in 0..100_000u32, flag in any::<bool>(),
        ) {
            let evidence = |number: u32| Evidence::from_value(&json!({
                "type": "text",
                "data": format!("GET /item/{number}?q={number} HTTP/1.1\nHost: a.test\n\nHTTP/1.1 200 OK\nDate: {number}\n"),
            }));
            let before = Finding { vuln_evidence: evidence(1), ..finding() };
            let after = Finding {
                id: FindingId(id), task_id: Some(ScanId(scan)), risk_level: Risk::from(risk), name: text.as_str().into(),
                vuln_description: text.as_str().into(), recommendation: text.as_str().into(), status: text.as_str().into(),
                epss_score: Some(epss), confirmed: flag, verified: flag, in_cisa_catalog: flag,
                vuln_evidence: evidence(number), ..finding()
            };
            let (before, after) = (identify(&before, "a.test"), identify(&after, "a.test"));
            prop_assert_eq!((before.f1, before.f2), (after.f1, after.f2));
        }
    }
}
