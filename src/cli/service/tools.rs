//! `scandeck tools`: the scan tools of the local service, and the installed scanners that they use.

use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use crate::cli::stdio;
use scandeck_service::engine::guests::{Guest, GuestUse, missing_scanners};
use scandeck_service::engine::tools::{OfferedTool, offered};
use scandeck_wire::contract::RAW_SOCKETS;

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  scandeck tools --json")]
pub struct ToolsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints the tools.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: &ToolsArgs) -> anyhow::Result<ExitCode> {
    let text = match args.json {
        true => serde_json::to_string_pretty(&offered().map(row).collect::<Vec<Value>>())? + "\n",
        false => offered().map(|one| lines(&one)).collect(),
    };
    stdio::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn row(one: OfferedTool) -> Value {
    let guest = one.guest.map(|(guest, how)| {
        let path = guest.find();
        json!({
            "program": guest.program(), "required": how == GuestUse::Required, "installed": path.is_some(),
            "path": path, "remedy": guest.find().is_none().then(|| guest.remedy()),
        })
    });
    let is_ready = !missing_scanners()
        .iter()
        .any(|missing| missing.tool == one.tool);
    json!({
        "id": one.tool.0, "name": one.tool.name(), "function": one.function, "ready": is_ready, "scanner": guest,
    })
}

fn lines(one: &OfferedTool) -> String {
    let name = one.tool.name().unwrap_or_default();
    let line = format!("{:>4}  {name:<20}  {}\n", one.tool.0, one.function);
    let guest = one.guest.map(|(guest, how)| scanner(guest, how));
    let lacks_raw_sockets = missing_scanners()
        .iter()
        .any(|missing| missing.tool == one.tool && &*missing.program == RAW_SOCKETS);
    let rights = lacks_raw_sockets
        .then(|| format!("needs a service that runs as root or with {RAW_SOCKETS}"));
    guest
        .into_iter()
        .chain(rights)
        .fold(line, |lines, more| format!("{lines}{:28}{more}\n", ""))
}

fn scanner(guest: Guest, how: GuestUse) -> String {
    let verb = if how == GuestUse::Required {
        "needs"
    } else {
        "can use"
    };
    match guest.find() {
        Some(path) => format!("uses {}: {}", guest.program(), path.display()),
        None => format!(
            "{verb} {}: not installed; {}",
            guest.program(),
            guest.remedy()
        ),
    }
}
