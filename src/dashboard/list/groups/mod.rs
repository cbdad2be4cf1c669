//! The findings in groups: heads that can be unfolded, with what their members come to.
//!
//! ```text
//!   rows of the list (filter, scope, order) ─► Keys: which group each belongs to ─► FindingGroup, one a head
//!                                                                                  └► GroupRow::Head · GroupRow::Case (unfolded)
//! ```
//!
//! The list keeps its rows flat; what is drawn and walked are the [`GroupRow`]s made of them. A head has an id like a
//! finding's, so that selection, polling and drawing treat both alike; marks are on findings only.

pub mod cursor;
pub mod group_keys;

use crate::contract::Risk;
use crate::dashboard::list::List;
use crate::table::Table;
use crate::triage::{Assessment, Case, CaseId, Presence};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

pub use crate::dashboard::list::groups::group_keys::{belongs, head_id};
pub use crate::dashboard::list::{Keys, Name};

/// What findings have in common in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingGroupBy {
    Class,
    Target,
    Cve,
    Cwe,
    Owasp,
    Port,
}

impl FindingGroupBy {
    /// One word for people, and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Target => "target",
            Self::Cve => "CVE",
            Self::Cwe => "CWE",
            Self::Owasp => "OWASP",
            Self::Port => "port",
        }
    }

    /// The same for several of them.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Class => "classes",
            Self::Target => "targets",
            Self::Cve => "CVEs",
            Self::Cwe => "CWEs",
            Self::Owasp => "OWASP categories",
            Self::Port => "ports",
        }
    }

    /// What findings have in common that tell nothing here.
    pub fn nothing(self) -> &'static str {
        match self {
            Self::Class => "no class",
            Self::Target => "no target",
            Self::Cve => "no CVE",
            Self::Cwe => "no CWE",
            Self::Owasp => "no OWASP category",
            Self::Port => "no port",
        }
    }
}

/// A head with what its shown members come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingGroup {
    /// Names the head; negative.
    pub id: CaseId,
    /// Its number in [`Keys`].
    pub key: u32,
    /// The worst.
    pub risk: Risk,
    /// The most telling.
    pub presence: Presence,
    /// How many targets; of a target, how many classes.
    pub others: u32,
    /// How many are new or back again.
    pub new: u32,
    /// How many are undecided.
    pub undecided: u32,
    /// Its part of the members.
    members: Range<u32>,
    /// Its members have rows of their own.
    pub open: bool,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupRow {
    /// The head of a group, by its number.
    Head(u32),
    /// A member, by its position in the table.
    Case(u32),
}

/// The findings in groups. Off as long as `by` is none.
#[derive(Clone, Debug, Default)]
pub struct FindingGroups {
    /// FindingGroupBy what.
    pub by: Option<FindingGroupBy>,
    /// What is drawn.
    pub rows: Arc<Vec<GroupRow>>,
    open: BTreeSet<CaseId>,
    keys: Option<Arc<Keys>>,
    groups: Vec<FindingGroup>,
    members: Vec<u32>,
}

impl FindingGroups {
    /// The groups, in the order of their heads.
    pub fn all(&self) -> &[FindingGroup] {
        &self.groups
    }

    /// Positions of the members of a group, in the order of the list.
    pub fn members(&self, group: &FindingGroup) -> &[u32] {
        &self.members[group.members.start as usize..group.members.end as usize]
    }

    /// Positions of all members, in the order of their heads.
    pub fn all_members(&self) -> impl Iterator<Item = u32> {
        self.groups.iter().flat_map(|group| self.members(group)).copied()
    }

    /// The group of this head.
    pub fn head(&self, id: CaseId) -> Option<&FindingGroup> {
        self.groups.iter().find(|group| group.id == id)
    }

    /// What a group is called.
    pub fn name(&self, group: &FindingGroup) -> Option<&Name> {
        self.keys.as_ref()?.names.get(group.key as usize)
    }

    /// The head of the group that a position belongs to.
    pub fn head_of(&self, position: u32) -> Option<CaseId> {
        let keys = self.keys.as_ref().filter(|_| self.by.is_some())?;
        Some(keys.names[*keys.of.get(position as usize)? as usize].id)
    }

    /// The id of a row.
    pub fn id_at(&self, table: &Table<Case>, at: usize) -> Option<CaseId> {
        match *self.rows.get(at)? {
            GroupRow::Head(group) => Some(self.groups.get(group as usize)?.id),
            GroupRow::Case(position) => Some(table.items().get(position as usize)?.id),
        }
    }

    /// The row of an id; of a finding that is folded away, that of its head.
    pub fn place(&self, table: &Table<Case>, id: CaseId) -> Option<usize> {
        let head = |id: CaseId| {
            let head = |row: &GroupRow| matches!(*row, GroupRow::Head(group) if self.groups[group as usize].id == id);
            self.rows.iter().position(head)
        };
        if id.0 < 0 {
            return head(id);
        }
        let position = table.position(id)? as u32;
        match self.rows.iter().position(|&row| row == GroupRow::Case(position)) {
            None if self.members.contains(&position) => head(self.head_of(position)?),
            place => place,
        }
    }

    /// Unfolds a group, or folds it.
    pub fn fold(&mut self, id: CaseId, open: bool) {
        match open {
            true => self.open.insert(id),
            false => self.open.remove(&id),
        };
        if let Some(group) = self.groups.iter_mut().find(|group| group.id == id) {
            group.open = open;
        }
        self.make_rows();
    }

