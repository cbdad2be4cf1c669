//! The wire format: serde types for all resources of the HTTP API v2.
//!
//! ```text
//!   service ──serialises strictly──►  JSON  ──deserialises leniently──►  client
//! ```
//!
//! Both wings share these types; this module imports no other module of the crate. Serialisation is
//! strict: every field of the contract is present and has its type, and only the two times of a
//! scan may be null. Deserialisation is lenient: unknown fields and enum strings, null, missing and
//! wrongly typed values never lose the rest of a response (see [`lenient`]). Optional fields
//! outside the contract are omitted when absent.
//!
//! The OpenAPI document of the service is made of the types of responses: a doc comment here is a
//! description there. "This service" in such a comment is the local one; other comments have what
//! is true of other services. A field with `!skip_serializing_if, required` is optional in the
//! contract, and this service always sends it.

/// Declares an enum of wire strings that preserves unknown strings.
macro_rules! string_enum {
    ($(#[doc = $doc:literal])+ $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$vdoc])* $variant,)+
            /// A string outside the contract, unchanged.
            Other(crate::contract::Shared),
        }

        impl $name {
            /// All values of the contract.
            pub const KNOWN: &[$name] = &[$($name::$variant),+];

            /// The wire string.
            pub fn as_str(&self) -> &str {
                match self {
                    $($name::$variant => $text,)+
                    $name::Other(text) => text,
                }
            }

            /// The value of the contract with this string.
            ///
            /// # Errors
            /// The strings of the contract, when it is none of them.
            pub fn known(text: &str) -> Result<Self, String> {
                match text {
                    $($text => Ok($name::$variant),)+
                    _ => Err(format!("use one of {}", [$($text),+].join(", "))),
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                $name::Other(crate::contract::Shared::default())
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::known(text).unwrap_or_else(|_| $name::Other(text.into()))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                crate::contract::lenient::text(from).map(|text| Self::from(text.as_str()))
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "enum": [$($text),+],
                    "description": concat!($($doc),+).trim(),
                })
            }
        }
    };
}

pub mod entities;
pub mod envelope;
pub mod error;
pub mod exchange;
pub mod finding;
pub mod import;
pub mod item_stream;
pub mod lenient;
pub mod list;
pub mod logger;
pub mod missing_scanner;
pub mod node;
pub mod proof;
pub mod report;
pub mod scan;
pub mod schedule;
pub mod shared;
pub mod target;
pub mod target_tags;
pub mod team;
pub mod time;
pub mod tool;
pub mod verdict;
pub mod wordlist;
pub mod workspace;

pub use finding::EvidenceView;
pub use scan::SCAN_MINUTES;

pub use envelope::{Created, DataEnvelope, Requests};
pub use error::ErrorBody;
pub use exchange::EvidenceExchange;
pub use finding::{Evidence, Finding, Owasp, Risk};
pub use list::{DecodedList, Unreadable};
pub use logger::{Capture, Logger, UnattributedRequest, UnattributedRequests};
pub use missing_scanner::{MISSING_SCANNERS, MissingScanner, RAW_SOCKETS};
pub use report::{
    GroupBy, NewReport, Report, ReportCreated, ReportFilters, ReportFormat, ReportSource,
    ReportStatus,
};
pub use scan::{
    INCOMPLETE, NewScan, RedirectLevel, ReportCallback, ResourceType, ResultSummary, Scan,
    ScanCreated, ScanOutput, ScanStatus, Test,
};
pub use shared::Shared;
pub use target::{NewTarget, Target, TargetType};
pub use time::{CompactStamp, Stamp};
pub use tool::Tool;
pub use wordlist::Wordlist;
pub use workspace::{EditWorkspace, NewWorkspace, Workspace};

/// Declares an enum whose values have names in queries, stored data and exports.
#[macro_export]
macro_rules! named_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$attr:meta])* $variant:ident $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$attr])* $variant,)+
        }

        impl $name {
            /// All values, in the order of menus.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// The stable name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// The stable names, in the same order.
            pub const NAMES: &[&'static str] = &[$($text),+];

            /// The value with this stable name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == name)
            }

            /// The value with this stable name, or all names as the error of a command line.
            pub fn from_name(name: &str) -> Result<Self, String> {
                Self::named(name).ok_or_else(|| format!("use one of {}", Self::NAMES.join(", ")))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
pub use named_enum;

/// Implements serialisation as text for types with `Display` and `FromStr`.
#[macro_export]
macro_rules! serde_as_text {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(from)?
                    .parse()
                    .map_err(serde::de::Error::custom)
            }
        }
    };
}
pub use serde_as_text;

/// Implements the schema of a type whose schema stands wherever the type is used, not in a
/// component.
#[macro_export]
macro_rules! inline_schema {
    ($name:ident, $schema:tt) => {
        impl $crate::schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut $crate::schemars::SchemaGenerator) -> $crate::schemars::Schema {
                $crate::schemars::json_schema!($schema)
            }
        }
    };
}
pub use inline_schema;

/// Declares id types, so that ids of different resources cannot be mixed up.
#[macro_export]
macro_rules! ids {
    ($($(#[doc = $doc:literal])+ $name:ident),+ $(,)?) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = &'static str;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self).map_err(|_| "use the id, a number")
            }
        }

        impl From<i64> for $name {
            fn from(id: i64) -> Self {
                Self(id)
            }
        }

        impl From<$name> for i64 {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::contract::lenient::integer(from).map(Self)
            }
        }

        $crate::inline_schema!($name, {
            "type": "integer",
            "format": "int64",
            "minimum": 1,
            "description": concat!($($doc),+).trim(),
        });
    )+};
}
pub use ids;

ids! {
    /// Id of the workspace.
    WorkspaceId,
    /// Id of the target.
    TargetId,
    /// Id of the scan.
    ScanId,
    /// Id of the test.
    TestId,
    /// Id of the finding; a new scan gives the same finding a new id.
    FindingId,
    /// Id of the report.
    ReportId,
    /// Id of the wordlist.
    WordlistId,
    /// Id of the logger.
    LoggerId,
    /// Id of the captured request; later requests have greater ids.
    CaptureId,
    /// Id of the schedule.
    ScheduleId,
    /// Id of the import.
    ImportId,
}
