//! One piece of the poller's work: a question to the service, and its answer made ready for the screen.
//!
//! A job runs on its own task. Merging and table building happen here too, so that neither the poller's loop nor the
//! UI thread ever walks 100,000 findings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::app::plan::{Noun, PartData, ScanPart};
use crate::app::table::{Item, Table};
use crate::client::{Client, Error, FindingQuery, ScanQuery, TargetQuery, TestQuery};
use crate::contract::{
    Capture, CaptureId, Finding, Logger, LoggerId, Report, Scan, ScanId, ScanStatus, Shared, Target, TargetId,
    Wordlist, Workspace, WorkspaceId,
};

/// Lists above this are compared and made ready on a thread of their own.
const INLINE: usize = 500;

/// A question to the service.
#[derive(Clone, Debug)]
pub(super) enum Job {
    Workspaces {
        known: Option<Arc<Table<Workspace>>>,
    },
    Targets {
        workspace: WorkspaceId,
        known: Option<Arc<Table<Target>>>,
    },
    /// Every scan.
    Scans {
        workspace: WorkspaceId,
        known: Option<Arc<Table<Scan>>>,
    },
    /// The scans that wait or run, and those of `known` that did and no longer do.
    ActiveScans {
        workspace: WorkspaceId,
        known: Arc<Table<Scan>>,
    },
    /// Every finding.
    Findings {
        workspace: WorkspaceId,
        known: Option<Arc<Table<Finding>>>,
    },
    /// The findings of some scans, put in the place of those known; those of `gone` scans are dropped.
    FindingsOf {
        scans: Vec<(ScanId, TargetId)>,
        gone: BTreeSet<ScanId>,
        known: Arc<Table<Finding>>,
    },
    Loggers {
        workspace: WorkspaceId,
        known: Option<Arc<Table<Logger>>>,
    },
    Captures {
        logger: LoggerId,
        since: Option<CaptureId>,
    },
    Reports {
        known: Option<Arc<Table<Report>>>,
    },
    Wordlists {
        known: Option<Arc<Table<Wordlist>>>,
    },
    Part {
        scan: ScanId,
        part: ScanPart,
    },
}

/// What the service answered, ready for the screen. A table that did not change is the known one.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    Workspaces(Arc<Table<Workspace>>),
    Targets(Arc<Table<Target>>),
    Scans(Arc<Table<Scan>>),
    Findings(Arc<Table<Finding>>),
    Loggers(Arc<Table<Logger>>),
    Captures(LoggerId, Vec<Capture>),
    Reports(Arc<Table<Report>>),
    Wordlists(Arc<Table<Wordlist>>),
    Part(ScanId, PartData),
}

/// What is never asked twice at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Slot {
    List(Noun),
    Captures(LoggerId),
    Part,
}

impl Job {
    /// Which jobs exclude each other.
    pub fn slot(&self) -> Slot {
        match self {
            Job::Workspaces { .. } => Slot::List(Noun::Workspaces),
            Job::Targets { .. } => Slot::List(Noun::Targets),
            Job::Scans { .. } | Job::ActiveScans { .. } => Slot::List(Noun::Scans),
            Job::Findings { .. } | Job::FindingsOf { .. } => Slot::List(Noun::Findings),
            Job::Loggers { .. } => Slot::List(Noun::Loggers),
            Job::Captures { logger, .. } => Slot::Captures(*logger),
            Job::Reports { .. } => Slot::List(Noun::Reports),
            Job::Wordlists { .. } => Slot::List(Noun::Wordlists),
            Job::Part { .. } => Slot::Part,
        }
    }

    /// How many calls it makes, at least.
    pub fn calls(&self) -> u32 {
        match self {
            Job::ActiveScans { .. } => 2,
            Job::FindingsOf { scans, .. } => u32::try_from(scans.len()).unwrap_or(u32::MAX),
            _ => 1,
        }
    }

    /// Asks.
    pub async fn run(self, client: &Client) -> Result<Outcome, Error> {
        Ok(match self {
            Job::Workspaces { known } => Outcome::Workspaces(table(client.list_workspaces().await?, known).await),
            Job::Targets { workspace, known } => {
                let query = TargetQuery { workspace_id: Some(workspace), ..TargetQuery::default() };
                Outcome::Targets(table(client.list_all_targets(&query).await?, known).await)
            }
            Job::Scans { workspace, known } => {
                let query = ScanQuery { workspace_id: Some(workspace), ..ScanQuery::default() };
                Outcome::Scans(table(client.list_all_scans(&query).await?, known).await)
            }
            Job::ActiveScans { workspace, known } => Outcome::Scans(active_scans(client, workspace, known).await?),
            Job::Findings { workspace, known } => {
                let query = FindingQuery { workspace_id: Some(workspace), ..FindingQuery::default() };
                Outcome::Findings(table(client.list_findings(&query).await?, known).await)
            }
            Job::FindingsOf { scans, gone, known } => Outcome::Findings(findings_of(client, scans, gone, known).await?),
            Job::Loggers { workspace, known } => {
                Outcome::Loggers(table(client.list_loggers(Some(workspace)).await?, known).await)
            }
            Job::Captures { logger, since } => Outcome::Captures(logger, client.list_captures(logger, since).await?),
            Job::Reports { known } => Outcome::Reports(table(client.list_reports().await?, known).await),
            Job::Wordlists { known } => Outcome::Wordlists(table(client.list_wordlists().await?, known).await),
            Job::Part { scan, part } => Outcome::Part(scan, scan_part(client, scan, part).await?),
        })
    }
}

