//! `scandeck bundle`: everything about a workspace in one file, to go on elsewhere or to be kept.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;

use super::advised::Advised;
use super::headless::decisions::{advised, archive, open};
use super::headless::session::{ServicePlace, place};
use super::headless::{HeadlessSession, ServiceArgs, save};
use super::kept;
use crate::client::{FindingQuery, ScanQuery, TargetQuery};
use crate::contract::{Finding, Scan, Shared, Stamp, Target};
use crate::triage::{Bundle, Manifest, Setting};
use crate::{oob, text};

/// `scandeck bundle …`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck bundle --workspace \"Acme external\" -o acme.bundle
  XDG_STATE_HOME=/mnt/elsewhere scandeck unbundle acme.bundle

It holds what was decided, saved queries and reviews, what was seen, payloads and captured requests, and targets, \
scans and findings as the service tells them now; where the service is not reached that is said, and the rest is written. No key is in it.")]
pub struct BundleArgs {
    #[command(flatten)]
    service: ServiceArgs,
    /// The file, over what may be there
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// When no workspace is named or nothing is known of it, or a file cannot be read or written.
pub async fn run(args: BundleArgs) -> anyhow::Result<ExitCode> {
    let Some(named) = args.service.workspace.as_deref() else {
        return Err(Advised::usage("which workspace?", "name it with --workspace").into());
    };
    let place = place(&args.service)?;
    let told = WorkspaceData::by_the_service(&args.service).await;
    if let Err(error) = &told {
        eprintln!("scandeck: the service does not tell: {}", text::clean(&format!("{error:#}")));
    }
    let mut told = told.ok();
    let workspace: Shared = match told.as_ref().map(|told| &told.workspace) {
        Some(name) => name.clone(),
        None => kept::workspace(&place, named).await?,
    };
    let mut bundle = of_here(&place, workspace).await?;
    let nothing = bundle.events.is_empty() && bundle.settings.is_empty() && bundle.captures.is_empty();
    if nothing && bundle.payloads.is_empty() && bundle.hits.is_empty() && told.is_none() {
        return Err(Advised::new(format!("nothing is known of a workspace {named:?}"), "look for its name").into());
    }
    if let Some(told) = told.take() {
        bundle.manifest.reached = true;
        (bundle.targets, bundle.scans, bundle.findings) = (told.targets, told.scans, told.findings);
    }
    save::over(&args.output, bundle.write().as_bytes())?;
    eprintln!("{}: {}", args.output.display(), bundle.told());
    Ok(ExitCode::SUCCESS)
}

/// What is kept about a workspace on this machine.
async fn of_here(place: &ServicePlace, workspace: Shared) -> anyhow::Result<Bundle> {
    let maker = (Shared::from(place.memory.who.as_str()), Stamp(jiff::Timestamp::now()));
    let manifest = Manifest::new(workspace.clone(), place.alias.clone(), place.service.as_str().into(), maker);
    let mut bundle = Bundle::new(manifest);
    if oob::store::Store::exists(&place.memory.directory) {
        let mut archive = archive(&place.memory).await?;
        bundle.payloads = archive.payloads_of(&workspace).await.map_err(advised)?;
        bundle.hits = archive.hits_of(&workspace).await.map_err(advised)?;
        bundle.captures = archive.captures_of(&workspace).await.map_err(advised)?;
        archive.close().await;
    }
    if !place.memory.directory.join("decisions.db").exists() {
        return Ok(bundle);
    }
    let (mut store, state) = open(&place.memory).await?;
    bundle.events = state.events_of(&workspace);
    let settings = store.settings().await.map_err(advised)?;
    let here = settings.into_iter().filter(|((_, of), _)| *of == workspace);
    bundle.settings = here.map(|((key, _), json)| Setting { key, json }).collect();
    bundle.seen = store.seen_in(&workspace).await.map_err(advised)?;
    store.close().await;
    Ok(bundle)
}

/// What the service tells about a workspace.
struct WorkspaceData {
    workspace: Shared,
    targets: Vec<Arc<Target>>,
    scans: Vec<Arc<Scan>>,
    findings: Vec<Arc<Finding>>,
}

impl WorkspaceData {
    async fn by_the_service(args: &ServiceArgs) -> anyhow::Result<Self> {
        let session = HeadlessSession::open(args).await?;
        let all = session.workspaces().await?;
        let workspace = all.into_iter().next().context("there is no workspace")?;
        let (client, id) = (session.client()?, Some(workspace.id));
        let targets = client.list_all_targets(&TargetQuery { workspace_id: id, ..TargetQuery::default() }).await?;
        let scans = client.list_all_scans(&ScanQuery { workspace_id: id, ..ScanQuery::default() }).await?;
        let findings = client.list_findings(&FindingQuery { workspace_id: id, ..FindingQuery::default() }).await?;
        Ok(Self {
            workspace: workspace.name,
            targets: targets.into_iter().map(Arc::new).collect(),
            scans: scans.into_iter().map(Arc::new).collect(),
            findings: findings.into_iter().map(Arc::new).collect(),
        })
    }
}
