//! Attributes by which captures are grouped: the payload that they contain, their source, or their
//! logger.

use crate::base::GroupId;
use crate::base::capture::CaptureRow;
use scandeck_domain::oob::Token;
use scandeck_wire::contract::{LoggerId, Shared};
use std::hash::{DefaultHasher, Hash, Hasher};
use strum::IntoStaticStr;

/// The attribute that the captures of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum CaptureGroupBy {
    Payload,
    Source,
    Logger,
}

impl CaptureGroupBy {
    pub fn word(self) -> &'static str {
        self.into()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CaptureGroupKey {
    /// Hits of this payload.
    Payload(Token),
    /// Requests without a known payload from this address.
    Unknown(Shared),
    /// Requests from this address.
    Source(Shared),
    /// Requests to this logger.
    Logger(LoggerId),
}

impl CaptureGroupKey {
    pub fn of(by: CaptureGroupBy, captured: &CaptureRow) -> Self {
        let source = || captured.capture.ip_address.clone();
        match by {
            CaptureGroupBy::Payload => captured.known().map_or_else(
                || Self::Unknown(source()),
                |known| Self::Payload(known.token),
            ),
            CaptureGroupBy::Source => Self::Source(source()),
            CaptureGroupBy::Logger => Self::Logger(captured.logger),
        }
    }

    pub fn id(&self) -> GroupId {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        GroupId(hasher.finish())
    }
}
