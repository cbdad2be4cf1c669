//! The lists that are kept between two runs: what the screen shows before the service has answered.

use std::sync::Arc;

use super::plan::{Generation, News, Noun};
use super::table::Table;
use crate::contract::{Finding, Logger, Scan, Stamp, Target, Workspace, WorkspaceId};

/// A list as an earlier dashboard read it.
#[derive(Clone, Debug)]
pub struct Cached {
    /// Of the workspace it was asked for.
    pub generation: Generation,
    /// When it was read from the service.
    pub at: Stamp,
    /// The workspace worked in last, with the list of workspaces.
    pub worked_in: Option<WorkspaceId>,
    /// The list.
    pub list: KeptList,
}

/// A list that is kept.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum KeptList {
    Workspaces(Arc<Table<Workspace>>),
    Targets(Arc<Table<Target>>),
    Scans(Arc<Table<Scan>>),
    Findings(Arc<Table<Finding>>),
    Loggers(Arc<Table<Logger>>),
}

impl KeptList {
    /// The lists of a workspace that are kept, in the order they are of use: rows are made of findings last.
    pub const OF_WORKSPACE: [Noun; 4] = [Noun::Targets, Noun::Scans, Noun::Loggers, Noun::Findings];

    /// The list in news, if it is one of these.
    pub fn of(news: &News) -> Option<Self> {
        Some(match news {
            News::Workspaces(table) => Self::Workspaces(Arc::clone(table)),
            News::Targets(table) => Self::Targets(Arc::clone(table)),
            News::Scans(table) => Self::Scans(Arc::clone(table)),
            News::Findings(table) => Self::Findings(Arc::clone(table)),
            News::Loggers(table) => Self::Loggers(Arc::clone(table)),
            _ => return None,
        })
    }

    /// Which list it is.
    pub fn noun(&self) -> Noun {
        match self {
            Self::Workspaces(_) => Noun::Workspaces,
            Self::Targets(_) => Noun::Targets,
            Self::Scans(_) => Noun::Scans,
            Self::Findings(_) => Noun::Findings,
            Self::Loggers(_) => Noun::Loggers,
        }
    }
}
