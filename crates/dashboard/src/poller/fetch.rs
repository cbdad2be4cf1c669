//! A request of the poller, and its response prepared for the screen.
//!
//! Each fetch runs in its own task. It also merges the items and builds the table, so that neither
//! the loop of the poller nor the UI thread walks over 100,000 findings.

use crate::base::plan::Snapshot;
use crate::base::{ListItem, ListKind, PartData, ScanPart};
use crate::poller::pace::MOST_PAID;
use crate::poller::{FindingTextFiles, findings};
use scandeck_client::{
    Client, Error, ErrorKind, ScanQuery, TargetQuery, TestQuery, on_list_thread,
};
use scandeck_domain::table::{IntoRow, Item, Table};
use scandeck_domain::triage::ListedFinding;
use scandeck_wire::contract::node::NodeList;
use scandeck_wire::contract::{
    Capture, CaptureId, LoggerId, Scan, ScanId, ScanStatus, Shared, TargetId, Unreadable,
    WorkspaceId,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Longer lists are compared and built on a blocking thread.
const INLINE: usize = 500;

/// A request to the service.
#[derive(Clone, Debug)]
pub(crate) enum Fetch {
    /// A whole list, of this workspace if it belongs to one.
    List {
        list: ListKind,
        workspace: Option<WorkspaceId>,
        cached: Option<Snapshot>,
    },
    /// The active scans, and the scans of `cached` that are no longer active. Without
    /// `with_waiting` only the running ones; no scan of `cached` waits then.
    ActiveScans {
        workspace: Option<WorkspaceId>,
        cached: Arc<Table<Scan>>,
        with_waiting: bool,
    },
    /// The findings of some scans, which replace the known ones; the findings of `removed` scans
    /// are dropped.
    FindingsOf {
        scans: Vec<(ScanId, TargetId)>,
        removed: BTreeSet<ScanId>,
        cached: Arc<Table<ListedFinding>>,
    },
    Captures {
        logger: LoggerId,
        since: Option<CaptureId>,
    },
    Part {
        scan: ScanId,
        part: ScanPart,
    },
    Nodes,
}

/// A response prepared for the screen. An unchanged table is the known one.
#[derive(Clone, Debug)]
pub(crate) enum Fetched {
    List(Snapshot),
    Captures(LoggerId, Vec<Capture>),
    Part(ScanId, PartData),
    Nodes(NodeList),
}

/// The resource of a request. Only one request per slot is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FetchSlot {
    List(ListKind),
    Captures(LoggerId),
    Part,
    Nodes,
}

impl FetchSlot {
    /// The list whose pane shows the resource.
    pub fn list_kind(self) -> Option<ListKind> {
        match self {
            FetchSlot::List(list) => Some(list),
            FetchSlot::Captures(_) => Some(ListKind::Captures),
            FetchSlot::Part => Some(ListKind::Scans),
            FetchSlot::Nodes => None,
        }
    }

    /// Whether a refresh of the list includes the resource.
    pub fn is_read_with(self, list: ListKind) -> bool {
        self.list_kind() == Some(list)
            || (self, list) == (FetchSlot::List(ListKind::Loggers), ListKind::Captures)
            // The view that shows them has no list, and refreshes the workspaces.
            || (self, list) == (FetchSlot::Nodes, ListKind::Workspaces)
    }
}

impl Fetch {
    pub fn slot(&self) -> FetchSlot {
        match self {
            Fetch::List { list, .. } => FetchSlot::List(*list),
            Fetch::ActiveScans { .. } => FetchSlot::List(ListKind::Scans),
            Fetch::FindingsOf { .. } => FetchSlot::List(ListKind::Findings),
            Fetch::Captures { logger, .. } => FetchSlot::Captures(*logger),
            Fetch::Part { .. } => FetchSlot::Part,
            Fetch::Nodes => FetchSlot::Nodes,
        }
    }

    /// The least number of calls.
    pub fn calls(&self) -> u32 {
        match self {
            Fetch::ActiveScans { with_waiting, .. } => 1 + u32::from(*with_waiting),
            Fetch::FindingsOf { scans, .. } => u32::try_from(scans.len())
                .unwrap_or(u32::MAX)
                .min(MOST_PAID),
            _ => 1,
        }
    }

