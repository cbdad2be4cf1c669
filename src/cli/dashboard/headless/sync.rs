//! `scandeck triage sync`: one exchange of decisions and payloads with the team of the service.
//!
//! ```text
//!   workspaces ─► each: read decisions of others, send those that the service lacks ─► counts
//!              └► --dry-run: counts only
//! ```

use clap::Args;
use serde::Serialize;

use super::{HeadlessSession, Output, decisions};
use crate::cli::error::CliError;
use scandeck_dashboard::runtime::team::{
    Attached, TeamError, TeamExchange, TeamWorkspace, may_decide,
};
use scandeck_wire::contract::Shared;
use scandeck_wire::contract::team::{Member, RefusedLine};
use scandeck_wire::sqlite::RefusedRows;
use scandeck_wire::text::{clean_for_print, plural};

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck triage sync --workspace Acme --dry-run")]
pub struct SyncArgs {
    /// Print what would be exchanged, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Rounds of an exchange. The first ends early when the service was restored from a backup.
const ROUNDS: usize = 3;

/// The exchange of a workspace.
#[derive(Debug, Default, Serialize)]
struct SyncedWorkspace {
    workspace: Shared,
    /// Decisions and payloads that the service received, or would receive.
    sent: usize,
    sent_payloads: usize,
    /// Decisions of others that were not here.
    received: usize,
    /// None with `--dry-run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    received_payloads: Option<usize>,
    /// Findings with decisions of both sides, and those with different ones: with `--dry-run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conflicts: Option<usize>,
    /// Decisions that the service did not accept.
    refused: Vec<RefusedLine>,
    /// Whether the decisions remain on this machine.
    is_private: bool,
}

/// Exchanges decisions.
///
/// # Errors
/// When the service has no team or the key no name, those of the stores and of the service, and
/// after the output when the service refused a decision.
pub async fn run(session: &HeadlessSession, args: &SyncArgs) -> anyhow::Result<()> {
    let workspaces = session.workspaces().await?;
    let member = member(session).await?;
    // Opened as by every other command, with their notes.
    let (store, _) = decisions::open_writable(&session.memory).await?;
    store.close().await;
    decisions::open_archive(&session.memory)
        .await?
        .close()
        .await;
    let client = session.client()?.clone();
    let mut exchange = TeamExchange::open(client, &session.memory.directory).await?;
    let mut all = Vec::new();
    for workspace in workspaces {
        let workspace = TeamWorkspace {
            service: member.service.clone(),
            id: workspace.id,
            name: workspace.name,
        };
        let result = match args.dry_run {
            true => compare(&mut exchange, &workspace).await,
            false => sync(session, &member, &mut exchange, &workspace).await,
        };
        all.push(result.map_err(of_team)?);
    }
    exchange.close().await;
    print(session.out, args.dry_run, &all)?;
    let refused: usize = all.iter().map(|one| one.refused.len()).sum();
    if refused == 0 {
        return Ok(());
    }
    let hint = "remove the cause and run the command again: it sends refused decisions again";
    let message = format!(
        "{} not accepted by the service",
        plural(refused, "decision")
    );
    Err(CliError::new(message, hint).into())
}

/// Receives the decisions of others in the workspaces that are shared already, if the service has a
/// team. Nothing is sent, and no workspace is shared.
///
/// # Errors
/// Those of the stores and of the service.
pub async fn receive(session: &HeadlessSession) -> anyhow::Result<()> {
    let member = session.member().await?;
    let Some(member) = member.filter(|member| !member.name.is_empty()) else {
        return Ok(());
    };
    let client = session.client()?.clone();
    decisions::open(&session.memory).await?.0.close().await;
    let archive = decisions::open_archive(&session.memory).await?;
    archive.close().await;
    let mut exchange = TeamExchange::open(client, &session.memory.directory).await?;
    let mut received = Ok(());
    for workspace in session.workspaces().await? {
        let workspace = TeamWorkspace {
            service: member.service.clone(),
            id: workspace.id,
            name: workspace.name,
        };
        received = pull_shared(&mut exchange, &workspace).await;
        if received.is_err() {
            break;
        }
    }
    exchange.close().await;
    received.map_err(of_team)
}

async fn pull_shared(
    exchange: &mut TeamExchange,
    workspace: &TeamWorkspace,
) -> Result<(), TeamError> {
    match exchange.attach(workspace).await? {
        Attached::Log(mut log) if log.is_shared => {
            exchange.pull(&mut log, None).await?;
        }
        Attached::Log(_) | Attached::Question(_) => {}
    }
    Ok(())
}

fn of_team(error: TeamError) -> anyhow::Error {
    match error {
        TeamError::Service(error) => error.into(),
        TeamError::Store(error) => error.into(),
    }
}

/// The owner of the key.
async fn member(session: &HeadlessSession) -> anyhow::Result<Member> {
    let Some(member) = session.member().await? else {
        let hint = "use `scandeck serve` with named keys (`scandeck keys add NAME --role triage`)";
        return Err(CliError::new("the service does not share decisions", hint).into());
    };
    if member.name.is_empty() {
        let hint = "create a named key: `scandeck keys add NAME --role triage`";
        let message = "the key has no name: its decisions stay on this machine";
        return Err(CliError::new(message, hint).into());
    }
    Ok(member)
}

async fn compare(
    exchange: &mut TeamExchange,
    workspace: &TeamWorkspace,
) -> Result<SyncedWorkspace, TeamError> {
    let joined = exchange.first_join(workspace).await?;
    Ok(SyncedWorkspace {
        workspace: joined.name,
        sent: joined.own,
        sent_payloads: joined.payloads,
        received: joined.others,
        findings: Some(joined.findings),
        conflicts: Some(joined.conflicts),
        ..SyncedWorkspace::default()
    })
}

async fn sync(
    session: &HeadlessSession,
    member: &Member,
    exchange: &mut TeamExchange,
    workspace: &TeamWorkspace,
) -> Result<SyncedWorkspace, TeamError> {
    let mut synced = SyncedWorkspace {
        workspace: workspace.name.clone(),
        received_payloads: Some(0),
        ..SyncedWorkspace::default()
    };
    let mut log = match exchange.attach(workspace).await? {
        Attached::Log(log) if log.is_shared => log,
        // A workspace that was kept private is shared again only by its name.
        Attached::Log(_) if !session.names_workspace() => {
            synced.is_private = true;
            return Ok(synced);
        }
        Attached::Log(_) | Attached::Question(_) => exchange.join(workspace, true).await?,
    };
    let may_send = may_decide(member) && !session.config.read_only;
    if may_send {
        exchange.retry_refused(&workspace.name).await?;
    }
    for _ in 0..ROUNDS {
        let received = exchange.pull(&mut log, None).await?;
        synced.received += received.events;
        *synced.received_payloads.get_or_insert_default() += received.payloads;
        if let Some(purged) = received.purged {
            let who = clean_for_print(&purged.who);
            note!(
                "scandeck: {who} deleted the shared decisions of {}; those on this machine remain",
                clean_for_print(&workspace.name)
            );
            synced.is_private = true;
            break;
        }
        if !may_send || exchange.unsent(&workspace.name).await? == 0 {
            break;
        }
        let sent = exchange.push(&log).await?;
        synced.sent += sent.events;
        synced.sent_payloads += sent.payloads;
        synced.refused.extend(sent.refused);
    }
    Ok(synced)
}

fn print(out: Output, is_dry_run: bool, all: &[SyncedWorkspace]) -> anyhow::Result<()> {
    for one in all {
        let group = |line: &RefusedLine| RefusedRows {
            reason: line.reason.to_string(),
            rows: 1,
        };
        for RefusedRows { reason, rows } in RefusedRows::merged(one.refused.iter().map(group)) {
            note!(
                "scandeck: {} of {} not accepted: {}",
                plural(rows, "decision"),
                clean_for_print(&one.workspace),
                clean_for_print(&reason)
            );
        }
    }
    if out.json {
        return out.value(&all);
    }
    for one in all {
        let name = clean_for_print(&one.workspace);
        let (sent, payloads) = (
            plural(one.sent, "decision"),
            plural(one.sent_payloads, "payload"),
        );
        let received = plural(one.received, "decision");
        out.line(&match (is_dry_run, one.is_private) {
            (_, true) => format!("{name}: private, nothing exchanged"),
            (true, _) => format!(
                "{name}: would send {sent} and {payloads}, receive {received}; {} decided by both, {}",
                plural(one.findings.unwrap_or_default(), "finding"),
                plural(one.conflicts.unwrap_or_default(), "conflict"),
            ),
            (false, _) => format!(
                "{name}: sent {sent} and {payloads}, received {received} and {}",
                plural(one.received_payloads.unwrap_or_default(), "payload"),
            ),
        })?;
    }
    Ok(())
}
