//! Reads the findings of workspaces, and makes their rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::{FindingRows, today};
use crate::cli::dashboard::headless::workspace_lists::WorkspaceLists;
use crate::cli::dashboard::headless::{HeadlessSession, bundles, decisions};
use scandeck_client::{FindingQuery, ScanQuery};
use scandeck_domain::export::ExportRow;
use scandeck_domain::table::{IntoRow, Table};
use scandeck_domain::triage::retest::retest_results;
use scandeck_domain::triage::{CorrelationInput, ListedFinding, ReadTimes, correlate};
use scandeck_wire::contract::{Scan, Shared, Stamp, Target, TargetId, Workspace, WorkspaceId};

/// The lists of one workspace.
struct ListedWorkspace {
    workspace: Shared,
    findings: Vec<Arc<ListedFinding>>,
    scans: Vec<Arc<Scan>>,
    targets: Vec<Arc<Target>>,
}

impl FindingRows {
    /// Loads the rows of the selected workspaces, or of their bundles if the service is not
    /// reachable.
    ///
    /// # Errors
    /// Those of the service.
    pub async fn load(session: &HeadlessSession) -> anyhow::Result<Self> {
        let mut rows = Self::empty(session).await?;
        match session.workspaces().await {
            Ok(all) => {
                for workspace in all {
                    rows.read(session, &workspace).await?;
                }
            }
            Err(error) => {
                for bundle in bundles::replacement(session, error)? {
                    let findings = bundle.findings.into_iter();
                    let lists = ListedWorkspace {
                        workspace: bundle.manifest.workspace,
                        findings: findings
                            .map(|one| Arc::unwrap_or_clone(one).into_row())
                            .collect(),
                        scans: bundle.scans,
                        targets: bundle.targets,
                    };
                    rows.add(session, lists).await?;
                }
            }
        }
        rows.all
            .sort_by(|a, b| (b.risk(), &a.issue.name).cmp(&(a.risk(), &b.issue.name)));
        Ok(rows)
    }

    /// Loads the rows of one workspace, or of all selected ones if it is unknown.
    ///
    /// # Errors
    /// Those of the service.
    pub async fn load_one(
        session: &HeadlessSession,
        workspace: Option<WorkspaceId>,
    ) -> anyhow::Result<Self> {
        let Some(id) = workspace else {
            return Self::load(session).await;
        };
        let mut rows = Self::empty(session).await?;
        rows.read(session, &session.client()?.get_workspace(id).await?)
            .await?;
        Ok(rows)
    }

    /// Loads the rows of some targets of a workspace.
    ///
    /// # Errors
    /// Those of the service.
    pub async fn load_targets(
        session: &HeadlessSession,
        workspace: WorkspaceId,
        targets: &BTreeSet<TargetId>,
    ) -> anyhow::Result<Self> {
        let mut rows = Self::empty(session).await?;
        let client = session.client()?;
        let mut lists = ListedWorkspace {
            workspace: client.get_workspace(workspace).await?.name,
            findings: Vec::new(),
            scans: Vec::new(),
            targets: Vec::new(),
        };
        for &id in targets {
            let findings_of = FindingQuery {
                target_id: Some(id),
                ..FindingQuery::default()
            };
            let findings = client.list_findings(&findings_of).await?;
            let scans_of = ScanQuery {
                target_id: Some(id),
                ..ScanQuery::default()
            };
            let scans = client.list_all_scans(&scans_of).await?;
            let target = client.get_target(id).await?;
            let findings: Vec<Arc<ListedFinding>> =
                findings.into_iter().map(IntoRow::into_row).collect();
            lists.findings.extend(findings);
            lists.scans.extend(scans.into_iter().map(Arc::new));
            lists.targets.push(Arc::new(target));
        }
        rows.add(session, lists).await?;
        Ok(rows)
    }

    /// No rows yet, only decisions.
    async fn empty(session: &HeadlessSession) -> anyhow::Result<Self> {
        let (state, settings) = decisions::read(&session.memory).await?;
        Ok(Self {
            state,
            settings,
            now: Timestamp::now().as_second(),
            ..Self::default()
        })
    }

    async fn read(
        &mut self,
        session: &HeadlessSession,
        workspace: &Workspace,
    ) -> anyhow::Result<()> {
        let fetched = WorkspaceLists::fetch(session.client()?, workspace).await?;
        let lists = ListedWorkspace {
            workspace: fetched.workspace,
            findings: fetched
                .findings
                .into_iter()
                .map(IntoRow::into_row)
                .collect(),
            scans: fetched.scans.into_iter().map(Arc::new).collect(),
            targets: fetched.targets.into_iter().map(Arc::new).collect(),
        };
        self.add(session, lists).await
    }

    /// Adds the rows of one workspace.
    async fn add(
        &mut self,
        session: &HeadlessSession,
        lists: ListedWorkspace,
    ) -> anyhow::Result<()> {
        let workspace = lists.workspace.clone();
        self.add_lists(&lists);
        let input = self.correlation_input(session, lists);
        let (scans, read) = (Arc::clone(&input.scans), input.read.clone());
        let correlated = tokio::task::spawn_blocking(move || correlate(&input)).await?;
        let retests = retest_results(
            &self.settings,
            &workspace,
            (&correlated.issues, &scans),
            &read,
        );
        let assessed = correlated
            .issues
            .items()
            .iter()
            .zip(correlated.assessments.iter());
        let rows = assessed.map(|(issue, assessment)| ExportRow {
            retest: retests.get(&issue.key()).cloned(),
            correlation: Some(Arc::clone(&correlated.earlier)),
            tool_name: self.tool_name_of(&issue.finding),
            ..ExportRow::new(
                Arc::clone(issue),
                (**assessment).clone(),
                &self.state,
                self.target_of(issue),
                issue.task_id().and_then(|scan| self.tool(scan)),
                workspace.clone(),
            )
        });
        let rows: Vec<ExportRow> = rows.collect();
        self.all.extend(rows);
        Ok(())
    }

    fn correlation_input(
        &self,
        session: &HeadlessSession,
        lists: ListedWorkspace,
    ) -> CorrelationInput {
        CorrelationInput {
            findings: Arc::new(Table::new(lists.findings)),
            scans: Arc::new(Table::new(lists.scans)),
            targets: Arc::new(Table::new(lists.targets)),
            state: self.state.clone(),
            workspace: lists.workspace,
            today: today(),
            // Scans that ended before this time are complete.
            read: ReadTimes {
                all: Timestamp::from_second(self.now).ok().map(Stamp),
                ..ReadTimes::default()
            },
            now: self.now,
            alias: session.config.alias.as_str().into(),
            unread: Arc::default(),
            searched: Vec::new(),
            earlier: None,
        }
    }

    /// Adds the lists of one workspace, for queries and names.
    fn add_lists(&mut self, lists: &ListedWorkspace) {
        let of = |target: &Arc<Target>| Workspace {
            id: target.workspace_id,
            name: lists.workspace.clone(),
            ..Workspace::default()
        };
        let added = lists.targets.iter().map(of).map(Arc::new);
        let workspaces = self.workspaces.items().iter().cloned().chain(added);
        self.workspaces = Table::new(workspaces);
        let targets = self.targets.items().iter().chain(&lists.targets).cloned();
        self.targets = Table::new(targets);
        let scans = self.scans.items().iter().chain(&lists.scans).cloned();
        self.scans = Table::new(scans);
    }
}