    /// Makes groups of the rows of the list, and keeps the selection on its id.
    pub(crate) fn show(&mut self, list: &mut List<Case>, table: &Arc<Table<Case>>, assessments: &[Arc<Assessment>]) {
        let Some(by) = self.by else { return };
        let keys = match self.keys.take() {
            Some(keys) if keys.fits(by, table) => keys,
            _ => Arc::new(Keys::of(by, table)),
        };
        self.collect(&keys, &list.rows, assessments, list.sort == 0 && list.order.is_empty());
        self.keys = Some(keys);
        self.make_rows();
        let place = |id: CaseId| self.place(table, id);
        list.settle(table, self.rows.len(), place, |at| self.id_at(table, at));
    }

    /// Counts anew what is undecided, after something was decided.
    pub(crate) fn count_undecided(&mut self, assessments: &[Arc<Assessment>]) {
        for group in &mut self.groups {
            let members = &self.members[group.members.start as usize..group.members.end as usize];
            group.undecided = members.iter().filter(|&&at| is_undecided(assessments, at)).count() as u32;
        }
    }

    fn collect(&mut self, keys: &Keys, rows: &[u32], assessments: &[Arc<Assessment>], by_risk: bool) {
        let mut counts = vec![0u32; keys.names.len()];
        rows.iter().for_each(|&row| counts[keys.of[row as usize] as usize] += 1);
        let mut starts = Vec::with_capacity(counts.len());
        let mut end = 0;
        for count in &counts {
            starts.push(end);
            end += count;
        }
        self.members = vec![0; rows.len()];
        // Where the group has its first row: the order of the heads where it is not that of the risks.
        let mut first = vec![u32::MAX; counts.len()];
        let mut free = starts.clone();
        for (at, &row) in rows.iter().enumerate() {
            let key = keys.of[row as usize] as usize;
            self.members[free[key] as usize] = row;
            free[key] += 1;
            first[key] = first[key].min(at as u32);
        }
        let mut seen = Seen::default();
        let groups = (0..counts.len()).filter(|&key| counts[key] > 0).map(|key| {
            let id = keys.names[key].id;
            let members = starts[key]..starts[key] + counts[key];
            let group =
                FindingGroup { id, key: key as u32, open: self.open.contains(&id), members, ..FindingGroup::default() };
            group.counted(&self.members, keys, assessments, &mut seen)
        });
        self.groups = groups.collect();
        match by_risk {
            true => self.groups.sort_by_cached_key(|group| {
                let name = &keys.names[group.key as usize];
                (Reverse((group.risk, group.members.len())), name.title.clone(), name.key.clone())
            }),
            false => self.groups.sort_by_key(|group| first[group.key as usize]),
        }
    }

    fn make_rows(&mut self) {
        let mut rows = Vec::with_capacity(self.groups.len());
        for (number, group) in self.groups.iter().enumerate() {
            rows.push(GroupRow::Head(number as u32));
            if group.open {
                rows.extend(self.members(group).iter().map(|&position| GroupRow::Case(position)));
            }
        }
        self.rows = Arc::new(rows);
    }
}

impl Default for FindingGroup {
    fn default() -> Self {
        Self {
            id: CaseId::default(),
            key: 0,
            risk: Risk::default(),
            presence: Presence::Unchanged,
            others: 0,
            new: 0,
            undecided: 0,
            members: 0..0,
            open: false,
        }
    }
}

impl FindingGroup {
    /// How many members are shown.
    pub fn count(&self) -> usize {
        self.members.len()
    }

    fn counted(mut self, members: &[u32], keys: &Keys, assessments: &[Arc<Assessment>], seen: &mut Seen) -> Self {
        seen.next();
        let mut least = u8::MAX;
        for &position in &members[self.members.start as usize..self.members.end as usize] {
            let (risk, presence) = keys.told[position as usize];
            let own = assessments.get(position as usize).and_then(|assessment| assessment.severity);
            self.risk = self.risk.max(own.unwrap_or(risk));
            self.others += u32::from(seen.is_first(keys.others[position as usize]));
            self.new += u32::from(matches!(presence, Presence::New | Presence::Reappeared));
            self.undecided += u32::from(is_undecided(assessments, position));
            if telling(presence) < least {
                least = telling(presence);
                self.presence = presence;
            }
        }
        self
    }
}

/// The lower, the more a group's head must tell it.
fn telling(presence: Presence) -> u8 {
    match presence {
        Presence::Reappeared => 0,
        Presence::New => 1,
        Presence::Updated => 2,
        Presence::Unchanged => 3,
        Presence::NotRetested => 4,
        Presence::Absent => 5,
    }
}

fn is_undecided(assessments: &[Arc<Assessment>], position: u32) -> bool {
    assessments.get(position as usize).is_none_or(|assessment| assessment.is_undecided())
}

/// Which small numbers were met since the last round.
#[derive(Default)]
struct Seen {
    round: u32,
    last: Vec<u32>,
}

impl Seen {
    fn next(&mut self) {
        self.round += 1;
    }

    fn is_first(&mut self, number: u32) -> bool {
        let number = number as usize;
        if self.last.len() <= number {
            self.last.resize(number + 1, 0);
        }
        std::mem::replace(&mut self.last[number], self.round) != self.round
    }
}
