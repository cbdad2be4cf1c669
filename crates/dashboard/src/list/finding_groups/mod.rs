//! Grouping of findings: the attribute, the keys, and the summary of each group.
//!
//! ```text
//!   rows of the list (filter, scope, order) ─► GroupKeys: the group of each row ─► Groups ─► GroupSummary per group
//! ```
//!
//! `Groups`, the rows and the size of each group, is in `list/groups.rs`, for captures too.

use crate::list::{Group, List};
use scandeck_domain::query::RowSet;
use scandeck_domain::table::Table;
use scandeck_domain::triage::{Assessments, Issue, Presence};
use scandeck_wire::contract::Risk;
use std::cmp::Reverse;
use std::sync::Arc;

pub use crate::base::FindingGroupBy;
pub use crate::base::group_keys::{GroupKeys, GroupName, belongs, group_id};

/// The shown findings of a group, summarised for its header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupSummary {
    /// The highest risk.
    pub risk: Risk,
    /// The most important presence.
    pub presence: Presence,
    /// Whether one of them is known to be exploited.
    pub has_exploited: bool,
    /// Whether one of them is proven by the scanner.
    pub has_proven: bool,
    /// The number of findings; in a list without filter, of present ones.
    pub count: u32,
    /// The number of their targets; of a target, the number of their classes.
    pub others: u32,
    pub new: u32,
    pub reappeared: u32,
    pub undecided: u32,
    /// The decided findings that are counted.
    pub decided: u32,
}

/// The findings that group headers count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    /// The findings of a filter or of a scan.
    #[default]
    All,
    /// As the tabs and the other panes count.
    Present,
}

/// Grouping of the findings, if `by` is set.
#[derive(Clone, Debug, Default)]
pub struct FindingGroups {
    /// The grouping that the user chose.
    pub requested: Option<FindingGroupBy>,
    /// The grouping of the rows.
    pub by: Option<FindingGroupBy>,
    /// The groups of the rows.
    shown: Option<Arc<GroupKeys>>,
    /// By the number of the group.
    summaries: Vec<GroupSummary>,
}

impl FindingGroups {
    pub fn name(&self, group: &Group) -> Option<&GroupName> {
        self.shown.as_ref()?.names.get(group.number as usize)
    }

    pub fn summary(&self, group: &Group) -> GroupSummary {
        self.summaries
            .get(group.number as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Shows rows in these groups.
    pub(crate) fn show(
        &mut self,
        list: &mut List<Issue>,
        table: &Arc<Table<Issue>>,
        rows: Arc<Vec<u32>>,
        keys: Option<Arc<GroupKeys>>,
        assessments: &Assessments,
        counted: Counted,
    ) {
        let by = keys.as_ref().map(|keys| keys.by);
        let before = std::mem::replace(&mut self.by, by);
        // Without groups before, only a restart has selected a header.
        if before.is_some() && before != by && list.shows(table) {
            list.leave_header(table);
        }
        self.shown.clone_from(&keys);
        let Some(keys) = keys else {
            list.groups.disable();
            list.rows = rows;
            return list.restore_selection(table);
        };
        if !list.groups.is_on() {
            list.groups.enable(false, 1);
        }
        let numbers = rows.iter().map(|&row| keys.of[row as usize]).collect();
        list.groups
            .fill(keys.names.iter().map(|name| name.id), numbers);
        self.summaries = summaries(&rows, &keys, assessments, counted);
        list.rows = rows;
        if list.sort == 0 && list.order.is_empty() {
            list.groups.sort_by_key(|group| {
                let GroupSummary { risk, count, .. } = self.summaries[group.number as usize];
                (Reverse((risk, count)), group.number)
            });
        }
        list.restore_selection(table);
    }
}

/// The summary of each group, by its number. The rows are read in their order and not group by
/// group: then most of them are next to each other in memory.
fn summaries(
    rows: &[u32],
    keys: &GroupKeys,
    assessments: &Assessments,
    counted: Counted,
) -> Vec<GroupSummary> {
    let none = GroupSummary {
        presence: Presence::Absent,
        ..GroupSummary::default()
    };
    let mut summaries = vec![none; keys.names.len()];
    let mut seen = RowSet::none(keys.pairs.len());
    for &position in rows {
        let pair = keys.pairs[position as usize];
        let fact = keys.facts[position as usize];
        let presence = fact.presence;
        let summary = &mut summaries[keys.of[position as usize] as usize];
        summary.risk = summary.risk.max(fact.risk);
        summary.has_exploited |= fact.is_exploited;
        summary.has_proven |= fact.is_proven;
        let is_counted = counted.has(presence);
        if is_counted {
            summary.count += 1;
            summary.others += u32::from(!seen.has(pair as usize));
            seen.set(pair as usize);
        }
        summary.new += u32::from(presence == Presence::New);
        summary.reappeared += u32::from(presence == Presence::Reappeared);
        summary.add_decision(is_undecided(assessments, position), is_counted);
        if importance(presence) < importance(summary.presence) {
            summary.presence = presence;
        }
    }
    summaries
}

impl GroupSummary {
    fn add_decision(&mut self, is_undecided: bool, is_counted: bool) {
        self.undecided += u32::from(is_undecided);
        self.decided += u32::from(!is_undecided && is_counted);
    }
}

impl Counted {
    fn has(self, presence: Presence) -> bool {
        self == Self::All || presence != Presence::Absent
    }
}

/// The rank of a presence in a group header; the lowest is shown.
fn importance(presence: Presence) -> u8 {
    match presence {
        Presence::Reappeared => 0,
        Presence::New => 1,
        Presence::Changed => 2,
        Presence::Unchanged => 3,
        Presence::NotRetested => 4,
        Presence::Absent => 5,
    }
}

fn is_undecided(assessments: &Assessments, position: u32) -> bool {
    assessments
        .get(position as usize)
        .is_none_or(|assessment| assessment.is_undecided())
}
