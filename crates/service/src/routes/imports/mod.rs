//! `/imports` and `/findings/import`: results of other scanners (`contract/import.rs`,
//! `docs/imports.md`). The endpoints are beside the API v2, and its document only names them.
//!
//! ```text
//!   POST /imports ─► workspace, format, target? ─► body ─► unnamed file ─► parts in the store ─► 202
//!                                                  digest, size limit                └─► runs/importer
//! ```

mod findings;
mod raw;
mod upload;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Extension, Router};

use super::{DataJson, RouteResult, data, workspace_or_current};
use crate::api::request::{Id, QueryParams, media_type, refuse_nul};
use crate::api::router::PREFIX;
use crate::errors::{ApiError, shown};
use crate::guards::keys::KeyIdentity;
use crate::net::address::Address;
use crate::state::App;
use crate::store::imports::{AddedImport, ImportToAdd, MOST_UNFINISHED};
pub use raw::raw_lines_of_import;
use scandeck_import::FORMATS;
use scandeck_wire::contract::ImportId;
use scandeck_wire::contract::import::{FINDINGS_IMPORT, FileImport, IMPORTS};
use upload::ReceivedFile;

/// Most characters of the name of a file.
const LONGEST_NAME: usize = 255;

pub fn router() -> Router<App> {
    Router::new()
        .route(&format!("{PREFIX}{IMPORTS}"), get(list).post(add))
        .route(&format!("{PREFIX}{IMPORTS}/{{id}}"), get(show))
        .route(&format!("{PREFIX}{FINDINGS_IMPORT}"), post(findings::add))
}

async fn list(
    State(app): State<App>,
    query: QueryParams,
) -> RouteResult<DataJson<Vec<FileImport>>> {
    let (limit, offset) = query.page()?;
    let workspace = query.integer("workspace_id")?;
    Ok(data(app.store.imports(workspace, limit, offset).await?))
}

async fn show(State(app): State<App>, Id(id): Id<ImportId>) -> RouteResult<DataJson<FileImport>> {
    Ok(data(find(&app, id).await?))
}

async fn find(app: &App, id: ImportId) -> RouteResult<FileImport> {
    let import = app.store.import(id).await?;
    import.ok_or_else(|| ApiError::not_found("import", id))
}

async fn add(
    State(app): State<App>,
    Extension(identity): Extension<KeyIdentity>,
    query: QueryParams,
    headers: HeaderMap,
    body: Body,
) -> RouteResult<impl IntoResponse> {
    let workspace = workspace_or_current(&app, query.integer("workspace_id")?).await?;
    let no_workspace = || ApiError::not_found("workspace", workspace);
    let target_name = checked_target(query.text("target_name"))?;
    let format = checked_format(query.text("format"))?;
    let file_name = checked_file_name(query.text("file_name"))?;
    let is_complete = query.boolean("complete")?.unwrap_or_default();
    refuse_form(&headers)?;
    // Before a large body is read.
    app.store
        .workspace(workspace)
        .await?
        .ok_or_else(no_workspace)?;
    // Tools that write lines leave an empty file when they find nothing.
    let may_be_empty = !format.is_empty();
    let received = upload::receive(&app, body, may_be_empty).await?;
    let new = ImportToAdd {
        workspace,
        file_name,
        digest: &received.digest,
        target_name: &target_name,
        format,
        is_complete,
        imported_by: identity.member().unwrap_or_default(),
    };
    let id = match app.store.add_import(&new, app.now()).await? {
        AddedImport::New(id) => id,
        AddedImport::NoWorkspace => return Err(no_workspace()),
        AddedImport::LimitReached => {
            let message = format!("{MOST_UNFINISHED} imports have not ended");
            let error = ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message);
            return Err(error.with_details("send the file again later"));
        }
    };
    store_parts(&app, id, received).await?;
    if !app.store.queue_import(id).await? {
        return Err(no_workspace());
    }
    app.imports.notify_one();
    Ok((StatusCode::ACCEPTED, data(find(&app, id).await?)))
}

/// In a form with a file, the lines around the file would be read as a part of it.
fn refuse_form(headers: &HeaderMap) -> RouteResult<()> {
    if !media_type(headers).starts_with("multipart/") {
        return Ok(());
    }
    let error = ApiError::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "forms with files are not supported: send the file itself as the body",
    );
    Err(error.with_details("with curl: `--data-binary @FILE` instead of `-F`"))
}

async fn store_parts(app: &App, id: ImportId, received: ReceivedFile) -> RouteResult<()> {
    let mut rest = Some(received);
    let mut position = 0;
    while let Some(file) = rest.take() {
        let next = file.next_part().await.map_err(ApiError::internal)?;
        if let Some((part, unread)) = next {
            app.store.add_import_part(id, position, &part).await?;
            position += 1;
            rest = Some(unread);
        }
    }
    Ok(())
}

/// The canonical name of a target; empty when absent. The scope does not matter: it says what may
/// be scanned.
fn checked_target(given: Option<&str>) -> RouteResult<String> {
    let Some(name) = given else {
        return Ok(String::new());
    };
    let address = Address::parse(name)
        .map_err(|error| ApiError::bad_request(format!("target_name: {error}")))?;
    Ok(address.canonical().to_owned())
}

fn checked_format(given: Option<&str>) -> RouteResult<&str> {
    let name = given.unwrap_or_default();
    let is_known = |known: &str| FORMATS.iter().any(|format| format.name == known);
    match name.is_empty() || is_known(name) {
        true => Ok(name),
        false => {
            let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            Err(ApiError::bad_request(format!(
                "format: `{}` is not valid; use one of {}",
                shown(name),
                names.join(", ")
            )))
        }
    }
}

fn checked_file_name(given: Option<&str>) -> RouteResult<&str> {
    let name = given.unwrap_or_default();
    refuse_nul("file_name", name, StatusCode::BAD_REQUEST)?;
    match name.chars().count() {
        0..=LONGEST_NAME => Ok(name),
        _ => Err(ApiError::bad_request(format!(
            "file_name: at most {LONGEST_NAME} characters are allowed"
        ))),
    }
}
