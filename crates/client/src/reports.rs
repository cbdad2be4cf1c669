//! Reports: list, create, look up, delete, download (`api-v2.md §4`).

use std::collections::BTreeSet;

use reqwest::{Response, StatusCode};
use serde_json::Value;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::body::too_large;
use super::exchange::without_id;
use super::request::{ApiRequest, ResponseSize};
use super::{Client, ClientResult, Error, ErrorKind};
use scandeck_wire::contract::{NewReport, Report, ReportCreated, ReportId};

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
    /// The file name in this response, not cleaned; `download_name` of the report is the other
    /// source.
    pub name: Option<String>,
    response: Response,
}

impl ReportFile {
    /// Writes the content as it arrives and returns its length in bytes.
    ///
    /// # Errors
    /// When the connection breaks, the file cannot be written, or the content is larger than 512
    /// MB.
    pub async fn save_to(mut self, mut to: impl AsyncWrite + Unpin) -> ClientResult<u64> {
        let failed = |error: std::io::Error| {
            Error::new(ErrorKind::Invalid, format!("file not written: {error}"))
        };
        let (mut length, limit) = (0, ResponseSize::Large.limit());
        while let Some(chunk) = self.response.chunk().await? {
            length += chunk.len();
            if length > limit {
                return Err(too_large(limit));
            }
            match to.write_all(&chunk).await {
                // The reader of a pipe needs no more of the report.
                Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                    return Ok(length as u64);
                }
                written => written.map_err(failed)?,
            }
        }
        to.flush().await.map_err(failed)?;
        Ok(length as u64)
    }
}

/// The formats of new reports in an OpenAPI document; `None` if it does not list them.
fn formats_in(document: &Value) -> Option<BTreeSet<String>> {
    let paths = document["paths"].as_object()?;
    let (_, path) = paths
        .iter()
        .find(|(path, item)| path.ends_with("/reports") && item.get("post").is_some())?;
    let report = resolved(
        document,
        &path["post"]["requestBody"]["content"]["application/json"]["schema"],
    );
    let choices = resolved(document, &report["properties"]["format"])["enum"].as_array()?;
    let formats: BTreeSet<String> = choices
        .iter()
        .filter_map(|choice| choice.as_str().map(str::to_owned))
        .collect();
    Some(formats).filter(|formats| !formats.is_empty())
}

/// The schema that a reference names, or the schema itself.
fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let reference = schema["$ref"]
        .as_str()
        .and_then(|reference| reference.strip_prefix('#'));
    reference
        .and_then(|pointer| document.pointer(pointer))
        .unwrap_or(schema)
}

impl Client {
    /// The formats that the service can write, from its OpenAPI document; `None` if the service
    /// does not publish them.
    ///
    /// # Errors
    /// Those of the service, such as 404 without a document.
    pub async fn report_formats(&self) -> ClientResult<Option<BTreeSet<String>>> {
        let document = self.document().await?;
        Ok(document.as_ref().and_then(formats_in))
    }

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
        let created: ReportCreated = self
            .fetch(ApiRequest::post("/reports").with_json(new))
            .await?;
        if created.report_id == ReportId::default() {
            Err(without_id())
        } else {
            Ok(created.report_id)
        }
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
            // The service sends the report's own type; JSON is named first because the contract
            // requires it (§1).
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_formats_are_read_through_references() {
        let document = serde_json::json!({
            "paths": {
                "/api/v2/reports": {"post": {"requestBody": {"content": {"application/json": {
                    "schema": {"$ref": "#/components/schemas/NewReport"},
                }}}}},
            },
            "components": {"schemas": {
                "NewReport": {"properties": {"format": {"$ref": "#/components/schemas/Format"}}},
                "Format": {"type": "string", "enum": ["html", "json", 7]},
            }},
        });
        assert_eq!(
            formats_in(&document),
            Some(["html", "json"].map(str::to_owned).into())
        );
        for other in [
            serde_json::json!({"paths": {"/reports": {"get": {}}}}),
            serde_json::json!([]),
            Value::Null,
        ] {
            assert_eq!(formats_in(&other), None);
        }
    }
}
