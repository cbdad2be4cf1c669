//! The rows of the retest board.

use crate::base::{GroupId, Pane, Tone};
use crate::data::board::*;
use crate::input::{Action, Context, GroupAction};
use crate::model::Model;
use scandeck_domain::table::Table;
use scandeck_domain::triage::{FindingKey, IssueId, RETEST_SETTING, Retest, RetestStatus};
use scandeck_wire::contract::{Shared, Stamp};
use scandeck_wire::text::plural;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Start of the notice about an ended retest.
pub(crate) const RETEST_ENDED: &str = "retest ended: ";

impl Model {
    /// Makes the rows of the board, after scans, findings or the board changed.
    pub(crate) fn make_board(&mut self) {
        let Some(board) = &self.findings.board else {
            return;
        };
        let (Some(issues), Some(scans)) = (self.data.findings.value(), self.data.scans.value())
        else {
            return;
        };
        let rows = board.rows(issues, scans, &self.findings.triage.read);
        self.data
            .board
            .succeed(Arc::new(Table::new(rows)), Stamp(self.now.wall));
        self.show_rows(Pane::Board);
    }

    /// The retest of a workspace: that on the board, else the saved one.
    pub(crate) fn retest_of(&self, workspace: &Shared) -> Option<Retest> {
        let is_here = self.workspace().is_none_or(|here| here.name == *workspace);
        match &self.findings.board {
            Some(Board::Retest(retest)) if is_here => Some(retest.clone()),
            _ => self.setting(RETEST_SETTING, workspace),
        }
    }

    /// Reports the result of a retest when the last of its scans has one.
    pub(crate) fn report_retest(&mut self) {
        let Some(retest) = self.retest_of(&self.workspace_name()) else {
            return;
        };
        let (Some(issues), Some(scans)) = (self.data.findings.value(), self.data.scans.value())
        else {
            return;
        };
        let now = retest.now(issues, scans, &self.findings.triage.read);
        let is_open = |now: &RetestStatus| {
            matches!(
                now,
                RetestStatus::Running(_) | RetestStatus::Reading | RetestStatus::Waiting
            )
        };
        let is_running = now.iter().any(is_open);
        if !std::mem::replace(&mut self.findings.is_retest_running, is_running) || is_running {
            return;
        }
        // Only the findings that were requested since the last notice are counted; after a restart,
        // all.
        let requested = self.findings.requested_retest.take();
        let is_requested = |key: &FindingKey| {
            requested
                .as_ref()
                .is_none_or(|requested| requested.contains(key))
        };
        let mut counts = BTreeMap::<_, (usize, &str)>::new();
        for (_, status) in retest
            .findings
            .iter()
            .zip(now)
            .filter(|(finding, _)| is_requested(&finding.key))
        {
            counts.entry(status.rank()).or_insert((0, status.label())).0 += 1;
        }
        if counts.is_empty() {
            return;
        }
        let counts: Vec<String> = counts
            .values()
            .map(|(count, label)| format!("{} {label}", plural(*count, "finding")))
            .collect();
        let mut text = format!("{RETEST_ENDED}{}", counts.join(", "));
        if self.navigation.focus.pane != Pane::Board {
            text.push_str(&format!(" · {} opens the board", self.retest_board_keys()));
        }
        self.overlay
            .notices
            .notify_until_seen(self.now.mono, Tone::Good, text);
    }

    /// The keys that open the board from the findings.
    pub(crate) fn retest_board_keys(&self) -> String {
        self.key_label(Context::Group, Action::Group(GroupAction::Now))
    }

    /// Shows the rows that the filter matches, in groups where the order is that of NOW.
    pub(crate) fn show_board(&mut self) {
        self.follow_view();
        self.show_board_rows();
    }

    /// Shows the rows that the last view of the findings has found.
    pub(crate) fn show_board_rows(&mut self) {
        let Some(table) = self.data.board.value().cloned() else {
            return;
        };
        // While the view of many findings is computed, the findings that were found before remain.
        let view = self.findings.view.shown.as_ref();
        let found = view.and_then(|view| Some((view.board.as_ref()?, &view.source.input.issues)));
        let found = found.filter(|_| !self.lists.board.filter.is_empty());
        let list = &mut self.lists.board;
        list.in_scope = table.len();
        let is_found = |id: IssueId| {
            found.is_none_or(|(found, issues)| {
                issues.position(id).is_some_and(|at| found.rows.has(at))
            }) || list.retained.contains_key(&id)
        };
        let order = table.order(list.sort).iter();
        let rows: Vec<u32> = order
            .filter(|row| is_found(table.items()[**row as usize].id))
            .copied()
            .collect();
        match list.sort == BY_NOW {
            true => {
                let ranks: Vec<u32> = rows
                    .iter()
                    .map(|&row| table.items()[row as usize].now.rank() as u32)
                    .collect();
                let last = ranks.iter().copied().max().unwrap_or(0);
                if !list.groups.is_on() {
                    list.groups.enable(true, 1);
                }
                list.groups
                    .fill((0..=last).map(|rank| GroupId(rank.into())), ranks);
            }
            false => {
                list.leave_header(&table);
                list.groups.disable();
            }
        }
        list.show(&table, rows);
    }
}
