//! `scandeck findings decide`: sets verdict, reason, note, severity, assignee, due date and tags of
//! findings.

use std::collections::HashSet;
use std::process::ExitCode;

use clap::Args;
use jiff::civil::Date;

use super::rows::{FindingRows, today};
use super::{HeadlessSession, decisions, findings};
use crate::cli::error::CliError;
use crate::cli::value::future_date;
use scandeck_domain::export::ExportRow;
use scandeck_domain::query::{Query, QueryKind};
use scandeck_domain::triage::{
    Change, DecisionDefaults, Draft, DraftValue, FindingKey, Reason, Subject, Verdict,
    assignee_name,
};
use scandeck_wire::contract::{Risk, Shared};
use scandeck_wire::text;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck findings decide 4711 --verdict false_positive --reason not_reproducible")]
pub struct DecideArgs {
    /// Finding ids of any occurrence, or fingerprints; instead of --query
    #[arg(value_name = "ID|FINGERPRINT", allow_negative_numbers = true)]
    ids: Vec<String>,
    /// All findings that match; instead of ids
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true, value_parser = |text: &str| super::query(text, QueryKind::Findings),
          conflicts_with = "ids")]
    query: Option<Query>,
    /// open, in_review, confirmed, false_positive, risk_accepted, not_applicable, fixed, duplicate
    #[arg(long, value_name = "VERDICT", value_parser = Verdict::from_name)]
    verdict: Option<Verdict>,
    /// Reason, such as not_reproducible, or `none` [default: last reason for this class and
    /// verdict]
    #[arg(long, value_name = "REASON", value_parser = reason, requires = "verdict")]
    reason: Option<DraftValue<Reason>>,
    /// Note to add
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    note: Option<String>,
    /// Expiry date (not a duration such as 30d), or `none` [default: 90 days for risk_accepted]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = until, requires = "verdict")]
    until: Option<DraftValue<Date>>,
    /// Severity override: critical, high, medium, low, info; `scanner` removes it
    #[arg(long, value_name = "RISK", value_parser = severity)]
    severity: Option<DraftValue<Risk>>,
    /// Assignee: the name of a member of the team, or `none`
    #[arg(long, value_name = "NAME", value_parser = assignee)]
    assignee: Option<DraftValue<Shared>>,
    /// Due date, or `none`
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = until)]
    due: Option<DraftValue<Date>>,
    /// Add a tag; repeatable
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Remove a tag; repeatable
    #[arg(long, value_name = "TAG")]
    untag: Vec<String>,
    /// Original of the duplicate
    #[arg(
        long,
        value_name = "ID|FINGERPRINT",
        required_if_eq("verdict", "duplicate"),
        allow_negative_numbers = true
    )]
    duplicate_of: Option<String>,
}

fn reason(text: &str) -> Result<DraftValue<Reason>, String> {
    if text == "none" {
        return Ok(DraftValue::Empty);
    }
    Reason::from_name(text)
        .map(DraftValue::Set)
        .map_err(|names| format!("{names} or none"))
}

fn until(text: &str) -> Result<DraftValue<Date>, String> {
    if text == "none" {
        return Ok(DraftValue::Empty);
    }
    future_date(text)
        .map(DraftValue::Set)
        .map_err(|error| format!("{error}, or none"))
}

fn assignee(text: &str) -> Result<DraftValue<Shared>, String> {
    match text.trim().trim_start_matches('@') {
        "" => Err("name is missing; use a name or none".to_owned()),
        "none" | "nobody" => Ok(DraftValue::Empty),
        name => assignee_name(name).map(DraftValue::Set),
    }
}

fn severity(text: &str) -> Result<DraftValue<Risk>, String> {
    if text == "scanner" {
        return Ok(DraftValue::Empty);
    }
    let named = Risk::DOWN.into_iter().find(|risk| risk.as_str() == text);
    named
        .map(DraftValue::Set)
        .ok_or_else(|| "use critical, high, medium, low, info or scanner".to_owned())
}

/// Writes the decisions.
///
/// # Errors
/// When a finding does not exist, the reason does not fit the verdict, or the decisions cannot be
/// saved.
pub async fn run(session: &HeadlessSession, args: DecideArgs) -> anyhow::Result<ExitCode> {
    args.check()?;
    let rows = FindingRows::load(session).await?;
    let selected = select(&rows, &args)?;
    let original_name = args.duplicate_of.clone().unwrap_or_default();
    let draft = draft(&rows, args)?;
    if let Some(original) = &draft.duplicate_of
        && selected.iter().any(|row| row.issue.key() == *original)
    {
        let message = format!("finding {original_name} cannot be a duplicate of itself");
        return Err(CliError::usage(message, "name another finding with --duplicate-of").into());
    }
    let changes = changes(&rows, &selected, &draft);
    match (changes.is_empty(), selected.is_empty()) {
        (false, _) => {
            let who = session.author().await?;
            decisions::write(&session.memory, who, rows.state(), changes).await?;
        }
        (true, true) => note!("no finding matches; 0 findings decided"),
        (true, false) => note!("unchanged: all findings have this decision already"),
    }
    print(session, &selected).await?;
    Ok(ExitCode::SUCCESS)
}

