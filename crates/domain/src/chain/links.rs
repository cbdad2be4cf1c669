//! Links between two objects, each from two facts that agree.
//!
//! ```text
//!   capture ─token─ payload ─fingerprint─ finding ─port─ service ─┬─ target
//!                  another finding ─ secret ─┤                    ├─ key ─ another service
//!                                            └─host:port─ service └─name─ a host, perhaps no target yet
//! ```
//!
//! A link that a person added has an author and a reason instead.
//!
//! Findings on one service are no link of each other: a service leads only to findings that take
//! part in another link. A finding that somebody asks about leads to its service.

use std::collections::{BTreeMap, BTreeSet};

use super::data::numbered;
use super::index::{ChainIndex, place_of, short_name};
use super::{ChainData, ChainObject};
use crate::finding::named_enum;
use crate::oob::source::host;
use scandeck_wire::contract::Shared;

named_enum! {
    /// How certain a link is, the most certain first.
    Certainty {
        /// Recorded: the token in a request, the target of a scan.
        Seen "seen",
        /// Two facts of evidence agree.
        Derived "derived",
        /// A person added it, with a reason.
        Said "said",
    }
}

/// A link with the two facts that it is made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChainLink {
    pub certainty: Certainty,
    pub from: ChainObject,
    pub to: ChainObject,
    pub facts: [String; 2],
}

/// All links of a workspace.
#[derive(Clone, Debug, Default)]
pub struct ChainLinks {
    /// By their ends; of several links between two objects the first one.
    links: BTreeMap<(ChainObject, ChainObject), ChainLink>,
    neighbours: BTreeMap<ChainObject, BTreeSet<ChainObject>>,
    /// The neighbours of each object, those with the most certain links first.
    ordered: BTreeMap<ChainObject, Vec<ChainObject>>,
    labels: BTreeMap<ChainObject, String>,
    targets: BTreeSet<Shared>,
}

