//! `scandeck scans start`: starts scans, waits for their end, and fails a build because of their
//! findings.
//!
//! ```text
//!   --tool, or the scans of --scan-profile ─┬─► each with each target ─► ids ─► --wait, --fail-on ─► exit code
//!   --target …, or --all-targets ───────────┘         └─► refused: reported, the others are started
//! ```

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::findings::table;
use super::rows::FindingRows;
use super::{HeadlessSession, api, exit, id, listed, scans, targets, watch};
use crate::cli::error::CliError;
use crate::cli::value::number_in;
use scandeck_client::{ErrorKind, TargetQuery};
use scandeck_dashboard::config::scan_profiles;
use scandeck_domain::export::{ExportRow, json};
use scandeck_domain::query::{Query, QueryKind};
use scandeck_domain::triage::coverage;
use scandeck_wire::contract::{
    NewScan, RedirectLevel, ReportCallback, Risk, SCAN_MINUTES, Scan, ScanId, TargetId, Tool,
    WorkspaceId,
};
use scandeck_wire::text::{clean_for_print, plural};
use serde_json::Value;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck scans start --tool 170 --target shop.acme.test --params '{\"scan_type\": \"light\"}'
  scandeck scans start --scan-profile web --target shop.acme.test --target 10.0.4.7
  scandeck scans start --scan-profile web --all-targets --workspace \"Acme external\"")]
pub struct StartArgs {
    /// Tool id: 70 ports, 170 website, 350 network (nmap), 450 TLS, …; `scandeck tools` lists all
    #[arg(long, value_name = "ID", value_parser = id, required_unless_present = "scan_profile")]
    tool: Option<i64>,
    /// Start every scan of this scan profile; `[[scan_profiles.NAME]]` of the configuration file
    #[arg(long, value_name = "NAME", conflicts_with_all = ["tool", "params"])]
    scan_profile: Option<String>,
    #[command(flatten)]
    targets: TargetChoice,
    /// Parameters of the tool as JSON, or @FILE
    #[arg(long, value_name = "JSON|@FILE")]
    params: Option<String>,
    /// Time limit of each scan
    #[arg(long, value_name = "MINUTES", value_parser = |text: &str| number_in(SCAN_MINUTES, text))]
    max_scan_time: Option<i64>,
    /// Redirects to follow: none, check_accessibility, same_host, same_domain, allow_all [default:
    /// same_domain]
    #[arg(long, value_name = "LEVEL", value_parser = RedirectLevel::known)]
    redirect_level: Option<RedirectLevel>,
    /// Scan the URL as given, even if it redirects
    #[arg(long)]
    scan_original_url: bool,
    /// VPN profile, or `none`
    #[arg(long, value_name = "UUID")]
    vpn_profile: Option<String>,
    /// URL that receives the report when a scan ends. The service makes it, without decisions; on
    /// your own service `scandeck serve --report-template` sets its texts and options
    #[arg(long, value_name = "URL")]
    callback_url: Option<String>,
    /// Format of the report for --callback-url
    #[arg(long, value_name = "FORMAT", requires = "callback_url")]
    callback_format: Option<String>,
    /// Wait until the scans have ended; exit code 4 unless all have the status finished
    #[arg(long)]
    wait: bool,
    /// Wait; exit code 3 when a finding of these scans matches
    #[arg(long, value_name = "QUERY", value_parser = gate)]
    fail_on: Option<Query>,
}

/// The targets of a command.
#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = false)]
pub struct TargetChoice {
    /// Target by name or id, repeatable; the service adds a new name
    #[arg(long, value_name = "NAME|ID")]
    target: Vec<String>,
    /// All targets of the workspace that --workspace names
    #[arg(long)]
    all_targets: bool,
}

/// The query of `--fail-on`. The bare name of a severity would search for that word and match next
/// to nothing.
pub(super) fn gate(text: &str) -> Result<Query, String> {
    match Risk::DOWN
        .into_iter()
        .find(|risk| text.trim().eq_ignore_ascii_case(risk.as_str()))
    {
        Some(risk) => Err(format!(
            "`{text}` searches for the word \"{text}\"; to compare the risk, write `risk>={risk}`"
        )),
        None => super::query(text, QueryKind::Findings),
    }
}

