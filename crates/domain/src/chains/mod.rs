//! Chains: how captures, payloads, findings, services and targets hang together.
//!
//! ```text
//!   captures, payloads, texts of findings ─► tokens ──────────────┐
//!   evidence ─► URLs (addresses.rs) ─► known services, targets ───┼─► ChainLink: two ends, why, certainty
//!   certificates ─► issuer and serial number, host names ─────────┘
//! ```
//!
//! A derived link needs a fact that identifies one thing: a token, a host name with its port, or an
//! issuer with a serial number. Names that look alike make no link.

mod addresses;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::finding::{FindingKey, named_enum};
use crate::oob::{Payload, Token};
use scandeck_wire::contract::{CaptureId, LoggerId, Shared, TargetId};

use addresses::{addresses, host_of};

named_enum! {
    /// How sure a link is.
    LinkCertainty {
        /// Both ends have the same token.
        Seen "seen",
        /// Two facts agree.
        Derived "derived",
        /// A person recorded the link.
        Said "said",
    }
}

/// An end of a link.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChainEnd {
    Capture(LoggerId, CaptureId),
    Payload(Token),
    Finding(FindingKey),
    Target(TargetId),
    /// A port of a target.
    Service(TargetId, u16),
    /// A host name that is no target yet.
    Host(Shared),
}

/// A link between two objects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChainLink {
    pub from: ChainEnd,
    pub to: ChainEnd,
    pub certainty: LinkCertainty,
    /// The facts that agree, not sanitised.
    pub facts: Vec<String>,
}

/// The objects that links are derived from.
#[derive(Clone, Debug, Default)]
pub struct ChainSources {
    pub targets: Vec<ChainTarget>,
    /// Ports that scans found, by target.
    pub ports: BTreeSet<(TargetId, u16)>,
    pub payloads: Vec<Arc<Payload>>,
    pub captures: Vec<ChainCapture>,
    pub findings: Vec<ChainFinding>,
    pub certificates: Vec<ChainCertificate>,
}

#[derive(Clone, Debug)]
pub struct ChainTarget {
    pub id: TargetId,
    /// A host name, an address or a URL.
    pub name: Shared,
}

/// A captured request with the tokens that were recognized in it.
#[derive(Clone, Debug)]
pub struct ChainCapture {
    pub logger: LoggerId,
    pub id: CaptureId,
    pub tokens: Vec<Token>,
}

/// A finding with the texts that can name other objects: its evidence and its notes.
#[derive(Clone, Debug)]
pub struct ChainFinding {
    pub key: FindingKey,
    pub target: Option<TargetId>,
    pub texts: Vec<Shared>,
}

/// A certificate that a service presented.
#[derive(Clone, Debug)]
pub struct ChainCertificate {
    pub target: TargetId,
    pub port: u16,
    pub issuer: Shared,
    pub serial: Shared,
    pub names: Vec<Shared>,
}

/// All links, sorted, each once.
pub fn links(sources: &ChainSources) -> Vec<ChainLink> {
    let mut all = BTreeSet::new();
    all.extend(links_of_captures(sources));
    all.extend(links_of_payloads(sources));
    all.extend(links_of_addresses(sources));
    all.extend(links_of_certificates(sources));
    all.into_iter().collect()
}

fn token_fact(token: Token) -> Vec<String> {
    vec![format!("token {token}")]
}

/// From captures to the payloads whose tokens they contain.
fn links_of_captures(sources: &ChainSources) -> Vec<ChainLink> {
    let known: BTreeSet<Token> = sources.payloads.iter().map(|one| one.token).collect();
    let of_capture = |capture: &ChainCapture| {
        let tokens = capture.tokens.iter().filter(|token| known.contains(*token));
        let from = ChainEnd::Capture(capture.logger, capture.id);
        tokens
            .map(|token| ChainLink {
                from: from.clone(),
                to: ChainEnd::Payload(*token),
                certainty: LinkCertainty::Seen,
                facts: token_fact(*token),
            })
            .collect::<Vec<_>>()
    };
    sources.captures.iter().flat_map(of_capture).collect()
}

