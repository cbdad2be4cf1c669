//! Scans: list, start, look up, delete, output, raw output, stop, tests (`api-v2.md §4`).

use std::collections::BTreeMap;

use serde_json::Value;

use super::exchange::without_id;
use super::request::{ApiRequest, ListSize, ResponseSize, all_pages};
use super::{Client, ClientResult, Lane};
use scandeck_wire::contract::{
    NewScan, ResourceType, Scan, ScanCreated, ScanId, ScanOutput, ScanStatus, Stamp, TargetId,
    Test, Tool, WorkspaceId,
};

/// Query of `GET /scans`. Without a workspace the service lists the workspace last selected in a
/// browser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanQuery {
    /// Only of this tool.
    pub tool: Option<Tool>,
    /// Only of this workspace.
    pub workspace_id: Option<WorkspaceId>,
    /// Only of this target.
    pub target_id: Option<TargetId>,
    /// Only in this state.
    pub status: Option<ScanStatus>,
    /// 1 to 1000.
    pub limit: Option<u32>,
    /// From 1.
    pub page: Option<u32>,
    /// Only scans that started in this interval.
    pub start_time: Option<Interval>,
}

/// An interval; a missing bound is open. Sent as `start_time[from]` and `start_time[to]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Not before.
    pub from: Option<Stamp>,
    /// Not after.
    pub to: Option<Stamp>,
}

/// Query of `GET /scans/{id}/tests`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestQuery {
    /// Only tests that led to a finding, or only those that did not. Required with `resource_id`.
    pub resource_type: Option<ResourceType>,
    /// Only of this scan or finding, depending on `resource_type`.
    pub resource_id: Option<i64>,
}

impl Client {
    /// `GET /scans`, one page.
    ///
    /// # Errors
    /// 400 invalid parameters.
    pub async fn list_scans(&self, query: &ScanQuery) -> ClientResult<Vec<Scan>> {
        self.scans_page(query, 0).await.map(|(scans, _)| scans)
    }

    async fn scans_page(
        &self,
        query: &ScanQuery,
        before: usize,
    ) -> ClientResult<(Vec<Scan>, usize)> {
        let interval = query.start_time.unwrap_or_default();
        let request = ApiRequest::get("/scans")
            .with_list(ListSize::Scans)
            .with("tool_id", query.tool.map(|tool| tool.0))
            .with("workspace_id", query.workspace_id)
            .with("target_id", query.target_id)
            .with("status", query.status.as_ref())
            .with("limit", query.limit)
            .with("page", query.page)
            .with("start_time[from]", interval.from)
            .with("start_time[to]", interval.to);
        self.fetch_page(request, None, before).await
    }

    /// Every page of `GET /scans`.
    ///
    /// # Errors
    /// 400 invalid parameters.
    pub async fn list_all_scans(&self, query: &ScanQuery) -> ClientResult<Vec<Scan>> {
        let fetch = |limit, page, before| {
            let query = ScanQuery {
                limit: Some(limit),
                page: Some(page),
                ..query.clone()
            };
            async move { self.scans_page(&query, before).await }
        };
        all_pages(|scan| scan.id, fetch).await
    }

    /// `POST /scans`. If the response lacks the id of the new scan, or is lost, the scans of this
    /// tool and target are read until one appears that was not there before.
    ///
    /// # Errors
    /// 400 and 422 invalid, 403 not in scope, 404 unknown target or workspace; an unknown outcome
    /// ([`is_outcome_unknown`](super::Error::is_outcome_unknown)) if no new scan appears within
    /// seconds.
    pub async fn create_scan(&self, new: &NewScan) -> ClientResult<ScanCreated> {
        // A scan that was there before must not be mistaken for the new one.
        let before = self.scans_like(new).await;
        let lost = match self.send(ApiRequest::post("/scans").with_json(new)).await {
            Ok(answer) => {
                // `{}` and an empty body both mean that the scan was started, without its id.
                let created: ScanCreated =
                    scandeck_wire::contract::envelope::decode(&answer.body).unwrap_or_default();
                if created.created_id.is_some() {
                    return Ok(created);
                }
                without_id()
            }
            Err(error) if error.is_outcome_unknown() => error,
            Err(error) => return Err(error),
        };
        let Ok(before) = before else { return Err(lost) };
        for pauses in [0, 5, 10, 20] {
            tokio::time::sleep(self.settings.retry_delay * pauses).await;
            let scans = self.scans_like(new).await.unwrap_or_default();
            for (id, target) in scans
                .into_iter()
                .rev()
                .filter(|(id, _)| !before.contains_key(id))
            {
                if self.is_target_of(new, target).await {
                    return Ok(ScanCreated {
                        created_id: Some(id),
                        target_id: Some(target),
                    });
                }
            }
        }
        Err(lost)
    }

