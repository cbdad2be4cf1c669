//! Targets: list, create, look up, delete (`api-v2.md §4`).

use super::request::{ApiRequest, ListSize, all_pages};
use super::{Client, ClientResult};
use scandeck_wire::contract::target_tags::{TAGGED_TARGETS_ROOT, TagChange, TargetTags};
use scandeck_wire::contract::{NewTarget, Shared, Target, TargetId, TargetType, WorkspaceId};

/// Query of `GET /targets`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetQuery {
    /// Only of this workspace.
    pub workspace_id: Option<WorkspaceId>,
    /// Only of this type.
    pub kind: Option<TargetType>,
    /// 1 to 1000.
    pub limit: Option<u32>,
    /// From 1.
    pub page: Option<u32>,
}

impl Client {
    /// `GET /targets`, one page.
    ///
    /// # Errors
    /// 400 invalid parameters.
    pub async fn list_targets(&self, query: &TargetQuery) -> ClientResult<Vec<Target>> {
        self.targets_page(query, 0)
            .await
            .map(|(targets, _)| targets)
    }

    async fn targets_page(
        &self,
        query: &TargetQuery,
        before: usize,
    ) -> ClientResult<(Vec<Target>, usize)> {
        let request = ApiRequest::get("/targets")
            .with_list(ListSize::Targets)
            .with("workspace_id", query.workspace_id)
            .with("type", query.kind.as_ref())
            .with("limit", query.limit)
            .with("page", query.page);
        self.fetch_page(request, None, before).await
    }

    /// Every page of `GET /targets`.
    ///
    /// # Errors
    /// 400 invalid parameters.
    pub async fn list_all_targets(&self, query: &TargetQuery) -> ClientResult<Vec<Target>> {
        let fetch = |limit, page, before| {
            let query = TargetQuery {
                limit: Some(limit),
                page: Some(page),
                ..query.clone()
            };
            async move { self.targets_page(&query, before).await }
        };
        all_pages(|target| target.id, fetch).await
    }

    /// `POST /targets`.
    ///
    /// # Errors
    /// 400 invalid, 403 not in scope or too many targets, 404 unknown workspace, 409 exists
    /// already.
    pub async fn create_target(&self, new: &NewTarget) -> ClientResult<TargetId> {
        let form = [
            ("name", Some(new.name.clone())),
            ("description", new.description.clone()),
            ("workspace_id", new.workspace_id.map(|id| id.to_string())),
        ];
        Ok(TargetId(
            self.create(ApiRequest::post("/targets").with_form(form))
                .await?,
        ))
    }

    /// `POST /targets/{id}/tags` beside the API v2, which a service with [`Client::has_team`] has:
    /// adds and removes tags.
    ///
    /// # Errors
    /// 400 no tag or too many, 404 unknown.
    pub async fn change_target_tags(
        &self,
        id: TargetId,
        change: &TagChange,
    ) -> ClientResult<Vec<Shared>> {
        let path = format!("{TAGGED_TARGETS_ROOT}/{id}/tags");
        let changed: TargetTags = self.fetch(ApiRequest::post(path).with_json(change)).await?;
        Ok(changed.tags)
    }

    /// `GET /targets/{id}`.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn get_target(&self, id: TargetId) -> ClientResult<Target> {
        self.fetch(ApiRequest::get(format!("/targets/{id}"))).await
    }

    /// `DELETE /targets/{id}`: the target and its scans.
    ///
    /// # Errors
    /// 404 unknown, 409 the target has running scans.
    pub async fn delete_target(&self, id: TargetId) -> ClientResult<()> {
        self.delete(format!("/targets/{id}")).await
    }
}
