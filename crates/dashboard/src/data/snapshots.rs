//! The lists of the service with their freshness.

use crate::base::{ListKind, UnreadScans};
use crate::data::{BoardRow, Stream};
use scandeck_client::calls::ApiCall;
use scandeck_domain::oob::Payload;
use scandeck_domain::table::{Remote, Table};
use scandeck_domain::triage::{Issue, ListedFinding, ReadTimes};
use scandeck_wire::contract::{
    Logger, MissingScanner, Report, Scan, ScanId, ScanOutput, Shared, Target, Test, Unreadable,
    Wordlist, Workspace,
};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct Data {
    pub workspaces: Remote<Arc<Table<Workspace>>>,
    pub targets: Remote<Arc<Table<Target>>>,
    pub scans: Remote<Arc<Table<Scan>>>,
    /// Every finding of every scan, as reported.
    pub occurrences: Remote<Arc<Table<ListedFinding>>>,
    /// The scans whose findings were not read.
    pub unread_scans: UnreadScans,
    /// When the occurrences were read, by the clock of this machine.
    pub findings_read: ReadTimes,
    /// The rows made of them: one per identity.
    pub findings: Remote<Arc<Table<Issue>>>,
    pub loggers: Remote<Arc<Table<Logger>>>,
    pub reports: Remote<Arc<Table<Report>>>,
    pub wordlists: Remote<Arc<Table<Wordlist>>>,
    /// The payload book of the workspace.
    pub payloads: Remote<Arc<Table<Payload>>>,
    /// The rows of the board.
    pub board: Remote<Arc<Table<BoardRow>>>,
    /// The calls of the API, as of when the activity view was last open.
    pub calls: Remote<Arc<Table<ApiCall>>>,
    /// The captures of all loggers, oldest first: a ring buffer.
    pub captures: Stream,
    /// Items that could not be decoded, each with its position in the response.
    pub unreadable: BTreeMap<ListKind, Arc<Unreadable>>,
    /// The tools that the service cannot run.
    pub missing_scanners: Arc<[MissingScanner]>,
    /// Parts of the scan whose detail was opened last.
    pub scan_parts: ScanParts,
}

/// Parts of one scan, fetched while its detail is open.
#[derive(Debug, Default)]
pub struct ScanParts {
    pub scan: Option<ScanId>,
    pub tests: Remote<Arc<Vec<Test>>>,
    pub output: Remote<Arc<ScanOutput>>,
    pub raw: Remote<Arc<Vec<Shared>>>,
}
