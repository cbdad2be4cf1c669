//! The targets, scans and findings of a workspace, as the service lists them.

use scandeck_client::{Client, FindingQuery, ScanQuery, TargetQuery};
use scandeck_wire::contract::{Finding, Scan, Shared, Target, Workspace};

pub struct WorkspaceLists {
    pub workspace: Shared,
    pub targets: Vec<Target>,
    pub scans: Vec<Scan>,
    pub findings: Vec<Finding>,
}

impl WorkspaceLists {
    /// # Errors
    /// Those of the service.
    pub async fn fetch(client: &Client, workspace: &Workspace) -> anyhow::Result<Self> {
        let id = Some(workspace.id);
        let targets = client
            .list_all_targets(&TargetQuery {
                workspace_id: id,
                ..TargetQuery::default()
            })
            .await?;
        let scans = client
            .list_all_scans(&ScanQuery {
                workspace_id: id,
                ..ScanQuery::default()
            })
            .await?;
        let findings = client
            .list_findings(&FindingQuery {
                workspace_id: id,
                ..FindingQuery::default()
            })
            .await?;
        Ok(Self {
            workspace: workspace.name.clone(),
            targets,
            scans,
            findings,
        })
    }
}
