//! HTTP loggers: list, create, look up, delete, captured requests, clear (`api-v2.md §4`); and reading one out, before it
//! is cleared.

use super::request::{AnswerSize, ApiRequest};
use super::{Client, ClientResult};
use crate::contract::{Capture, CaptureId, Created, Logger, LoggerId, Requests, WorkspaceId};

/// Looks at a logger before it is cleared. While the last one was read and kept more may have come in.
const LOOKS: usize = 5;

impl Client {
    /// `GET /http_loggers`; all loggers when no workspace is given.
    ///
    /// # Errors
    /// Those of every call.
    pub async fn list_loggers(&self, workspace: Option<WorkspaceId>) -> ClientResult<Vec<Logger>> {
        self.fetch_list(ApiRequest::get("/http_loggers").with("workspace_id", workspace)).await
    }

    /// `POST /http_loggers`.
    ///
    /// # Errors
    /// 422 the label is invalid or taken (409 on some services).
    pub async fn create_logger(&self, label: &str, workspace: Option<WorkspaceId>) -> ClientResult<LoggerId> {
        // In the query as the contract says and in the form as existing clients do: services differ in which they read.
        let form = [("label", Some(label.to_owned())), ("workspace_id", workspace.map(|id| id.to_string()))];
        let request = ApiRequest::post("/http_loggers").with("workspace_id", workspace).with_form(form);
        let created: Created = self.fetch(request).await?;
        Ok(LoggerId(created.created_id))
    }

    /// `GET /http_loggers/{id}`.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn get_logger(&self, id: LoggerId) -> ClientResult<Logger> {
        self.fetch(ApiRequest::get(format!("/http_loggers/{id}"))).await
    }

    /// `DELETE /http_loggers/{id}`.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn delete_logger(&self, id: LoggerId) -> ClientResult<()> {
        self.perform(ApiRequest::delete(format!("/http_loggers/{id}"))).await
    }

    /// `GET /http_loggers/{id}/data`, ascending by id and only those after `since`. Services that know `since_id`
    /// send only these; from others the older ones are dropped here.
    ///
    /// # Errors
    /// 404 unknown; too large beyond 512 MB.
    pub async fn list_captures(&self, id: LoggerId, since: Option<CaptureId>) -> ClientResult<Vec<Capture>> {
        let request =
            ApiRequest::get(format!("/http_loggers/{id}/data")).with("since_id", since).with_size(AnswerSize::Big);
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
    pub async fn clear_captures(&self, id: LoggerId) -> ClientResult<()> {
        self.perform(ApiRequest::delete(format!("/http_loggers/{id}/data"))).await
    }
}

/// Everything that a logger recorded, a look after the other until one finds nothing more: what comes in between the last
/// one and the clear is all that can be missed. A logger that is called without a pause gets no more than a few.
#[derive(Debug)]
pub struct ReadOut {
    logger: LoggerId,
    since: Option<CaptureId>,
    looks: usize,
}

impl ReadOut {
    /// From the first.
    pub fn of(logger: LoggerId) -> Self {
        Self { logger, since: None, looks: 0 }
    }

    /// What came in since the look before; none when that is nothing.
    ///
    /// # Errors
    /// Those of [`Client::list_captures`].
    pub async fn next(&mut self, client: &Client) -> ClientResult<Option<Vec<Capture>>> {
        if self.looks == LOOKS {
            return Ok(None);
        }
        self.looks += 1;
        let captures = client.list_captures(self.logger, self.since).await?;
        let Some(last) = captures.last() else { return Ok(None) };
        self.since = Some(last.id);
        Ok(Some(captures))
    }
}
