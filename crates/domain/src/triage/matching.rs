//! Matching of occurrences to findings and their keys.
//!
//! Scans are processed oldest first. An occurrence is matched with decisions and earlier scans in
//! this order: by the service id that a decision recorded; by F2; by F1, if it is unique on both
//! sides and the places do not differ. Occurrences of one scan with the same F2 are siblings: each
//! has a key that no other scan produces, so nothing inherits from it. The rest are new findings.
//!
//! Finally, an issue without decisions is offered the decision of the only absent issue of the same
//! asset and class, because its port may have changed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::correlate::CorrelationInput;
use super::event::Identity;
use super::finding_state::FindingState;
use super::identity::{self, Identifier};
use super::listed::ListedFinding;
use crate::finding::FindingKey;
use crate::text_files::digest;
use scandeck_wire::contract::{FindingId, ScanId, Shared, Stamp, TargetId};

/// About so many findings are matched together.
const BATCH: usize = if cfg!(test) { 4 } else { 1 << 13 };

/// The occurrences of one finding.
#[derive(Clone, Debug)]
pub(super) struct MatchedFinding {
    pub identity: Arc<Identity>,
    /// Positions in the table of findings, oldest first.
    pub seen: Vec<usize>,
    /// Siblings with the same number in other scans, for presence only.
    pub stand_ins: Vec<usize>,
    /// A sibling of an older scan with siblings in a newer scan: which one it is cannot be
    /// determined.
    pub lost: bool,
    /// See [`Issue::earlier_decision`](super::issue::Issue::earlier_decision).
    pub earlier_decision: Option<FindingKey>,
}

/// Positions in batches with all findings of their assets: findings of different assets never
/// match, and matching needs much memory for a moment.
pub(super) fn batches(input: &CorrelationInput, positions: Vec<usize>) -> Vec<MatchingBatch<'_>> {
    let count = positions.len().div_ceil(BATCH);
    if count <= 1 {
        return vec![MatchingBatch::whole(input, positions)];
    }
    let mut batches = Vec::new();
    batches.resize_with(count, MatchingBatch::default);
    let mut assets = Assets::new(input);
    for at in positions {
        batches[batch_of(&assets.of(&input.findings.items()[at]), count)]
            .positions
            .push(at);
    }
    for state in decided_states(input) {
        for number in batches_of(state, count) {
            batches[number].states.push(state);
        }
    }
    batches
}

/// Findings that are matched together.
#[derive(Default)]
pub(super) struct MatchingBatch<'a> {
    positions: Vec<usize>,
    /// The decided findings that they can match.
    states: Vec<&'a FindingState>,
}

impl<'a> MatchingBatch<'a> {
    /// These positions with all decided findings.
    fn whole(input: &'a CorrelationInput, positions: Vec<usize>) -> Self {
        Self {
            positions,
            states: decided_states(input).collect(),
        }
    }
}

fn decided_states(input: &CorrelationInput) -> impl Iterator<Item = &FindingState> {
    let states = input.state.identities().map(|(_, state)| &**state);
    states.filter(|state| state.manual.is_none())
}

/// The batches with findings that can match a decided finding: all, if its asset is unknown.
fn batches_of(state: &FindingState, count: usize) -> BTreeSet<usize> {
    let assets = state.identities.iter().map(|one| &one.asset);
    if assets.clone().any(|asset| identity::is_unknown(asset)) {
        return (0..count).collect();
    }
    assets.map(|asset| batch_of(asset, count)).collect()
}

fn batch_of(asset: &str, count: usize) -> usize {
    (digest(asset) % count as u64) as usize
}

/// Groups the occurrences of a batch.
pub(super) fn rows(input: &CorrelationInput, batch: &MatchingBatch<'_>) -> Vec<MatchedFinding> {
    let positions = &batch.positions;
    let identities = identities(input, positions);
    let mut matching = Matching::new(input, &batch.states, &identities);
    for (scan, findings) in by_scan(input, positions) {
        matching.take_scan(scan, &findings);
    }
    matching.finish()
}

