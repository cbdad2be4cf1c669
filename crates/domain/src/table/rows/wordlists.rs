//! Fields of wordlists.

use crate::query::{ColumnBuilder, Field, Flag, QueryKind};
use crate::table::row::{flags, put};
use crate::table::sort::natural;
use crate::table::{Item, OtherLists, Row, SortOrder};
use scandeck_wire::contract::{Wordlist, WordlistId};

impl Row for Wordlist {
    const KIND: QueryKind = QueryKind::Wordlists;

    fn search_text(&self, to: &mut String) {
        put(to, &[&self.name, &self.description]);
    }

    fn write_field(&self, field: Field, _: &dyn OtherLists, to: &mut ColumnBuilder) {
        match field {
            Field::Id => to.whole(self.id.0),
            Field::Name => to.shared(&self.name),
            Field::Description => to.shared(&self.description),
            Field::Words => to.whole(self.num_words),
            Field::Is => flags(
                to,
                &[
                    (Flag::Predefined, self.predefined),
                    (Flag::Empty, self.num_words == 0),
                ],
            ),
            _ => {}
        }
    }
}

impl Item for Wordlist {
    type Id = WordlistId;
    const SORTS: &'static [SortOrder<Self>] = &[
        SortOrder {
            name: "name",
            compare: |a, b| natural(&a.name, &b.name).then(a.id.cmp(&b.id)),
        },
        SortOrder {
            name: "words",
            compare: |a, b| b.num_words.cmp(&a.num_words).then(a.id.cmp(&b.id)),
        },
    ];
    fn id(&self) -> WordlistId {
        self.id
    }
}
