//! The data from which the case of some findings is made. Their texts and the bodies of captures
//! are read, so it is sealed off the UI thread.

use scandeck_domain::case::{
    CaseMaker, CaseReports, CaseSelection, MissingReports, SealedCase, case_events, seal,
};
use scandeck_domain::oob::{ArchivedCapture, CaptureRecord};
use scandeck_domain::triage::{Bundle, ListedFinding};
use std::io;
use std::sync::Arc;

/// A case to be sealed.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseRequest {
    /// The preferred name of the file.
    pub name: String,
    pub selection: CaseSelection,
    /// The data of the workspace without findings and captures.
    pub bundle: Bundle,
    /// All occurrences of the findings.
    pub findings: Vec<Arc<ListedFinding>>,
    /// The captured requests with payloads for them.
    pub captures: Vec<CaptureRecord>,
    pub maker: CaseMaker,
}

impl CaseRequest {
    /// Reads the texts and bodies, and seals the case.
    ///
    /// # Errors
    /// When a text or a body cannot be read, or the archive is larger than the format allows.
    pub fn seal(self) -> io::Result<SealedCase> {
        let made = self.bundle.manifest.made;
        let workspace = &self.bundle.manifest.workspace;
        let archived = |record: &CaptureRecord| -> io::Result<_> {
            let whole = record.whole()?;
            Ok(ArchivedCapture {
                workspace: workspace.clone(),
                logger: whole.logger,
                label: whole.label,
                handler_url: whole.handler_url,
                seen_at: whole.capture.request_date.unwrap_or(made),
                capture: whole.capture,
            })
        };
        let captures: io::Result<Vec<ArchivedCapture>> =
            self.captures.iter().map(archived).collect();
        let whole = |finding: &Arc<ListedFinding>| finding.whole().map(Arc::new);
        let findings: io::Result<Vec<_>> = self.findings.iter().map(whole).collect();
        let selected = self.selection.of(Bundle {
            findings: findings?,
            captures: captures?,
            ..self.bundle
        });
        let reports = CaseReports::without(MissingReports::ScansUnknown);
        let events = case_events(&selected, &reports, &self.maker);
        // The first event is the case itself.
        let title = events.first().map(|event| event.text.clone());
        seal(&title.unwrap_or_default(), events, made).map_err(io::Error::other)
    }
}
