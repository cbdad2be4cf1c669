//! Links by a value that two places share: the key of two services, the secret of two findings.
//!
//! ```text
//!   service ─ key ─ service        finding ─ secret ─ finding
//! ```

use std::collections::BTreeMap;

use super::data::numbered;
use super::index::{ChainIndex, place_of, short_name};
use super::links::{Certainty, ChainLinks};
use super::{ChainObject, LinkedFinding};
use scandeck_wire::contract::{FindingId, Shared};

impl ChainLinks {
    /// A key connects services only if two of them have it.
    pub(super) fn add_keys(&mut self, index: &ChainIndex<'_>) {
        let mut owners: BTreeMap<&Shared, BTreeMap<ChainObject, FindingId>> = BTreeMap::new();
        for finding in index.findings.values() {
            let Some(place) = place_of(finding) else {
                continue;
            };
            for key in &finding.traces.keys {
                let places = owners.entry(key).or_default();
                let first = places.entry(place.clone()).or_insert(finding.id);
                *first = finding.id.min(*first);
            }
        }
        for (key, places) in owners {
            let shown = |place: &ChainObject, id: FindingId| {
                format!("{} shows it on {}", numbered(id), short_name(place))
            };
            for (place, id) in &places {
                let mut others = places.iter().filter(|(other, _)| *other != place);
                if let Some((other, other_id)) = others.next() {
                    let facts = [shown(place, *id), shown(other, *other_id)];
                    let ends = (place.clone(), ChainObject::Key(key.clone()));
                    self.add(Certainty::Derived, ends, facts);
                }
            }
        }
    }

    /// A secret connects findings only if two of them have it.
    pub(super) fn add_secrets(&mut self, index: &ChainIndex<'_>) {
        let mut owners: BTreeMap<&Shared, Vec<&LinkedFinding>> = BTreeMap::new();
        for finding in index.findings.values() {
            for secret in &finding.traces.secrets {
                owners.entry(secret).or_default().push(finding);
            }
        }
        let shown = |finding: &LinkedFinding| {
            format!("the evidence of {} has its digest", numbered(finding.id))
        };
        for (secret, findings) in owners {
            for finding in &findings {
                let other = findings.iter().find(|other| other.key != finding.key);
                if let Some(other) = other {
                    let ends = (
                        ChainObject::Finding(finding.key),
                        ChainObject::Key(secret.clone()),
                    );
                    let facts = [shown(finding), shown(other)];
                    self.add(Certainty::Derived, ends, facts);
                }
            }
        }
    }
}
