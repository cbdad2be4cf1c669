//! The lists of the service with their freshness.

use crate::base::plan::{Snapshot, each_list};
use crate::base::{ListKind, UnreadScans};
use crate::data::{BoardRow, Stream};
use scandeck_client::calls::ApiCall;
use scandeck_domain::oob::Payload;
use scandeck_domain::table::{Remote, Table};
use scandeck_domain::triage::{Issue, ReadTimes};
use scandeck_wire::contract::node::NodeList;
use scandeck_wire::contract::{
    MissingScanner, ScanId, ScanOutput, Shared, Stamp, Test, Unreadable,
};
use std::collections::BTreeMap;
use std::sync::Arc;

macro_rules! data {
    ($($list:ident($item:ty) $field:ident $of_workspace:literal;)*) => {
        #[derive(Clone, Debug, Default)]
        pub struct Data {
            // The lists of the service. The occurrences are the findings of every scan as reported.
            $(pub $field: Remote<Arc<Table<$item>>>,)*
            /// The scans whose findings were not read.
            pub unread_scans: UnreadScans,
            /// When the occurrences were read, by the clock of this machine.
            pub findings_read: ReadTimes,
            /// The rows made of the occurrences: one per identity.
            pub findings: Remote<Arc<Table<Issue>>>,
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
            /// The nodes of the service and the places of scans, as of when they were last shown.
            pub nodes: Remote<Arc<NodeList>>,
            /// Parts of the scan whose detail was opened last.
            pub scan_parts: ScanParts,
        }

        impl Data {
            /// A list was read.
            pub fn succeed(&mut self, snapshot: Snapshot, at: Stamp) {
                match snapshot {
                    $(Snapshot::$list(table) => self.$field.succeed(table, at),)*
                }
            }

            /// Shows a cached list until the list is read.
            pub fn recall(&mut self, snapshot: Snapshot, at: Stamp) -> bool {
                match snapshot {
                    $(Snapshot::$list(table) => self.$field.recall(table, at),)*
                }
            }

            /// Takes over the lists that all workspaces share.
            pub fn take_shared(&mut self, earlier: &mut Self) {
                $(if !$of_workspace {
                    self.$field = std::mem::take(&mut earlier.$field);
                })*
            }
        }
    };
}
each_list!(data);

/// Parts of one scan, fetched while its detail is open.
#[derive(Clone, Debug, Default)]
pub struct ScanParts {
    pub scan: Option<ScanId>,
    pub tests: Remote<Arc<Vec<Test>>>,
    pub output: Remote<Arc<ScanOutput>>,
    pub raw: Remote<Arc<Vec<Shared>>>,
}