/// From payloads to the findings that a person bound them to, or whose texts have their tokens.
fn links_of_payloads(sources: &ChainSources) -> Vec<ChainLink> {
    let known: BTreeSet<Token> = sources.payloads.iter().map(|one| one.token).collect();
    let bound = sources.payloads.iter().filter_map(|payload| {
        let words = [payload.parameter.as_str(), payload.note.as_str()];
        let placed = words.iter().filter(|words| !words.trim().is_empty());
        Some(ChainLink {
            from: ChainEnd::Payload(payload.token),
            to: ChainEnd::Finding(payload.finding?),
            certainty: LinkCertainty::Said,
            facts: placed.map(|words| (*words).to_owned()).collect(),
        })
    });
    let named = sources.findings.iter().flat_map(|finding| {
        let windows = finding.texts.iter();
        let windows = windows.flat_map(|text| Token::windows(text.as_bytes()));
        let tokens: BTreeSet<Token> = windows
            .map(|(_, token)| token)
            .filter(|token| known.contains(token))
            .collect();
        tokens.into_iter().map(move |token| ChainLink {
            from: ChainEnd::Payload(token),
            to: ChainEnd::Finding(finding.key),
            certainty: LinkCertainty::Seen,
            facts: token_fact(token),
        })
    });
    bound.chain(named).collect()
}

/// From findings to the services whose host name and port their texts have.
fn links_of_addresses(sources: &ChainSources) -> Vec<ChainLink> {
    let mut services: BTreeMap<(String, u16), TargetId> = BTreeMap::new();
    for target in &sources.targets {
        let Some((host, port)) = host_of(&target.name) else {
            continue;
        };
        let found = sources.ports.iter().filter(|(id, _)| *id == target.id);
        for port in found.map(|(_, port)| *port).chain(port) {
            services.entry((host.clone(), port)).or_insert(target.id);
        }
    }
    let of_finding = |finding: &ChainFinding| {
        let named: BTreeSet<(String, u16)> = finding
            .texts
            .iter()
            .flat_map(|text| addresses(text))
            .collect();
        let links = named.into_iter().filter_map(|(host, port)| {
            let target = *services.get(&(host.clone(), port))?;
            // The evidence of a finding usually names its own target.
            (finding.target != Some(target)).then(|| ChainLink {
                from: ChainEnd::Finding(finding.key),
                to: ChainEnd::Service(target, port),
                certainty: LinkCertainty::Derived,
                facts: vec![format!("host {host}"), format!("port {port}")],
            })
        });
        links.collect::<Vec<_>>()
    };
    sources.findings.iter().flat_map(of_finding).collect()
}

/// Between services with the same certificate, and from a service to the hosts that its certificate
/// names and that are no targets.
fn links_of_certificates(sources: &ChainSources) -> Vec<ChainLink> {
    let hosts = sources
        .targets
        .iter()
        .filter_map(|target| host_of(&target.name));
    let hosts: BTreeSet<String> = hosts.map(|(host, _)| host).collect();
    let mut first: BTreeMap<(&str, &str), ChainEnd> = BTreeMap::new();
    let mut links = Vec::new();
    for certificate in &sources.certificates {
        let service = ChainEnd::Service(certificate.target, certificate.port);
        let identity = (certificate.issuer.as_str(), certificate.serial.as_str());
        let facts = vec![
            format!("issuer {}", certificate.issuer),
            format!("serial {}", certificate.serial),
        ];
        if identity.1.is_empty() {
            continue;
        }
        let earlier = first.entry(identity).or_insert_with(|| service.clone());
        if *earlier != service {
            links.push(ChainLink {
                from: earlier.clone(),
                to: service.clone(),
                certainty: LinkCertainty::Derived,
                facts: facts.clone(),
            });
        }
        let names = certificate.names.iter().filter(|name| !name.contains('*'));
        for host in names.filter_map(|name| Some(host_of(name)?.0)) {
            if !hosts.contains(&host) {
                links.push(ChainLink {
                    from: service.clone(),
                    facts: [facts.clone(), vec![format!("host {host}")]].concat(),
                    to: ChainEnd::Host(host.as_str().into()),
                    certainty: LinkCertainty::Derived,
                });
            }
        }
    }
    links
}
