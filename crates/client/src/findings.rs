//! Findings: list and look up (`api-v2.md §4`).

use std::path::Path;

use super::request::{ApiRequest, ListSize, ResponseSize};
use super::{Client, ClientResult, Collector};
use scandeck_wire::contract::{Finding, FindingId, ScanId, TargetId, WorkspaceId};

/// Query of `GET /findings`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FindingQuery {
    /// Only of this workspace.
    pub workspace_id: Option<WorkspaceId>,
    /// Only of this target.
    pub target_id: Option<TargetId>,
    /// Only of this scan.
    pub task_id: Option<ScanId>,
    /// Only the latest of each group of duplicates.
    pub group_duplicates: Option<bool>,
}

impl Client {
    /// `GET /findings`; not paged.
    ///
    /// # Errors
    /// 400 invalid parameters; too large beyond 512 MB, or 288 MB when decoded.
    pub async fn list_findings(&self, query: &FindingQuery) -> ClientResult<Vec<Finding>> {
        self.fetch_list(request(query)).await
    }

    /// The same, one finding at a time. The response waits in a file of `directory` that has no
    /// name.
    ///
    /// # Errors
    /// Those of [`list_findings`](Self::list_findings), and those of the collector.
    pub async fn collect_findings<C: Collector<Finding>>(
        &self,
        query: &FindingQuery,
        directory: &Path,
        collector: C,
    ) -> ClientResult<C> {
        self.fetch_each(request(query), directory, collector).await
    }

    /// `GET /findings/{id}`.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn get_finding(&self, id: FindingId) -> ClientResult<Finding> {
        self.fetch(ApiRequest::get(format!("/findings/{id}"))).await
    }
}

fn request(query: &FindingQuery) -> ApiRequest {
    ApiRequest::get("/findings")
        .with("workspace_id", query.workspace_id)
        .with("target_id", query.target_id)
        .with("task_id", query.task_id)
        .with("group_duplicates", query.group_duplicates)
        .with_size(ResponseSize::Large)
        .with_list(ListSize::Findings)
}
