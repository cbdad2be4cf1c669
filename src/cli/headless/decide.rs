//! `scandeck findings decide`: says about findings what a verdict key says.

use std::collections::HashSet;
use std::process::ExitCode;

use clap::Args;
use jiff::civil::Date;

use super::rows::{FindingRows, today};
use super::{HeadlessSession, decisions, findings};
use crate::cli::advised::Advised;
use crate::contract::{Risk, Shared};
use crate::export::ExportRow;
use crate::query::Query;
use crate::text;
use crate::triage::{DecisionDefaults, Draft, DraftValue, FindingKey, Reason, Subject, Verdict};

/// Options of `scandeck findings decide`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck findings decide 4711 --verdict false_positive --reason not_reproducible --note \"see ticket 114\"
  scandeck findings decide --query 'class:tls-expired target:*.lab.test' --verdict risk_accepted --until 2027-01-31

Decisions stay on this machine, beside the service. An accepted risk holds 90 days unless --until says otherwise.
The note is that of the last decision on the same class, the reason too where it fits the verdict, unless given;
`--reason none` and `--note ''` leave them out. The dashboard shows them at once, and its u takes them back.")]
pub struct DecideArgs {
    /// Which: ids at the service, of any occurrence, or fingerprints
    #[arg(value_name = "ID|FINGERPRINT", required_unless_present = "query", allow_negative_numbers = true)]
    ids: Vec<String>,
    /// Which: all that match
    #[arg(long, value_name = "QUERY", value_parser = super::rows::query, conflicts_with = "ids")]
    query: Option<Query>,
    /// open, in_review, confirmed, false_positive, risk_accepted, not_applicable, fixed, duplicate
    #[arg(long, value_name = "VERDICT", value_parser = verdict,
          required_unless_present_any = ["note", "severity", "tag", "untag"])]
    verdict: Option<Verdict>,
    /// Why, as a code that belongs to the verdict, such as not_reproducible or will_not_fix; or none
    #[arg(long, value_name = "REASON", value_parser = reason, requires = "verdict")]
    reason: Option<DraftValue<Reason>>,
    /// Added to the notes; an empty one is none
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Last day it holds
    #[arg(long, value_name = "YYYY-MM-DD", requires = "verdict")]
    until: Option<Date>,
    /// A severity of one's own: critical, high, medium, low, info; `scanner` goes back to the scanner's
    #[arg(long, value_name = "RISK", value_parser = severity)]
    severity: Option<DraftValue<Risk>>,
    /// Puts a tag on; may be said again
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Takes a tag off; may be said again
    #[arg(long, value_name = "TAG")]
    untag: Vec<String>,
    /// What it duplicates
    #[arg(long, value_name = "ID|FINGERPRINT", required_if_eq("verdict", "duplicate"), allow_negative_numbers = true)]
    duplicate_of: Option<String>,
}

fn verdict(text: &str) -> Result<Verdict, String> {
    let names = || Verdict::ALL.map(Verdict::as_str).join(", ");
    Verdict::named(text).ok_or_else(names)
}

fn reason(text: &str) -> Result<DraftValue<Reason>, String> {
    let names = || format!("{} or none", Reason::ALL.map(Reason::as_str).join(", "));
    if text == "none" { Ok(DraftValue::Empty) } else { Reason::named(text).map(DraftValue::Set).ok_or_else(names) }
}

fn severity(text: &str) -> Result<DraftValue<Risk>, String> {
    let named = Risk::DOWN.into_iter().find(|risk| risk.as_str() == text);
    match named {
        Some(risk) => Ok(DraftValue::Set(risk)),
        None if text == "scanner" => Ok(DraftValue::Empty),
        None => Err("critical, high, medium, low, info or scanner".to_owned()),
    }
}

