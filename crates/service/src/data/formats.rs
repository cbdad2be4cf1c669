//! The formats of the database.

use super::backup::DATABASE;
use crate::store::Store;
use scandeck_wire::data_format::DataFormat;

/// The database as a file, and in PostgreSQL.
pub fn data_formats() -> [DataFormat; 2] {
    [
        DataFormat {
            name: "service database",
            number: Store::schema(),
            file: Some(DATABASE),
        },
        DataFormat {
            name: "service database in PostgreSQL",
            number: Store::postgres_schema(),
            file: None,
        },
    ]
}
