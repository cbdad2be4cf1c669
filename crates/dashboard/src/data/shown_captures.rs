//! The captures in the detail whose bodies are in files: they are read off the UI thread, and the
//! newest request wins.

use scandeck_domain::oob::CaptureRecord;
use scandeck_domain::problem::Problem;
use scandeck_wire::contract::Capture;
use std::sync::Arc;

/// A capture with its body, as far as that was read.
#[derive(Clone, Copy, Debug)]
pub enum WholeCapture<'a> {
    Read(&'a Arc<Capture>),
    /// Its body is being read.
    Reading,
    /// Its body cannot be read.
    Unreadable(&'a Problem),
}

#[derive(Clone, Debug, Default)]
pub struct ShownCaptures {
    /// Without their bodies, as they were requested.
    requested: Vec<CaptureRecord>,
    /// In the same order, and why a body could not be read.
    read: Option<(Vec<CaptureRecord>, Option<Problem>)>,
}

impl ShownCaptures {
    /// Requests these captures. False if they were requested last.
    pub fn request(&mut self, captures: &[CaptureRecord]) -> bool {
        let same = |(one, other): (&CaptureRecord, &CaptureRecord)| {
            Arc::ptr_eq(&one.capture, &other.capture)
        };
        if captures.len() == self.requested.len() && captures.iter().zip(&self.requested).all(same)
        {
            return false;
        }
        (self.requested, self.read) = (captures.to_vec(), None);
        true
    }

    /// Takes captures that were read, unless others were requested later.
    pub fn take(&mut self, read: Vec<CaptureRecord>, problem: Option<Problem>) {
        let id = |one: &CaptureRecord| (one.logger, one.capture.id, one.capture.request_date);
        if read.iter().map(id).eq(self.requested.iter().map(id)) {
            self.read = Some((read, problem));
        }
    }

    /// A requested capture with its body.
    pub fn whole(&self, capture: &Arc<Capture>) -> WholeCapture<'_> {
        let at = self
            .requested
            .iter()
            .position(|requested| Arc::ptr_eq(&requested.capture, capture));
        match (at, &self.read) {
            (Some(at), Some((read, problem))) => match (read.get(at), problem) {
                (Some(record), Some(problem)) if record.body.is_some() => {
                    WholeCapture::Unreadable(problem)
                }
                (Some(record), _) => WholeCapture::Read(&record.capture),
                (None, _) => WholeCapture::Reading,
            },
            _ => WholeCapture::Reading,
        }
    }
}
