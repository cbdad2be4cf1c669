//! Fields of reports.

use crate::query::{ColumnBuilder, Field, Flag, QueryKind};
use crate::table::row::{flags, put};
use crate::table::sort::natural;
use crate::table::{Item, OtherLists, Row, SortOrder};
use scandeck_wire::contract::{Report, ReportId, ReportStatus};

impl Row for Report {
    const KIND: QueryKind = QueryKind::Reports;

    fn search_text(&self, to: &mut String) {
        put(
            to,
            &[
                &self.download_name,
                self.status.as_str(),
                self.format.as_str(),
            ],
        );
    }

    fn write_field(&self, field: Field, _: &dyn OtherLists, to: &mut ColumnBuilder) {
        match field {
            Field::Id => to.whole(self.id.0),
            Field::Name => to.shared(&self.download_name),
            Field::Status => to.text(self.status.as_str()),
            Field::Format => to.text(self.format.as_str()),
            Field::Made => to.time(self.generation_date),
            Field::Expires => to.time(self.expiration_date),
            Field::Is => {
                let (ready, failed) = (ReportStatus::Finished, ReportStatus::Failed);
                flags(
                    to,
                    &[
                        (Flag::Ready, self.status == ready),
                        (Flag::Failed, self.status == failed),
                    ],
                );
            }
            _ => {}
        }
    }
}

impl Item for Report {
    type Id = ReportId;
    const SORTS: &'static [SortOrder<Self>] = &[
        SortOrder {
            name: "newest",
            compare: |a, b| b.id.cmp(&a.id),
        },
        SortOrder {
            name: "name",
            compare: |a, b| natural(&a.download_name, &b.download_name).then(b.id.cmp(&a.id)),
        },
        SortOrder {
            name: "format",
            compare: |a, b| a.format.cmp(&b.format).then(b.id.cmp(&a.id)),
        },
    ];
    fn id(&self) -> ReportId {
        self.id
    }
}
