//! The calls that a key caused: each [`Call`] becomes one request, its response one [`CallAnswer`].

use crate::base::{Call, CallAnswer, FileToImport, PlannedProof};
use crate::config::Environment;
use crate::runtime::local::proof_scope;
use crate::runtime::{CaptureArchiver, NewFile, files, result_files};
use scandeck_client::{
    Client, ClientResult, Download, ErrorKind, Problem, ProofScope, check_proof, replay, send_proof,
};
use scandeck_domain::oob::unattributed;
use scandeck_domain::proof::FindingProof;
use scandeck_wire::contract::scan::ONLY_TESTS;
use scandeck_wire::contract::{NewScan, ReportId, ScanCreated, Shared, WordlistId};
use scandeck_wire::text;

/// Makes a call.
///
/// # Errors
/// When the service, the connection or this machine refuses the call.
pub(crate) async fn make(
    client: &Client,
    archive: &mut CaptureArchiver,
    call: Call,
) -> Result<CallAnswer, Problem> {
    let done = |()| CallAnswer::Done;
    Ok(match call {
        Call::CreateWorkspace(new) => CallAnswer::Created(client.create_workspace(&new).await?.0),
        Call::EditWorkspace(id, edit) => client.edit_workspace(id, &edit).await.map(done)?,
        Call::DeleteWorkspace(id) => {
            let workspace = client.get_workspace(id).await?;
            let deleted = client.archive_and_delete_workspace(archive, &workspace);
            CallAnswer::Emptied(deleted.await?)
        }
        Call::CreateTarget(new) => CallAnswer::Created(client.create_target(&new).await?.0),
        Call::DeleteTarget(id) => client.delete_target(id).await.map(done)?,
        Call::ChangeTargetTags(id, change) => {
            client.change_target_tags(id, &change).await?;
            CallAnswer::Done
        }
        Call::StartScan(new) => CallAnswer::Scan(start_scan(client, &new).await?),
        Call::StopScan(id) => client.stop_scan(id).await.map(done)?,
        Call::DeleteScan(id) => client.delete_scan(id).await.map(done)?,
        Call::CreateLogger { label, workspace } => {
            CallAnswer::Created(client.create_logger(&label, workspace).await?.0)
        }
        Call::DeleteLogger { logger, workspace } => {
            let logger = client.get_logger(logger).await?;
            let deleted = client.archive_and_delete_logger(archive, &workspace, &logger);
            CallAnswer::Emptied(deleted.await?)
        }
        Call::ClearLogger { logger, workspace } => {
            let logger = client.get_logger(logger).await?;
            let cleared = client.archive_and_clear(archive, &workspace, &logger);
            CallAnswer::Emptied(cleared.await?)
        }
        Call::CreateReport(new) => CallAnswer::Report(client.create_report(&new).await?),
        Call::ImportFile(file) => import(client, &file).await?,
        Call::DeleteReport(id) => client.delete_report(id).await.map(done)?,
        Call::DownloadReport(id, name) => download(client, id, &name).await?,
        Call::DeleteWordlist(id) => client.delete_wordlist(id).await.map(done)?,
        Call::CreateSchedule(new) => CallAnswer::Created(client.create_schedule(&new).await?.id.0),
        Call::PauseSchedule(id) => client.pause_schedule(id).await.map(done)?,
        Call::ResumeSchedule(id) => client.resume_schedule(id).await.map(done)?,
        Call::DeleteSchedule(id) => client.delete_schedule(id).await.map(done)?,
        Call::WordlistContents(id) => {
            CallAnswer::Text(Shared::from(client.wordlist_contents(id).await?))
        }
        Call::UnattributedRequests => {
            CallAnswer::Text(unattributed::text(&client.list_unattributed_requests().await?).into())
        }
        Call::DownloadWordlist(id, name) => download_wordlist(client, id, &name).await?,
        Call::Replay(again) => {
            let sent = replay(&again).await;
            CallAnswer::Status(sent.map_err(not_replayed)?)
        }
        Call::Prove(planned) => CallAnswer::Proof(Box::new(prove(&planned).await?)),
    })
}

