//! The formats of the decisions, captures and alerts on this machine, of bundles, cases and
//! fingerprints.

use crate::alerts::SentAlerts;
use crate::case::case_format;
use crate::oob;
use crate::triage::{self, Bundle, identity};
use scandeck_wire::data_format::DataFormat;

/// Every format, those of files first.
pub fn data_formats() -> [DataFormat; 6] {
    [
        triage::Store::format(),
        oob::Store::format(),
        SentAlerts::format(),
        Bundle::format(),
        case_format(),
        DataFormat {
            name: "fingerprints",
            number: identity::VERSION.into(),
            file: None,
        },
    ]
}
