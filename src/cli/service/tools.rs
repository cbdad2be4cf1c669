//! `scandeck tools`: the scan tools of the local service, and the installed scanners that they use.
//!
//! ```text
//!   each program ─► its version, all at the same time ─► lines of tools, in the order of their ids
//! ```

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use futures::stream::{FuturesUnordered, Stream, StreamExt};
use serde_json::{Value, json};

use crate::cli::stdio;
use scandeck_service::engine::guests::table::GuestActivity;
use scandeck_service::engine::guests::version::installed_version;
use scandeck_service::engine::guests::{GUESTS, Guest, GuestUse, activity_of, missing_scanners};
use scandeck_service::engine::tools::{OfferedTool, offered};
use scandeck_wire::contract::RAW_SOCKETS;

/// Columns before the functions of the tools.
const HANG: usize = 29;

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  scandeck tools --json")]
pub struct ToolsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A program, if it was found.
struct ProbedGuest {
    guest: Guest,
    found: Option<InstalledGuest>,
}

struct InstalledGuest {
    path: PathBuf,
    /// Or why it reports none.
    version: Result<String, String>,
}

/// Prints the tools.
///
/// # Errors
/// When standard output cannot be written.
pub async fn run(args: &ToolsArgs) -> anyhow::Result<ExitCode> {
    if args.json {
        let probed: Vec<ProbedGuest> = probes().collect().await;
        let rows: Vec<Value> = offered().map(|one| row(&one, &probed)).collect();
        stdio::print((serde_json::to_string_pretty(&rows)? + "\n").as_bytes())?;
    } else {
        print_lines(probes(), |text| stdio::print_lines(text, HANG)).await?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks all programs for their versions at the same time.
fn probes() -> impl Stream<Item = ProbedGuest> + Unpin {
    let mut guests: Vec<Guest> = GUESTS.iter().map(|&(_, guest, _)| guest).collect();
    guests.dedup();
    guests
        .into_iter()
        .map(probe)
        .collect::<FuturesUnordered<_>>()
}

async fn probe(guest: Guest) -> ProbedGuest {
    let Some(path) = guest.find() else {
        return ProbedGuest { guest, found: None };
    };
    let version = installed_version(guest, &path).await;
    let found = Some(InstalledGuest { path, version });
    ProbedGuest { guest, found }
}

/// Prints the lines of each tool as soon as its program is known: some programs need seconds for
/// their version.
async fn print_lines(
    mut answers: impl Stream<Item = ProbedGuest> + Unpin,
    mut print: impl FnMut(&str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut probed: Vec<ProbedGuest> = Vec::new();
    for tool in offered() {
        let is_known = |probed: &[ProbedGuest]| {
            let guest = tool.guest.map(|(guest, _)| guest);
            guest.is_none_or(|guest| probed.iter().any(|one| one.guest == guest))
        };
        while !is_known(&probed)
            && let Some(one) = answers.next().await
        {
            probed.push(one);
        }
        print(&lines(&tool, &probed))?;
    }
    Ok(())
}

fn find(guest: Guest, probed: &[ProbedGuest]) -> Option<&InstalledGuest> {
    let of_guest = probed.iter().find(|one| one.guest == guest)?;
    of_guest.found.as_ref()
}

fn row(one: &OfferedTool, probed: &[ProbedGuest]) -> Value {
    let guest = one.guest.map(|(guest, how)| {
        let found = find(guest, probed);
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

fn lines(one: &OfferedTool, probed: &[ProbedGuest]) -> String {
    let name = one.tool.name().unwrap_or_default();
    let line = format!("{:>5}  {name:<20}  {}\n", one.tool.0, one.function);
    let guest = one
        .guest
        .map(|(guest, how)| scanner(guest, how, find(guest, probed)));
    let lacks_raw_sockets = missing_scanners()
        .iter()
        .any(|missing| missing.tool == one.tool && &*missing.program == RAW_SOCKETS);
    let rights = lacks_raw_sockets
        .then(|| format!("needs a service that runs as root or with {RAW_SOCKETS}"));
    let activity = activity_of(one.tool);
    let permission = (activity != GuestActivity::ReadOnly).then(|| {
        format!(
            "{}: needs `serve --allow-active`, and `scope add TARGET --active`",
            activity.words()
        )
    });
    guest
        .into_iter()
        .chain(rights)
        .chain(permission)
        .fold(line, |lines, more| format!("{lines}{:HANG$}{more}\n", ""))
}

fn scanner(guest: Guest, how: GuestUse, found: Option<&InstalledGuest>) -> String {
    let program = guest.program();
    let verb = if how == GuestUse::Required {
        "needs"
    } else {
        "can use"
    };
    let Some(InstalledGuest { path, version }) = found else {
        return format!("{verb} {program}: not installed; {}", guest.remedy());
    };
    let path = path.display();
    match version {
        Ok(version) => format!("uses {program} {version}: {path}"),
        Err(why) => why.clone(),
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, stream};

    use super::*;
    use scandeck_wire::text::width;

    #[test]
    fn lines_of_the_tools_fit_in_80_columns() {
        for tool in offered() {
            let printed = stdio::laid_out(&lines(&tool, &[]), HANG, 80);
            assert!(printed.lines().all(|line| width(line) <= 80), "{printed}");
            let words = |text: &str| {
                text.split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            assert_eq!(words(&printed), words(&lines(&tool, &[])));
        }
    }

    #[test]
    fn tools_before_a_slow_program_are_printed_at_once() {
        let without_program = offered().take_while(|tool| tool.guest.is_none());
        let expected: String = without_program.map(|tool| lines(&tool, &[])).collect();
        assert!(!expected.is_empty());
        let mut printed = String::new();
        let printing = print_lines(stream::pending(), |text| {
            printed.push_str(text);
            Ok(())
        });
        assert!(printing.now_or_never().is_none(), "a version is missing");
        assert_eq!(printed, expected);
    }
}