/// Starts the scans.
///
/// # Errors
/// Those of the service.
pub async fn run(session: &HeadlessSession, args: StartArgs) -> anyhow::Result<ExitCode> {
    session.require_writable()?;
    let new = new_scans(session, &args)?;
    let targets = args.targets.resolve(session).await?;
    let (wait, fail_on) = (args.wait || args.fail_on.is_some(), args.fail_on);
    if let ([one], [target]) = (&new[..], &targets[..]) {
        let id = start_one(session, &target.scan(one)).await?;
        if !wait {
            session.out.created("created_id", id.0)?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut scans = watch::until_ended(session, &[id]).await?;
        let scan = scans.pop().unwrap_or_default();
        return finish(session, ScanGroup::One(id, Box::new(scan)), fail_on).await;
    }
    let started = start_each(session, &new, targets).await?;
    let ids: Vec<ScanId> = started.scans.iter().map(|scan| scan.created_id).collect();
    let code = match wait && !ids.is_empty() {
        true => {
            let scans = watch::until_ended(session, &ids).await?;
            finish(session, ScanGroup::Several(scans), fail_on).await?
        }
        false => {
            started.print(session)?;
            ExitCode::SUCCESS
        }
    };
    match started.error() {
        None => Ok(code),
        Some(error) => Err(error.into()),
    }
}

/// A target that exists, or a name that the service adds.
#[derive(Clone, Debug)]
pub struct ChosenTarget {
    pub name: String,
    pub id: Option<TargetId>,
    pub workspace: Option<WorkspaceId>,
}

impl ChosenTarget {
    fn scan(&self, new: &NewScan) -> NewScan {
        NewScan {
            target_id: self.id,
            target_name: self.id.is_none().then(|| self.name.clone()),
            workspace_id: self.workspace,
            ..new.clone()
        }
    }
}

impl TargetChoice {
    /// The chosen targets, each once.
    ///
    /// # Errors
    /// When `--all-targets` has no workspace or no targets, a target does not exist, and those of
    /// the service.
    pub async fn resolve(&self, session: &HeadlessSession) -> anyhow::Result<Vec<ChosenTarget>> {
        let workspace = session.workspace_id().await?;
        if self.all_targets {
            return all_targets(session, workspace).await;
        }
        let mut chosen: Vec<ChosenTarget> = Vec::new();
        for text in &self.target {
            let existing = match text.parse::<TargetId>() {
                Ok(id) => {
                    let target = session.client()?.get_target(id).await;
                    Some(listed("targets", target.map_err(Into::into))?)
                }
                Err(_) => targets::find(session, text).await?,
            };
            let one = match existing {
                Some(target) => ChosenTarget {
                    name: target.name.to_string(),
                    id: Some(target.id),
                    workspace: workspace.or(Some(target.workspace_id)),
                },
                None => ChosenTarget {
                    name: text.clone(),
                    id: None,
                    workspace,
                },
            };
            let is_same = |other: &ChosenTarget| other.id == one.id && other.name == one.name;
            if !chosen.iter().any(is_same) {
                chosen.push(one);
            }
        }
        Ok(chosen)
    }

    pub fn is_all(&self) -> bool {
        self.all_targets
    }
}

async fn all_targets(
    session: &HeadlessSession,
    workspace: Option<WorkspaceId>,
) -> anyhow::Result<Vec<ChosenTarget>> {
    let Some(workspace) = workspace else {
        let hint = "add --workspace NAME";
        return Err(CliError::usage("--all-targets needs a workspace", hint).into());
    };
    let query = TargetQuery {
        workspace_id: Some(workspace),
        ..TargetQuery::default()
    };
    let all = session.client()?.list_all_targets(&query).await?;
    if all.is_empty() {
        let hint = "`scandeck targets add NAME` adds a target";
        return Err(CliError::new("the workspace has no targets", hint).into());
    }
    let chosen = all.into_iter().map(|target| ChosenTarget {
        name: target.name.to_string(),
        id: Some(target.id),
        workspace: Some(workspace),
    });
    Ok(chosen.collect())
}

/// The hint after a start whose outcome is unknown.
const LIST_SCANS: &str = "`scandeck scans list` shows whether it was started";

async fn start_one(session: &HeadlessSession, new: &NewScan) -> anyhow::Result<ScanId> {
    let created = match session.client()?.create_scan(new).await {
        Err(error) if error.is_outcome_unknown() => {
            let message =
                format!("outcome unknown: the service may have started the scan: {error}");
            return Err(CliError::new(message, LIST_SCANS).into());
        }
        result => listed("targets", result.map_err(Into::into))?,
    };
    let Some(id) = created.created_id else {
        let message = "scan started, but its id is unknown";
        return Err(CliError::new(message, LIST_SCANS).into());
    };
    report_ignored(session, id, new.tool_params.as_ref()).await?;
    Ok(id)
}

/// A scan that was started with others.
#[derive(Debug, Serialize)]
struct StartedScan {
    created_id: ScanId,
    tool_id: i64,
    target_id: Option<TargetId>,
    target_name: String,
}

/// The scans of several targets or tools.
#[derive(Debug, Default)]
struct StartedScans {
    scans: Vec<StartedScan>,
    refused: usize,
    /// Why the rest was not tried.
    ended: Option<EarlyEnd>,
    all: usize,
}

#[derive(Debug)]
struct EarlyEnd {
    cause: String,
    hint: String,
}

impl StartedScans {
    fn print(&self, session: &HeadlessSession) -> anyhow::Result<()> {
        if session.out.json {
            return session.out.value(&self.scans);
        }
        for scan in &self.scans {
            session.out.created("created_id", scan.created_id.0)?;
        }
        Ok(())
    }

    fn error(&self) -> Option<CliError> {
        if let Some(EarlyEnd { cause, hint }) = &self.ended {
            let message = format!(
                "ended after {} of {} scans: {cause}",
                self.scans.len(),
                self.all
            );
            return Some(CliError::new(message, hint.as_str()));
        }
        (self.refused > 0).then(|| {
            let message = format!("{} of {} scans not started", self.refused, self.all);
            CliError::new(message, "remove the causes, and start these scans again")
        })
    }
}

/// Starts each scan of each target. A refusal of one scan is reported; another error ends the rest.
async fn start_each(
    session: &HeadlessSession,
    new: &[NewScan],
    targets: Vec<ChosenTarget>,
) -> anyhow::Result<StartedScans> {
    let client = session.client()?;
    let mut started = StartedScans {
        all: new.len() * targets.len(),
        ..StartedScans::default()
    };
    for mut target in targets {
        for scan in new {
            let scan = target.scan(scan);
            let created = match client.create_scan(&scan).await {
                Ok(created) => created,
                Err(error) if is_about_scan(&error) => {
                    started.refused += 1;
                    note!(
                        "scandeck: {} of {} not started: {}",
                        Tool(scan.tool_id).scan(),
                        clean_for_print(&target.name),
                        clean_for_print(&error.to_string())
                    );
                    continue;
                }
                Err(error) => {
                    let hint = match error.is_outcome_unknown() {
                        true => LIST_SCANS.to_owned(),
                        false => error.hint(),
                    };
                    let cause = error.to_string();
                    started.ended = Some(EarlyEnd { cause, hint });
                    return Ok(started);
                }
            };
            // The first scan of a new name adds the target.
            target.id = target.id.or(created.target_id);
            let Some(id) = created.created_id else {
                let cause = "scan started, but its id is unknown".to_owned();
                let hint = LIST_SCANS.to_owned();
                started.ended = Some(EarlyEnd { cause, hint });
                return Ok(started);
            };
            if started.scans.len() < new.len() {
                report_ignored(session, id, scan.tool_params.as_ref()).await?;
            }
            started.scans.push(StartedScan {
                created_id: id,
                tool_id: scan.tool_id,
                target_id: target.id,
                target_name: target.name.clone(),
            });
        }
    }
    Ok(started)
}

/// Whether the service refused this scan, and may accept another.
fn is_about_scan(error: &scandeck_client::Error) -> bool {
    matches!(
        error.kind,
        ErrorKind::Forbidden | ErrorKind::NotFound | ErrorKind::Conflict | ErrorKind::Invalid
    )
}

/// Reports parameters that the service did not take over: a mistyped name would otherwise look like
/// a setting of the scan.
async fn report_ignored(
    session: &HeadlessSession,
    id: ScanId,
    given: Option<&Value>,
) -> anyhow::Result<()> {
    let Some(given) = given
        .and_then(Value::as_object)
        .filter(|given| !given.is_empty())
    else {
        return Ok(());
    };
    // A scan that cannot be read back was started all the same.
    let Ok(scan) = session.client()?.get_scan(id).await else {
        return Ok(());
    };
    let Some(stored) = scan.tool_params.as_ref().and_then(Value::as_object) else {
        return Ok(());
    };
    let is_ignored = |name: &&String| !stored.contains_key(*name) && !given[*name].is_null();
    for name in given.keys().filter(is_ignored) {
        note!(
            "scandeck: the service ignored the parameter `{}`; `scandeck scans show {id} --json` lists those in use",
            clean_for_print(name)
        );
    }
    Ok(())
}

/// The ended scans of a command.
enum ScanGroup {
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

async fn finish(
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
pub(super) async fn gated(
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

pub(super) fn is_of_scan(row: &ExportRow, scan: ScanId) -> bool {
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

/// The scans that each target gets.
fn new_scans(session: &HeadlessSession, args: &StartArgs) -> anyhow::Result<Vec<NewScan>> {
    let tool_params = args
        .params
        .as_deref()
        .map(|params| api::json("--params", params))
        .transpose()?;
    let of_tool = args.tool.map(|tool_id| NewScan {
        tool_id,
        tool_params,
        ..NewScan::default()
    });
    let mut scans: Vec<NewScan> = of_tool.into_iter().collect();
    if let Some(name) = &args.scan_profile {
        let profiles = &session.config.screen.scan_profiles;
        scans = scan_profiles::named(profiles, name)?.scans.clone();
    }
    for scan in &mut scans {
        let vpn = args.vpn_profile.clone();
        scan.vpn_profile_uuid = vpn.map(|uuid| Some(uuid).filter(|uuid| uuid != "none"));
        scan.max_scan_time = args.max_scan_time.or(scan.max_scan_time);
        scan.report_callback = args.callback_url.clone().map(|url| ReportCallback {
            url,
            format: args.callback_format.clone(),
        });
        let is_original = args.scan_original_url.then_some(true);
        scan.scan_original_url = is_original.or(scan.scan_original_url);
        let level = scan.redirect_level.take();
        scan.redirect_level = args.redirect_level.clone().or(level);
    }
    Ok(scans)
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
