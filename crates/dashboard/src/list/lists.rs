//! The state of each pane's list.

use crate::data::{BoardRow, Revisions};
use crate::list::{FindingGroups, List, StreamList};
use scandeck_client::calls::ApiCall;
use scandeck_domain::oob::Payload;
use scandeck_domain::triage::Issue;
use scandeck_wire::contract::{Logger, Report, Scan, Target, Wordlist, Workspace};
use std::time::Duration;

#[derive(Debug, Default)]
pub struct Lists {
    pub workspaces: List<Workspace>,
    pub targets: List<Target>,
    pub scans: List<Scan>,
    pub findings: List<Issue>,
    pub finding_groups: FindingGroups,
    pub loggers: List<Logger>,
    pub captures: StreamList,
    pub reports: List<Report>,
    pub wordlists: List<Wordlist>,
    pub payloads: List<Payload>,
    pub board: List<BoardRow>,
    pub calls: List<ApiCall>,
    /// When filters that depend on the time were applied, on the monotonic clock.
    pub(crate) followed_time: Duration,
    /// The inputs of the rows and of other derived data.
    pub(crate) shown_revisions: Revisions,
}
