//! The captures of an action, and the capture that the selected one is compared with.

use crate::dashboard::base::Caught;
use crate::dashboard::model::Model;
use crate::oob::{CaptureRecord, Token};
use std::sync::Arc;

impl Model {
    /// A capture with the data of its logger and payloads.
    pub(crate) fn record_of(&self, caught: &Caught) -> CaptureRecord {
        CaptureRecord {
            capture: Arc::clone(&caught.capture),
            logger: caught.logger,
            label: caught.label.clone(),
            handler_url: caught.handler_url.clone(),
            mentions: Arc::clone(&caught.mentions),
        }
    }

    /// The selected capture.
    pub(crate) fn selected_capture(&self) -> Option<&Caught> {
        self.lists.captures.current(&self.data.captures)
    }

    /// The captures of an action: the marked ones, oldest first, else the selected one or those of the group.
    pub(crate) fn chosen_captures(&self) -> Vec<CaptureRecord> {
        let (list, stream) = (&self.lists.captures, &self.data.captures);
        let chosen = match self.navigation.focus.in_detail {
            true => list.current(stream).into_iter().collect(),
            false => list.chosen(stream),
        };
        chosen.into_iter().map(|caught| self.record_of(caught)).collect()
    }

    /// The marked captures in memory, oldest first.
    pub(crate) fn marked_captures(&self) -> Vec<&Caught> {
        self.lists.captures.marked(&self.data.captures)
    }

    /// The capture that the selected one is compared with: the other one of two marked captures, else the previous one
    /// with the same payload or from the same address.
    pub fn compared_capture(&self) -> Option<&Caught> {
        let selected = self.selected_capture()?;
        if let [one, two] = self.marked_captures().as_slice() {
            let others = [(one, two), (two, one)];
            if let Some((_, other)) = others.into_iter().find(|(this, _)| this.id() == selected.id()) {
                return Some(other);
            }
        }
        let stream = &self.data.captures;
        let row = stream.row_of(selected.id())?;
        let before = usize::try_from(row.checked_sub(stream.first)?).ok()?;
        let payload = payload(selected);
        let alike = |other: &&Caught| {
            (payload.is_some() && self::payload(other) == payload)
                || other.capture.ip_address == selected.capture.ip_address
        };
        stream.caught.range(..before).rev().find(alike)
    }
}

fn payload(caught: &Caught) -> Option<Token> {
    caught.mentions.iter().find(|mention| mention.known).map(|mention| mention.token)
}