    pub async fn run(
        self,
        client: &Client,
        files: Option<&FindingTextFiles>,
    ) -> Result<Fetched, Error> {
        Ok(match self {
            Fetch::List {
                list,
                workspace,
                cached,
            } => {
                match (
                    whole_list(client, list, workspace, cached.as_ref(), files).await,
                    cached,
                ) {
                    (Err(error), Some(cached)) if error.kind == ErrorKind::NotModified => {
                        Fetched::List(cached)
                    }
                    (read, _) => Fetched::List(read?),
                }
            }
            Fetch::ActiveScans {
                workspace,
                cached,
                with_waiting,
            } => {
                // In this order, a scan that starts in between is in the second response.
                let statuses = with_waiting
                    .then_some(ScanStatus::Waiting)
                    .into_iter()
                    .chain([ScanStatus::Running]);
                Fetched::List(Snapshot::Scans(
                    active_scans(client, workspace, statuses, cached).await?,
                ))
            }
            Fetch::FindingsOf {
                scans,
                removed,
                cached,
            } => {
                let rows = findings::of_scans(client, &scans, removed, &cached, files).await?;
                Fetched::List(Snapshot::Findings(table(rows, Some(cached)).await))
            }
            Fetch::Captures { logger, since } => {
                Fetched::Captures(logger, client.list_captures(logger, since).await?)
            }
            Fetch::Part { scan, part } => Fetched::Part(scan, scan_part(client, scan, part).await?),
            Fetch::Nodes => Fetched::Nodes(match client.list_nodes().await {
                // A service of an earlier version.
                Err(error) if error.kind == ErrorKind::NotFound => NodeList::default(),
                read => read?,
            }),
        })
    }
}

async fn whole_list(
    client: &Client,
    list: ListKind,
    workspace_id: Option<WorkspaceId>,
    cached: Option<&Snapshot>,
    files: Option<&FindingTextFiles>,
) -> Result<Snapshot, Error> {
    Ok(match list {
        ListKind::Workspaces => {
            Snapshot::Workspaces(list_table(client, client.list_workspaces().await?, cached).await?)
        }
        ListKind::Targets => {
            let query = TargetQuery {
                workspace_id,
                ..TargetQuery::default()
            };
            Snapshot::Targets(
                list_table(client, client.list_all_targets(&query).await?, cached).await?,
            )
        }
        ListKind::Scans => {
            let query = ScanQuery {
                workspace_id,
                ..ScanQuery::default()
            };
            Snapshot::Scans(list_table(client, client.list_all_scans(&query).await?, cached).await?)
        }
        ListKind::Findings => {
            let cached = match (cached.and_then(ListedFinding::table_in), files) {
                (Some(cached), _) => Some(Arc::clone(cached)),
                (None, Some(files)) => files.recalled(workspace_id).await,
                (None, None) => None,
            };
            let rows = findings::all(client, workspace_id, cached.as_ref(), files).await?;
            Snapshot::Findings(table(rows, cached).await)
        }
        // Captures are fetched per logger, when the list of loggers requires it.
        ListKind::Loggers | ListKind::Captures => Snapshot::Loggers(
            list_table(client, client.list_loggers(workspace_id).await?, cached).await?,
        ),
        ListKind::Reports => {
            Snapshot::Reports(list_table(client, client.list_reports().await?, cached).await?)
        }
        ListKind::Wordlists => {
            Snapshot::Wordlists(list_table(client, client.list_wordlists().await?, cached).await?)
        }
        ListKind::Schedules => {
            // Another service receives no request for them.
            let all = match client.has_team() {
                true => client.list_schedules(workspace_id).await?,
                false => Vec::new(),
            };
            Snapshot::Schedules(list_table(client, all, cached).await?)
        }
    })
}

/// The table of a whole list. Items without an id are unreadable; a list of such items is not this
/// list.
async fn list_table<T>(
    client: &Client,
    mut items: Vec<T>,
    cached: Option<&Snapshot>,
) -> Result<Arc<Table<T>>, Error>
where
    T: ListItem + PartialEq,
{
    let has_id = |item: &T| Into::<i64>::into(item.id()) != 0;
    let dropped = items.iter().filter(|item| !has_id(item)).count();
    if dropped > 0 {
        if dropped == items.len() {
            return Err(Error::new(
                ErrorKind::Decode,
                "unexpected JSON: items without id",
            ));
        }
        client.note_unreadable(Unreadable::without_id(dropped));
        items.retain(has_id);
    }
    Ok(table(items, cached.and_then(T::table_in).cloned()).await)
}

