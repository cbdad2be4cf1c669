//! The hints of the errors that the dashboard and its crates return, and their conversion for the
//! screen.

use std::error::Error as StdError;

use scandeck_client::{Error, Problem};
use scandeck_dashboard::config::ConfigError;
use scandeck_domain::triage::StoreError;

use crate::cli::error::CliError;

/// The hint of one error of a chain.
pub fn hint_of(cause: &(dyn StdError + 'static)) -> Option<String> {
    let of_client = || cause.downcast_ref::<Error>().map(Error::hint);
    let of_store = || cause.downcast_ref::<StoreError>().map(StoreError::hint);
    let of_config = || {
        cause
            .downcast_ref::<ConfigError>()
            .map(|error| error.hint().to_owned())
    };
    let of_problem = || {
        cause
            .downcast_ref::<Problem>()
            .and_then(|problem| problem.hint.clone())
    };
    of_client()
        .or_else(of_store)
        .or_else(of_config)
        .or_else(of_problem)
}

impl From<CliError> for Problem {
    fn from(error: CliError) -> Self {
        Self::local(error.to_string()).with_hint(error.hint)
    }
}

impl From<Problem> for CliError {
    fn from(problem: Problem) -> Self {
        let details = problem
            .details
            .as_ref()
            .map(|details| format!(" ({details})"))
            .unwrap_or_default();
        Self::new(
            format!("{problem}{details}"),
            problem.hint.unwrap_or_default(),
        )
    }
}