/// Decides.
///
/// # Errors
/// When a finding is unknown, the reason is none of the verdict's, or the decision cannot be kept.
pub async fn run(session: &HeadlessSession, args: DecideArgs) -> anyhow::Result<ExitCode> {
    if let (Some(verdict), Some(DraftValue::Set(reason))) = (args.verdict, args.reason)
        && !verdict.reasons().contains(&reason)
    {
        let names: Vec<&str> = verdict.reasons().iter().map(|reason| reason.as_str()).collect();
        let hint = if names.is_empty() {
            "leave --reason out".to_owned()
        } else {
            format!("take one of: {}", names.join(", "))
        };
        return Err(Advised::usage(format!("{reason} is no reason for {verdict}"), hint).into());
    }
    let rows = FindingRows::load(session).await?;
    let chosen = chosen(&rows, &args)?;
    let draft = draft(&rows, args)?;
    let defaults = DecisionDefaults::of(rows.state());
    let mut changes = Vec::new();
    for row in &chosen {
        let said = |verdict| defaults.last(rows.state(), &row.workspace, row.case.class(), verdict);
        let last = draft.verdict.and_then(said);
        for change in draft.changes(&row.case, &row.assessment, last.as_ref(), today()) {
            changes.push((row.workspace.clone(), Subject::Finding((*row.case.identity).clone()), change));
        }
    }
    if changes.is_empty() {
        eprintln!(
            "scandeck: nothing to say: {}",
            match chosen.len() {
                0 => "no finding matches",
                _ => "it all stands already",
            }
        );
    } else {
        decisions::write(&session.memory, rows.state(), changes).await?;
    }
    told(session, &chosen).await?;
    Ok(ExitCode::SUCCESS)
}

fn chosen(rows: &FindingRows, args: &DecideArgs) -> anyhow::Result<Vec<ExportRow>> {
    let mut chosen: Vec<ExportRow> = match &args.query {
        Some(query) => rows.that(query),
        None => args.ids.iter().map(|id| known(rows, id).cloned()).collect::<anyhow::Result<_>>()?,
    };
    // The same finding in two workspaces has one key: decided twice it would contradict itself.
    let mut keys = HashSet::new();
    chosen.retain(|row| keys.insert(row.case.key()));
    Ok(chosen)
}

fn known<'a>(rows: &'a FindingRows, id: &str) -> anyhow::Result<&'a ExportRow> {
    let unknown = || Advised::new(format!("there is no finding {id:?}"), "`scandeck findings list` shows them");
    Ok(rows.all.iter().find(|row| findings::is_named(row, id)).ok_or_else(unknown)?)
}

fn draft(rows: &FindingRows, args: DecideArgs) -> anyhow::Result<Draft> {
    let shared = |texts: Vec<String>| texts.iter().map(|text| Shared::from(text.trim())).collect();
    let duplicate_of: Option<FindingKey> = match &args.duplicate_of {
        Some(id) => Some(known(rows, id)?.case.key()),
        None => None,
    };
    Ok(Draft {
        verdict: args.verdict,
        reason: args.reason.unwrap_or_default(),
        note: args.note.map_or(DraftValue::Default, |note| match note.trim() {
            "" => DraftValue::Empty,
            _ => DraftValue::Set(note.into()),
        }),
        until: args.until.map_or(DraftValue::Default, DraftValue::Set),
        severity: args.severity.unwrap_or_default(),
        tag: shared(args.tag),
        untag: shared(args.untag),
        duplicate_of,
        ..Draft::default()
    })
}

/// The findings as they stand now.
async fn told(session: &HeadlessSession, chosen: &[ExportRow]) -> anyhow::Result<()> {
    let rows = FindingRows::load(session).await?;
    let now: Vec<ExportRow> = rows
        .all
        .into_iter()
        .filter(|row| chosen.iter().any(|one| (one.case.key(), &one.workspace) == (row.case.key(), &row.workspace)))
        .collect();
    let shown: Vec<_> = now.iter().map(crate::export::json::row).collect();
    if !session.out.json {
        eprintln!("{}", text::plural(now.len(), "finding"));
    }
    session.out.list(&shown, || findings::table(&now))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::triage::TriageState;
    use crate::triage::testing::World;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: DecideArgs,
    }

    #[test]
    fn a_finding_that_two_workspaces_have_is_decided_once() {
        let mut world = World::new();
        world.scan(1);
        world.found(1, "csp", "");
        let (case, assessment) = world.last();
        let row = |workspace: &str| {
            let (case, assessment) = (case.clone(), assessment.clone());
            ExportRow::new(case, assessment, &TriageState::default(), "shop.test".into(), Some(170), workspace.into())
        };
        let mut rows = FindingRows::default();
        rows.all = vec![row("acme"), row("lab")];
        let args = Line::parse_from(["decide", "--query", "port:443", "--verdict", "confirmed"]).args;
        let chosen = chosen(&rows, &args).unwrap();
        assert_eq!(chosen.iter().map(|row| row.workspace.as_str()).collect::<Vec<_>>(), ["acme"]);
    }
}
