//! Workspaces: list, create, look up, edit, delete (`api-v2.md §4`).

use super::request::ApiRequest;
use super::{Client, ClientResult};
use scandeck_wire::contract::{EditWorkspace, NewWorkspace, Workspace, WorkspaceId};

impl Client {
    /// `GET /workspaces`.
    ///
    /// # Errors
    /// Those of every call.
    pub async fn list_workspaces(&self) -> ClientResult<Vec<Workspace>> {
        self.fetch_list(ApiRequest::get("/workspaces")).await
    }

    /// `POST /workspaces`.
    ///
    /// # Errors
    /// 400 invalid, 409 the name is taken.
    pub async fn create_workspace(&self, new: &NewWorkspace) -> ClientResult<WorkspaceId> {
        let form = [
            ("name", Some(new.name.clone())),
            ("description", new.description.clone()),
        ];
        Ok(WorkspaceId(
            self.create(ApiRequest::post("/workspaces").with_form(form))
                .await?,
        ))
    }

    /// `GET /workspaces/{id}`.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn get_workspace(&self, id: WorkspaceId) -> ClientResult<Workspace> {
        self.fetch(ApiRequest::get(format!("/workspaces/{id}")))
            .await
    }

    /// `PUT /workspaces/{id}`.
    ///
    /// # Errors
    /// 400 invalid or nothing given, 404 unknown, 409 the name is taken.
    pub async fn edit_workspace(&self, id: WorkspaceId, edit: &EditWorkspace) -> ClientResult<()> {
        self.perform(ApiRequest::put(format!("/workspaces/{id}")).with_json(edit))
            .await
    }

    /// `DELETE /workspaces/{id}`: the workspace with everything in it.
    ///
    /// # Errors
    /// 404 unknown, 409 the workspace is the current one.
    pub async fn delete_workspace(&self, id: WorkspaceId) -> ClientResult<()> {
        self.delete(format!("/workspaces/{id}")).await
    }
}