impl ChainLinks {
    /// The links of the data. `roots` also lead to the service or target that they are on.
    pub fn of<'a>(data: &ChainData, roots: impl IntoIterator<Item = &'a ChainObject>) -> Self {
        let index = ChainIndex::of(data);
        let mut links = Self {
            targets: data.targets.iter().cloned().collect(),
            ..Self::default()
        };
        links.add_labels(data);
        links.add_payloads(data, &index);
        links.add_certificate_names(&index);
        links.add_keys(&index);
        links.add_secrets(&index);
        links.add_addresses(&index);
        links.add_manual(data);
        let linked: BTreeSet<ChainObject> = links.ends().into_iter().collect();
        let mut ends: BTreeSet<ChainObject> = roots.into_iter().cloned().collect();
        ends.extend(linked.iter().cloned());
        links.add_places(&ends, &linked, &index);
        ends.extend(links.ends());
        links.add_targets(&ends, &index);
        links.order();
        links
    }

    /// The links of an object, the most certain first.
    pub fn links_of<'a>(&'a self, object: &'a ChainObject) -> impl Iterator<Item = &'a ChainLink> {
        let others = self.ordered.get(object).into_iter().flatten();
        others.filter_map(move |other| self.links.get(&ends_of(object, other)))
    }

    /// The number of links of an object to others than these.
    pub(super) fn count_others(
        &self,
        object: &ChainObject,
        shown: &BTreeSet<&ChainObject>,
    ) -> usize {
        self.neighbours.get(object).map_or(0, |others| {
            let known = shown.iter().filter(|one| others.contains(**one));
            others.len() - known.count()
        })
    }

    /// Sorts the links of each object once: each tree of a report needs those of a hub.
    fn order(&mut self) {
        let mut ordered = BTreeMap::new();
        for (object, others) in &self.neighbours {
            let found = others
                .iter()
                .filter_map(|other| self.links.get(&ends_of(object, other)));
            let mut links: Vec<&ChainLink> = found.collect();
            links.sort();
            let sorted: Vec<ChainObject> = links
                .into_iter()
                .map(|link| link.other(object).clone())
                .collect();
            ordered.insert(object.clone(), sorted);
        }
        self.ordered = ordered;
    }

    /// The object in words.
    pub fn label(&self, object: &ChainObject) -> String {
        let known = self.labels.get(object).cloned();
        known.unwrap_or_else(|| match object {
            ChainObject::Target(name) if !self.targets.contains(name) => {
                format!("{name}, which is no target")
            }
            ChainObject::Target(name) => format!("target {name}"),
            ChainObject::Service(address) => format!("service {address}"),
            ChainObject::Key(key) => match key.strip_prefix("secret:") {
                Some(digest) => format!("secret #{digest}"),
                None => format!("key {key}"),
            },
            ChainObject::Capture { logger, id } => format!("capture #{id} of logger #{logger}"),
            ChainObject::Payload(token) => format!("payload {token}"),
            ChainObject::Finding(key) => format!("finding {key}, which is not listed"),
        })
    }

    /// Whether it is a host that is no target yet.
    pub fn is_missing(&self, object: &ChainObject) -> bool {
        matches!(object, ChainObject::Target(name) if !self.targets.contains(name))
    }

    fn ends(&self) -> Vec<ChainObject> {
        self.neighbours.keys().cloned().collect()
    }

    pub(super) fn add(
        &mut self,
        certainty: Certainty,
        (from, to): (ChainObject, ChainObject),
        facts: [String; 2],
    ) {
        if from == to {
            return;
        }
        let back = self.neighbours.entry(to.clone()).or_default();
        back.insert(from.clone());
        self.add_one_way(certainty, (from, to), facts);
    }

    /// Adds a link of the first object, which the other one does not have.
    fn add_one_way(
        &mut self,
        certainty: Certainty,
        (from, to): (ChainObject, ChainObject),
        facts: [String; 2],
    ) {
        let of = self.neighbours.entry(from.clone()).or_default();
        of.insert(to.clone());
        self.neighbours.entry(to.clone()).or_default();
        let ends = ends_of(&from, &to);
        let link = ChainLink {
            certainty,
            from,
            to,
            facts,
        };
        let known = self.links.entry(ends).or_insert_with(|| link.clone());
        if link < *known {
            *known = link;
        }
    }

    fn add_labels(&mut self, data: &ChainData) {
        for finding in &data.findings {
            let label = match finding.id.0 < 0 {
                true => format!("manual finding {}", finding.name),
                false => format!("{} {}", numbered(finding.id), finding.name),
            };
            self.add_label(ChainObject::Finding(finding.key), label);
        }
        for payload in &data.payloads {
            let place = payload.place_or_note();
            let label = match place.is_empty() {
                true => format!("payload {}", payload.token),
                false => format!("payload {} ({place})", payload.token),
            };
            self.add_label(ChainObject::Payload(payload.token), label);
        }
        for one in &data.captured {
            let at = one.at.map(|at| format!(", {at}")).unwrap_or_default();
            let label = format!("capture #{} of logger #{}{at}", one.id, one.logger);
            self.add_label(one.capture(), label);
        }
    }

    /// The first of several labels, so that the order of the data does not matter.
    fn add_label(&mut self, object: ChainObject, label: String) {
        let known = self.labels.entry(object).or_insert_with(|| label.clone());
        if label < *known {
            *known = label;
        }
    }

    fn add_payloads(&mut self, data: &ChainData, index: &ChainIndex<'_>) {
        let tokens: BTreeSet<_> = data.payloads.iter().map(|payload| payload.token).collect();
        let known = data.captured.iter();
        for one in known.filter(|one| tokens.contains(&one.token)) {
            let facts = [
                format!("capture #{} contains the token {}", one.id, one.token),
                format!("the payload has the token {}", one.token),
            ];
            let ends = (one.capture(), ChainObject::Payload(one.token));
            self.add(Certainty::Seen, ends, facts);
        }
        for finding in index.findings.values() {
            for &token in finding.traces.tokens.intersection(&tokens) {
                let facts = [
                    format!("the evidence of {} has {token}", numbered(finding.id)),
                    format!("the payload has the token {token}"),
                ];
                let of = ChainObject::Finding(finding.key);
                self.add(Certainty::Derived, (ChainObject::Payload(token), of), facts);
            }
        }
        for payload in &data.payloads {
            let object = ChainObject::Payload(payload.token);
            let bound = payload.finding.and_then(|key| index.findings.get(&key));
            if let Some(finding) = bound {
                let facts = [
                    format!("the payload was made for finding {}", finding.key),
                    format!("{} has this fingerprint", numbered(finding.id)),
                ];
                let ends = (object, ChainObject::Finding(finding.key));
                self.add(Certainty::Seen, ends, facts);
            } else if self.targets.contains(&payload.target) {
                let facts = [
                    format!("the payload was made for {}", payload.target),
                    format!("{} is a target", payload.target),
                ];
                let ends = (object, ChainObject::Target(payload.target.clone()));
                self.add(Certainty::Seen, ends, facts);
            }
        }
    }

    fn add_certificate_names(&mut self, index: &ChainIndex<'_>) {
        for ((place, name), fact) in index.certificate_names() {
            let known = index.hosts.get(name.as_str());
            let targets = known.map(Vec::as_slice).unwrap_or_default();
            for target in targets {
                let facts = [fact.clone(), format!("{target} is a target with this host")];
                let to = ChainObject::Target((*target).clone());
                self.add(Certainty::Derived, (place.clone(), to), facts);
            }
            if targets.is_empty() {
                let facts = [fact, format!("no target has the host {name}")];
                let to = ChainObject::Target(name.clone());
                self.add(Certainty::Derived, (place, to), facts);
            }
        }
    }

    /// Addresses in evidence that are services of other targets.
    fn add_addresses(&mut self, index: &ChainIndex<'_>) {
        for finding in index.findings.values() {
            let own_host = host(&finding.target).unwrap_or_default();
            let of_others = finding.traces.services.iter();
            for address in of_others.filter(|address| *address.host != *own_host) {
                let Some((target, fact)) = index
                    .services
                    .get(address)
                    .and_then(|all| all.iter().next())
                else {
                    continue;
                };
                let facts = [
                    format!("the evidence of {} names {address}", numbered(finding.id)),
                    format!("{fact} of {target}"),
                ];
                let to = ChainObject::Service(address.clone());
                let ends = (ChainObject::Finding(finding.key), to);
                self.add(Certainty::Derived, ends, facts);
            }
        }
    }

    fn add_manual(&mut self, data: &ChainData) {
        for link in &data.manual {
            let facts = [
                format!("{} added the link, {}", link.who, link.at),
                format!("because {}", link.reason.trim()),
            ];
            let ends = (link.from.clone(), link.to.clone());
            self.add(Certainty::Said, ends, facts);
        }
    }

    /// Links these findings to the services or targets that they are on, which lead to those that
    /// have other links.
    fn add_places(
        &mut self,
        ends: &BTreeSet<ChainObject>,
        linked: &BTreeSet<ChainObject>,
        index: &ChainIndex<'_>,
    ) {
        for end in ends {
            let ChainObject::Finding(key) = end else {
                continue;
            };
            let known = index.findings.get(key);
            let Some((finding, place)) = known.and_then(|one| Some((one, place_of(one)?))) else {
                continue;
            };
            let by = match finding.scan {
                Some(scan) => format!("scan #{scan} reported {}", numbered(finding.id)),
                None => format!("{} is listed", numbered(finding.id)),
            };
            let facts = [by, format!("it is on {}", short_name(&place))];
            let of_link = (end.clone(), place);
            match linked.contains(end) {
                true => self.add(Certainty::Seen, of_link, facts),
                false => self.add_one_way(Certainty::Seen, of_link, facts),
            }
        }
    }

    /// Links these services to their targets.
    fn add_targets(&mut self, ends: &BTreeSet<ChainObject>, index: &ChainIndex<'_>) {
        for end in ends {
            let ChainObject::Service(address) = end else {
                continue;
            };
            for (target, fact) in index.services.get(address).into_iter().flatten() {
                let facts = [
                    format!("{fact} of {target}"),
                    format!("{target} is a target"),
                ];
                let to = ChainObject::Target((*target).clone());
                self.add(Certainty::Seen, (end.clone(), to), facts);
            }
        }
    }
}

impl ChainLink {
    /// The end that is not this one.
    pub fn other(&self, object: &ChainObject) -> &ChainObject {
        match self.from == *object {
            true => &self.to,
            false => &self.from,
        }
    }
}

/// Both ends in one order: a link has no direction.
fn ends_of(one: &ChainObject, other: &ChainObject) -> (ChainObject, ChainObject) {
    match one < other {
        true => (one.clone(), other.clone()),
        false => (other.clone(), one.clone()),
    }
}
