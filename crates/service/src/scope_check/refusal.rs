//! Refusals of the scope check: target, reason, allowed targets, and the command that would allow
//! it.

use std::fmt;

use jiff::civil::Date;

use super::ActiveUse;
use crate::place::WorkerPlace;
use crate::scope::{Pattern, ScopeEntry};

/// Why a target may not be scanned, with a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The target.
    pub(super) subject: String,
    pub(super) reason: RefusalReason,
    /// The allowed targets.
    pub(super) allowed: String,
    pub(super) remedy: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RefusalReason {
    NotListed,
    /// The name is listed, but its address is private, loopback or link-local.
    NotPublic,
    Denied(Box<ScopeEntry>),
    /// By the scope file of the service of this worker.
    DeniedByService(Pattern),
    Expired(Date),
    Metadata,
    NoHost,
    /// Only the workers of this place may scan it.
    OfPlace(WorkerPlace),
    ScopeFile(String),
    /// Nothing active may be sent to the target; the remedy says what is missing.
    NotActive {
        of: ActiveUse,
        has_entry: bool,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal {
            subject,
            reason,
            allowed,
            remedy,
        } = self;
        match reason {
            RefusalReason::NotListed => write!(f, "{subject} is out of scope")?,
            RefusalReason::NotPublic => write!(
                f,
                "{subject} is not a public address; the entry of a name does not cover it"
            )?,
            RefusalReason::Denied(entry) => write!(
                f,
                "{subject} is denied by the scope file ({})",
                describe(entry)
            )?,
            RefusalReason::DeniedByService(pattern) => {
                return write!(
                    f,
                    "{subject} is denied by the scope of the service ({pattern}); {remedy}"
                );
            }
            RefusalReason::Expired(until) => write!(f, "{subject} was in scope until {until}")?,
            RefusalReason::Metadata => write!(f, "{subject} is a cloud metadata address")?,
            RefusalReason::NoHost => {
                return write!(f, "{subject} is not the address of one host. {remedy}");
            }
            RefusalReason::OfPlace(place) => {
                return write!(
                    f,
                    "{subject} is in scope for scans from the place `{place}` only; {remedy}"
                );
            }
            RefusalReason::NotActive { of, .. } => {
                return write!(f, "{} {subject}: {remedy}", of.refused());
            }
            RefusalReason::ScopeFile(error) => return write!(f, "{error}. {remedy}"),
        }
        write!(f, "; {remedy} (allowed: {allowed})")
    }
}

impl std::error::Error for Refusal {}

/// The denying entry with its note, author and date.
fn describe(entry: &ScopeEntry) -> String {
    let mut all = vec![entry.target.to_string()];
    all.extend(
        [&entry.note, &entry.who]
            .into_iter()
            .filter(|text| !text.is_empty())
            .cloned(),
    );
    all.extend(entry.added.map(|added| added.to_string()));
    all.join(", ")
}
