//! Findings: the triage table, its detail, and every action on findings.
//!
//! ```text
//!   data::decisions (rows with decisions) ─► draw (list, groups, detail)
//!   key ─► decide (verdicts, rules, undo) · review (card by card) · retest (board) · manual ─► Effect::Record, calls
//!          proof (the request in the evidence again) ─► Call::Prove ─► Effect::Record
//!          explain (why a finding changed) ─► Modal::Why
//!          case (the marked findings with what happened to them) ─► Effect::SealCase
//! ```
//!
//! The sub-features `decide`, `review`, `retest`, `proof`, `explain` and `manual` are folders of the
//! same shape.
//! Fingerprints, events and rules of decisions are in `triage` of the crate `scandeck_domain`;
//! grouping is in `list/finding_groups`.

#[cfg(test)]
mod groups_tests;
pub mod review;
#[cfg(test)]
mod texts_tests;

pub mod case;
#[cfg(test)]
mod case_tests;
pub mod changed;
#[cfg(test)]
mod changed_tests;
pub mod commands;
#[cfg(test)]
mod commands_tests;
pub mod decide;
pub mod draw;
pub mod explain;
pub mod export;
pub mod manual;
pub mod proof;
#[cfg(test)]
mod retained_rows_tests;
pub mod retest;
#[cfg(test)]
mod seen_tests;

use crate::base::Scope;
use crate::model::{InScope, Model, PaneItem};
use scandeck_domain::triage::Issue;
use serde_json::Value;

impl PaneItem for Issue {
    fn in_scope(scope: &Scope) -> Option<InScope<Self>> {
        let (target, scan) = (scope.target, scope.scan);
        let is_inside = move |issue: &Self| {
            (target.is_none() || issue.target_id() == target)
                && scan.is_none_or(|scan| issue.is_found_by(scan))
        };
        (target.is_some() || scan.is_some())
            .then(|| Box::new(is_inside) as Box<dyn Fn(&Self) -> bool>)
    }

    fn show(model: &mut Model) {
        model.show_findings();
    }

    fn json(&self) -> Option<Value> {
        serde_json::to_value(&self.finding).ok()
    }
}
