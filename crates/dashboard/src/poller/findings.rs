//! Reading findings: rows whose long texts are in files, made while the response is read.
//!
//! ```text
//!   response ─► file ─► one Finding ─► row: the known one if it is equal, else a new one with its texts in the store
//! ```
//!
//! The first response of a workspace waits for the rows of its cache, so that equal ones are in
//! memory once.
//!
//! Findings of one scan replace those of that scan. All rows together have one limit, because the
//! answers of many scans add up.

use crate::poller::MOST_FINDINGS;
use scandeck_client::{Client, Collector, Error, ErrorKind, FindingQuery, on_list_thread};
use scandeck_domain::table::Table;
use scandeck_domain::triage::ListedFinding;
use scandeck_domain::triage::store::TextStore;
use scandeck_wire::contract::{Finding, ScanId, TargetId, Unreadable, WorkspaceId};
use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::watch;

/// Most bytes of all rows in memory.
const MOST_BYTES: usize = 288 << 20;

/// Where the texts of findings are stored, and the rows that were read from the cache.
#[derive(Clone, Debug)]
pub struct FindingTextFiles {
    directory: PathBuf,
    store: Arc<Mutex<TextStore>>,
    recalled: watch::Sender<RecalledFindings>,
}

/// The findings of the cache of a workspace, as long as they are shown.
#[derive(Clone, Debug, Default)]
struct RecalledFindings {
    workspace: Option<WorkspaceId>,
    is_reading: bool,
    table: Weak<Table<ListedFinding>>,
}

impl FindingTextFiles {
    /// Files in a directory, which is created if need be.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        let directory = directory.into();
        let recalled = watch::Sender::new(RecalledFindings::default());
        Self {
            store: Arc::new(Mutex::new(TextStore::new(&directory))),
            directory,
            recalled,
        }
    }

    /// The row of a finding; with its texts in memory where they cannot be written.
    pub fn list(&self, finding: Finding, known: Option<&Arc<ListedFinding>>) -> Arc<ListedFinding> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        store.list(finding, known)
    }

    /// The findings of this workspace are being read from the cache.
    pub fn expect(&self, workspace: WorkspaceId) {
        let workspace = Some(workspace);
        self.recalled.send_replace(RecalledFindings {
            workspace,
            is_reading: true,
            table: Weak::new(),
        });
    }

    /// The findings of this workspace were read from the cache, if there were any.
    pub fn remember(&self, workspace: WorkspaceId, table: Option<&Arc<Table<ListedFinding>>>) {
        self.recalled.send_if_modified(|recalled| {
            let is_expected = recalled.workspace == Some(workspace);
            if is_expected {
                recalled.is_reading = false;
                recalled.table = table.map(Arc::downgrade).unwrap_or_default();
            }
            is_expected
        });
    }

    /// The findings of a workspace from the cache. Waits while they are being read.
    pub async fn recalled(
        &self,
        workspace: Option<WorkspaceId>,
    ) -> Option<Arc<Table<ListedFinding>>> {
        let mut recalled = self.recalled.subscribe();
        let of_it = recalled
            .wait_for(|recalled| recalled.workspace != workspace || !recalled.is_reading)
            .await
            .ok()?;
        (of_it.workspace == workspace)
            .then(|| of_it.table.upgrade())
            .flatten()
    }

    /// Writes what is waiting, so that the texts can be read.
    ///
    /// # Errors
    /// When texts could not be written; their findings have to be read again.
    pub fn flush(&self) -> io::Result<()> {
        self.store
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .flush()
    }
}

/// The rows of an answer.
pub(crate) struct RowCollector {
    files: Option<FindingTextFiles>,
    cached: Option<Arc<Table<ListedFinding>>>,
    /// The requested scan and its target: for services that do not report them.
    scan: Option<(ScanId, TargetId)>,
    pub rows: Vec<Arc<ListedFinding>>,
    without_id: usize,
    bytes: usize,
}

