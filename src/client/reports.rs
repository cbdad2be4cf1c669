//! Reports: list, create, look up, delete, download (`api-v2.md §4`).

use reqwest::{Response, StatusCode};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::exchange::too_large;
use super::request::{AnswerSize, ApiRequest};
use super::{Client, ClientResult, Error, ErrorKind};
use crate::contract::{NewReport, Report, ReportCreated, ReportId};

/// What a download found.
#[derive(Debug)]
pub enum Download {
    /// The file.
    Ready(ReportFile),
    /// 202: still being made.
    Pending,
    /// 204: there is no data for it, possibly because making it failed.
    NoData,
}

/// A file on its way.
#[derive(Debug)]
pub struct ReportFile {
    /// The name the service gives it in this answer, uncleaned; `download_name` of the report is the other source.
    pub name: Option<String>,
    /// Media type, lower case, without parameters.
    pub content_type: String,
    response: Response,
}

impl ReportFile {
    /// Writes it out as it arrives and returns its length in bytes.
    ///
    /// # Errors
    /// When the connection breaks, the disk refuses, or it is larger than 512 MB.
    pub async fn save_to(mut self, mut to: impl AsyncWrite + Unpin) -> ClientResult<u64> {
        let mut length = 0;
        while let Some(chunk) = self.response.chunk().await? {
            length += chunk.len();
            if length > AnswerSize::Big.limit() {
                return Err(too_large(AnswerSize::Big.limit()));
            }
            to.write_all(&chunk).await.map_err(|error| Error::disk(&error))?;
        }
        to.flush().await.map_err(|error| Error::disk(&error))?;
        Ok(length as u64)
    }
}

impl Error {
    fn disk(error: &std::io::Error) -> Self {
        Self::new(ErrorKind::Invalid, format!("cannot write the file: {error}"))
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
        Ok(created.report_id)
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
        self.perform(ApiRequest::delete(format!("/reports/{id}"))).await
    }

    /// `GET /reports/{id}/download`.
    ///
    /// # Errors
    /// 404 unknown or expired.
    pub async fn download_report(&self, id: ReportId) -> ClientResult<Download> {
        let request = ApiRequest::get(format!("/reports/{id}/download"))
            // The service sends the report's own type; JSON is named first because the contract asks for it (§1).
            .accepting("application/json, */*")
            .with_size(AnswerSize::Big)
            .for_a_file();
        let (answer, response) = self.open(request).await?;
        Ok(match (answer.status, response) {
            (StatusCode::ACCEPTED, _) => Download::Pending,
            (StatusCode::NO_CONTENT, _) | (_, None) => Download::NoData,
            (_, Some(response)) => {
                let name = answer.file_name();
                Download::Ready(ReportFile { name, content_type: answer.content_type(), response })
            }
        })
    }
}
