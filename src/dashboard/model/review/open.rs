//! The review that is open.

use crate::dashboard::base::{Focus, Pane};
use crate::dashboard::model::{Model, Review};

impl Model {
    /// The review on the screen.
    pub fn reviewing(&self) -> Option<&Review> {
        self.findings.review.as_deref().filter(|review| review.open.is_some())
    }
}

pub(crate) fn pause(model: &mut Model) {
    let Some(before) = model.findings.review.as_mut().and_then(|review| review.open.take()) else { return };
    // Where the focus went elsewhere by a key of everywhere, it stays there.
    let stayed = model.navigation.focus.pane == Pane::Findings && model.navigation.focus.in_detail;
    model.navigation.focus = if stayed { before } else { Focus { zoomed: before.zoomed, ..model.navigation.focus } };
    model.screen.dirty = true;
}

/// Nothing of it is held here any more; what is kept brings it back.
pub(crate) fn put_away(model: &mut Model) {
    pause(model);
    model.findings.review = None;
}