/// Starts a scan of single tests, or of all where the service has no such selection, or does not
/// know one of the tests: another service may refuse parameters that it does not know.
async fn start_scan(client: &Client, new: &NewScan) -> ClientResult<ScanCreated> {
    let Some(whole) = of_all_tests(new) else {
        return client.create_scan(new).await;
    };
    if client.selects_tests().await.unwrap_or_default() {
        match client.create_scan(new).await {
            Err(error) if matches!(error.kind, ErrorKind::Invalid) => {}
            answer => return answer,
        }
    }
    client.create_scan(&whole).await
}

/// The scan without its selection of tests; `None` if it has none.
fn of_all_tests(new: &NewScan) -> Option<NewScan> {
    let mut whole = new.clone();
    let params = whole.tool_params.as_mut()?.as_object_mut()?;
    params.remove(ONLY_TESTS)?;
    Some(whole)
}

async fn import(client: &Client, file: &FileToImport) -> Result<CallAnswer, Problem> {
    let upload = result_files::upload(file)?;
    let begun = client.create_import(&file.new, &upload).await?;
    let ended = client.ended_import(begun).await?;
    // The form remains, so that a target can be typed.
    match ended.is_stored() {
        true => Ok(CallAnswer::Imported(Box::new(ended))),
        false => Err(Problem::local(ended.message.to_string())),
    }
}

fn not_replayed(error: scandeck_client::Error) -> Problem {
    Problem::from(error).with_hint("check the URL")
}

/// Whether the scope file of this machine permits the request of a finding.
///
/// # Errors
/// Why it is not sent.
pub(crate) fn check_scope(planned: &PlannedProof) -> Result<(), Problem> {
    let scope = scope_of_proofs(planned.allow_active)?;
    check_proof(&planned.request, &scope)?;
    Ok(())
}

/// Sends the request of a finding from this machine, whose scope file decides.
async fn prove(planned: &PlannedProof) -> Result<FindingProof, Problem> {
    let (request, expected) = (&planned.request, &planned.expected);
    let scope = scope_of_proofs(planned.allow_active)?;
    let received = send_proof(request, &scope).await?;
    let answer = received.map_err(|missing| missing.problem);
    Ok(FindingProof::new(request, expected, answer))
}

fn scope_of_proofs(allow_active: bool) -> Result<ProofScope, Problem> {
    let environment = Environment::of_process();
    let environment = environment.map_err(|error| Problem::local(error.to_string()))?;
    proof_scope(&environment.state_dir().service_dir(), allow_active)
        .map_err(|error| Problem::local(error.to_string()).with_hint(error.hint()))
}

async fn download_wordlist(
    client: &Client,
    id: WordlistId,
    name: &str,
) -> Result<CallAnswer, Problem> {
    let words = client.wordlist_contents(id).await?;
    let name = format!("{}.txt", name.strip_suffix(".txt").unwrap_or(name));
    let path = files::save(&text::file_name(&name), words.as_bytes())?;
    Ok(CallAnswer::Saved(path))
}

async fn download(client: &Client, id: ReportId, name: &str) -> Result<CallAnswer, Problem> {
    let content = match client.download_report(id).await? {
        Download::Ready(content) => content,
        Download::Pending => return Ok(CallAnswer::NotReady),
        Download::NoData => return Ok(CallAnswer::NoData),
    };
    let fallback = format!("report-{id}");
    let name = Some(name)
        .filter(|name| !name.trim().is_empty())
        .or(content.name.as_deref())
        .unwrap_or(&fallback);
    let file = NewFile::create(&NewFile::here()?, name)?;
    content.save_to(file.writer()?).await?;
    Ok(CallAnswer::Saved(file.keep()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scan_of_all_tests_keeps_the_other_parameters() {
        let params = serde_json::json!({"scan_type": "light", "only_tests": ["web.cors"]});
        let scan = |params| NewScan {
            tool_id: 170,
            tool_params: params,
            ..NewScan::default()
        };
        let whole = of_all_tests(&scan(Some(params))).unwrap();
        let expected = Some(serde_json::json!({"scan_type": "light"}));
        assert_eq!((whole.tool_id, whole.tool_params), (170, expected));
        assert!(of_all_tests(&scan(None)).is_none());
    }
}
