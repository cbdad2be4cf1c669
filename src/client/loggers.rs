//! HTTP loggers: list, create, look up, delete, captured requests, clear (`api-v2.md §4`).

use super::request::{Request, Size};
use super::{Client, Result};
use crate::contract::{Capture, CaptureId, Created, Logger, LoggerId, Requests, WorkspaceId};

impl Client {
    /// `GET /http_loggers`; all loggers when no workspace is given.
    ///
    /// # Errors
    /// Those of every call.
    pub async fn list_loggers(&self, workspace: Option<WorkspaceId>) -> Result<Vec<Logger>> {
        self.fetch_list(Request::get("/http_loggers").with("workspace_id", workspace)).await
    }

    /// `POST /http_loggers`.
    ///
    /// # Errors
    /// 422 the label is invalid or taken (409 on some services).
    pub async fn create_logger(&self, label: &str, workspace: Option<WorkspaceId>) -> Result<LoggerId> {
        // In the query as the contract says and in the form as existing clients do: services differ in which they read.
        let form = [("label", Some(label.to_owned())), ("workspace_id", workspace.map(|id| id.to_string()))];
        let request = Request::post("/http_loggers").with("workspace_id", workspace).with_form(form);
        let created: Created = self.fetch(request).await?;
        Ok(LoggerId(created.created_id))
    }

    /// `GET /http_loggers/{id}`.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn get_logger(&self, id: LoggerId) -> Result<Logger> {
        self.fetch(Request::get(format!("/http_loggers/{id}"))).await
    }

    /// `DELETE /http_loggers/{id}`.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn delete_logger(&self, id: LoggerId) -> Result<()> {
        self.perform(Request::delete(format!("/http_loggers/{id}"))).await
    }

    /// `GET /http_loggers/{id}/data`, ascending by id and only those after `since`. Services that know `since_id`
    /// send only these; from others the older ones are dropped here.
    ///
    /// # Errors
    /// 404 unknown; too large beyond 512 MB.
    pub async fn list_captures(&self, id: LoggerId, since: Option<CaptureId>) -> Result<Vec<Capture>> {
        let request = Request::get(format!("/http_loggers/{id}/data")).with("since_id", since).with_size(Size::Big);
        let recorded: Requests = self.fetch(request).await?;
        let mut captures = recorded.requests;
        captures.retain(|capture| since.is_none_or(|since| capture.id > since));
        captures.sort_by_key(|capture| capture.id);
        Ok(captures)
    }

    /// `DELETE /http_loggers/{id}/data`: the service forgets every request of this logger, for good.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn clear_captures(&self, id: LoggerId) -> Result<()> {
        self.perform(Request::delete(format!("/http_loggers/{id}/data"))).await
    }
}
