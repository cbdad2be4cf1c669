//! The gate of `scandeck scans start`: ended scans, the findings of them that match `--fail-on`,
//! and the exit code.
//!
//! ```text
//!   ended scans ─► findings of their workspaces ─► --fail-on: matched? exit code 3
//!                            └─► reported: incomplete scans, exploited findings that pass
//! ```

use std::collections::BTreeMap;
use std::process::ExitCode;

use super::findings::table;
use super::rows::FindingRows;
use super::{HeadlessSession, exit, query, scans, watch};
use crate::cli::error::CliError;
use scandeck_domain::export::{ExportRow, json};
use scandeck_domain::query::{Query, QueryKind};
use scandeck_domain::triage::coverage;
use scandeck_wire::contract::{Risk, Scan, ScanId, WorkspaceId};
use scandeck_wire::text::{clean_for_print, plural};

/// The query of `--fail-on`. The bare name of a severity would search for that word and match next
/// to nothing.
pub fn parse(text: &str) -> Result<Query, String> {
    match Risk::DOWN
        .into_iter()
        .find(|risk| text.trim().eq_ignore_ascii_case(risk.as_str()))
    {
        Some(risk) => Err(format!(
            "`{text}` searches for the word \"{text}\"; to compare the risk, write `risk>={risk}`"
        )),
        None => query(text, QueryKind::Findings),
    }
}

/// The ended scans of a command.
pub enum ScanGroup {
    One(ScanId, Box<Scan>),
    Several(Vec<Scan>),
}

impl ScanGroup {
    fn scans(&self) -> &[Scan] {
        match self {
            Self::One(_, scan) => std::slice::from_ref(scan),
            Self::Several(scans) => scans,
        }
    }

    fn ids(&self) -> Vec<ScanId> {
        match self {
            Self::One(id, _) => vec![*id],
            Self::Several(scans) => scans.iter().map(|scan| scan.id).collect(),
        }
    }

    /// `scan 12`, or `3 scans`.
    fn words(&self) -> String {
        match self {
            Self::One(id, _) => format!("scan {id}"),
            Self::Several(scans) => plural(scans.len(), "scan"),
        }
    }
}

/// Prints the ended scans, and the findings that match `--fail-on`.
///
/// # Errors
/// Those of the service, and when standard output is closed.
pub async fn finish(
    session: &HeadlessSession,
    group: ScanGroup,
    fail_on: Option<Query>,
) -> anyhow::Result<ExitCode> {
    let results = match &fail_on {
        Some(query) => results(session, &group, query).await?,
        None => GateResults::default(),
    };
    let found = &results.found;
    if session.out.json {
        print_json(session, &group, fail_on.is_some().then_some(&found[..]))?;
    } else {
        for id in group.ids() {
            session.out.line(&id.to_string())?;
        }
        if !found.is_empty() {
            session.out.table(&table(found))?;
        }
    }
    for (id, scan) in group.ids().into_iter().zip(group.scans()) {
        report_gaps(id, scan, &results.gaps_of(id));
    }
    report_exploited(&results.exploited);
    // Matching findings take precedence over an unfinished scan.
    if !found.is_empty() {
        report_matched(found, &group);
        return Ok(ExitCode::from(exit::MATCHED));
    }
    Ok(watch::code(group.scans()))
}

/// The findings of ended scans that match the query of `--fail-on`, after a report of their number.
///
/// # Errors
/// Those of the service.
pub async fn gated(
    session: &HeadlessSession,
    scans: Vec<Scan>,
    query: &Query,
) -> anyhow::Result<Vec<ExportRow>> {
    let group = ScanGroup::Several(scans);
    let GateResults {
        found, exploited, ..
    } = results(session, &group, query).await?;
    report_exploited(&exploited);
    if !found.is_empty() {
        report_matched(&found, &group);
    }
    Ok(found)
}

fn report_matched(found: &[ExportRow], group: &ScanGroup) {
    let verb = if found.len() == 1 { "matches" } else { "match" };
    note!(
        "scandeck: {} of {} {verb} --fail-on",
        plural(found.len(), "finding"),
        group.words()
    );
}

/// The findings of ended scans.
#[derive(Default)]
struct GateResults {
    /// Those that match the query.
    found: Vec<ExportRow>,
    /// Those that say that their scan is incomplete.
    gaps: Vec<ExportRow>,
    /// Those that pass the query although attackers are known to use them.
    exploited: Vec<ExportRow>,
}

impl GateResults {
    fn gaps_of(&self, scan: ScanId) -> Vec<String> {
        let of_scan = self.gaps.iter().filter(|row| is_of_scan(row, scan));
        of_scan.map(|row| row.issue.vuln_id.to_string()).collect()
    }
}

