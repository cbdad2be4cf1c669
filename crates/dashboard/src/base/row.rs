//! The identity of a row in a list: an item, or the header of a group of items.

/// Identifies a group. The same items have the same group in newer data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u64);

/// One row of a list. Items are identified by their id, where the type of the list is not known by
/// a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowRef<Id = i64> {
    Group(GroupId),
    Item(Id),
}

/// The place of a retained row in an order that decisions change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetainedRow<Id> {
    Top,
    /// Below this row.
    Under(Id),
    /// Where the order puts it.
    Anywhere,
}

impl<Id> RowRef<Id> {
    /// The id of an item; none for a group header.
    pub fn item(self) -> Option<Id> {
        match self {
            Self::Group(_) => None,
            Self::Item(id) => Some(id),
        }
    }

    /// The same row with its id in another type.
    pub fn map<Other>(self, convert: impl FnOnce(Id) -> Other) -> RowRef<Other> {
        match self {
            Self::Group(id) => RowRef::Group(id),
            Self::Item(id) => RowRef::Item(convert(id)),
        }
    }
}
