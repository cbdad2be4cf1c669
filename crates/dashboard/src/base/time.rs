//! The time of a message: `update` reads no clock.

use jiff::Timestamp;
use std::time::Duration;

/// The time of a message. The core has no clock: time arrives with what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Since the dashboard started; never jumps.
    pub mono: Duration,
    /// By this machine's clock.
    pub wall: Timestamp,
}
