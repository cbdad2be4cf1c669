//! The captures of an action, and the capture that the selected one is compared with.

use crate::base::{CaptureRow, CaptureUse, Effect, Pane, Tab};
use crate::data::WholeCapture;
use crate::model::Model;
use scandeck_domain::oob::{CaptureRecord, Token};
use std::sync::Arc;

impl Model {
    /// A capture with the data of its logger and payloads.
    pub(crate) fn record_of(&self, captured: &CaptureRow) -> CaptureRecord {
        CaptureRecord {
            capture: Arc::clone(&captured.capture),
            body: captured.unread_body().cloned(),
            logger: captured.logger,
            label: captured.label.clone(),
            handler_url: captured.handler_url.clone(),
            mentions: Arc::clone(&captured.mentions),
        }
    }

    /// Requests the bodies of captures that are in files. If there are any, the action continues
    /// when they were read.
    pub(crate) fn must_read(
        &self,
        purpose: CaptureUse,
        captures: &[CaptureRecord],
        effects: &mut Vec<Effect>,
    ) -> bool {
        let must = captures.iter().any(|record| record.body.is_some());
        if must {
            effects.push(Effect::ReadCaptures(purpose, captures.to_vec()));
        }
        must
    }

    /// A capture of the detail with its body.
    pub(crate) fn whole_capture<'a>(&'a self, captured: &'a CaptureRow) -> WholeCapture<'a> {
        match captured.unread_body() {
            None => WholeCapture::Read(&captured.capture),
            Some(_) => self.captures.shown.whole(&captured.capture),
        }
    }

    /// Requests the bodies that the detail shows, if they are in files.
    pub(crate) fn read_shown_captures(&mut self, effects: &mut Vec<Effect>) {
        if !self.shows_current_detail() {
            return;
        }
        let compares = matches!(self.shown_detail(), Some((Pane::Captures, _, Tab::Compare)));
        let compared = compares.then(|| self.compared_capture()).flatten();
        let captures = self.selected_capture().into_iter().chain(compared);
        let unread = captures.filter(|captured| captured.unread_body().is_some());
        let unread: Vec<CaptureRecord> = unread.map(|captured| self.record_of(captured)).collect();
        if self.captures.shown.request(&unread) && !unread.is_empty() {
            effects.push(Effect::ReadCaptures(CaptureUse::Show, unread));
        }
    }

    pub(crate) fn selected_capture(&self) -> Option<&CaptureRow> {
        self.lists.captures.current(&self.data.captures)
    }

    /// The captures of an action: the marked ones, oldest first, else the selected one or those of
    /// the group.
    pub(crate) fn chosen_captures(&self) -> Vec<CaptureRecord> {
        let (list, stream) = (&self.lists.captures, &self.data.captures);
        let chosen = match self.navigation.focus.in_detail {
            true => list.current(stream).into_iter().collect(),
            false => list.chosen(stream),
        };
        chosen
            .into_iter()
            .map(|captured| self.record_of(captured))
            .collect()
    }

    /// The marked captures in memory, oldest first.
    pub(crate) fn marked_captures(&self) -> Vec<&CaptureRow> {
        self.lists.captures.marked(&self.data.captures)
    }

    /// The capture that the selected one is compared with: the other one of two marked captures,
    /// else the previous one with the same payload or from the same address.
    pub fn compared_capture(&self) -> Option<&CaptureRow> {
        let selected = self.selected_capture()?;
        if let [one, two] = self.marked_captures().as_slice() {
            let others = [(one, two), (two, one)];
            if let Some((_, other)) = others
                .into_iter()
                .find(|(this, _)| this.id() == selected.id())
            {
                return Some(other);
            }
        }
        let stream = &self.data.captures;
        let row = stream.row_of(selected.id())?;
        let before = usize::try_from(row.checked_sub(stream.first)?).ok()?;
        let payload = payload(selected);
        if payload.is_none() && stream.count_from(&selected.capture.ip_address) < 2 {
            return None;
        }
        let alike = |other: &&CaptureRow| {
            (payload.is_some() && self::payload(other) == payload)
                || other.capture.ip_address == selected.capture.ip_address
        };
        stream.rows.range(..before).rev().find(alike)
    }
}

fn payload(captured: &CaptureRow) -> Option<Token> {
    captured
        .mentions
        .iter()
        .find(|mention| mention.known)
        .map(|mention| mention.token)
}