/// The findings of these assets.
pub(super) fn of_assets(input: &CorrelationInput, of: &HashSet<&Shared>) -> Vec<MatchedFinding> {
    let mut assets = Assets::new(input);
    let findings = input.findings.items().iter().enumerate();
    let positions = findings
        .filter(|(_, finding)| of.contains(&assets.of(finding)))
        .map(|(at, _)| at)
        .collect();
    rows(input, &MatchingBatch::whole(input, positions))
}

/// The identities of the findings at these positions; the others are blank.
fn identities(input: &CorrelationInput, positions: &[usize]) -> Vec<Arc<Identity>> {
    let mut identifier = Identifier::new(&input.alias);
    let mut assets = Assets::new(input);
    let mut identities = vec![Arc::default(); input.findings.len()];
    for &at in positions {
        let finding = &input.findings.items()[at];
        identities[at] = Arc::new(identifier.identify(finding, &assets.of(finding)));
    }
    identities
}

/// The assets of findings; what repeats is worked out once.
pub(super) struct Assets<'a> {
    input: &'a CorrelationInput,
    by_target: HashMap<TargetId, Shared>,
}

impl<'a> Assets<'a> {
    pub fn new(input: &'a CorrelationInput) -> Self {
        Self {
            input,
            by_target: HashMap::new(),
        }
    }

    /// The asset of a finding. Without a target, its id is the asset.
    pub fn of(&mut self, finding: &ListedFinding) -> Shared {
        let asset = match finding.target_id() {
            Some(id) => self
                .by_target
                .entry(id)
                .or_insert_with(|| asset(self.input, finding))
                .clone(),
            None => asset(self.input, finding),
        };
        if asset.is_empty() {
            identity::unknown_asset(finding.id)
        } else {
            asset
        }
    }
}

fn asset(input: &CorrelationInput, finding: &ListedFinding) -> Shared {
    let target = finding
        .target_id()
        .and_then(|id| input.targets.get(id))
        .map(|target| &target.name);
    target
        .or(finding.target_name().as_ref())
        .map(|name| identity::asset(name))
        .unwrap_or_default()
}

/// These positions by scan, oldest scan first; findings without a scan come first.
fn by_scan(
    input: &CorrelationInput,
    positions: &[usize],
) -> BTreeMap<(Option<Stamp>, Option<ScanId>), Vec<usize>> {
    let mut scans: HashMap<Option<ScanId>, Vec<usize>> = HashMap::new();
    for &at in positions {
        scans
            .entry(input.findings.items()[at].task_id())
            .or_default()
            .push(at);
    }
    let ordered = scans.into_iter().map(|(scan, mut findings)| {
        findings.sort_by_key(|&at| input.findings.items()[at].id);
        (
            (
                scan.and_then(|scan| input.scans.get(scan)?.start_time),
                scan,
            ),
            findings,
        )
    });
    ordered.collect()
}

type ScanPlace = (Option<Stamp>, Option<ScanId>);

struct Matching<'a> {
    input: &'a CorrelationInput,
    identities: &'a [Arc<Identity>],
    rows: Vec<MatchedFinding>,
    by_key: HashMap<FindingKey, usize>,
    /// Keys of issues and decisions without siblings.
    by_f2: HashMap<FindingKey, FindingKey>,
    /// The only key of each F1; `None` if there are several.
    by_f1: HashMap<FindingKey, Option<FindingKey>>,
    /// F1 of siblings, which are never matched by F1.
    twins: HashSet<FindingKey>,
    /// Keys by service id, from decisions.
    by_id: HashMap<FindingId, Vec<FindingKey>>,
    known: HashMap<FindingKey, Arc<Identity>>,
    /// Findings of each scan with a repeated F2.
    siblings: HashMap<FindingKey, Vec<(ScanPlace, Vec<usize>)>>,
}

/// What the findings of one scan have in common.
#[derive(Default)]
struct Likeness {
    /// Findings by F1.
    of_f1: HashMap<FindingKey, usize>,
    /// Findings with equal F2, where there are several.
    twins: HashMap<FindingKey, Vec<usize>>,
}

