//! A value of the service with its freshness.

use std::sync::Arc;

use crate::problem::Problem;
use scandeck_wire::contract::Stamp;

/// A value of the service. The last good value is never discarded.
#[derive(Clone, Debug, Default)]
pub enum Remote<T> {
    /// Not fetched yet, or the first request is in flight.
    #[default]
    Unknown,
    /// The first fetch failed.
    Failed(Arc<Problem>),
    /// Fetched at a point in time.
    Fresh {
        value: T,
        /// When it was read.
        at: Stamp,
    },
    /// The last good value; a later fetch failed, or the value is from the cache.
    Stale {
        value: T,
        /// When it was read.
        at: Stamp,
        /// Error of the last fetch.
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

    /// Error of the last fetch.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Failed(problem) | Self::Stale { problem, .. } => Some(problem),
            Self::Unknown | Self::Fresh { .. } => None,
        }
    }

    /// Stores a new value.
    pub fn succeed(&mut self, value: T, at: Stamp) {
        *self = Self::Fresh { value, at };
    }

    /// Records that the value, if there is one, was read again and is the same.
    pub fn confirm(&mut self, at: Stamp) {
        *self = match std::mem::take(self) {
            Self::Fresh { value, .. } | Self::Stale { value, .. } => Self::Fresh { value, at },
            other @ (Self::Unknown | Self::Failed(_)) => other,
        };
    }

    /// Stores a cached value unless a value exists; returns true if it was stored.
    pub fn recall(&mut self, value: T, at: Stamp) -> bool {
        let problem = match self {
            Self::Fresh { .. } | Self::Stale { .. } => return false,
            Self::Failed(problem) => Arc::clone(problem),
            Self::Unknown => Arc::new(Problem::local("no response from the service yet")),
        };
        *self = Self::Stale { value, at, problem };
        true
    }

    /// Records a failed fetch; the value remains.
    pub fn fail(&mut self, problem: Arc<Problem>) {
        *self = match std::mem::take(self) {
            Self::Fresh { value, at } | Self::Stale { value, at, .. } => {
                Self::Stale { value, at, problem }
            }
            Self::Unknown | Self::Failed(_) => Self::Failed(problem),
        };
    }
}
