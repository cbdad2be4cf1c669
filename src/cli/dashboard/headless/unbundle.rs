//! `scandeck unbundle`: imports a bundle into the data on this machine.
//!
//! Events, payloads with their hits, captures and seen marks are added. An existing setting
//! remains. The lists of the service are stored beside, for when the service is not reachable.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::session::stored_service;
use super::{Output, ServiceArgs, decisions, save};
use crate::cli::error::CliError;
use crate::cli::input::read_input;
use scandeck_dashboard::runtime::Memory;
use scandeck_domain::oob::RowRange;
use scandeck_domain::triage::Bundle;
use scandeck_domain::triage::settings::is_personal;
use scandeck_wire::input_files::InputKind;
use scandeck_wire::text::plural;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck unbundle acme.bundle --profile prod")]
pub struct UnbundleArgs {
    /// The file, or `-` for standard input
    file: PathBuf,
    // Last, because its heading applies to all later arguments.
    #[command(flatten)]
    service: ServiceArgs,
}

/// Runs the command.
///
/// # Errors
/// When the bundle is incomplete, or the store cannot be written.
pub async fn run(args: UnbundleArgs) -> anyhow::Result<ExitCode> {
    let text = read_input(&args.file, InputKind::Bundle)?;
    let bundle = Bundle::read(&text).map_err(|bad| {
        let message = format!("{}:{}: {}", args.file.display(), bad.line, bad.reason);
        CliError::new(message, "nothing was imported; create the bundle again")
    })?;
    let service = stored_service(&args.service)?;
    let (memory, workspace) = (&service.memory, &bundle.manifest.workspace);
    let new = import_decisions(memory, &bundle).await?;
    if !bundle.captures.is_empty() || !bundle.payloads.is_empty() || !bundle.hits.is_empty() {
        import_captures(memory, &bundle).await?;
    }
    if bundle.manifest.reached {
        save::overwrite(&memory.bundle_of(workspace), text.as_bytes())?;
    }
    let (out, known) = (Output::new(args.service.json), bundle.events.len() - new);
    if out.json {
        out.value(&json!({"workspace": workspace, "taken": new, "known": known}))?;
    } else {
        let (summary, imported) = (bundle.summary(), plural(new, "decision"));
        out.line(&format!(
            "bundle of {workspace} stored ({summary}): {imported} imported, {known} already stored"
        ))?;
    }
    if *bundle.manifest.alias != *service.config.alias {
        note!(
            "scandeck: decisions match no findings; set workspace_alias = {:?} in the profile",
            bundle.manifest.alias.as_str()
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Adds events, seen marks and missing settings. Returns the number of new events.
async fn import_decisions(memory: &Memory, bundle: &Bundle) -> anyhow::Result<usize> {
    let workspace = &bundle.manifest.workspace;
    let (mut store, state) = decisions::open_writable(memory).await?;
    let new = bundle.events.iter().filter(|event| !state.knows(event.id));
    let new = new.count();
    store.record(&bundle.events).await?;
    store.mark_seen(workspace, &bundle.seen).await?;
    let existing = store.settings().await?;
    // The view of a sender is not that of the reader.
    let shared = bundle
        .settings
        .iter()
        .filter(|setting| !is_personal(&setting.key));
    for setting in shared {
        if !existing.contains_key(&(setting.key.clone(), workspace.clone())) {
            store
                .put_setting(&setting.key, workspace, &setting.json)
                .await?;
        }
    }
    store.close().await;
    Ok(new)
}

/// Adds captures and payloads with their hits.
async fn import_captures(memory: &Memory, bundle: &Bundle) -> anyhow::Result<()> {
    let mut archive = decisions::open_archive(memory).await?;
    archive.plant(&bundle.payloads).await?;
    archive
        .insert_hits(&bundle.hits, RowRange::default())
        .await?;
    archive.archive(bundle.captures.clone()).await?;
    // Captures of this machine may contain payloads of the bundle.
    archive.look_again().await?;
    archive.close().await;
    Ok(())
}
