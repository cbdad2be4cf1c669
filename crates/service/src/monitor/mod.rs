//! What operators see of a running service: access log, metrics, health checks.

pub mod health;
pub mod metrics;
pub mod observe;
