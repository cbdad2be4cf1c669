//! What the findings can be connected to: tokens in captures, and links that people added.

use crate::model::Model;
use scandeck_domain::chain::{CapturedToken, RecordedLink};

impl Model {
    /// The tokens of payloads in the loaded captures.
    pub(crate) fn captured_tokens(&self) -> Vec<CapturedToken> {
        let captures = self.data.captures.rows.iter();
        let captured = captures.flat_map(|row| {
            row.tokens().map(move |token| CapturedToken {
                token,
                logger: row.logger,
                id: row.capture.id,
                at: row.capture.request_date,
            })
        });
        captured.collect()
    }

    /// The links that people added in the workspace.
    pub(crate) fn manual_links(&self) -> Vec<RecordedLink> {
        let state = &self.findings.triage.state;
        state.manual_links(&self.workspace_name())
    }
}