impl<'a> Matching<'a> {
    fn new(
        input: &'a CorrelationInput,
        states: &[&FindingState],
        identities: &'a [Arc<Identity>],
    ) -> Self {
        let mut matching = Self {
            input,
            identities,
            rows: Vec::new(),
            by_key: HashMap::new(),
            by_f2: HashMap::new(),
            by_f1: HashMap::new(),
            twins: HashSet::new(),
            by_id: HashMap::new(),
            known: HashMap::new(),
            siblings: HashMap::new(),
        };
        for finding_state in states {
            for found in &finding_state.identities {
                matching
                    .known
                    .entry(found.key)
                    .or_insert_with(|| Arc::clone(found));
                matching.index(found, found.key);
            }
            for &(key, finding) in &finding_state.seen {
                matching.by_id.entry(finding).or_default().push(key);
            }
        }
        matching
    }

    /// Indexes a key by its identity.
    fn index(&mut self, identity: &Identity, key: FindingKey) {
        if identity.ordinal > 0 {
            self.twins.insert(identity.f1);
            return;
        }
        self.by_f2.entry(identity.f2).or_insert(key);
        let only = self.by_f1.entry(identity.f1).or_insert(Some(key));
        *only = only.filter(|&known| known == key);
    }

    /// Finds the issues of the findings of one scan: by their ids, by equal F2, and last by an F1
    /// that only one finding here and one issue have.
    fn take_scan(&mut self, place: ScanPlace, findings: &[usize]) {
        let likeness = self.likeness(place, findings);
        let mut left = Vec::new();
        let mut used = HashSet::new();
        for &at in findings {
            let f2 = self.identities[at].f2;
            let by_id = self.identity_by_id(at).filter(|key| !used.contains(key));
            let twins = likeness.twins.get(&f2);
            let by_f2 = self.by_f2.get(&f2).copied().filter(|_| twins.is_none());
            match (by_id.or(by_f2), twins) {
                (Some(key), _) => {
                    used.insert(key);
                    self.put(key, at);
                }
                (None, Some(twins)) => self.put_sibling(place, twins, at),
                (None, None) => left.push(at),
            }
        }
        for (f2, twins) in likeness.twins {
            self.twins.insert(self.identities[twins[0]].f1);
            self.siblings.entry(f2).or_default().push((place, twins));
        }
        for at in left {
            let by_f1 = self.one_to_one(at, &likeness.of_f1);
            self.put(by_f1.unwrap_or(self.identities[at].f2), at);
        }
    }

    /// Groups the findings of one scan by what they have in common.
    fn likeness(&self, place: ScanPlace, findings: &[usize]) -> Likeness {
        let f2_of = |at: &usize| self.identities[*at].f2;
        let mut by_f2: Vec<usize> = findings.to_vec();
        by_f2.sort_by_key(f2_of);
        let mut likeness = Likeness::default();
        for same in by_f2.chunk_by(|a, b| f2_of(a) == f2_of(b)) {
            let first = &self.identities[same[0]];
            *likeness.of_f1.entry(first.f1).or_default() += same.len();
            // Findings without a scan cannot be assigned to one: equal F2 means the same finding.
            if same.len() > 1 && place.1.is_some() {
                likeness.twins.insert(first.f2, same.to_vec());
            }
        }
        likeness
    }

    /// Ids are specific to a server, and decisions may be imported from another: class and asset
    /// must match.
    fn identity_by_id(&self, at: usize) -> Option<FindingKey> {
        let (finding, identity) = (&self.input.findings.items()[at], &self.identities[at]);
        self.by_id.get(&finding.id)?.iter().copied().find(|key| {
            self.known.get(key).is_some_and(|known| {
                known.class == identity.class
                    && (known.asset == identity.asset || identity::is_unknown(&known.asset))
            })
        })
    }

    fn one_to_one(&self, at: usize, of_f1: &HashMap<FindingKey, usize>) -> Option<FindingKey> {
        let identity = &self.identities[at];
        let key = (*self.by_f1.get(&identity.f1)?)?;
        let alone = of_f1[&identity.f1] == 1 && !self.twins.contains(&identity.f1);
        let known = self.identity_of(key)?;
        (alone && !identity::differ(&known.place, &identity.place)).then_some(key)
    }

    fn identity_of(&self, key: FindingKey) -> Option<&Arc<Identity>> {
        self.by_key
            .get(&key)
            .map(|&row| &self.rows[row].identity)
            .or(self.known.get(&key))
    }

