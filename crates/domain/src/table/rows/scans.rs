//! Fields of scans.

use crate::query::{ColumnBuilder, Field, Flag, QueryKind};
use crate::table::row::{flags, put, shared, target_name, tool, worst};
use crate::table::{BY_NEED, Item, OtherLists, Row, SortOrder};
use scandeck_wire::contract::import::ImportOrigin;
use scandeck_wire::contract::{Scan, ScanId, ScanStatus, TargetId, Tool};

impl Row for Scan {
    const KIND: QueryKind = QueryKind::Scans;

    fn search_text(&self, to: &mut String) {
        let tool = Tool(self.tool_id);
        put(
            to,
            &[
                tool.name().unwrap_or_default(),
                &tool.to_string(),
                self.status_name.as_str(),
                &self.status_message,
            ],
        );
    }

    fn write_field(&self, field: Field, others: &dyn OtherLists, to: &mut ColumnBuilder) {
        let found = &self.result_summary;
        let mut count = |count: Option<i64>| count.into_iter().for_each(|count| to.whole(count));
        match field {
            Field::Critical => count(found.critical),
            Field::High => count(found.high),
            Field::Medium => count(found.medium),
            Field::Low => count(found.low),
            Field::Info => count(found.info),
            Field::Id => to.whole(self.id.0),
            Field::Risk => worst(
                to,
                found
                    .by_risk()
                    .into_iter()
                    .map(|count| count.is_some_and(|count| count > 0)),
            ),
            Field::Target => target_name(to, others.target_name(self.target_id)),
            Field::TargetId => to.whole(self.target_id.0),
            Field::Workspace => shared(to, others.workspace_name(self.target_id)),
            Field::Tool => tool(to, self.tool_id, ImportOrigin::tool_of(self)),
            Field::Status => to.text(self.status_name.as_str()),
            Field::Progress => to.whole(self.progress),
            Field::Started => to.time(self.start_time),
            Field::Ended => to.time(self.end_time),
            Field::Duration => to.whole(self.duration),
            Field::Tests => to.whole(self.num_tests),
            Field::TestsDone => to.whole(self.num_finished_tests),
            Field::Message => {
                to.shared(&self.status_message);
                self.info_text_lines.iter().for_each(|line| to.shared(line));
            }
            Field::Params => self
                .tool_params
                .iter()
                .for_each(|params| to.text(&params.to_string())),
            Field::Is => flags(
                to,
                &[
                    (Flag::Active, self.is_active()),
                    (Flag::Ended, self.has_ended()),
                    (Flag::Failed, self.status_name.is_failure()),
                    (Flag::Incomplete, self.is_incomplete()),
                    (Flag::Stopped, self.status_name == ScanStatus::Stopped),
                    (Flag::Vpn, self.vpn_scan),
                ],
            ),
            _ => {}
        }
    }
}

impl Item for Scan {
    type Id = ScanId;
    const SORTS: &'static [SortOrder<Self>] = &[
        SortOrder {
            name: BY_NEED,
            compare: |a, b| b.id.cmp(&a.id),
        },
        SortOrder {
            name: "newest",
            compare: |a, b| b.id.cmp(&a.id),
        },
        SortOrder {
            name: "tool",
            compare: |a, b| a.tool_id.cmp(&b.tool_id).then(b.id.cmp(&a.id)),
        },
        SortOrder {
            name: "target",
            compare: |a, b| a.target_id.cmp(&b.target_id).then(b.id.cmp(&a.id)),
        },
    ];
    fn id(&self) -> ScanId {
        self.id
    }
    fn target(&self) -> Option<TargetId> {
        Some(self.target_id)
    }
}
