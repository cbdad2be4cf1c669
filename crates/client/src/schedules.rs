//! Schedules of scans: list, create, pause, resume, delete. An extension of the service beside the
//! API v2, which a service with [`Client::has_team`] has.

use super::request::ApiRequest;
use super::{Client, ClientResult};
use scandeck_wire::contract::schedule::{NewSchedule, SCHEDULES_ROOT, ScanSchedule, ScheduleList};
use scandeck_wire::contract::{ScheduleId, WorkspaceId};

impl Client {
    /// `GET /schedules`: the schedules of a workspace, or all.
    ///
    /// # Errors
    /// 404 a service of an earlier version.
    pub async fn list_schedules(
        &self,
        workspace: Option<WorkspaceId>,
    ) -> ClientResult<Vec<ScanSchedule>> {
        let request = ApiRequest::get(SCHEDULES_ROOT).with("workspace_id", workspace);
        let list: ScheduleList = self.fetch(request).await?;
        Ok(list.schedules)
    }

    /// `GET /schedules/{id}`.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn get_schedule(&self, id: ScheduleId) -> ClientResult<ScanSchedule> {
        self.fetch(ApiRequest::get(format!("{SCHEDULES_ROOT}/{id}")))
            .await
    }

    /// `POST /schedules`.
    ///
    /// # Errors
    /// 400 and 422 invalid, 403 not in scope or the limit of schedules, 404 unknown workspace or
    /// target.
    pub async fn create_schedule(&self, new: &NewSchedule) -> ClientResult<ScanSchedule> {
        self.fetch(ApiRequest::post(SCHEDULES_ROOT).with_json(new))
            .await
    }

    /// `POST /schedules/{id}/pause`: it starts nothing until it is resumed.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn pause_schedule(&self, id: ScheduleId) -> ClientResult<()> {
        self.perform(ApiRequest::post(format!("{SCHEDULES_ROOT}/{id}/pause")))
            .await
    }

    /// `POST /schedules/{id}/resume`.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn resume_schedule(&self, id: ScheduleId) -> ClientResult<()> {
        self.perform(ApiRequest::post(format!("{SCHEDULES_ROOT}/{id}/resume")))
            .await
    }

    /// `DELETE /schedules/{id}`. Its scans remain.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn delete_schedule(&self, id: ScheduleId) -> ClientResult<()> {
        self.delete(format!("{SCHEDULES_ROOT}/{id}")).await
    }
}