    fn put(&mut self, key: FindingKey, at: usize) {
        let ordinal = self.identity_of(key).map_or(0, |known| known.ordinal);
        let found = &self.identities[at];
        let identity = match (found.key, found.ordinal) == (key, ordinal) {
            true => Arc::clone(found),
            false => Arc::new(Identity {
                key,
                ordinal,
                ..(**found).clone()
            }),
        };
        self.index(&identity, key);
        match self.by_key.get(&key) {
            // Place and name follow the latest scan; the key never changes.
            Some(&row) => {
                let row = &mut self.rows[row];
                row.seen.push(at);
                if (row.identity.f2, &row.identity.name) != (identity.f2, &identity.name) {
                    row.identity = identity;
                }
            }
            None => self.add(identity, at),
        }
    }

    fn put_sibling(&mut self, place: ScanPlace, twins: &[usize], at: usize) {
        let identity = &self.identities[at];
        let ordinal = 1 + twins
            .iter()
            .position(|&twin| twin == at)
            .unwrap_or_default() as u32;
        let key = identity::sibling_key(identity.f2, place.1, ordinal);
        self.add(
            Arc::new(Identity {
                key,
                ordinal,
                ..(**identity).clone()
            }),
            at,
        );
    }

    fn add(&mut self, identity: Arc<Identity>, at: usize) {
        self.by_key.insert(identity.key, self.rows.len());
        self.rows.push(MatchedFinding {
            identity,
            seen: vec![at],
            stand_ins: Vec::new(),
            lost: false,
            earlier_decision: None,
        });
    }

    fn finish(mut self) -> Vec<MatchedFinding> {
        self.settle_siblings();
        let mut rows = std::mem::take(&mut self.rows);
        self.find_earlier_decisions(&mut rows);
        rows
    }

    /// Siblings of older scans are dropped unless they have decisions; the others record their
    /// counterparts in other scans.
    fn settle_siblings(&mut self) {
        let latest: HashMap<FindingKey, ScanPlace> = self
            .siblings
            .iter()
            .filter_map(|(f2, scans)| Some((*f2, scans.last()?.0)))
            .collect();
        let (input, siblings) = (self.input, &self.siblings);
        self.rows.retain_mut(|row| {
            if row.identity.ordinal == 0 {
                return true;
            }
            let at = row.seen[row.seen.len() - 1];
            let scan = input.findings.items()[at].task_id();
            let number = row.identity.ordinal as usize - 1;
            row.lost = latest
                .get(&row.identity.f2)
                .is_some_and(|place| place.1 != scan);
            let others = siblings.get(&row.identity.f2).into_iter().flatten();
            let others = others.filter(|(place, _)| place.1 != scan && !row.lost);
            row.stand_ins = others
                .filter_map(|(_, twins)| twins.get(number).copied())
                .collect();
            !row.lost || input.state.finding_state(row.identity.key).is_some()
        });
    }

    fn find_earlier_decisions(&self, rows: &mut [MatchedFinding]) {
        let decided = |key: FindingKey| {
            self.input
                .state
                .finding_state(key)
                .is_some_and(|finding_state| !finding_state.heads.is_empty())
        };
        let mut moved: HashMap<(Shared, Shared), (Vec<FindingKey>, Vec<usize>)> = HashMap::new();
        for known in self
            .known
            .values()
            .filter(|known| known.ordinal == 0 && decided(known.key))
        {
            moved
                .entry((known.asset.clone(), known.class.clone()))
                .or_default()
                .0
                .push(known.key);
        }
        if moved.is_empty() {
            return;
        }
        for (at, row) in rows
            .iter()
            .enumerate()
            .filter(|(_, row)| row.identity.ordinal == 0)
        {
            let same = moved.get_mut(&(row.identity.asset.clone(), row.identity.class.clone()));
            same.into_iter().for_each(|(_, rows)| rows.push(at));
        }
        for (old, all) in moved.into_values() {
            let last_seen: HashMap<FindingKey, ScanPlace> = all
                .iter()
                .filter_map(|&at| Some((rows[at].identity.key, self.place(*rows[at].seen.last()?))))
                .collect();
            let mut by_last_seen: Vec<(Option<ScanPlace>, FindingKey)> = old
                .into_iter()
                .map(|key| (last_seen.get(&key).copied(), key))
                .collect();
            let undecided = all.iter().filter(|&&at| !decided(rows[at].identity.key));
            let mut by_first_seen: Vec<(Option<ScanPlace>, usize)> = undecided
                .map(|&at| (rows[at].seen.first().map(|&first| self.place(first)), at))
                .collect();
            by_last_seen.sort_unstable();
            by_first_seen.sort_unstable();
            if let Some((key, row)) = only_pair(&by_last_seen, &by_first_seen) {
                rows[row].earlier_decision = Some(key);
            }
        }
    }

