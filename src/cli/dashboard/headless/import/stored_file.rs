//! A file of the command line with what the service read and stored of it, for lines and JSON.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::changes::ImportChanges;
use crate::cli::dashboard::headless::HeadlessSession;
use crate::cli::import::print_contents;
use scandeck_import::{FilePreview, ImportFormat, SkippedEntries};
use scandeck_wire::contract::import::{FileImport, ImportedFile, ImportedScan, SkippedResults};
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
            matched: None,
        }
    }

    /// A file that the service did not store.
    pub fn refused(path: &Path, format: &ImportFormat, why: &str) -> Self {
        let shown = path.display().to_string();
        Self::unsent(FilePreview {
            format: Some(format.name.to_owned()),
            ..FilePreview::failed(&shown, format!("not stored: {why}"))
        })
    }

    /// The files of an import, in the order of the archive.
    pub fn of_import(path: &Path, format: &ImportFormat, import: &FileImport) -> Vec<Self> {
        let shown = path.display().to_string();
        let of_file = |imported: &ImportedFile| Self {
            preview: preview_of(&shown, import, imported),
            import_id: Some(import.id),
            is_repeated: import.same_as.is_some(),
            scans: imported.scans.clone(),
            changes: Vec::new(),
            matched: None,
        };
        if !import.files.is_empty() {
            return import.files.iter().map(of_file).collect();
        }
        // Of an earlier import that was deleted meanwhile.
        vec![of_file(&ImportedFile {
            file: import.file_name.clone(),
            format: Some(format.name.into()),
            ..ImportedFile::default()
        })]
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

    /// Prints what the file contains, and what the service stored.
    pub fn print(&self, session: &HeadlessSession) -> anyhow::Result<()> {
        let (out, preview) = (session.out, &self.preview);
        let error = preview.error.as_deref();
        if preview.format.is_none() {
            return print_contents(preview);
        }
        let Some(id) = self.import_id else {
            out.line(&preview.file)?;
            return error.map_or(Ok(()), |why| out.line(&format!("  {why}")));
        };
        print_contents(preview)?;
        match error {
            Some(why) if self.scans.is_empty() => {
                return out.line(&format!("  not stored: {why}"));
            }
            Some(damage) => out.line(&format!("  incomplete: {damage}"))?,
            None => {}
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

/// The contents of a file that the service read, with the reason why it stored nothing.
fn preview_of(path: &str, import: &FileImport, imported: &ImportedFile) -> FilePreview {
    let number = |count: i64| u64::try_from(count).unwrap_or(0);
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let risks = Risk::DOWN.into_iter().map(Risk::as_str);
    let counts = risks.filter_map(|risk| Some((risk, number(*imported.by_risk.get(risk)?))));
    let skipped = imported.skipped.iter().map(|skipped| SkippedEntries {
        reason: skipped.reason.to_string(),
        count: number(skipped.count),
    });
    let scans = imported.scans.iter();
    let mut targets: Vec<String> = scans.map(|scan| scan.target_name.to_string()).collect();
    targets.sort_unstable();
    let damage = imported.error.as_deref().map(str::to_owned);
    FilePreview {
        file: shown_name(path, import, imported),
        format: imported.format.as_deref().map(str::to_owned),
        tool: some(&imported.tool),
        version: some(&imported.version),
        targets,
        findings: number(imported.findings),
        by_risk: counts.collect(),
        skipped: skipped.collect(),
        error: damage.or_else(|| without_target(import, imported)),
    }
}

/// The path that the user named, with the name in the archive.
fn shown_name(path: &str, import: &FileImport, imported: &ImportedFile) -> String {
    let member = imported.file.strip_prefix(&*import.file_name);
    let member = member.unwrap_or(&imported.file);
    let member = member.strip_prefix(": ").unwrap_or(member);
    match member.is_empty() {
        true => path.to_owned(),
        false => format!("{path}: {member}"),
    }
}

/// Why a file with results became no scan, if no target was named for them.
fn without_target(import: &FileImport, imported: &ImportedFile) -> Option<String> {
    let is_unstored = imported.scans.is_empty() && import.same_as.is_none();
    let mut skipped = imported.skipped.iter();
    let is_skipped = is_unstored && skipped.any(SkippedResults::lacks_target);
    is_skipped.then(|| match import.message.is_empty() {
        true => "every result was skipped".to_owned(),
        false => import.message.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format() -> &'static ImportFormat {
        FilePreview::recognise("a.jsonl", &b""[..], Some("nuclei")).unwrap()
    }

    fn stored(import: &FileImport) -> Vec<StoredFile> {
        StoredFile::of_import(Path::new("results/a.zip"), format(), import)
    }

    fn scan(target_name: &str) -> ImportedScan {
        ImportedScan {
            target_name: target_name.into(),
            findings: 2,
            ..ImportedScan::default()
        }
    }

    #[test]
    fn file_has_the_contents_that_the_service_read() {
        let file = ImportedFile {
            file: "a.zip: b.json".into(),
            format: Some("zap".into()),
            tool: "ZAP".into(),
            targets: 2,
            findings: 4,
            by_risk: [("high".to_owned(), 1), ("info".to_owned(), 3)].into(),
            error: Some("cut".into()),
            scans: vec![scan("b.test"), scan("a.test")],
            ..ImportedFile::default()
        };
        let unknown = ImportedFile {
            file: "a.zip: c.txt".into(),
            error: Some("not recognised".into()),
            ..ImportedFile::default()
        };
        let import = FileImport {
            file_name: "a.zip".into(),
            files: vec![file, unknown],
            ..FileImport::default()
        };
        let files = stored(&import);
        let expected = FilePreview {
            file: "results/a.zip: b.json".to_owned(),
            format: Some("zap".to_owned()),
            tool: Some("ZAP".to_owned()),
            targets: vec!["a.test".to_owned(), "b.test".to_owned()],
            findings: 4,
            by_risk: [("high", 1), ("info", 3)].into(),
            error: Some("cut".to_owned()),
            ..FilePreview::default()
        };
        assert_eq!(files[0].preview, expected);
        let unread = FilePreview::failed("results/a.zip: c.txt", "not recognised".to_owned());
        assert_eq!(files[1].preview, unread);
    }

    #[test]
    fn name_in_an_archive_follows_the_path() {
        let name = |sent: &str, file: &str| {
            let import = FileImport {
                file_name: sent.into(),
                ..FileImport::default()
            };
            let imported = ImportedFile {
                file: file.into(),
                ..ImportedFile::default()
            };
            shown_name("results/a.zip", &import, &imported)
        };
        assert_eq!(name("a.zip", "a.zip"), "results/a.zip");
        assert_eq!(name("a.zip", "a.zip: b: c"), "results/a.zip: b: c");
        assert_eq!(name("", "b.json"), "results/a.zip: b.json");
        assert_eq!(name("", ""), "results/a.zip");
    }

    #[test]
    fn results_without_a_target_are_an_error_unless_the_file_is_stored() {
        let skipped = |reason: &str| ImportedFile {
            skipped: vec![SkippedResults {
                reason: reason.into(),
                count: 1,
            }],
            ..ImportedFile::default()
        };
        let import = FileImport {
            files: vec![skipped(SkippedResults::NO_TARGET), skipped("did not match")],
            ..FileImport::default()
        };
        let why = |import: &FileImport| -> Vec<Option<String>> {
            let files = stored(import).into_iter();
            files.map(|file| file.preview.error).collect()
        };
        let skipped_all = Some("every result was skipped".to_owned());
        assert_eq!(why(&import), [skipped_all, None]);
        let repeated = FileImport {
            same_as: Some(ImportId(3)),
            ..import
        };
        assert_eq!(why(&repeated), [None, None]);
    }

    #[test]
    fn repeated_file_without_its_import_has_its_format() {
        let repeated = FileImport {
            same_as: Some(ImportId(3)),
            ..FileImport::default()
        };
        let files = stored(&repeated);
        assert_eq!(files.len(), 1);
        assert!(files[0].is_repeated && files[0].scans.is_empty());
        assert_eq!(files[0].preview.file, "results/a.zip");
        assert_eq!(files[0].preview.format.as_deref(), Some("nuclei"));
    }
}
