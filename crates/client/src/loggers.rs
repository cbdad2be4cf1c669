//! HTTP loggers: list, create, look up, delete, captured requests, clear (`api-v2.md §4`).

use super::request::{ApiRequest, ListSize, ResponseSize};
use super::{Client, ClientResult, Error, ErrorKind};
use scandeck_wire::contract::{
    Capture, CaptureId, Logger, LoggerId, UnattributedRequests, WorkspaceId,
};

impl Client {
    /// `GET /http_loggers`; the loggers of every workspace when none is given.
    ///
    /// # Errors
    /// Those of every call.
    pub async fn list_loggers(&self, workspace: Option<WorkspaceId>) -> ClientResult<Vec<Logger>> {
        self.fetch_list(ApiRequest::get("/http_loggers").with("workspace_id", workspace))
            .await
    }

    /// `POST /http_loggers`.
    ///
    /// # Errors
    /// 422 the label is invalid or taken (409 on some services).
    pub async fn create_logger(
        &self,
        label: &str,
        workspace: Option<WorkspaceId>,
    ) -> ClientResult<LoggerId> {
        // In the query as the contract requires and in the form as existing clients send it:
        // services read either.
        let form = [
            ("label", Some(label.to_owned())),
            ("workspace_id", workspace.map(|id| id.to_string())),
        ];
        let request = ApiRequest::post("/http_loggers")
            .with("workspace_id", workspace)
            .with_form(form);
        Ok(LoggerId(self.create(request).await?))
    }

    /// `GET /http_loggers/{id}`.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn get_logger(&self, id: LoggerId) -> ClientResult<Logger> {
        self.fetch(ApiRequest::get(format!("/http_loggers/{id}")))
            .await
    }

    /// `DELETE /http_loggers/{id}`.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn delete_logger(&self, id: LoggerId) -> ClientResult<()> {
        self.delete(format!("/http_loggers/{id}")).await
    }

    /// `GET /http_loggers/{id}/data`: captures in ascending order of their ids, only those after
    /// `since`. Services without `since_id` send all captures; the older ones are dropped here.
    ///
    /// # Errors
    /// 404 unknown; too large beyond 512 MB.
    pub async fn list_captures(
        &self,
        id: LoggerId,
        since: Option<CaptureId>,
    ) -> ClientResult<Vec<Capture>> {
        let request = ApiRequest::get(format!("/http_loggers/{id}/data"))
            .with("since_id", since)
            .with_size(ResponseSize::Large)
            .with_list(ListSize::Captures);
        let mut captures: Vec<Capture> = self.fetch_list_in(request, Some("requests")).await?;
        if !captures.is_empty()
            && captures
                .iter()
                .all(|capture| capture.id == CaptureId::default())
        {
            return Err(Error::new(
                ErrorKind::Decode,
                "unexpected JSON: items without id",
            ));
        }
        captures.retain(|capture| since.is_none_or(|since| capture.id > since));
        captures.sort_by_key(|capture| capture.id);
        Ok(captures)
    }

    /// `GET /http_loggers/unattributed`, which only the embedded service has.
    ///
    /// # Errors
    /// 404 on other services.
    pub async fn list_unattributed_requests(&self) -> ClientResult<UnattributedRequests> {
        self.fetch(ApiRequest::get("/http_loggers/unattributed").with_size(ResponseSize::Large))
            .await
    }

    /// `DELETE /http_loggers/{id}/data`: the service deletes every captured request of this logger.
    /// It is sent once: a repetition could delete captures that arrived, and were not archived, in
    /// between. If the response does not say whether the logger was cleared, its number of requests
    /// decides: `before` is that of the last look at it.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn clear_captures(&self, id: LoggerId, before: i64) -> ClientResult<()> {
        let Err(error) = self
            .perform(ApiRequest::delete(format!("/http_loggers/{id}/data")))
            .await
        else {
            return Ok(());
        };
        if error.is_outcome_unknown()
            && self
                .get_logger(id)
                .await
                .is_ok_and(|logger| logger.num_requests < before)
        {
            return Ok(());
        }
        Err(error)
    }
}
