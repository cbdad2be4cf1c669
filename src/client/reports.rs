//! Reports: list, create, look up, delete, download (`api-v2.md §4`).

use reqwest::{Response, StatusCode};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::body::too_large;
use super::exchange::without_id;
use super::request::{ApiRequest, ResponseSize};
use super::{Client, ClientResult, Error, ErrorKind};
use crate::contract::{NewReport, Report, ReportCreated, ReportId};

/// The result of a download request.
#[derive(Debug)]
pub enum Download {
    /// 200: the file.
    Ready(ReportFile),
    /// 202: the service is still writing the report.
    Pending,
    /// 204: the report is empty, possibly because it failed.
    NoData,
}

/// A file whose content is still to be read.
#[derive(Debug)]
pub struct ReportFile {
    /// The file name in this response, not cleaned; `download_name` of the report is the other source.
    pub name: Option<String>,
    response: Response,
}

impl ReportFile {
    /// Writes the content as it arrives and returns its length in bytes.
    ///
    /// # Errors
    /// When the connection breaks, the file cannot be written, or the content is larger than 512 MB.
    pub async fn save_to(mut self, mut to: impl AsyncWrite + Unpin) -> ClientResult<u64> {
        let failed = |error: std::io::Error| Error::new(ErrorKind::Invalid, format!("file not written: {error}"));
        let (mut length, limit) = (0, ResponseSize::Large.limit());
        while let Some(chunk) = self.response.chunk().await? {
            length += chunk.len();
            if length > limit {
                return Err(too_large(limit));
            }
            match to.write_all(&chunk).await {
                // The reader of a pipe needs no more of the report.
                Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(length as u64),
                written => written.map_err(failed)?,
            }
        }
        to.flush().await.map_err(failed)?;
        Ok(length as u64)
    }
}

impl Client {
    /// `GET /reports`.
    ///
    /// # Errors
    /// Those of every call.
    pub async fn list_reports(&self) -> ClientResult<Vec<Report>> {
        self.fetch_list(ApiRequest::get("/reports")).await
    }

    /// `POST /reports`.
    ///
    /// # Errors
    /// 400 and 422 invalid.
    pub async fn create_report(&self, new: &NewReport) -> ClientResult<ReportId> {
        let created: ReportCreated = self.fetch(ApiRequest::post("/reports").with_json(new)).await?;
        if created.report_id == ReportId::default() { Err(without_id()) } else { Ok(created.report_id) }
    }

    /// `GET /reports/{id}`.
    ///
    /// # Errors
    /// 404 unknown or expired.
    pub async fn get_report(&self, id: ReportId) -> ClientResult<Report> {
        self.fetch(ApiRequest::get(format!("/reports/{id}"))).await
    }

    /// `DELETE /reports/{id}`.
    ///
    /// # Errors
    /// 404 unknown or expired.
    pub async fn delete_report(&self, id: ReportId) -> ClientResult<()> {
        self.delete(format!("/reports/{id}")).await
    }

    /// `GET /reports/{id}/download`.
    ///
    /// # Errors
    /// 404 unknown or expired.
    pub async fn download_report(&self, id: ReportId) -> ClientResult<Download> {
        let request = ApiRequest::get(format!("/reports/{id}/download"))
            // The service sends the report's own type; JSON is named first because the contract requires it (§1).
            .accepting("application/json, */*")
            .with_size(ResponseSize::Large)
            .for_a_file();
        let answer = self.open(request).await?;
        let name = answer.file_name();
        Ok(match (answer.status, answer.unread) {
            (StatusCode::ACCEPTED, _) => Download::Pending,
            (StatusCode::NO_CONTENT, _) | (_, None) => Download::NoData,
            (_, Some(response)) => Download::Ready(ReportFile { name, response }),
        })
    }
}
