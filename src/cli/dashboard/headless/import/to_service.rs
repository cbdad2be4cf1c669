//! `scandeck import --to-service`: the findings of files, in the form of the hosted service's
//! `POST /findings/import`, which carries less than a scan.
//!
//! ```text
//!   files ─► preview, fields that the form lacks ─► typed confirmation ─► batches ─► ids of findings
//! ```

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, IsTerminal, Seek, stderr, stdin};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use super::super::HeadlessSession;
use crate::cli::error::CliError;
use crate::cli::import::reading::ShownReading;
use crate::cli::import::{ImportArgs, files, print_json, print_previews};
use scandeck_client::{Client, ErrorKind};
use scandeck_import::{CvssRating, EntryEvidence, FilePreview, ImportEntry, ImportLimits};
use scandeck_wire::contract::import::{FindingToImport, FindingsToImport};
use scandeck_wire::contract::{Evidence, EvidenceView, FindingId, Shared, WorkspaceId};
use scandeck_wire::text::{io_cause, plural};

/// The `source` of findings of other tools.
const OTHER_TOOL: i64 = 2;
/// Findings of one request.
const BATCH: usize = 100;
/// The name of the missing data of findings that cannot be sent.
const WITHOUT_TARGET: &str = "findings without a target";

/// A file and the findings that were sent.
#[derive(Serialize)]
struct FormFile {
    #[serde(flatten)]
    preview: FilePreview,
    /// Findings by the field that the form lacks.
    not_carried: BTreeMap<&'static str, u64>,
    /// Ids at the service.
    finding_ids: Vec<FindingId>,
    /// None if nothing of it can be sent.
    #[serde(skip)]
    file: Option<File>,
}

