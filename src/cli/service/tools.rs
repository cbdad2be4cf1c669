//! `scandeck tools`: the scan tools of the local service, and the installed scanners that they use.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use futures::future::join_all;
use serde_json::{Value, json};

use crate::cli::stdio;
use scandeck_service::engine::guests::table::GuestActivity;
use scandeck_service::engine::guests::version::installed_version;
use scandeck_service::engine::guests::{GUESTS, Guest, GuestUse, activity_of, missing_scanners};
use scandeck_service::engine::tools::{OfferedTool, offered};
use scandeck_wire::contract::RAW_SOCKETS;

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  scandeck tools --json")]
pub struct ToolsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A program that was found.
struct InstalledGuest {
    guest: Guest,
    path: PathBuf,
    /// Or why it reports none.
    version: Result<String, String>,
}

/// Prints the tools.
///
/// # Errors
/// When standard output cannot be written.
pub async fn run(args: &ToolsArgs) -> anyhow::Result<ExitCode> {
    let installed = installed().await;
    let rows = offered().map(|one| row(&one, &installed));
    let text = match args.json {
        true => serde_json::to_string_pretty(&rows.collect::<Vec<Value>>())? + "\n",
        false => offered().map(|one| lines(&one, &installed)).collect(),
    };
    stdio::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Asks all programs for their versions at the same time.
async fn installed() -> Vec<InstalledGuest> {
    let mut guests: Vec<Guest> = GUESTS.iter().map(|&(_, guest, _)| guest).collect();
    guests.dedup();
    let found = guests.into_iter().filter_map(|guest| {
        let path = guest.find()?;
        Some(async move {
            let version = installed_version(guest, &path).await;
            InstalledGuest {
                guest,
                path,
                version,
            }
        })
    });
    join_all(found).await
}

fn find(guest: Guest, installed: &[InstalledGuest]) -> Option<&InstalledGuest> {
    installed.iter().find(|one| one.guest == guest)
}

fn row(one: &OfferedTool, installed: &[InstalledGuest]) -> Value {
    let guest = one.guest.map(|(guest, how)| {
        let found = find(guest, installed);
        json!({
            "program": guest.program(), "required": how == GuestUse::Required, "installed": found.is_some(),
            "path": found.map(|one| &one.path), "version": found.and_then(|one| one.version.as_deref().ok()),
            "remedy": found.is_none().then(|| guest.remedy()),
        })
    });
    let is_ready = !missing_scanners()
        .iter()
        .any(|missing| missing.tool == one.tool);
    json!({
        "id": one.tool.0, "name": one.tool.name(), "function": one.function,
        "activity": activity_of(one.tool).words(), "ready": is_ready, "scanner": guest,
    })
}

fn lines(one: &OfferedTool, installed: &[InstalledGuest]) -> String {
    let name = one.tool.name().unwrap_or_default();
    let line = format!("{:>5}  {name:<20}  {}\n", one.tool.0, one.function);
    let guest = one
        .guest
        .map(|(guest, how)| scanner(guest, how, find(guest, installed)));
    let lacks_raw_sockets = missing_scanners()
        .iter()
        .any(|missing| missing.tool == one.tool && &*missing.program == RAW_SOCKETS);
    let rights = lacks_raw_sockets
        .then(|| format!("needs a service that runs as root or with {RAW_SOCKETS}"));
    let activity = activity_of(one.tool);
    let permission = (activity != GuestActivity::ReadOnly).then(|| {
        format!(
            "{}: needs `serve --allow-active`, and a scope entry with `active`",
            activity.words()
        )
    });
    guest
        .into_iter()
        .chain(rights)
        .chain(permission)
        .fold(line, |lines, more| format!("{lines}{:29}{more}\n", ""))
}

fn scanner(guest: Guest, how: GuestUse, found: Option<&InstalledGuest>) -> String {
    let program = guest.program();
    let verb = if how == GuestUse::Required {
        "needs"
    } else {
        "can use"
    };
    let Some(InstalledGuest { path, version, .. }) = found else {
        return format!("{verb} {program}: not installed; {}", guest.remedy());
    };
    let path = path.display();
    match version {
        Ok(version) => format!("uses {program} {version}: {path}"),
        Err(why) => why.clone(),
    }
}
