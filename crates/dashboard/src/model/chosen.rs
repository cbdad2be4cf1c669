//! The rows and the target that a key applies to, and their names.

use crate::base::Pane;
use crate::list::Chosen;
use crate::model::{Model, PaneItem, Review};
use scandeck_domain::query::{Expr, Query};
use scandeck_domain::triage::{Issue, IssueId};
use scandeck_wire::contract::{ScanId, TargetId, Tool, WorkspaceId};
use std::sync::Arc;

impl Model {
    /// The findings in the scope, in the order of the list; also those that the filter hides.
    pub(crate) fn findings_in_scope(&self) -> Vec<i64> {
        let Some(table) = self.data.findings.value() else {
            return Vec::new();
        };
        let in_scope = Issue::in_scope(&self.navigation.scope);
        let issues = table
            .order(0)
            .iter()
            .map(|&row| &table.items()[row as usize]);
        issues
            .filter(|issue| in_scope.as_ref().is_none_or(|holds| holds(issue)))
            .map(|issue| issue.id.0)
            .collect()
    }

    /// The query of the shown findings: the scope and the filter.
    pub(crate) fn query_of_findings(&self) -> String {
        let (scope, filter) = (&self.navigation.scope, self.lists.findings.filter.trim());
        let is_alone = scope.target.is_none() && scope.scan.is_none();
        let has_or = Query::parse(filter, Pane::Findings.kind())
            .is_ok_and(|query| matches!(query.root(), Expr::Any(_)));
        let filter = if is_alone || !has_or {
            filter.to_owned()
        } else {
            format!("({filter})")
        };
        let target = scope.target.map(|target| format!("target_id:{target}"));
        let scan = scope.scan.map(|scan| format!("scan:{scan}"));
        let clauses: Vec<String> = [target, scan, Some(filter)].into_iter().flatten().collect();
        clauses.join(" ").trim_end().to_owned()
    }

    /// The rows of an action: in a list the marked rows or the selected one, in a detail its row
    /// alone.
    pub(crate) fn chosen(&mut self, pane: Pane) -> Chosen {
        if let (Pane::Findings, Some(ids)) = (pane, self.reviewing().map(Review::included)) {
            return Chosen {
                ids: ids.into_iter().map(i64::from).collect(),
                ..Chosen::default()
            };
        }
        if self.navigation.focus.in_detail && self.navigation.focus.pane == pane {
            return Chosen {
                ids: self.selected_id(pane).into_iter().collect(),
                ..Chosen::default()
            };
        }
        self.cursor(pane).chosen()
    }

    /// The selected finding of the findings, of the board or of a review card.
    pub(crate) fn issue_at_hand(&self) -> Option<&Arc<Issue>> {
        if let Some(review) = self.reviewing() {
            return review.issue_at_hand();
        }
        match self.navigation.focus.pane {
            pane @ (Pane::Findings | Pane::Board) => self
                .data
                .findings
                .value()?
                .get(IssueId(self.selected_id(pane)?)),
            _ => None,
        }
    }

    /// The target of the focused row.
    pub fn target_at_hand(&self) -> Option<TargetId> {
        let lists = &self.lists;
        match self.navigation.focus.pane {
            Pane::Targets => lists.targets.selected,
            Pane::Findings | Pane::Board => self.issue_at_hand()?.target_id(),
            Pane::Scans => Some(
                self.data
                    .scans
                    .value()?
                    .get(lists.scans.selected?)?
                    .target_id,
            ),
            Pane::Payloads | Pane::Captures => {
                let name = &self.payload_at_hand()?.target;
                self.data
                    .targets
                    .value()?
                    .items()
                    .iter()
                    .find(|target| target.name == *name)
                    .map(|target| target.id)
            }
            _ => None,
        }
    }

    /// A scan as a phrase: `scan 118 (Website scan of shop.acme.test)`.
    pub(crate) fn scan_words(&self, id: ScanId) -> String {
        let scan = self.data.scans.value().and_then(|all| all.get(id));
        let Some(scan) = scan else {
            return format!("scan {id}");
        };
        let tool = Tool(scan.tool_id).scan();
        match self.target_name(scan.target_id) {
            Some(target) => format!("scan {id} ({tool} of {target})"),
            None => format!("scan {id} ({tool} of target {})", scan.target_id),
        }
    }

    /// The name of a workspace for prompts.
    pub(crate) fn workspace_words(&self, id: WorkspaceId) -> String {
        let workspace = self.data.workspaces.value().and_then(|all| all.get(id));
        workspace.map_or_else(
            || format!("workspace {id}"),
            |workspace| workspace.name.to_string(),
        )
    }
}