impl Collector<Finding> for RowCollector {
    fn take(&mut self, mut finding: Finding) -> Result<(), Error> {
        if let Some((scan, target)) = self.scan {
            if finding.task_id.is_some_and(|id| id != scan) {
                return Ok(());
            }
            finding.task_id.get_or_insert(scan);
            finding.target_id.get_or_insert(target);
        }
        if finding.id.0 == 0 && self.scan.is_none() {
            self.without_id += 1;
            return Ok(());
        }
        let known = self
            .cached
            .as_ref()
            .and_then(|cached| cached.get(finding.id));
        let row = match &self.files {
            Some(files) => files.list(finding, known),
            None => Arc::new(finding.into()),
        };
        self.bytes += row.bytes();
        self.rows.push(row);
        match self.rows.len() {
            ..=MOST_FINDINGS if self.bytes <= MOST_BYTES => Ok(()),
            ..=MOST_FINDINGS => Err(too_many()),
            _ => Err(Error::new(
                ErrorKind::TooLarge,
                format!("more than {MOST_FINDINGS} findings in one answer"),
            )),
        }
    }

    fn clear(&mut self) {
        self.rows.clear();
        (self.without_id, self.bytes) = (0, 0);
    }
}

fn too_many() -> Error {
    let limit = MOST_BYTES >> 20;
    Error::new(
        ErrorKind::TooLarge,
        format!("the findings need more than {limit} MB of memory"),
    )
}

async fn collect(
    client: &Client,
    query: &FindingQuery,
    scan: Option<(ScanId, TargetId)>,
    cached: Option<&Arc<Table<ListedFinding>>>,
    files: Option<&FindingTextFiles>,
) -> Result<RowCollector, Error> {
    let mut collector = RowCollector {
        files: files.cloned(),
        cached: cached.cloned(),
        scan,
        rows: Vec::new(),
        without_id: 0,
        bytes: 0,
    };
    let Some(files) = files else {
        client
            .list_findings(query)
            .await?
            .into_iter()
            .try_for_each(|finding| collector.take(finding))?;
        return Ok(collector);
    };
    // Without the directory, the response is read into memory.
    _ = DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&files.directory);
    let collector = client
        .collect_findings(query, &files.directory, collector)
        .await?;
    let lost = |error| {
        Error::new(
            ErrorKind::TooLarge,
            format!("the texts of findings cannot be stored: {error}"),
        )
    };
    files.flush().map_err(lost)?;
    Ok(collector)
}

/// All findings of a workspace. Those without an id are unreadable; a list of such findings is not
/// this list.
pub(crate) async fn all(
    client: &Client,
    workspace_id: Option<WorkspaceId>,
    cached: Option<&Arc<Table<ListedFinding>>>,
    files: Option<&FindingTextFiles>,
) -> Result<Vec<Arc<ListedFinding>>, Error> {
    let query = FindingQuery {
        workspace_id,
        ..FindingQuery::default()
    };
    let RowCollector {
        rows, without_id, ..
    } = collect(client, &query, None, cached, files).await?;
    if without_id > 0 {
        if rows.is_empty() {
            return Err(Error::new(
                ErrorKind::Decode,
                "unexpected JSON: items without id",
            ));
        }
        client.note_unreadable(Unreadable::without_id(without_id));
    }
    Ok(rows)
}

/// The known findings without those of `removed` scans, and with new ones for `scans`.
pub(crate) async fn of_scans(
    client: &Client,
    scans: &[(ScanId, TargetId)],
    removed: BTreeSet<ScanId>,
    cached: &Arc<Table<ListedFinding>>,
    files: Option<&FindingTextFiles>,
) -> Result<Vec<Arc<ListedFinding>>, Error> {
    let mut fresh = Vec::new();
    for &(scan, target) in scans {
        let query = FindingQuery {
            task_id: Some(scan),
            ..FindingQuery::default()
        };
        fresh.append(
            &mut collect(client, &query, Some((scan, target)), Some(cached), files)
                .await?
                .rows,
        );
    }
    let replaced: BTreeSet<ScanId> = scans.iter().map(|(scan, _)| *scan).chain(removed).collect();
    let base = Arc::clone(cached);
    let merged = on_list_thread(move || merged(&base, &replaced, fresh, MOST_BYTES)).await;
    merged.unwrap_or_else(|| {
        Err(Error::new(
            ErrorKind::Decode,
            "findings not merged: internal error",
        ))
    })
}