/// Shows what the files contain, asks, and sends the findings.
///
/// # Errors
/// When the user does not confirm, and those of the service.
pub async fn run(
    session: &HeadlessSession,
    args: &ImportArgs,
    paths: &[PathBuf],
) -> anyhow::Result<ExitCode> {
    let workspace_id = session.workspace_id().await?;
    let mut files = Vec::new();
    for path in paths {
        let file = FormFile::read(path, args);
        if !session.out.json {
            print_previews(std::slice::from_ref(&file.preview))?;
            file.print_lacks(session)?;
        }
        files.push(file);
    }
    let sendable = files.iter().filter(|file| file.file.is_some());
    let count: u64 = sendable.map(FormFile::sendable).sum();
    if count > 0 {
        confirm(session, args.service.yes, count)?;
    }
    for file in &mut files {
        file.send(session.client()?, workspace_id, args).await?;
    }
    match session.out.json {
        true => print_json(&files)?,
        false => {
            let sent: usize = files.iter().map(|file| file.finding_ids.len()).sum();
            session
                .out
                .line(&format!("{} sent", plural(sent, "finding")))?;
        }
    }
    let is_partly_read = files.iter().any(|file| file.preview.error.is_some());
    Ok(match is_partly_read {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

impl FormFile {
    fn read(path: &Path, args: &ImportArgs) -> Self {
        let shown = path.display().to_string();
        let failed = |error| Self {
            preview: FilePreview::failed(&shown, error),
            not_carried: BTreeMap::new(),
            finding_ids: Vec::new(),
            file: None,
        };
        let opened = files::open(path).and_then(|file| previewed(file, &shown, args));
        let (file, mut previews) = match opened {
            Ok(opened) => opened,
            Err(error) => return failed(io_cause(&error)),
        };
        let (Some(preview), None) = (previews.pop(), previews.pop()) else {
            return failed("an archive; unpack it, and name its files".to_owned());
        };
        let mut form = Self {
            file: Some(file).filter(|_| preview.format.is_some()),
            preview,
            not_carried: BTreeMap::new(),
            finding_ids: Vec::new(),
        };
        if let Err(error) = form.count_lacks(args) {
            return failed(error.to_string());
        }
        form
    }

    /// Counts what the form cannot carry.
    fn count_lacks(&mut self, args: &ImportArgs) -> anyhow::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let has_target = args.service.target.is_some();
        let mut lacks: BTreeMap<&str, u64> = BTreeMap::new();
        let mut count = |entry: ImportEntry| {
            for name in lacking(&entry, has_target) {
                *lacks.entry(name).or_default() += 1;
            }
            ControlFlow::Continue(())
        };
        let limits = ImportLimits::default();
        scandeck_import::read(&*file, args.format.as_deref(), &limits, &mut count)?;
        file.rewind()?;
        self.not_carried = lacks;
        Ok(())
    }

    /// Findings without a target, which the form needs.
    fn untargeted(&self) -> u64 {
        self.not_carried.get(WITHOUT_TARGET).copied().unwrap_or(0)
    }

    /// Findings that are sent.
    fn sendable(&self) -> u64 {
        self.preview.findings.saturating_sub(self.untargeted())
    }

    fn print_lacks(&self, session: &HeadlessSession) -> anyhow::Result<()> {
        if self.untargeted() > 0 {
            let count = usize::try_from(self.untargeted()).unwrap_or(usize::MAX);
            let findings = plural(count, "finding");
            session.out.line(&format!(
                "  not sent  {findings}: no target named; use --target NAME"
            ))?;
        }
        let lacks = self.not_carried.iter();
        let lacks = lacks.filter(|(name, _)| **name != WITHOUT_TARGET);
        let counts: Vec<String> = lacks
            .map(|(name, count)| format!("{name} ({count})"))
            .collect();
        match counts.is_empty() {
            true => Ok(()),
            false => session
                .out
                .line(&format!("  cannot be sent: {}", counts.join(", "))),
        }
    }

    /// Sends the findings in batches, which are read while others are sent.
    async fn send(
        &mut self,
        client: &Client,
        workspace_id: Option<WorkspaceId>,
        args: &ImportArgs,
    ) -> anyhow::Result<()> {
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        let (sender, mut batches) = mpsc::channel(1);
        let (format, target) = (args.format.clone(), args.service.target.clone());
        let reading =
            spawn_blocking(move || read_batches(file, format.as_deref(), target, &sender));
        while let Some(findings) = batches.recv().await {
            let body = FindingsToImport {
                workspace_id,
                findings,
            };
            let sent = match client.import_findings(&body).await {
                Ok(sent) => sent,
                Err(error) if error.kind == ErrorKind::NotOffered => {
                    let hint = "with --local instead, the service on this machine stores the files as scans";
                    return Err(CliError::new(error, hint).into());
                }
                Err(error) => {
                    let before = plural(self.finding_ids.len(), "finding");
                    let context = format!("{before} sent, then no more");
                    return Err(anyhow::Error::new(error).context(context));
                }
            };
            self.finding_ids
                .extend(sent.results.iter().map(|finding| finding.id));
        }
        reading.await?.context("file not read again")
    }
}

/// What a file contains; the file is at its beginning again.
fn previewed(
    mut file: File,
    shown: &str,
    args: &ImportArgs,
) -> io::Result<(File, Vec<FilePreview>)> {
    let previews = FilePreview::read(shown, ShownReading::new(&file), args.format.as_deref());
    file.rewind()?;
    Ok((file, previews))
}

/// Asks for the number of findings, as they cannot be taken back from here.
fn confirm(session: &HeadlessSession, yes: bool, count: u64) -> anyhow::Result<()> {
    let findings = plural(usize::try_from(count).unwrap_or(usize::MAX), "finding");
    let base = session.client()?.base();
    if yes || !stdin().is_terminal() || !stderr().is_terminal() {
        let message = format!("not sent: {findings} to {base}");
        return Ok(session.confirm(yes, message)?);
    }
    eprint!("This sends {findings} to {base}.\nType the number of findings to continue: ");
    let mut line = String::new();
    stdin()
        .read_line(&mut line)
        .context("cannot read standard input")?;
    match line.trim() == count.to_string() {
        true => Ok(()),
        false => {
            let message = "number does not match: nothing was sent";
            Err(CliError::new(message, format!("the number is {count}")).into())
        }
    }
}

/// Reads findings into batches until the receiver is gone.
fn read_batches(
    file: File,
    format: Option<&str>,
    target: Option<String>,
    sender: &mpsc::Sender<Vec<FindingToImport>>,
) -> Result<(), scandeck_import::ImportError> {
    let mut batch = Vec::new();
    let mut sink = |entry: ImportEntry| {
        batch.extend(form_of(entry, target.as_deref()));
        if batch.len() < BATCH {
            return ControlFlow::Continue(());
        }
        match sender.blocking_send(std::mem::take(&mut batch)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    };
    scandeck_import::read(file, format, &ImportLimits::default(), &mut sink)?;
    if !batch.is_empty() {
        // A receiver that is gone has reported why.
        let _ = sender.blocking_send(batch);
    }
    Ok(())
}

/// The fields of a finding that the form lacks.
fn lacking(entry: &ImportEntry, has_target: bool) -> Vec<&'static str> {
    let is_placed = !entry.place.path.is_empty() || !entry.place.parameter.is_empty();
    let is_structured = matches!(
        entry.evidence,
        EntryEvidence::Items(_) | EntryEvidence::Table { .. }
    );
    let lacks = [
        (WITHOUT_TARGET, !has_target && entry.target.is_none()),
        ("classes", !entry.vuln_id.is_empty()),
        ("CVEs", !entry.cves.is_empty()),
        ("CWEs", !entry.cwes.is_empty()),
        (
            "CVSS 2 scores",
            entry.cvss.as_ref().is_some_and(|cvss| !cvss.is_v3()),
        ),
        ("CVSS vectors", entry.cvss.as_ref().is_some_and(has_vector)),
        ("EPSS scores", entry.epss.is_some()),
        ("references", !entry.references.is_empty()),
        ("consequences", !entry.impact.is_empty()),
        ("ports", entry.port.is_some()),
        ("places", is_placed),
        ("tags", !entry.tags.is_empty()),
        ("times", entry.found_at.is_some()),
        ("proposed verdicts", entry.proposed.is_some()),
        ("evidence other than text", is_structured),
    ];
    let lacks = lacks.into_iter().filter(|(_, is_lacking)| *is_lacking);
    lacks.map(|(name, _)| name).collect()
}

fn has_vector(cvss: &CvssRating) -> bool {
    !cvss.vector.is_empty()
}

/// The finding in the form; none without a target.
fn form_of(entry: ImportEntry, target: Option<&str>) -> Option<FindingToImport> {
    let of_entry = entry.target.as_ref().map(|target| target.name.as_str());
    let target_name = Shared::from(target.or(of_entry)?);
    let finding = entry.into_finding();
    Some(FindingToImport {
        name: finding.name,
        source: OTHER_TOOL,
        target_name,
        test_description: finding.test_description,
        vuln_description: finding.vuln_description,
        vuln_risk_level: finding.risk_level,
        vuln_recommendation: finding.recommendation,
        cvss_v3: finding.cvssv3,
        vuln_evidence: text_of(&finding.vuln_evidence),
    })
}

/// The evidence as one text; of a table a line for each cell.
fn text_of(evidence: &Evidence) -> Shared {
    let text = match evidence.view().decoded() {
        EvidenceView::Nothing => String::new(),
        EvidenceView::Text(text) => text,
        EvidenceView::Table { headers, rows } => {
            let rows = rows.iter().map(|row| {
                let cells = row.iter().enumerate();
                let cells = cells.filter(|(_, cell)| !cell.is_empty());
                let lines = cells.map(|(at, cell)| match headers.get(at) {
                    Some(header) => format!("{header}: {cell}"),
                    None => cell.clone(),
                });
                lines.collect::<Vec<_>>().join("\n")
            });
            rows.collect::<Vec<_>>().join("\n\n")
        }
        EvidenceView::Tree(value) => value.to_string(),
    };
    Shared::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scandeck_import::{ImportTarget, ImportTargetKind};
    use serde_json::json;

    #[test]
    fn form_has_the_target_and_evidence_as_text() {
        let target = ImportTarget {
            name: "shop.test".to_owned(),
            kind: ImportTargetKind::Host,
            others: Vec::new(),
        };
        let rows = vec![vec!["TLS 1.0 & 1.1".to_owned(), String::new()]];
        let entry = ImportEntry {
            title: "Old TLS".to_owned(),
            evidence: EntryEvidence::Table {
                headers: vec!["Protocol", "Note"],
                rows,
            },
            cves: vec!["CVE-2011-3389".to_owned()],
            port: Some(443),
            target: Some(target),
            ..ImportEntry::default()
        };
        assert_eq!(
            lacking(&entry, false),
            ["CVEs", "ports", "evidence other than text"]
        );
        let sent = form_of(entry.clone(), None).unwrap();
        assert_eq!(
            serde_json::to_value(&sent).unwrap(),
            json!({
                "name": "Old TLS",
                "source": 2,
                "target_name": "shop.test",
                "test_description": "",
                "vuln_description": "",
                "vuln_risk_level": 0,
                "vuln_recommendation": "",
                "vuln_evidence": "Protocol: TLS 1.0 & 1.1",
            })
        );
        let without = ImportEntry {
            target: None,
            ..entry
        };
        assert_eq!(form_of(without.clone(), None), None);
        assert!(lacking(&without, false).contains(&WITHOUT_TARGET));
        let named = form_of(without, Some("other.test")).unwrap();
        assert_eq!(&*named.target_name, "other.test");
    }
}