    /// Whether a new scan with a target by name can have this target. The service may complete the
    /// name, for example with a scheme.
    async fn is_target_of(&self, new: &NewScan, target: TargetId) -> bool {
        let Some(name) = &new.target_name else {
            return true;
        };
        let found = self
            .get_target(target)
            .await
            .map(|found| found.name.to_lowercase());
        let name = name.to_lowercase();
        found.is_ok_and(|found| found.contains(&name) || name.contains(&found))
    }

    /// The scans of this tool and target.
    async fn scans_like(&self, new: &NewScan) -> ClientResult<BTreeMap<ScanId, TargetId>> {
        let query = ScanQuery {
            tool: Some(Tool(new.tool_id)),
            workspace_id: new.workspace_id,
            target_id: new.target_id,
            ..ScanQuery::default()
        };
        let is_like = |scan: &Scan| {
            // Not every service applies every filter.
            scan.tool_id == new.tool_id
                && new.target_id.is_none_or(|target| scan.target_id == target)
        };
        let scans = self.list_all_scans(&query).await?;
        Ok(scans
            .iter()
            .filter(|scan| is_like(scan))
            .map(|scan| (scan.id, scan.target_id))
            .collect())
    }

    /// `GET /scans/{id}`.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn get_scan(&self, id: ScanId) -> ClientResult<Scan> {
        self.fetch(ApiRequest::get(format!("/scans/{id}"))).await
    }

    /// `DELETE /scans/{id}`.
    ///
    /// # Errors
    /// 404 unknown, 409 the scan is active.
    pub async fn delete_scan(&self, id: ScanId) -> ClientResult<()> {
        self.delete(format!("/scans/{id}")).await
    }

    /// `GET /scans/{id}/output` as JSON; partial while the scan runs.
    ///
    /// # Errors
    /// 404 unknown or no output yet, 406 this tool has no such output.
    pub async fn scan_output(&self, id: ScanId) -> ClientResult<ScanOutput> {
        self.fetch(ApiRequest::get(format!("/scans/{id}/output")).in_lane(Lane::Output))
            .await
    }

    /// `GET /scans/{id}/output` as a PDF document.
    ///
    /// # Errors
    /// 404 unknown or no output yet, 406 not supported by this service or tool.
    pub async fn scan_output_pdf(&self, id: ScanId) -> ClientResult<Vec<u8>> {
        let request = ApiRequest::get(format!("/scans/{id}/output"))
            .accepting("application/pdf")
            .in_lane(Lane::Output)
            .with_size(ResponseSize::Large);
        Ok(self.send(request).await?.body.into_bytes())
    }

    /// `GET /scans/{id}/raw`: the raw output of the tool, in lines or chunks.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn scan_raw(&self, id: ScanId) -> ClientResult<Vec<String>> {
        let output: Value = self
            .fetch(ApiRequest::get(format!("/scans/{id}/raw")))
            .await?;
        Ok(match output {
            Value::Array(chunks) => chunks.into_iter().map(as_text).collect(),
            Value::Null => Vec::new(),
            other => vec![as_text(other)],
        })
    }

    /// `POST /scans/{id}/stop`. If the response does not say whether the scan was stopped, it is
    /// read until it has ended.
    ///
    /// # Errors
    /// 404 unknown; an unknown outcome if the scan does not end within seconds.
    pub async fn stop_scan(&self, id: ScanId) -> ClientResult<()> {
        let Err(error) = self
            .perform(ApiRequest::post(format!("/scans/{id}/stop")))
            .await
        else {
            return Ok(());
        };
        if error.is_outcome_unknown() {
            for pauses in [0, 5, 10] {
                tokio::time::sleep(self.settings.retry_delay * pauses).await;
                if self.get_scan(id).await.is_ok_and(|scan| scan.has_ended()) {
                    return Ok(());
                }
            }
        }
        Err(error)
    }

    /// `GET /scans/{id}/tests`.
    ///
    /// # Errors
    /// 400 invalid parameters, 404 unknown.
    pub async fn list_tests(&self, id: ScanId, query: &TestQuery) -> ClientResult<Vec<Test>> {
        let request = ApiRequest::get(format!("/scans/{id}/tests"))
            .with("resource_type", query.resource_type.as_ref())
            .with("resource_id", query.resource_id);
        self.fetch_list(request).await
    }
}

fn as_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}
