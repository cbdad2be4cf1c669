//! A file of the command line with what the service stored of it: merged with the preview, printed.

use serde::Serialize;
use serde_json::Value;

use super::changes::ImportChanges;
use crate::cli::dashboard::headless::HeadlessSession;
use scandeck_import::{FilePreview, SkippedEntries};
use scandeck_wire::contract::import::{FileImport, ImportedFile, ImportedScan};
use scandeck_wire::contract::{ImportId, Risk};
use scandeck_wire::text::plural;

/// Scans of an import that the lines name.
pub const SHOWN_SCANS: usize = 20;
const NOTHING_TO_STORE: &str =
    "  stored    nothing: no results, and no target named; use --target NAME";

/// A file of the command line, and what the service stored of it.
#[derive(Serialize)]
pub struct StoredFile {
    #[serde(flatten)]
    pub preview: FilePreview,
    /// Absent if the file was not sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    import_id: Option<ImportId>,
    /// The same file was imported before; the scans are those of then.
    is_repeated: bool,
    pub scans: Vec<ImportedScan>,
    /// Of the scans of targets that were there before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ImportChanges>,
    /// Results that only the service skipped.
    #[serde(skip)]
    skipped_there: Vec<SkippedEntries>,
    /// With `--fail-on`: the findings that match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<Vec<Value>>,
}

impl StoredFile {
    pub fn unsent(preview: FilePreview) -> Self {
        Self {
            preview,
            import_id: None,
            is_repeated: false,
            scans: Vec::new(),
            changes: Vec::new(),
            skipped_there: Vec::new(),
            matched: None,
        }
    }

    pub fn refused(preview: FilePreview, why: &str) -> Self {
        let error = match &preview.error {
            None => format!("not stored: {why}"),
            Some(error) => format!("{error}; not stored: {why}"),
        };
        Self::unsent(FilePreview {
            error: Some(error),
            ..preview
        })
    }

    /// The files of an import, in the order of the archive.
    pub fn of_import(previews: Vec<FilePreview>, import: &FileImport) -> Vec<Self> {
        let is_repeated = import.same_as.is_some();
        let pair = |(at, shown): (usize, FilePreview)| {
            let unknown = ImportedFile::default();
            let imported = import.files.get(at).unwrap_or(&unknown);
            let (reasons, had_findings) = (shown.skipped.clone(), shown.findings > 0);
            let mut preview = match import.files.get(at) {
                Some(imported) => stored(shown, imported),
                None => shown,
            };
            let is_new = |skipped: &&SkippedEntries| {
                let mut known = reasons.iter();
                !known.any(|known| known.reason == skipped.reason)
            };
            let skipped_there = preview.skipped.iter().filter(is_new).cloned().collect();
            if imported.scans.is_empty() && had_findings && !is_repeated {
                let why = import.message.to_string();
                let why = Some(why).filter(|why| !why.is_empty());
                let why = why.unwrap_or_else(|| "every result was skipped".to_owned());
                preview.error = preview.error.or(Some(why));
            }
            Self {
                scans: imported.scans.clone(),
                changes: Vec::new(),
                preview,
                import_id: Some(import.id),
                is_repeated,
                skipped_there,
                matched: None,
            }
        };
        previews.into_iter().enumerate().map(pair).collect()
    }

    /// The new scans of targets that were there before.
    pub fn later_scans(&self) -> impl Iterator<Item = &ImportedScan> {
        let is_later = move |scan: &&ImportedScan| !scan.is_new_target && !self.is_repeated;
        self.scans.iter().filter(is_later)
    }

    /// Prints what the scans changed.
    pub fn print_changes(&self, session: &HeadlessSession) -> anyhow::Result<()> {
        let mut changes = self.changes.iter();
        changes.try_for_each(|one| session.out.line(&one.words()))
    }

    /// Prints what the service stored.
    pub fn print(&self, session: &HeadlessSession) -> anyhow::Result<()> {
        let out = session.out;
        let Some(id) = self.import_id else {
            let refusal = self
                .preview
                .error
                .as_deref()
                .filter(|_| self.preview.format.is_some());
            return refusal.map_or(Ok(()), |why| out.line(&format!("  {why}")));
        };
        for SkippedEntries { reason, count } in &self.skipped_there {
            let results = plural(usize::try_from(*count).unwrap_or(usize::MAX), "result");
            out.line(&format!("  skipped   {results}: {reason}"))?;
        }
        if let Some(why) = self.preview.error.as_deref()
            && self.scans.is_empty()
        {
            return out.line(&format!("  not stored: {why}"));
        }
        if self.scans.is_empty() && !self.is_repeated {
            return out.line(NOTHING_TO_STORE);
        }
        let scans = plural(self.scans.len(), "scan");
        let count: i64 = self.scans.iter().map(|scan| scan.findings).sum();
        let findings = plural(usize::try_from(count).unwrap_or(0), "finding");
        out.line(&match self.is_repeated {
            true => {
                format!("  unchanged the same file was imported before: {scans} with {findings}")
            }
            false => format!("  stored    {scans} with {findings} (import {id})"),
        })?;
        for scan in self.scans.iter().take(SHOWN_SCANS) {
            let (id, name) = (scan.id, &scan.target_name);
            let count = plural(usize::try_from(scan.findings).unwrap_or(0), "finding");
            let new = match scan.is_new_target && !self.is_repeated {
                true => ", new target",
                false => "",
            };
            out.line(&format!("  scan {id}: {name}, {count}{new}"))?;
        }
        match self.scans.len().saturating_sub(SHOWN_SCANS) {
            0 => Ok(()),
            more => out.line(&format!(
                "  and {more} more; `scandeck scans list` shows all"
            )),
        }
    }
}

/// The preview with the numbers of the service, which skips results without a target.
fn stored(preview: FilePreview, imported: &ImportedFile) -> FilePreview {
    let number = |count: i64| u64::try_from(count).unwrap_or(0);
    let risks = Risk::DOWN.into_iter().map(Risk::as_str);
    let counts = risks.filter_map(|risk| Some((risk, number(*imported.by_risk.get(risk)?))));
    let skipped = imported.skipped.iter().map(|skipped| SkippedEntries {
        reason: skipped.reason.to_string(),
        count: number(skipped.count),
    });
    let error = imported.error.as_ref().map(ToString::to_string);
    FilePreview {
        findings: number(imported.findings),
        by_risk: counts.collect(),
        skipped: skipped.collect(),
        error: preview.error.or(error),
        ..preview
    }
}
