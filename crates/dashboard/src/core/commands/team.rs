//! Commands about the team: its members and what they look at, sharing decisions, notes that
//! mention the user.

use crate::base::{Effect, Pane, TeamRequest, Tone};
use crate::model::team::{note_line, purge_words, rejoin_prompt};
use crate::model::{Model, navigation};
use crate::palette::{Args, ArgumentShape, ArgumentSlot, Command};
use scandeck_wire::contract::team::Viewer;
use scandeck_wire::text::{self, plural};
use std::fmt::Write;

const JOIN: &str = "join";
const RETRY: &str = "retry";
const CHOICES: &[&str] = &[JOIN, RETRY];
/// Most notes, and most other members, in the list of the team.
const MOST_NOTES: usize = 20;
const MOST_MEMBERS: usize = 50;

/// The commands of this area.
pub(crate) static COMMANDS: &[Command] = &[
    Command::new(
        "team",
        &[ArgumentSlot::optional(ArgumentShape::Choice(CHOICES, "join|retry"))],
        "show the members, what they look at, and notes that mention you; join: share your decisions; retry: send refused decisions again",
        "team join",
        |model, args, effects| match args.choice() {
            Some(RETRY) => retry(model, effects),
            Some(_) => join(model, effects),
            None => show(model),
        },
    )
    .off_when(without_team),
    Command::new(
        "mentions",
        &[],
        "show the findings with notes that mention you",
        "mentions",
        mentions,
    )
    .off_when(without_team),
];

fn without_team(model: &Model) -> Option<String> {
    let why = "no team: the service has none, or the key has no name";
    (!model.has_team()).then(|| why.to_owned())
}

fn join(model: &mut Model, effects: &mut Vec<Effect>) -> Result<(), String> {
    let team = &mut model.connection.team;
    if team.question.is_some() {
        team.is_asked = false;
        return Ok(());
    }
    if !team.is_private {
        return Err("the decisions of this workspace are shared already".to_owned());
    }
    let purged = team.purged.clone();
    let workspace = model.navigation.scope.workspace;
    let workspace = workspace.ok_or("no workspace is open")?;
    let request = TeamRequest::Join {
        workspace,
        is_shared: true,
    };
    match purged {
        Some((name, purge)) => model.open_prompt(rejoin_prompt(&name, &purge, request)),
        None => model.join_team(request, effects),
    }
    Ok(())
}

fn retry(model: &mut Model, effects: &mut Vec<Effect>) -> Result<(), String> {
    let team = &model.connection.team;
    let refused = team.refused_rows();
    if refused == 0 {
        return Err("the service refused no decision of this workspace".to_owned());
    }
    if team.is_unshared() {
        return Err("decisions of this workspace are not shared; use `:team join`".to_owned());
    }
    let workspace = model.navigation.scope.workspace;
    let workspace = workspace.ok_or("no workspace is open")?;
    let notice = format!("{} will be sent again", plural(refused, "refused decision"));
    model.notify(Tone::Plain, notice);
    effects.push(Effect::Team(TeamRequest::Retry { workspace }));
    Ok(())
}

fn mentions(model: &mut Model, _: &Args, _: &mut Vec<Effect>) -> Result<(), String> {
    // A longer name that begins with the own name is another member.
    let name = model.own_name().replace('.', "[.]");
    let query = format!("note:~\"@{name}[.]*($|[^a-z0-9_.-])\"");
    navigation::go(model, Pane::Findings);
    model
        .set_query(Pane::Findings, &query)
        .map_err(|error| error.to_string())
}

fn show(model: &mut Model) -> Result<(), String> {
    let body = team_text(model);
    model.show_text("Team", body);
    Ok(())
}

/// Members with what they look at, the state of the exchange, and the notes that mention the user.
fn team_text(model: &Model) -> String {
    let team = &model.connection.team;
    let own = model.own_name();
    let role = team.me.as_ref().map(|me| me.role.as_str());
    let mut body = format!("{own}  you, role {}\n", role.unwrap_or_default());
    for viewer in team.viewers.iter().take(MOST_MEMBERS) {
        let who = text::clean(&viewer.who);
        _ = writeln!(body, "{who}  {}", looks_at(model, viewer));
    }
    let more = team.viewers.len().saturating_sub(MOST_MEMBERS);
    if more > 0 {
        _ = writeln!(body, "and {more} more");
    }
    body.push('\n');
    body.push_str(&exchange_words(model));
    let notes = model.notes_to_me();
    if !notes.is_empty() {
        body.push_str("\nNotes that mention you\n");
    }
    for note in notes.iter().take(MOST_NOTES) {
        _ = writeln!(body, "{}", note_line(note));
    }
    body
}

fn looks_at(model: &Model, viewer: &Viewer) -> String {
    let Some(finding) = &viewer.finding else {
        return "has the workspace open".to_owned();
    };
    let table = model.data.findings.value();
    let key = finding.parse::<scandeck_domain::triage::FindingKey>().ok();
    let issue = key.and_then(|key| table?.get(key.into()));
    match issue {
        Some(issue) => format!("looks at {}", text::clean(&issue.name)),
        None => "looks at a finding that is not listed here".to_owned(),
    }
}

fn exchange_words(model: &Model) -> String {
    let team = &model.connection.team;
    let mut lines = Vec::new();
    if let Some((workspace, purged)) = &team.purged {
        lines.push(purge_words(workspace, purged));
    }
    if team.is_unshared() {
        lines.push("Your decisions in this workspace are not shared: :team join".to_owned());
    } else if let Some(problem) = &team.problem {
        let unsent = team.unsent;
        lines.push(format!("Offline, {unsent} not sent: {problem}"));
    } else if team.unsent > 0 {
        lines.push(format!("{} not sent.", plural(team.unsent, "decision")));
    } else if team.refused.is_empty() {
        lines.push("All your decisions are sent.".to_owned());
    }
    for group in team.refused.iter() {
        let (rows, reason) = (plural(group.rows, "decision"), text::clean(&group.reason));
        lines.push(format!("{rows} refused: {reason}"));
    }
    if !team.refused.is_empty() {
        lines.push(
            "Refused decisions remain on this machine: :team retry sends them again".to_owned(),
        );
    }
    lines.into_iter().map(|line| line + "\n").collect()
}
