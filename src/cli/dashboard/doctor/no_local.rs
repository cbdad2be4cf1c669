//! Stands in for `local.rs` in a program without the service: there is nothing to check.

use super::Diagnosis;
use scandeck_dashboard::config::Environment;

pub async fn check(_: &Environment) -> Vec<Diagnosis> {
    Vec::new()
}
