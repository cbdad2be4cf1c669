//! Stands in for `local.rs` in a program without the service: there is nothing to check.

use super::Diagnosis;
use crate::cli::service::DataDirArg;
use scandeck_dashboard::config::Environment;

pub async fn check(_: &Environment, _: &DataDirArg) -> Vec<Diagnosis> {
    Vec::new()
}
