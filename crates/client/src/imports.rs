//! Imports of result files of other scanners: send a file, follow its import. An extension of the
//! service beside the API v2; a service without it answers with [`ErrorKind::NotOffered`].

use std::time::Duration;

use super::raw::RequestBody;
use super::request::{ApiRequest, ResponseSize};
use super::{Client, ClientResult, Error, ErrorKind, UploadFile};
use scandeck_wire::contract::ImportId;
use scandeck_wire::contract::import::{
    FINDINGS_IMPORT, FileImport, FindingsToImport, IMPORTS, ImportedFindings, NewImport,
};

/// Delays between two reads of an import: the first one, and the longest one.
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(2);
/// Failed reads in a row after which an import is not followed any further.
const MOST_FAILURES: u32 = 30;

impl Client {
    /// `POST /imports`: sends a file as it is read.
    ///
    /// # Errors
    /// 403 the key may not start scans, 404 unknown workspace, 413 too large, 400 and 422 invalid;
    /// not offered by a service without the extension.
    pub async fn create_import(
        &self,
        new: &NewImport,
        file: &UploadFile,
    ) -> ClientResult<FileImport> {
        let mut request = ApiRequest::post(IMPORTS)
            .with("workspace_id", new.workspace_id)
            .with("target_name", new.target_name.as_ref())
            .with("format", new.format.as_ref())
            .with("file_name", new.file_name.as_ref())
            .with("complete", new.complete)
            .with_size(ResponseSize::AfterUpload);
        request.body = RequestBody::File(file.clone());
        let missing = "the service takes no result files of other scanners";
        let created: ClientResult<FileImport> = self.fetch(request).await;
        created.map_err(|error| of_extension(error, missing))
    }

    /// `GET /imports/{id}`.
    ///
    /// # Errors
    /// 404 unknown.
    pub async fn get_import(&self, id: ImportId) -> ClientResult<FileImport> {
        self.fetch(ApiRequest::get(format!("{IMPORTS}/{id}"))).await
    }

