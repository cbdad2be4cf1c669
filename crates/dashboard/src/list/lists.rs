//! The registry of lists, and the state of each pane's list.

use crate::data::Revisions;
use crate::list::{FindingGroups, List, StreamList};
use std::time::Duration;

/// The registry: pane, item, and the field of [`Lists`] and of `Data`. A macro is applied to all
/// rows of it. The captures are a list of their own: they come as a stream, whose query runs in
/// chunks.
macro_rules! registry {
    ($apply:ident $args:tt) => {
        $apply! { $args
            Workspaces: scandeck_wire::contract::Workspace => workspaces,
            Targets: scandeck_wire::contract::Target => targets,
            Findings: scandeck_domain::triage::Issue => findings,
            Scans: scandeck_wire::contract::Scan => scans,
            Loggers: scandeck_wire::contract::Logger => loggers,
            Reports: scandeck_wire::contract::Report => reports,
            Wordlists: scandeck_wire::contract::Wordlist => wordlists,
            Schedules: scandeck_wire::contract::schedule::ScanSchedule => schedules,
            Board: crate::data::BoardRow => board,
            Payloads: scandeck_domain::oob::Payload => payloads,
            Activity: scandeck_client::calls::ApiCall => calls,
        }
    };
}
pub(crate) use registry;

/// `registry!(of [pane, T => …, captures => …])`: an expression for the list of a pane, `T` being
/// its item.
macro_rules! of {
    ([$of:expr, $item:ident => $table:expr, captures => $stream:expr]
     $($pane:ident: $type:ty => $field:ident,)*) => {
        match $of {
            $(crate::base::Pane::$pane => {
                type $item = $type;
                $table
            })*
            crate::base::Pane::Captures => $stream,
        }
    };
}
pub(crate) use of;

macro_rules! lists {
    ([] $($pane:ident: $item:ty => $field:ident,)*) => {
        #[derive(Clone, Debug, Default)]
        pub struct Lists {
            $(pub $field: List<$item>,)*
            pub captures: StreamList,
            pub finding_groups: FindingGroups,
            /// When filters that depend on the time were applied, on the monotonic clock.
            pub(crate) followed_time: Duration,
            /// The inputs of the rows and of other derived data.
            pub(crate) shown_revisions: Revisions,
        }
    };
}
registry!(lists []);
