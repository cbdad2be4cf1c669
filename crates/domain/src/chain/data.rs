//! The data of a workspace from which links are made.

use std::sync::Arc;

use super::{ChainObject, EvidenceTraces};
use crate::finding::FindingKey;
use crate::oob::{Hit, Payload, Token};
use scandeck_wire::contract::{CaptureId, FindingId, LoggerId, ScanId, Shared, Stamp};

/// A finding as far as chains need it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkedFinding {
    pub key: FindingKey,
    /// Of its latest occurrence.
    pub id: FindingId,
    pub name: Shared,
    /// Name of its target.
    pub target: Shared,
    /// 0 without a port.
    pub port: i64,
    pub scan: Option<ScanId>,
    pub traces: EvidenceTraces,
}

/// A captured request that contains a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedToken {
    pub token: Token,
    pub logger: LoggerId,
    pub id: CaptureId,
    /// Arrival time by the service's clock.
    pub at: Option<Stamp>,
}

/// A link that a person added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedLink {
    pub from: ChainObject,
    pub to: ChainObject,
    pub reason: Shared,
    pub who: Shared,
    pub at: Stamp,
}

/// The data of a workspace from which links are made, in any order.
#[derive(Clone, Debug, Default)]
pub struct ChainData {
    pub findings: Vec<LinkedFinding>,
    /// Names of the listed targets.
    pub targets: Vec<Shared>,
    pub payloads: Vec<Arc<Payload>>,
    pub captured: Vec<CapturedToken>,
    pub manual: Vec<RecordedLink>,
}

/// `finding #17`. A manual finding has a negative id, which nobody knows.
pub(super) fn numbered(id: FindingId) -> String {
    match id.0 < 0 {
        true => "the manual finding".to_owned(),
        false => format!("finding #{id}"),
    }
}

impl From<&Hit> for CapturedToken {
    fn from(hit: &Hit) -> Self {
        Self {
            token: hit.token,
            logger: hit.logger,
            id: hit.id,
            at: hit.at,
        }
    }
}

impl CapturedToken {
    pub(super) fn capture(&self) -> ChainObject {
        ChainObject::Capture {
            logger: self.logger,
            id: self.id,
        }
    }
}
