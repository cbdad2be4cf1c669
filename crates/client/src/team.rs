//! Shared decisions: whose key this is, events and payloads of a workspace. An extension of the
//! service beside the API v2, see [`Client::has_team`].

use std::sync::LazyLock;

use super::raw::RequestBody;
use super::request::ApiRequest;
use super::{Client, ClientResult};
use scandeck_wire::contract::WorkspaceId;
use scandeck_wire::contract::team::{
    EventPage, MOST_LINES, Member, PayloadPage, Purged, StoredLines, TEAM_ROOT,
};

/// This program, to distinguish the dashboards of one person.
static DASHBOARD: LazyLock<String> = LazyLock::new(|| format!("{:016x}", rand::random::<u64>()));

/// The path of the events or payloads of a workspace.
fn log(id: WorkspaceId, kind: &str) -> String {
    format!("{TEAM_ROOT}/workspaces/{id}/{kind}")
}

impl Client {
    /// `GET /me`: the owner of the key.
    ///
    /// # Errors
    /// Those of every call.
    pub async fn team_member(&self) -> ClientResult<Member> {
        self.fetch(ApiRequest::get(format!("{TEAM_ROOT}/me"))).await
    }

    /// `GET /workspaces/{id}/events`: a page of the events behind a position. `looking` reports the
    /// finding on the screen to the other members; empty is another list, none reports nothing.
    ///
    /// # Errors
    /// 404 unknown workspace.
    pub async fn team_events(
        &self,
        id: WorkspaceId,
        after: i64,
        looking: Option<&str>,
    ) -> ClientResult<EventPage> {
        let request = ApiRequest::get(log(id, "events"))
            .with("after", Some(after))
            .with("limit", Some(MOST_LINES))
            .with("looking", looking)
            .with("dashboard", looking.map(|_| DASHBOARD.as_str()));
        self.fetch(request).await
    }

    /// `GET /workspaces/{id}/payloads`: a page of the payloads behind a position.
    ///
    /// # Errors
    /// 404 unknown workspace.
    pub async fn team_payloads(&self, id: WorkspaceId, after: i64) -> ClientResult<PayloadPage> {
        let request = ApiRequest::get(log(id, "payloads"))
            .with("after", Some(after))
            .with("limit", Some(MOST_LINES));
        self.fetch(request).await
    }

    /// `POST /workspaces/{id}/events`: events as JSON lines, of an epoch.
    ///
    /// # Errors
    /// 403 all lines are refused, 404 unknown workspace, 409 the epoch is another one.
    pub async fn send_events(
        &self,
        id: WorkspaceId,
        epoch: i64,
        lines: String,
    ) -> ClientResult<StoredLines> {
        self.send_lines(log(id, "events"), epoch, lines).await
    }

    /// `POST /workspaces/{id}/payloads`: payloads as JSON lines, of an epoch.
    ///
    /// # Errors
    /// 403 all lines are refused, 404 unknown workspace, 409 the epoch is another one.
    pub async fn send_payloads(
        &self,
        id: WorkspaceId,
        epoch: i64,
        lines: String,
    ) -> ClientResult<StoredLines> {
        self.send_lines(log(id, "payloads"), epoch, lines).await
    }

    async fn send_lines(
        &self,
        path: String,
        epoch: i64,
        lines: String,
    ) -> ClientResult<StoredLines> {
        let mut request = ApiRequest::post(path).with("epoch", Some(epoch));
        request.body = RequestBody::Lines(lines);
        self.fetch(request).await
    }

    /// `DELETE /workspaces/{id}/events`: deletes the shared events and payloads of a workspace.
    ///
    /// # Errors
    /// 403 the key has not the role admin, 404 unknown workspace.
    pub async fn delete_shared_decisions(&self, id: WorkspaceId) -> ClientResult<Purged> {
        self.fetch(ApiRequest::delete(log(id, "events"))).await
    }
}