/// Sorts by id and builds the table, for long lists on a blocking thread. Unchanged items keep the
/// known table.
async fn table<T, I>(items: Vec<I>, cached: Option<Arc<Table<T>>>) -> Arc<Table<T>>
where
    I: IntoRow<T> + Send + 'static,
    T: Item + PartialEq,
{
    let fallback = cached.clone();
    let small = items
        .len()
        .max(cached.as_ref().map_or(0, |cached| cached.len()))
        <= INLINE;
    let work = move || {
        let mut items: Vec<Arc<T>> = items.into_iter().map(IntoRow::into_row).collect();
        items.sort_by_key(|item| item.id());
        match cached {
            Some(cached) => {
                // Equal items remain the same allocation, so that what was computed of them holds.
                for item in &mut items {
                    if let Some(same) = cached
                        .get(item.id())
                        .filter(|same| Arc::ptr_eq(same, item) || *same == item)
                    {
                        *item = Arc::clone(same);
                    }
                }
                Table::following(&cached, items, &[])
            }
            None => Arc::new(Table::new(items)),
        }
    };
    if small {
        return work();
    }
    on_list_thread(work)
        .await
        .unwrap_or_else(|| fallback.unwrap_or_default())
}

async fn active_scans(
    client: &Client,
    workspace_id: Option<WorkspaceId>,
    statuses: impl Iterator<Item = ScanStatus>,
    cached: Arc<Table<Scan>>,
) -> Result<Arc<Table<Scan>>, Error> {
    let mut active: BTreeMap<ScanId, Arc<Scan>> = BTreeMap::new();
    for status in statuses {
        let query = ScanQuery {
            workspace_id,
            status: Some(status.clone()),
            ..ScanQuery::default()
        };
        match client.list_all_scans(&query).await {
            Ok(scans) => active.extend(scans.into_iter().map(|scan| (scan.id, Arc::new(scan)))),
            Err(error) if error.kind == ErrorKind::NotModified => {
                let same = cached
                    .items()
                    .iter()
                    .filter(|scan| scan.status_name == status);
                active.extend(same.map(|scan| (scan.id, Arc::clone(scan))));
            }
            Err(error) => return Err(error),
        }
    }
    let has_ended = |scan: &&Arc<Scan>| scan.is_active() && !active.contains_key(&scan.id);
    let ended: Vec<ScanId> = cached
        .items()
        .iter()
        .filter(has_ended)
        .map(|scan| scan.id)
        .collect();
    if ended.is_empty()
        && active
            .values()
            .all(|scan| cached.get(scan.id) == Some(scan))
    {
        return Ok(cached);
    }
    if ended.len() > 8 {
        let query = ScanQuery {
            workspace_id,
            ..ScanQuery::default()
        };
        return Ok(table(client.list_all_scans(&query).await?, Some(cached)).await);
    }
    let mut all: BTreeMap<ScanId, Arc<Scan>> = cached
        .items()
        .iter()
        .map(|scan| (scan.id, Arc::clone(scan)))
        .collect();
    all.append(&mut active);
    for id in ended {
        match client.get_scan(id).await {
            Ok(scan) => _ = all.insert(id, Arc::new(scan)),
            Err(error) if error.kind == ErrorKind::NotFound => _ = all.remove(&id),
            // The known scan is current.
            Err(error) if error.kind == ErrorKind::NotModified => {}
            Err(error) => return Err(error),
        }
    }
    Ok(table(all.into_values().collect(), Some(cached)).await)
}

async fn scan_part(client: &Client, scan: ScanId, part: ScanPart) -> Result<PartData, Error> {
    Ok(match part {
        ScanPart::Tests => PartData::Tests(Arc::new(
            client.list_tests(scan, &TestQuery::default()).await?,
        )),
        ScanPart::Output => PartData::Output(Arc::new(client.scan_output(scan).await?)),
        ScanPart::Raw => {
            let lines = client.scan_raw(scan).await?;
            PartData::Raw(Arc::new(lines.into_iter().map(Shared::from).collect()))
        }
    })
}
