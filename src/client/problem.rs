//! A client's error as the screen tells it.

use super::{Error, Kind};
use crate::app::problem::{Problem, ProblemKind};

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        let kind = match error.kind {
            Kind::Absent | Kind::Connect | Kind::Tls => ProblemKind::Connection,
            Kind::Timeout => ProblemKind::Timeout,
            Kind::Unauthorized => ProblemKind::Unauthorized,
            Kind::Forbidden => ProblemKind::Forbidden,
            Kind::NotFound => ProblemKind::NotFound,
            Kind::Conflict => ProblemKind::Conflict,
            Kind::Invalid | Kind::NotAcceptable => ProblemKind::Refused,
            Kind::RateLimited { retry_after } => ProblemKind::RateLimited { wait: retry_after },
            Kind::BudgetSpent { .. } => ProblemKind::RateLimited { wait: None },
            Kind::Server => ProblemKind::Server,
            Kind::NotThisApi | Kind::TooLarge | Kind::Decode => ProblemKind::Unreadable,
            Kind::Cancelled => ProblemKind::Local,
        };
        Problem {
            kind,
            status: error.status,
            message: error.message.clone(),
            details: error.details.clone(),
            hint: Some(error.hint()),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}
