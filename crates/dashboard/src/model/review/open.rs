//! Pausing and closing the review.

use crate::base::{Focus, Pane};
use crate::model::{Model, Review};

impl Model {
    /// The review on the screen.
    pub fn reviewing(&self) -> Option<&Review> {
        self.findings
            .review
            .as_deref()
            .filter(|review| review.open.is_some())
    }
}

pub(crate) fn pause(model: &mut Model) {
    let Some(before) = model
        .findings
        .review
        .as_mut()
        .and_then(|review| review.open.take())
    else {
        return;
    };
    // A key may have moved the focus elsewhere.
    let is_on_card =
        model.navigation.focus.pane == Pane::Findings && model.navigation.focus.in_detail;
    model.navigation.focus = if is_on_card {
        before
    } else {
        Focus {
            zoomed: before.zoomed,
            ..model.navigation.focus
        }
    };
}

/// Removes the review from memory. The saved one can be resumed.
pub(crate) fn close(model: &mut Model) {
    pause(model);
    model.findings.review = None;
}
