//! The data of a workspace by the values that may agree: fingerprint, host, service.

use std::collections::{BTreeMap, BTreeSet};

use url::Url;

use super::data::numbered;
use super::{ChainData, ChainObject, LinkedFinding, ServiceAddress};
use crate::finding::FindingKey;
use crate::oob::source::host;
use scandeck_wire::contract::Shared;

/// The data by the values that may agree.
pub(super) struct ChainIndex<'a> {
    pub(super) findings: BTreeMap<FindingKey, &'a LinkedFinding>,
    /// Listed targets by host.
    pub(super) hosts: BTreeMap<String, Vec<&'a Shared>>,
    /// The listed targets with each service, and why.
    pub(super) services: BTreeMap<ServiceAddress, BTreeMap<&'a Shared, String>>,
}

impl<'a> ChainIndex<'a> {
    pub(super) fn of(data: &'a ChainData) -> Self {
        let targets: BTreeSet<&Shared> = data.targets.iter().collect();
        let mut index = Self {
            findings: BTreeMap::new(),
            hosts: BTreeMap::new(),
            services: BTreeMap::new(),
        };
        for &target in &targets {
            if let Some(named) = host(target) {
                index.hosts.entry(named).or_default().push(target);
            }
            if let Some(address) = service_of(target, 0) {
                let fact = format!("{address} is the address");
                let of = index.services.entry(address).or_default();
                of.insert(target, fact);
            }
        }
        for finding in &data.findings {
            let known = index.findings.entry(finding.key).or_insert(finding);
            if *finding < **known {
                *known = finding;
            }
        }
        for finding in index.findings.values() {
            let Some(&target) = targets.get(&finding.target) else {
                continue;
            };
            if let Some(address) = service_of(&finding.target, finding.port) {
                let fact = format!("{} is on port {}", numbered(finding.id), address.port);
                let of = index.services.entry(address).or_default();
                let known = of.entry(target).or_insert_with(|| fact.clone());
                if fact < *known {
                    *known = fact;
                }
            }
        }
        index
    }

    /// The names in the certificate of each service, with the first of the facts that say so:
    /// thousands of findings on one service may name its certificate.
    pub(super) fn certificate_names(&self) -> BTreeMap<(ChainObject, &Shared), String> {
        let mut named: BTreeMap<(ChainObject, &Shared), String> = BTreeMap::new();
        for finding in self.findings.values() {
            let Some(place) = place_of(finding) else {
                continue;
            };
            let own_host = host(&finding.target).unwrap_or_default();
            let names = finding.traces.names.iter();
            for name in names.filter(|name| ***name != *own_host) {
                let fact = format!(
                    "the certificate in {} on {} names {name}",
                    numbered(finding.id),
                    short_name(&place)
                );
                let entry = named.entry((place.clone(), name));
                let first = entry.or_insert_with(|| fact.clone());
                if fact < *first {
                    *first = fact;
                }
            }
        }
        named
    }
}

/// The service of a finding, or its target; none if its target is not known.
pub(super) fn place_of(finding: &LinkedFinding) -> Option<ChainObject> {
    match service_of(&finding.target, finding.port) {
        Some(address) => Some(ChainObject::Service(address)),
        None if finding.target.is_empty() => None,
        None => Some(ChainObject::Target(finding.target.clone())),
    }
}

/// The port of a finding on a target, or else the port of the target's own address.
fn service_of(target: &str, port: i64) -> Option<ServiceAddress> {
    let own = || Url::parse(target).ok()?.port_or_known_default();
    let port = u16::try_from(port)
        .ok()
        .filter(|port| *port > 0)
        .or_else(own)?;
    Some(ServiceAddress {
        host: host(target)?.into(),
        port,
    })
}

/// A service or target without its kind.
pub(super) fn short_name(place: &ChainObject) -> String {
    match place {
        ChainObject::Service(address) => address.to_string(),
        ChainObject::Target(name) => name.to_string(),
        other => other.to_string(),
    }
}
