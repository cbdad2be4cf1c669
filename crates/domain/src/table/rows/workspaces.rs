//! Fields of workspaces.

use crate::query::{ColumnBuilder, Field, Flag, QueryKind};
use crate::table::row::{flags, put};
use crate::table::sort::natural;
use crate::table::{Item, OtherLists, Row, SortOrder};
use scandeck_wire::contract::{Workspace, WorkspaceId};

impl Row for Workspace {
    const KIND: QueryKind = QueryKind::Workspaces;

    fn search_text(&self, to: &mut String) {
        put(to, &[&self.name, &self.description]);
    }

    fn write_field(&self, field: Field, _: &dyn OtherLists, to: &mut ColumnBuilder) {
        match field {
            Field::Id => to.whole(self.id.0),
            Field::Name => to.shared(&self.name),
            Field::Description => to.shared(&self.description),
            Field::ScanCount => to.whole(self.scan_count),
            Field::TargetCount => to.whole(self.target_count),
            Field::Is => flags(to, &[(Flag::Empty, self.target_count == 0)]),
            _ => {}
        }
    }
}

impl Item for Workspace {
    type Id = WorkspaceId;
    const SORTS: &'static [SortOrder<Self>] = &[
        SortOrder {
            name: "name",
            compare: |a, b| natural(&a.name, &b.name).then(a.id.cmp(&b.id)),
        },
        SortOrder {
            name: "newest",
            compare: |a, b| b.id.cmp(&a.id),
        },
    ];
    fn id(&self) -> WorkspaceId {
        self.id
    }
}
