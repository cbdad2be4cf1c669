//! `scandeck unbundle`: takes up what a bundle holds, beside what is kept here already.
//!
//! Events, payloads with their hits, captures and what was seen are added, as by an import. A setting that is kept here
//! already stays. What the service told is put beside the store, for the time when the service is not reached.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::advised::Advised;
use super::headless::decisions::{advised, archive, writable};
use super::headless::session::place;
use super::headless::{Output, ServiceArgs, save};
use super::triage::bytes_of;
use crate::oob::RowRange;
use crate::text::plural;
use crate::triage::Bundle;

/// `scandeck unbundle …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck unbundle acme.bundle
  scandeck unbundle acme.bundle --profile prod

Twice is once. The bundle is taken whole or, where a line is bad or missing, not at all.")]
pub struct UnbundleArgs {
    #[command(flatten)]
    service: ServiceArgs,
    /// The file; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// When the file is no whole bundle, or the store cannot be written.
pub async fn run(args: UnbundleArgs) -> anyhow::Result<ExitCode> {
    let text = String::from_utf8(bytes_of(&args.file)?).ok().context("this is no bundle: it is no UTF-8 text")?;
    let bundle = Bundle::read(&text).map_err(|bad| {
        let what = format!("{}:{}: {}", args.file.display(), bad.line, bad.reason);
        Advised::new(what, "nothing was taken; make the bundle again")
    })?;
    let place = place(&args.service)?;
    let (workspace, told) = (&bundle.manifest.workspace, bundle.told());
    let (mut store, state) = writable(&place.memory).await?;
    let fresh = bundle.events.iter().filter(|event| !state.knows(event.id)).count();
    store.record(&bundle.events).await.map_err(advised)?;
    store.mark_seen(workspace, &bundle.seen).await.map_err(advised)?;
    let kept = store.settings().await.map_err(advised)?;
    for setting in &bundle.settings {
        if !kept.contains_key(&(setting.key.clone(), workspace.clone())) {
            store.put_setting(&setting.key, workspace, &setting.json).await.map_err(advised)?;
        }
    }
    store.close().await;
    if !bundle.captures.is_empty() || !bundle.payloads.is_empty() || !bundle.hits.is_empty() {
        let mut archive = archive(&place.memory).await?;
        archive.plant(&bundle.payloads).await.map_err(advised)?;
        archive.keep_hits(&bundle.hits, RowRange::default()).await.map_err(advised)?;
        archive.archive(bundle.captures.clone()).await.map_err(advised)?;
        // What was captured here may carry payloads that were made elsewhere.
        archive.look_again().await.map_err(advised)?;
        archive.close().await;
    }
    if bundle.manifest.reached {
        save::over(&place.memory.bundle_of(workspace), text.as_bytes())?;
    }
    let out = Output::new(args.service.json);
    if out.json {
        out.value(&serde_json::json!({"workspace": workspace, "taken": fresh, "known": bundle.events.len() - fresh}))?;
    } else {
        out.line(&format!("{workspace}: {told}; {} new here", plural(fresh, "event")));
    }
    if bundle.manifest.alias != place.alias {
        eprintln!(
            "scandeck: the bundle was made with another workspace alias than this profile's: its decisions find their \
             findings only when workspace_alias = {:?} is set",
            bundle.manifest.alias.as_str()
        );
    }
    Ok(ExitCode::SUCCESS)
}