fn merged(
    base: &Table<ListedFinding>,
    replaced: &BTreeSet<ScanId>,
    mut fresh: Vec<Arc<ListedFinding>>,
    most_bytes: usize,
) -> Result<Vec<Arc<ListedFinding>>, Error> {
    let ids: BTreeSet<_> = fresh.iter().map(|finding| finding.id).collect();
    let remains = |finding: &&Arc<ListedFinding>| {
        !ids.contains(&finding.id)
            && finding
                .task_id()
                .is_none_or(|scan| !replaced.contains(&scan))
    };
    let mut all: Vec<Arc<ListedFinding>> = base.items().iter().filter(remains).cloned().collect();
    all.append(&mut fresh);
    // Each answer is below the limit, but their sum need not be.
    let bytes: usize = all.iter().map(|row| row.bytes()).sum();
    if bytes <= most_bytes {
        Ok(all)
    } else {
        Err(too_many())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_wire::contract::{Evidence, FindingId};
    use std::task::{Context, Waker};

    fn row(id: i64, scan: i64, bytes: usize) -> Arc<ListedFinding> {
        let vuln_evidence = Evidence::from_value(&"x".repeat(bytes).into());
        let finding = Finding {
            id: FindingId(id),
            task_id: Some(ScanId(scan)),
            vuln_evidence,
            ..Finding::default()
        };
        Arc::new(finding.into())
    }

    #[tokio::test]
    async fn first_response_waits_for_the_cache_and_reuses_its_rows() {
        let directory = tempfile::tempdir().unwrap();
        let files = FindingTextFiles::new(directory.path());
        let finding = || Finding {
            id: FindingId(1),
            recommendation: "Fix it.".into(),
            ..Finding::default()
        };
        let table = Arc::new(Table::new([files.list(finding(), None)]));
        files.flush().unwrap();
        let (first, second) = (WorkspaceId(1), WorkspaceId(2));
        files.expect(first);
        let mut waiting = std::pin::pin!(files.recalled(Some(first)));
        let mut context = Context::from_waker(Waker::noop());
        files.remember(second, None);
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        assert!(files.recalled(Some(second)).await.is_none());
        files.remember(first, Some(&table));
        let cached = waiting.await;
        assert!(
            cached
                .as_ref()
                .is_some_and(|cached| Arc::ptr_eq(cached, &table))
        );
        let collected = Some(files.clone());
        let mut collector = RowCollector {
            files: collected,
            cached,
            scan: None,
            rows: Vec::new(),
            without_id: 0,
            bytes: 0,
        };
        collector.take(finding()).unwrap();
        assert!(Arc::ptr_eq(&collector.rows[0], &table.items()[0]));
        drop((collector, table));
        assert!(
            files.recalled(Some(first)).await.is_none(),
            "no longer shown"
        );
    }

    #[test]
    fn answers_of_scans_together_have_the_limit_of_one() {
        let most = 10_000;
        let known = Table::new([row(1, 1, most / 2), row(2, 2, 10)]);
        let second = || vec![row(3, 2, most / 2)];
        let error = merged(&known, &[ScanId(2)].into(), second(), most).unwrap_err();
        assert!(error.to_string().contains("288 MB"), "{error}");
        let ids = merged(&known, &[ScanId(1), ScanId(2)].into(), second(), most).unwrap();
        assert_eq!(ids.iter().map(|row| row.id.0).collect::<Vec<_>>(), [3]);
    }
}
