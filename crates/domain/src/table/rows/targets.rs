//! Fields of targets, their scans and findings.

use std::cmp::Ordering;

use crate::query::{ColumnBuilder, Field, Flag, QueryKind};
use crate::table::row::{flags, put, shared, target_name, worst};
use crate::table::sort::natural;
use crate::table::{BY_RISK, Item, OtherLists, Row, SortOrder};
use scandeck_wire::contract::target_tags::tags_text;
use scandeck_wire::contract::{Target, TargetId};

impl Row for Target {
    const KIND: QueryKind = QueryKind::Targets;

    fn search_text(&self, to: &mut String) {
        put(to, &[&self.name, self.kind.as_str(), &self.description]);
        if !self.tags.is_empty() {
            put(to, &[&tags_text(&self.tags)]);
        }
    }

    fn write_field(&self, field: Field, others: &dyn OtherLists, to: &mut ColumnBuilder) {
        match field {
            Field::Id => to.whole(self.id.0),
            Field::Name => target_name(to, Some(&self.name)),
            Field::Type => to.text(self.kind.as_str()),
            Field::Description => to.shared(&self.description),
            Field::Tag => self.tags.iter().for_each(|tag| to.shared(tag)),
            Field::Workspace => shared(to, others.workspace_name(self.id)),
            Field::Risk => {
                worst(
                    to,
                    others
                        .risks(self.id)
                        .into_iter()
                        .flatten()
                        .map(|count| count > 0),
                );
            }
            Field::Is => {
                let scans = others.scans(self.id);
                let never = scans.is_some_and(|(all, _)| all == 0);
                let active = scans.is_some_and(|(_, active)| active > 0);
                flags(to, &[(Flag::Unscanned, never), (Flag::Active, active)]);
            }
            _ => {}
        }
    }
}

impl Item for Target {
    type Id = TargetId;
    const SORTS: &'static [SortOrder<Self>] = &[
        SortOrder {
            name: BY_RISK,
            compare: by_target_name,
        },
        SortOrder {
            name: "name",
            compare: by_target_name,
        },
        SortOrder {
            name: "newest",
            compare: |a, b| b.id.cmp(&a.id),
        },
    ];
    fn id(&self) -> TargetId {
        self.id
    }
}

fn by_target_name(a: &Target, b: &Target) -> Ordering {
    natural(&a.name, &b.name).then(a.id.cmp(&b.id))
}