pub fn is_of_scan(row: &ExportRow, scan: ScanId) -> bool {
    row.issue.task_id() == Some(scan)
}

/// Reads the findings of the scans, each workspace once.
async fn results(
    session: &HeadlessSession,
    group: &ScanGroup,
    query: &Query,
) -> anyhow::Result<GateResults> {
    let mut workspaces: BTreeMap<Option<WorkspaceId>, Vec<ScanId>> = BTreeMap::new();
    for (id, scan) in group.ids().into_iter().zip(group.scans()) {
        workspaces.entry(scan.workspace_id).or_default().push(id);
    }
    let mut results = GateResults::default();
    for (workspace, scans) in workspaces {
        let mut rows = FindingRows::load_one(session, workspace).await?;
        rows.retain_scans(&scans);
        let found = rows.matching(query);
        let exploited = rows.matching(&exploited_query()?);
        results.exploited.extend(below_gate(exploited, &found));
        results.found.extend(found);
        let is_gap = |row: &ExportRow| coverage::is_about_scan(&row.issue.vuln_id);
        results.gaps.extend(rows.all.into_iter().filter(is_gap));
    }
    Ok(results)
}

/// Prints the scans, each with its matching findings if there is a query.
fn print_json(
    session: &HeadlessSession,
    group: &ScanGroup,
    found: Option<&[ExportRow]>,
) -> anyhow::Result<()> {
    let mut values = Vec::new();
    for (id, scan) in group.ids().into_iter().zip(group.scans()) {
        let mut value = serde_json::to_value(scans::NamedScan::new(scan, None))?;
        if let Some(found) = found {
            let of_scan = found.iter().filter(|row| is_of_scan(row, id));
            value["matched"] = of_scan.map(json::row).collect();
        }
        values.push(value);
    }
    match (group, values.pop()) {
        (ScanGroup::One(..), Some(value)) => session.out.value(&value),
        (_, last) => {
            values.extend(last);
            session.out.value(&values)
        }
    }
}

/// Present findings that attackers are known to use, and that are not dismissed.
fn exploited_query() -> Result<Query, CliError> {
    let text = "is:kev is:present (is:undecided or verdict:confirmed)";
    Query::parse(text, QueryKind::Findings)
        .map_err(|error| CliError::new(error, "report this as an error of scandeck"))
}

/// The exploited findings that a gate lets pass.
fn below_gate(exploited: Vec<ExportRow>, found: &[ExportRow]) -> Vec<ExportRow> {
    let is_found = |row: &ExportRow| {
        let mut ids = found.iter().map(|other| other.issue.finding.id);
        ids.any(|id| id == row.issue.finding.id)
    };
    let mut below = exploited;
    below.retain(|row| !is_found(row));
    below
}

/// Reports findings that pass a gate such as `risk>=high` although attackers are known to use them.
fn report_exploited(below: &[ExportRow]) {
    if below.is_empty() {
        return;
    }
    note!(
        "scandeck: {} below --fail-on known to be exploited (CISA KEV):",
        plural(below.len(), "finding")
    );
    for row in below.iter().take(5) {
        note!(
            "  {}, {}, on {}",
            row.risk(),
            clean_for_print(&row.issue.name),
            clean_for_print(&row.target)
        );
    }
    note!("  `… or is:kev` in --fail-on matches them too");
}

/// Reports that a scan is incomplete, with its findings that say so.
fn report_gaps(id: ScanId, scan: &Scan, gaps: &[String]) {
    if gaps.is_empty() && scan.is_incomplete() {
        note!(
            "scandeck: scan {id} is incomplete; `scandeck scans tests {id}` shows the tests without a result"
        );
    }
    if !gaps.is_empty() {
        note!("scandeck: scan {id} is incomplete ({})", gaps.join(", "));
        note!("  `class:coverage*` in --fail-on matches incomplete scans");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_domain::triage::TriageState;
    use scandeck_domain::triage::testing::TriageFixture;

    #[test]
    fn exploited_finding_that_passes_the_gate_is_reported() {
        let mut fixture = TriageFixture::new();
        fixture.scan(1);
        let found = fixture.found(1, "csp", "");
        (found.risk_level, found.in_cisa_catalog) = (Risk::Low, true);
        let (issue, assessment) = fixture.last();
        let (state, target) = (TriageState::default(), "shop.test".into());
        let row = ExportRow::new(issue, assessment, &state, target, Some(170), "acme".into());
        let mut rows = FindingRows::default();
        rows.all.push(row);
        let below = |gate: &str| {
            let matched = rows.matching(&Query::parse(gate, QueryKind::Findings).unwrap());
            below_gate(rows.matching(&exploited_query().unwrap()), &matched).len()
        };
        assert_eq!((below("risk>=high"), below("risk>=low")), (1, 0));
    }
}
