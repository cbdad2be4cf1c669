//! `scandeck bundle`: writes everything about a workspace to one file, for another machine or as a
//! backup.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;

use super::save::ExistingFile;
use super::session::{StoredService, stored_service};
use super::stored::Stores;
use super::workspace_lists::WorkspaceLists;
use super::{HeadlessSession, ServiceArgs, bundles, save, stored};
use crate::cli::error::CliError;
use scandeck_domain::triage::settings::is_personal;
use scandeck_domain::triage::{Bundle, Manifest, Setting};
use scandeck_wire::contract::{Shared, Stamp};
use scandeck_wire::text;

#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Example:
  scandeck bundle --workspace \"Acme external\" -o acme.bundle",
    override_usage = "scandeck bundle --workspace <NAME|ID> --output <FILE>",
    mut_arg("workspace", |arg| arg.help("Workspace, by name or id"))
)]
pub struct BundleArgs {
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    existing: ExistingFile,
    // Last, because its heading applies to all later arguments.
    #[command(flatten)]
    service: ServiceArgs,
}

/// Runs the command.
///
/// # Errors
/// When no workspace is named or there is no data about it, or a file cannot be read or written.
pub async fn run(args: BundleArgs) -> anyhow::Result<ExitCode> {
    let bundle = gather(&args.service).await?;
    save::write(&args.output, bundle.write().as_bytes(), args.existing)?;
    note!("{} written: {}", args.output.display(), bundle.summary());
    Ok(ExitCode::SUCCESS)
}

/// All data about the workspace that the arguments name: of this machine, and of the service if it
/// is reachable.
///
/// # Errors
/// When no workspace is named or there is no data about it, or a file cannot be read.
pub async fn gather(args: &ServiceArgs) -> anyhow::Result<Bundle> {
    let Some(name) = args.workspace.as_deref() else {
        return Err(CliError::usage("--workspace is missing", "add --workspace NAME").into());
    };
    let service = stored_service(args)?;
    let lists = service_lists(args).await;
    let workspace = match &lists {
        Ok(lists) => lists.workspace.clone(),
        Err(error) => {
            let workspace = match stored::workspace(&service, name).await {
                // The service responded: its error names the cause and the known workspaces.
                Err(_) if bundles::unreachable(error).is_none() => {
                    return lists.map(|_| Bundle::default());
                }
                workspace => workspace?,
            };
            note!(
                "scandeck: targets, scans and findings not included: {}",
                text::clean(&format!("{error:#}"))
            );
            workspace
        }
    };
    let mut bundle = stored_data(&service, workspace).await?;
    let is_empty =
        bundle.events.is_empty() && bundle.settings.is_empty() && bundle.captures.is_empty();
    if is_empty && bundle.payloads.is_empty() && bundle.hits.is_empty() && lists.is_err() {
        return Err(stored::no_data(&[], name).into());
    }
    if let Ok(lists) = lists {
        bundle.manifest.reached = true;
        bundle.targets = lists.targets.into_iter().map(Arc::new).collect();
        bundle.scans = lists.scans.into_iter().map(Arc::new).collect();
        bundle.findings = lists.findings.into_iter().map(Arc::new).collect();
    }
    Ok(bundle)
}

/// The data about a workspace on this machine.
async fn stored_data(service: &StoredService, workspace: Shared) -> anyhow::Result<Bundle> {
    let maker = (
        Shared::from(service.memory.who.as_str()),
        Stamp(jiff::Timestamp::now()),
    );
    let (alias, name) = (
        service.config.alias.as_str().into(),
        service.config.name.as_str().into(),
    );
    let mut bundle = Bundle::new(Manifest::new(workspace.clone(), alias, name, maker));
    let mut stores = Stores::open(service, false).await?;
    if let Some(archive) = &mut stores.archive {
        bundle.payloads = archive.payloads_of(&workspace).await?;
        bundle.hits = archive.hits_of(&workspace).await?;
        bundle.captures = archive.captures_of(&workspace).await?;
    }
    if let Some(store) = &mut stores.decisions {
        let settings = store
            .settings()
            .await?
            .into_iter()
            .filter(|((key, of), _)| *of == workspace && !is_personal(key));
        bundle.settings = settings
            .map(|((key, _), json)| Setting { key, json })
            .collect();
        bundle.seen = store.seen_in(&workspace).await?;
    }
    bundle.events = stores.state.events_of(&workspace);
    stores.close().await;
    Ok(bundle)
}

/// The lists of the workspace that the arguments name.
async fn service_lists(args: &ServiceArgs) -> anyhow::Result<WorkspaceLists> {
    let session = HeadlessSession::open(args).await?;
    let workspace = session
        .workspaces()
        .await?
        .into_iter()
        .next()
        .context("there are no workspaces")?;
    WorkspaceLists::fetch(session.client()?, &workspace).await
}
