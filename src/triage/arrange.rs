//! From what scans told to the rows that are shown: one a finding's identity, with what is said about it.
//!
//! ```text
//!   occurrences ─► identity ─► matched with what was decided ─► one Case an identity ─► presence ─► Stance
//! ```
//!
//! Runs off the UI thread whenever the findings, the ends of scans, the targets or the rules change.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::civil::Date;
use sha2::{Digest, Sha256};

use super::case::{Case, Presence, Stance};
use super::event::{Identity, Key};
use super::state::State;
use crate::app::table::Table;
use crate::contract::{Finding, Scan, Shared, Target};

/// What rows are made of. Comparing two compares what they refer to, not what that says.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// Every occurrence.
    pub findings: Arc<Table<Finding>>,
    /// The scans that saw them.
    pub scans: Arc<Table<Scan>>,
    /// Names of targets.
    pub targets: Arc<Table<Target>>,
    /// What was decided.
    pub state: State,
    /// Name of the workspace worked in.
    pub workspace: Shared,
    /// What stands for the workspace in fingerprints; usually empty.
    pub alias: Shared,
    /// The day for what expires.
    pub today: Date,
}

impl PartialEq for Input {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.findings, &other.findings)
            && Arc::ptr_eq(&self.scans, &other.scans)
            && Arc::ptr_eq(&self.targets, &other.targets)
            && self.state.clock() == other.state.clock()
            && (&self.workspace, &self.alias, self.today) == (&other.workspace, &other.alias, other.today)
    }
}

/// The rows, and what is said about each.
#[derive(Clone, Debug, Default)]
pub struct Arranged {
    /// One a finding.
    pub cases: Arc<Table<Case>>,
    /// Aligned with the table's items.
    pub stances: Vec<Stance>,
    /// Of the state they were made from.
    pub clock: u64,
}

/// Makes the rows.
pub fn arrange(input: &Input) -> Arranged {
    let mut taken: HashMap<Key, u32> = HashMap::new();
    let cases = input.findings.items().iter().map(|finding| {
        let mut key = key_of(finding, 0);
        let ordinal = taken.entry(key).or_default();
        *ordinal += 1;
        if *ordinal > 1 {
            key = key_of(finding, *ordinal);
        }
        let at = finding.task_id.and_then(|scan| input.scans.get(scan)?.start_time);
        let identity = Identity {
            key,
            asset: finding.target_id.and_then(|id| Some(input.targets.get(id)?.name.clone())).unwrap_or_default(),
            class: finding.vuln_id.clone(),
            name: finding.name.clone(),
            ..Identity::default()
        };
        Case {
            id: key.into(),
            identity: Arc::new(identity),
            finding: Arc::clone(finding),
            earlier: Vec::new(),
            presence: Presence::Unchanged,
            first_seen: at,
            last_seen: at,
            offered: None,
            own: None,
        }
    });
    let cases = Arc::new(Table::new(cases));
    let stances = cases.items().iter().map(|case| restance(case, &input.state, input.today)).collect();
    Arranged { cases, stances, clock: input.state.clock() }
}

/// What is said about a row now.
pub fn restance(_case: &Case, _state: &State, _today: Date) -> Stance {
    Stance::default()
}

fn key_of(finding: &Finding, ordinal: u32) -> Key {
    let text = format!("{:?}\u{1f}{}\u{1f}{}\u{1f}{ordinal}", finding.target_id, finding.name, finding.port);
    let digest = Sha256::digest(text.as_bytes());
    Key(digest.iter().take(16).fold(0, |key, byte| key << 8 | u128::from(*byte)))
}