/// Sorts by id and makes the table, away from the async threads when it is long; unchanged items keep the known table.
async fn table<T, I>(items: Vec<I>, known: Option<Arc<Table<T>>>) -> Arc<Table<T>>
where
    I: Into<Arc<T>> + Send + 'static,
    T: Item + PartialEq + Send + Sync + 'static,
    T::Id: Send + Sync,
{
    let fallback = known.clone();
    let small = items.len().max(known.as_ref().map_or(0, |known| known.len())) <= INLINE;
    let work = move || {
        let mut items: Vec<Arc<T>> = items.into_iter().map(Into::into).collect();
        items.sort_by_key(|item| item.id());
        match known {
            Some(known) if known.items() == items => known,
            _ => Arc::new(Table::new(items)),
        }
    };
    if small {
        return work();
    }
    // The task only fails when the runtime goes down; what was known is as good as anything then.
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| fallback.unwrap_or_default())
}

async fn active_scans(
    client: &Client,
    workspace: WorkspaceId,
    known: Arc<Table<Scan>>,
) -> Result<Arc<Table<Scan>>, Error> {
    let mut active: BTreeMap<ScanId, Arc<Scan>> = BTreeMap::new();
    for status in [ScanStatus::Waiting, ScanStatus::Running] {
        let query = ScanQuery { workspace_id: Some(workspace), status: Some(status), ..ScanQuery::default() };
        active.extend(client.list_all_scans(&query).await?.into_iter().map(|scan| (scan.id, Arc::new(scan))));
    }
    let has_ended = |scan: &&Arc<Scan>| scan.is_active() && !active.contains_key(&scan.id);
    let ended: Vec<ScanId> = known.items().iter().filter(has_ended).map(|scan| scan.id).collect();
    if ended.is_empty() && active.values().all(|scan| known.get(scan.id) == Some(scan)) {
        return Ok(known);
    }
    if ended.len() > 8 {
        let query = ScanQuery { workspace_id: Some(workspace), ..ScanQuery::default() };
        return Ok(table(client.list_all_scans(&query).await?, Some(known)).await);
    }
    let mut all: BTreeMap<ScanId, Arc<Scan>> = known.items().iter().map(|scan| (scan.id, Arc::clone(scan))).collect();
    all.append(&mut active);
    for id in ended {
        match client.get_scan(id).await {
            Ok(scan) => _ = all.insert(id, Arc::new(scan)),
            Err(error) if error.kind == crate::client::Kind::NotFound => _ = all.remove(&id),
            Err(error) => return Err(error),
        }
    }
    Ok(table(all.into_values().collect(), Some(known)).await)
}

async fn findings_of(
    client: &Client,
    scans: Vec<(ScanId, TargetId)>,
    gone: BTreeSet<ScanId>,
    known: Arc<Table<Finding>>,
) -> Result<Arc<Table<Finding>>, Error> {
    let mut fresh = Vec::new();
    for (scan, target) in &scans {
        let query = FindingQuery { task_id: Some(*scan), ..FindingQuery::default() };
        let of_scan = client.list_findings(&query).await?.into_iter();
        // A service that does not tell the scan in the finding tells it by the question.
        fresh.extend(of_scan.filter(|finding| finding.task_id.is_none_or(|id| id == *scan)).map(|mut finding| {
            finding.task_id.get_or_insert(*scan);
            finding.target_id.get_or_insert(*target);
            Arc::new(finding)
        }));
    }
    let replaced: BTreeSet<ScanId> = scans.into_iter().map(|(scan, _)| scan).chain(gone).collect();
    let base = Arc::clone(&known);
    let merge = move || {
        let ids: BTreeSet<_> = fresh.iter().map(|finding: &Arc<Finding>| finding.id).collect();
        let stays = |finding: &&Arc<Finding>| {
            !ids.contains(&finding.id) && finding.task_id.is_none_or(|scan| !replaced.contains(&scan))
        };
        let mut all: Vec<Arc<Finding>> = base.items().iter().filter(stays).cloned().collect();
        all.append(&mut fresh);
        all
    };
    match tokio::task::spawn_blocking(merge).await {
        Ok(all) => Ok(table(all, Some(known)).await),
        Err(_) => Ok(known),
    }
}

async fn scan_part(client: &Client, scan: ScanId, part: ScanPart) -> Result<PartData, Error> {
    Ok(match part {
        ScanPart::Tests => PartData::Tests(Arc::new(client.list_tests(scan, &TestQuery::default()).await?)),
        ScanPart::Output => PartData::Output(Arc::new(client.scan_output(scan).await?)),
        ScanPart::Raw => {
            let lines = client.scan_raw(scan).await?;
            PartData::Raw(Arc::new(lines.into_iter().map(Shared::from).collect()))
        }
    })
}
