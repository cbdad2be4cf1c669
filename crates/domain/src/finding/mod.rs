//! The words about a finding that queries, payloads and decisions share: its key, its verdict, its
//! presence.
//!
//! ```text
//!   triage ──┐
//!   oob ─────┼─► finding: Key, Verdict, Reason, Presence
//!   query ───┘
//! ```
//!
//! Types only: `triage` computes keys and presence and folds decisions.

/// Declares an enum whose values have names in queries, stored data and exports.
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
pub(crate) use named_enum;

mod key;
mod presence;
mod presence_reason;
mod retest_gap;
mod verdict;

pub use key::FindingKey;
pub use presence::Presence;
pub use presence_reason::PresenceReason;
pub use retest_gap::RetestGap;
pub use verdict::{Reason, Verdict};