    /// Reads an import until it has finished or failed. A repeated file gets the name and the scans
    /// of the import that stored it, if the service still has it.
    ///
    /// # Errors
    /// 404 unknown, and when the service does not answer for a minute.
    pub async fn ended_import(&self, begun: FileImport) -> ClientResult<FileImport> {
        let mut import = begun;
        let (mut delay, mut failures) = (FIRST, 0);
        while !import.has_ended() {
            tokio::time::sleep(delay).await;
            // About a twentieth of the time so far, so that an import does not seem much longer.
            delay = (delay * 21 / 20).min(LONGEST);
            match self.get_import(import.id).await {
                Ok(read) => (import, failures) = (read, 0),
                Err(error) if error.is_transient() && failures < MOST_FAILURES => {
                    (delay, failures) = (LONGEST, failures + 1);
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(earlier) = import.same_as.filter(|_| import.files.is_empty()) {
            match self.get_import(earlier).await {
                Ok(earlier) => {
                    (import.file_name, import.files) = (earlier.file_name, earlier.files);
                }
                Err(error) if error.kind == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(import)
    }

    /// `POST /findings/import`: findings in the form of the hosted service, outside of the contract.
    ///
    /// # Errors
    /// 400 and 422 invalid, 403 the key may not; not offered by a service without the endpoint.
    pub async fn import_findings(
        &self,
        findings: &FindingsToImport,
    ) -> ClientResult<ImportedFindings> {
        let request = ApiRequest::post(FINDINGS_IMPORT).with_json(findings);
        let missing = "the service does not take findings of other tools";
        let imported: ClientResult<ImportedFindings> = self.fetch(request).await;
        imported.map_err(|error| of_extension(error, missing))
    }
}

/// Names the missing extension in the error of an unknown path. A workspace that does not exist is
/// 404 too.
fn of_extension(error: Error, missing: &str) -> Error {
    let is_path = matches!(error.status, Some(404 | 405))
        && !error.message.to_lowercase().contains("workspace");
    match is_path {
        true => Error {
            kind: ErrorKind::NotOffered,
            message: missing.to_owned(),
            details: None,
            ..error
        },
        false => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BaseUrl, ClientSettings};
    use scandeck_wire::contract::import::ImportState;
    use std::io::Write;
    use wiremock::matchers::{body_string, header, method, path, query_param};
    use wiremock::{Mock, MockServer, ResponseTemplate};

    fn client_of(server: &MockServer) -> Client {
        let base = BaseUrl::parse(&server.uri(), false).unwrap();
        Client::new(ClientSettings::new(base, "key".to_owned().into())).unwrap()
    }

    fn file(content: &[u8]) -> UploadFile {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        UploadFile::new(file).unwrap()
    }

    #[tokio::test]
    async fn file_is_sent_with_its_length_and_followed_to_its_end() {
        let server = MockServer::start().await;
        let answer = |status: u16, state: &str| {
            let import = serde_json::json!({"data": {"id": 7, "state": state}});
            ResponseTemplate::new(status).set_body_json(import)
        };
        Mock::given(method("POST"))
            .and(path("/api/v2/imports"))
            .and(query_param("file_name", "a b.json"))
            .and(query_param("complete", "true"))
            .and(header("content-type", "application/octet-stream"))
            .and(header("content-length", "4"))
            .and(body_string("text"))
            .respond_with(answer(202, "waiting"))
            .mount(&server)
            .await;
        Mock::given(method("GET"))
            .and(path("/api/v2/imports/7"))
            .respond_with(answer(200, "running"))
            .up_to_n_times(1)
            .mount(&server)
            .await;
        Mock::given(method("GET"))
            .and(path("/api/v2/imports/7"))
            .respond_with(answer(200, "finished"))
            .mount(&server)
            .await;
        let (client, file) = (client_of(&server), file(b"text"));
        let new = NewImport {
            file_name: Some("a b.json".to_owned()),
            complete: Some(true),
            ..NewImport::default()
        };
        let begun = client.create_import(&new, &file).await.unwrap();
        assert_eq!((begun.id, begun.has_ended()), (ImportId(7), false));
        assert_eq!((file.length(), file.sent()), (4, 4));
        assert!(client.ended_import(begun).await.unwrap().has_ended());
    }

    #[tokio::test]
    async fn repeated_file_has_the_scans_and_the_name_of_the_earlier_import() {
        let server = MockServer::start().await;
        let earlier = serde_json::json!({"data": {
            "id": 3, "state": "finished", "file_name": "first.json", "files": [{"file": "first.json", "scans": [{"id": 8}]}],
        }});
        Mock::given(method("GET"))
            .and(path("/api/v2/imports/3"))
            .respond_with(ResponseTemplate::new(200).set_body_json(earlier))
            .mount(&server)
            .await;
        let deleted = serde_json::json!({"status": 404, "message": "import 4 not found"});
        Mock::given(method("GET"))
            .and(path("/api/v2/imports/4"))
            .respond_with(ResponseTemplate::new(404).set_body_json(deleted))
            .mount(&server)
            .await;
        let client = client_of(&server);
        let repeated = |same_as: i64| FileImport {
            id: ImportId(7),
            state: ImportState::Finished,
            file_name: "second.json".into(),
            same_as: Some(ImportId(same_as)),
            ..FileImport::default()
        };
        let import = client.ended_import(repeated(3)).await.unwrap();
        assert_eq!((import.id, &*import.file_name), (ImportId(7), "first.json"));
        assert_eq!(import.files[0].scans[0].id.0, 8);
        let import = client.ended_import(repeated(4)).await.unwrap();
        assert_eq!(
            &*import.file_name, "second.json",
            "the earlier one is deleted"
        );
        assert!(import.files.is_empty());
    }

    #[tokio::test]
    async fn service_without_imports_is_named() {
        for (status, body) in [
            (404_u16, "{\"status\": 404, \"message\": \"Not Found\"}"),
            (
                405,
                "{\"status\": 405, \"message\": \"method not allowed\"}",
            ),
            (404, "no json"),
        ] {
            let server = MockServer::start().await;
            let refusal = ResponseTemplate::new(status).set_body_string(body);
            Mock::given(method("POST"))
                .respond_with(refusal)
                .mount(&server)
                .await;
            let client = client_of(&server);
            let (new, file) = (NewImport::default(), file(b"x"));
            let error = client.create_import(&new, &file).await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::NotOffered, "{error}");
            assert!(error.message.contains("takes no result files"), "{error}");
            assert!(!error.hint().is_empty());
            let findings = FindingsToImport::default();
            let error = client.import_findings(&findings).await.unwrap_err();
            assert!(error.message.contains("does not take findings"), "{error}");
        }
        let unknown = Error {
            status: Some(404),
            ..Error::new(ErrorKind::NotFound, "workspace 9 not found")
        };
        assert_eq!(of_extension(unknown.clone(), "none"), unknown);
    }
}