    /// The scan of the finding at a position.
    fn place(&self, at: usize) -> ScanPlace {
        let scan = self.input.findings.items()[at].task_id();
        let started = scan.and_then(|scan| self.input.scans.get(scan)?.start_time);
        (started, scan)
    }
}

/// The decided finding that was last seen before an undecided one appeared, with that one, unless
/// either could belong to a third. Only the finding that was seen least recently and the one that
/// appeared last can be such a pair.
fn only_pair(
    by_last_seen: &[(Option<ScanPlace>, FindingKey)],
    by_first_seen: &[(Option<ScanPlace>, usize)],
) -> Option<(FindingKey, usize)> {
    let (&(last, key), seen_later) = by_last_seen.split_first()?;
    let (&(first, row), found_before) = by_first_seen.split_last()?;
    let is_alone = seen_later.first().is_none_or(|&(other, _)| other >= first)
        && found_before.last().is_none_or(|&(other, _)| other <= last);
    (last < first && is_alone).then_some((key, row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Verdict;
    use crate::triage::testing::TriageFixture;
    use proptest::prelude::*;

    #[test]
    fn decided_finding_is_in_the_batch_of_its_asset_alone() {
        let mut fixture = TriageFixture::new();
        fixture.scan(1);
        fixture.scan(2).target_id = TargetId(2);
        for (scan, kind) in [1, 2]
            .into_iter()
            .flat_map(|scan| ["a", "b", "c"].map(|kind| (scan, kind)))
        {
            fixture.found(scan, kind, "");
            fixture.decide(Verdict::Confirmed);
        }
        let input = fixture.input();
        let made = batches(&input, (0..6).collect());
        assert_eq!(made.len(), 2);
        for (number, batch) in made.iter().enumerate() {
            let mut of_states = batch.states.iter().map(|state| &state.identity.asset);
            assert_eq!(batch.states.len(), batch.positions.len());
            assert!(of_states.all(|asset| batch_of(asset, 2) == number));
        }
    }

    proptest! {
        #[test]
        fn only_pair_is_the_pair_without_an_alternative(
            seen in proptest::collection::vec(0..5i64, 0..5),
            found in proptest::collection::vec(0..5i64, 0..5),
        ) {
            let place = |number: i64| -> Option<ScanPlace> {
                (number > 0).then_some((None, Some(ScanId(number))))
            };
            let keys = seen.iter().zip(1..);
            let mut by_last_seen: Vec<(Option<ScanPlace>, FindingKey)> =
                keys.map(|(&number, key)| (place(number), FindingKey(key))).collect();
            let rows = found.iter().enumerate();
            let mut by_first_seen: Vec<(Option<ScanPlace>, usize)> =
                rows.map(|(row, &number)| (place(number), row)).collect();
            by_last_seen.sort_unstable();
            by_first_seen.sort_unstable();
            let following = |&(last, key): &(Option<ScanPlace>, FindingKey)| {
                let later = by_first_seen.iter().filter(move |(first, _)| last < *first);
                later.map(move |&(_, row)| (key, row))
            };
            let pairs: Vec<(FindingKey, usize)> = by_last_seen.iter().flat_map(following).collect();
            let is_alone = |pair: &&(FindingKey, usize)| {
                let same = pairs.iter().filter(|other| other.0 == pair.0 || other.1 == pair.1);
                same.count() == 1
            };
            let alone: Vec<(FindingKey, usize)> = pairs.iter().filter(is_alone).copied().collect();
            prop_assert_eq!(Vec::from_iter(only_pair(&by_last_seen, &by_first_seen)), alone);
        }
    }
}
