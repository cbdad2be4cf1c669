//! A value that lives at the service: what is known of it, and how good that knowledge is.

use std::sync::Arc;

use crate::client::Problem;
use crate::contract::Stamp;

/// Knowledge of a value at the service. The last good value is never thrown away.
#[derive(Clone, Debug, Default)]
pub enum Remote<T> {
    /// Never asked, or the first answer is still under way.
    #[default]
    Unknown,
    /// Could not be read, and never was.
    Failed(Arc<Problem>),
    /// As of a point in time.
    Fresh {
        /// The value.
        value: T,
        /// When it was read.
        at: Stamp,
    },
    /// The last good value; a later attempt failed, or none was answered since the start.
    Stale {
        /// The value.
        value: T,
        /// When it was read.
        at: Stamp,
        /// Why there is no newer one.
        problem: Arc<Problem>,
    },
}

impl<T> Remote<T> {
    /// The last good value.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Fresh { value, .. } | Self::Stale { value, .. } => Some(value),
            Self::Unknown | Self::Failed(_) => None,
        }
    }

    /// Why there is no newer value.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Failed(problem) | Self::Stale { problem, .. } => Some(problem),
            Self::Unknown | Self::Fresh { .. } => None,
        }
    }

    /// Takes a new value.
    pub fn succeed(&mut self, value: T, at: Stamp) {
        *self = Self::Fresh { value, at };
    }

    /// Takes what an earlier dashboard read, unless something is known already; tells whether it was taken.
    pub fn recall(&mut self, value: T, at: Stamp) -> bool {
        let problem = match self {
            Self::Fresh { .. } | Self::Stale { .. } => return false,
            Self::Failed(problem) => Arc::clone(problem),
            Self::Unknown => Arc::new(Problem::local("the service has not answered yet")),
        };
        *self = Self::Stale { value, at, problem };
        true
    }

    /// Notes that an attempt failed; the value stays.
    pub fn fail(&mut self, problem: Arc<Problem>) {
        *self = match std::mem::take(self) {
            Self::Fresh { value, at } | Self::Stale { value, at, .. } => Self::Stale { value, at, problem },
            Self::Unknown | Self::Failed(_) => Self::Failed(problem),
        };
    }
}
