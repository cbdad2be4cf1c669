//! The captures of an action, and the capture that the selected one is compared with.

use crate::dashboard::base::CaptureRow;
use crate::dashboard::model::Model;
use crate::oob::{CaptureRecord, Token};
use std::sync::Arc;

impl Model {
    /// A capture with the data of its logger and payloads.
    pub(crate) fn record_of(&self, captured: &CaptureRow) -> CaptureRecord {
        CaptureRecord {
            capture: Arc::clone(&captured.capture),
            logger: captured.logger,
            label: captured.label.clone(),
            handler_url: captured.handler_url.clone(),
            mentions: Arc::clone(&captured.mentions),
        }
    }

    /// The selected capture.
    pub(crate) fn selected_capture(&self) -> Option<&CaptureRow> {
        self.lists.captures.current(&self.data.captures)
    }

    /// The captures of an action: the marked ones, oldest first, else the selected one or those of the group.
    pub(crate) fn chosen_captures(&self) -> Vec<CaptureRecord> {
        let (list, stream) = (&self.lists.captures, &self.data.captures);
        let chosen = match self.navigation.focus.in_detail {
            true => list.current(stream).into_iter().collect(),
            false => list.chosen(stream),
        };
        chosen.into_iter().map(|captured| self.record_of(captured)).collect()
    }

    /// The marked captures in memory, oldest first.
    pub(crate) fn marked_captures(&self) -> Vec<&CaptureRow> {
        self.lists.captures.marked(&self.data.captures)
    }

    /// The capture that the selected one is compared with: the other one of two marked captures, else the previous one
    /// with the same payload or from the same address.
    pub fn compared_capture(&self) -> Option<&CaptureRow> {
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
        let alike = |other: &&CaptureRow| {
            (payload.is_some() && self::payload(other) == payload)
                || other.capture.ip_address == selected.capture.ip_address
        };
        stream.rows.range(..before).rev().find(alike)
    }
}

fn payload(captured: &CaptureRow) -> Option<Token> {
    captured.mentions.iter().find(|mention| mention.known).map(|mention| mention.token)
}
