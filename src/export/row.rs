//! One finding as it leaves the program.

use std::sync::Arc;

use crate::contract::Shared;
use crate::triage::{Case, Stance};

/// A finding, what is said about it, and the names of what it refers to.
#[derive(Clone, Debug)]
pub struct Row {
    /// The finding.
    pub case: Arc<Case>,
    /// What was decided.
    pub stance: Stance,
    /// Name of its target.
    pub target: Shared,
    /// Tool that saw it last.
    pub tool: Option<i64>,
    /// Name of its workspace.
    pub workspace: Shared,
}