impl DecideArgs {
    /// Refuses what clap cannot: a reason of another verdict, and a decision without findings or
    /// content.
    fn check(&self) -> Result<(), CliError> {
        if let (Some(verdict), Some(DraftValue::Set(reason))) = (self.verdict, self.reason)
            && !verdict.reasons().contains(&reason)
        {
            let names: Vec<&str> = verdict
                .reasons()
                .iter()
                .map(|reason| reason.as_str())
                .collect();
            let hint = match names.is_empty() {
                true => "remove --reason".to_owned(),
                false => format!("reasons: {}", names.join(", ")),
            };
            let message = format!("`{reason}` is not a reason for `{verdict}`");
            return Err(CliError::usage(message, hint));
        }
        if self.ids.is_empty() && self.query.is_none() {
            let hint = "pass ids or fingerprints, or use --query";
            return Err(CliError::usage("no finding given", hint));
        }
        let decides = self.verdict.is_some() || self.note.is_some() || self.severity.is_some();
        let plans = self.assignee.is_some() || self.due.is_some();
        if !decides && !plans && self.tag.is_empty() && self.untag.is_empty() {
            let hint = "set --verdict, --severity, --assignee, --due, --tag, --untag or --note";
            return Err(CliError::usage("nothing to decide", hint));
        }
        Ok(())
    }
}

/// What the draft changes in the selected findings.
fn changes(
    rows: &FindingRows,
    selected: &[ExportRow],
    draft: &Draft,
) -> Vec<(Shared, Subject, Change)> {
    let defaults = DecisionDefaults::of(rows.state());
    let mut changes = Vec::new();
    for row in selected {
        let reason =
            |verdict| defaults.reason(rows.state(), &row.workspace, row.issue.class(), verdict);
        let reason = draft.verdict.and_then(reason);
        let subject = || Subject::Finding(row.issue.identity.clone());
        let of_row = draft.changes(&row.issue, &row.assessment, reason, today());
        changes.extend(
            of_row
                .into_iter()
                .map(|change| (row.workspace.clone(), subject(), change)),
        );
    }
    changes
}

fn select(rows: &FindingRows, args: &DecideArgs) -> anyhow::Result<Vec<ExportRow>> {
    let mut selected: Vec<ExportRow> = match &args.query {
        Some(query) => rows.matching(query),
        None => findings::named(&rows.all, &args.ids)?
            .into_iter()
            .cloned()
            .collect(),
    };
    // A finding of two workspaces has one key: two decisions would be a conflict.
    let mut keys = HashSet::new();
    selected.retain(|row| keys.insert(row.issue.key()));
    Ok(selected)
}

fn find<'a>(rows: &'a FindingRows, id: &str) -> anyhow::Result<&'a ExportRow> {
    Ok(rows
        .all
        .iter()
        .find(|row| findings::is_named(row, id))
        .ok_or_else(|| findings::not_found(id))?)
}

fn draft(rows: &FindingRows, args: DecideArgs) -> anyhow::Result<Draft> {
    let shared = |texts: Vec<String>| texts.iter().map(|text| Shared::from(text.trim())).collect();
    let duplicate_of: Option<FindingKey> = match &args.duplicate_of {
        Some(id) => Some(find(rows, id)?.issue.key()),
        None => None,
    };
    Ok(Draft {
        verdict: args.verdict,
        reason: args.reason.unwrap_or_default(),
        note: args
            .note
            .map_or(DraftValue::Default, |note| match note.trim() {
                "" => DraftValue::Empty,
                _ => DraftValue::Set(note.into()),
            }),
        until: args.until.unwrap_or_default(),
        severity: args.severity.unwrap_or_default(),
        assignee: args.assignee.unwrap_or_default(),
        due: args.due.unwrap_or_default(),
        tag: shared(args.tag),
        untag: shared(args.untag),
        duplicate_of,
        ..Draft::default()
    })
}

/// Prints the findings with their new decisions.
async fn print(session: &HeadlessSession, selected: &[ExportRow]) -> anyhow::Result<()> {
    let mut rows = FindingRows::load(session).await?.all;
    let is_same = |a: &ExportRow, b: &ExportRow| {
        (a.issue.key(), &a.workspace) == (b.issue.key(), &b.workspace)
    };
    rows.retain(|row| selected.iter().any(|one| is_same(one, row)));
    if !session.out.json && !rows.is_empty() {
        note!("{}", text::plural(rows.len(), "finding"));
    }
    findings::print(session, &rows)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use scandeck_domain::triage::TriageState;
    use scandeck_domain::triage::testing::TriageFixture;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: DecideArgs,
    }

    #[test]
    fn finding_of_two_workspaces_is_selected_once() {
        let mut fixture = TriageFixture::new();
        fixture.scan(1);
        fixture.found(1, "csp", "");
        let (issue, assessment) = fixture.last();
        let row = |workspace: &str| {
            let (issue, assessment) = (issue.clone(), assessment.clone());
            ExportRow::new(
                issue,
                assessment,
                &TriageState::default(),
                "shop.test".into(),
                Some(170),
                workspace.into(),
            )
        };
        let mut rows = FindingRows::default();
        rows.all = vec![row("acme"), row("lab")];
        let args =
            Line::parse_from(["decide", "--query", "-port:443", "--note", "- as agreed"]).args;
        assert!(
            args.query.is_some() && args.note.as_deref() == Some("- as agreed"),
            "no flags"
        );
        let args =
            Line::parse_from(["decide", "--query", "port:443", "--verdict", "confirmed"]).args;
        let selected = select(&rows, &args).unwrap();
        assert_eq!(
            selected
                .iter()
                .map(|row| row.workspace.as_str())
                .collect::<Vec<_>>(),
            ["acme"]
        );
    }
}
