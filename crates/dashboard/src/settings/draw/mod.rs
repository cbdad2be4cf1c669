//! The drawing of the alerts and of the line of changes since the last visit.

pub mod alerts;
pub mod last_visit;
