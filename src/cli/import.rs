//! `scandeck import --dry-run`: what result files of other scanners contain. Stores nothing.
//!
//! ```text
//!   files, folders, standard input ─► scandeck_import ─► FileReport ─► lines or JSON, exit code
//! ```

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::stdio;
use scandeck_import::{ImportEntry, ImportLimits, ImportSummary, SkippedEntries};
use scandeck_wire::contract::Risk;
use scandeck_wire::input_files::open_regular;
use scandeck_wire::text::{self, io_cause, plural};

/// Targets of a file that the lines name.
const SHOWN_TARGETS: usize = 5;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck import --dry-run nuclei.jsonl scan.nessus")]
pub struct ImportArgs {
    /// Files, or `-` for standard input; the format is recognised by the content
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Only show what the files contain; this version cannot store it yet
    #[arg(long, required = true)]
    dry_run: bool,
    /// Read the files of folders, also of those inside
    #[arg(long)]
    recursive: bool,
    /// Format of the files, when it is not recognised; `docs/imports.md` lists all
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ImportReport {
    files: Vec<FileReport>,
}

/// What one file contains.
#[derive(Default, Serialize)]
struct FileReport {
    file: String,
    format: Option<&'static str>,
    tool: Option<String>,
    version: Option<String>,
    targets: Vec<String>,
    findings: u64,
    by_risk: BTreeMap<&'static str, u64>,
    skipped: Vec<SkippedReport>,
    /// Why the file could not be read, or not to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct SkippedReport {
    reason: String,
    count: u64,
}

impl FileReport {
    fn failed(file: &str, error: String) -> Self {
        Self {
            file: file.to_owned(),
            error: Some(error),
            ..Self::default()
        }
    }

    fn of(file: &str, summary: &ImportSummary) -> Self {
        let name = match &summary.member {
            Some(member) => format!("{file}: {member}"),
            None => file.to_owned(),
        };
        let Some(format) = summary.format else {
            return Self::failed(
                &name,
                "the format is not recognised; unpack it and name it with --format".to_owned(),
            );
        };
        let risks = Risk::DOWN.into_iter();
        let counts = risks.map(|risk| (risk.as_str(), summary.by_risk[risk as usize]));
        Self {
            file: name,
            format: Some(format.name),
            tool: Some(summary.tool.clone()),
            version: (!summary.version.is_empty()).then(|| summary.version.clone()),
            targets: summary.targets.keys().cloned().collect(),
            findings: summary.entries,
            by_risk: counts.filter(|(_, count)| *count > 0).collect(),
            skipped: summary.skipped.iter().map(skipped).collect(),
            error: summary.damage.clone(),
        }
    }

    fn lines(&self) -> String {
        let file = text::clean(&self.file);
        let error = self.error.as_deref().map(text::clean);
        let (Some(format), Some(tool)) = (self.format, &self.tool) else {
            let why = error.unwrap_or_else(|| text::clean("not read"));
            return format!("{file}\n  not read: {why}\n");
        };
        let version = self.version.as_deref().unwrap_or_default();
        let tool = format!("{tool} {version}");
        let mut lines = format!(
            "{file}\n  format    {format}\n  tool      {}\n  findings  {}{}\n  targets   {}\n",
            text::clean(tool.trim_end()),
            self.findings,
            self.risks(),
            self.target_names()
        );
        for SkippedReport { reason, count } in &self.skipped {
            let results = plural(usize::try_from(*count).unwrap_or(usize::MAX), "result");
            lines.push_str(&format!("  skipped   {results}: {}\n", text::clean(reason)));
        }
        if let Some(error) = error {
            lines.push_str(&format!("  not read to its end: {error}\n"));
        }
        lines
    }

    /// `: 1 critical, 2 high`, from the highest risk down.
    fn risks(&self) -> String {
        let found = Risk::DOWN.into_iter().filter_map(|risk| {
            let count = self.by_risk.get(risk.as_str())?;
            Some(format!("{count} {}", risk.as_str()))
        });
        match found.collect::<Vec<_>>() {
            counts if counts.is_empty() => String::new(),
            counts => format!(": {}", counts.join(", ")),
        }
    }

    fn target_names(&self) -> String {
        let shown = self.targets.iter().take(SHOWN_TARGETS);
        let shown: Vec<String> = shown.map(|name| text::clean(name).to_string()).collect();
        match self.targets.len().saturating_sub(SHOWN_TARGETS) {
            _ if shown.is_empty() => "none named".to_owned(),
            0 => shown.join(", "),
            more => format!("{} and {more} more", shown.join(", ")),
        }
    }
}

fn skipped(entries: &SkippedEntries) -> SkippedReport {
    SkippedReport {
        reason: entries.reason.clone(),
        count: entries.count,
    }
}

/// Shows what the files contain. The exit code is 1 if one of them could not be read completely.
///
/// # Errors
/// When a folder cannot be listed, or the output cannot be written.
pub fn run(args: &ImportArgs) -> anyhow::Result<ExitCode> {
    let mut files = Vec::new();
    for path in &args.files {
        let reports = match is_folder(path) && args.recursive {
            true => files_in(path)?,
            false => vec![path.clone()],
        };
        for file in reports {
            files.extend(read(&file, args.format.as_deref()));
        }
    }
    let code = match files.iter().any(|file| file.error.is_some()) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    };
    match args.json {
        true => {
            let json = serde_json::to_string(&ImportReport { files })?;
            stdio::print(format!("{}\n", text::escaped_json(&json)).as_bytes())?;
        }
        false => {
            let lines: Vec<String> = files.iter().map(FileReport::lines).collect();
            stdio::print(lines.join("\n").as_bytes())?;
        }
    }
    Ok(code)
}

fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// The files below a folder, in the order of their names. Links are not followed.
fn files_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let unreadable = |error: io::Error| {
        let shown = folder.display().to_string();
        anyhow::anyhow!("cannot list {}: {}", text::clean(&shown), io_cause(&error))
    };
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut entries = entries
        .collect::<io::Result<Vec<_>>>()
        .map_err(unreadable)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut files = Vec::new();
    for entry in entries {
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() {
            files.extend(files_in(&entry.path())?);
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(files)
}

fn read(path: &Path, format: Option<&str>) -> Vec<FileReport> {
    let shown = path.display().to_string();
    let input: io::Result<Box<dyn Read>> = match path == Path::new("-") {
        true => Ok(Box::new(io::stdin())),
        false => open_regular(path, OpenOptions::new().read(true))
            .map(|file| Box::new(file) as Box<dyn Read>),
    };
    let input = match input {
        Ok(input) => input,
        Err(error) => return vec![FileReport::failed(&shown, io_cause(&error))],
    };
    // The summary has what is shown of the entries.
    let mut ignore = |_: ImportEntry| ControlFlow::Continue(());
    match scandeck_import::read(input, format, &ImportLimits::default(), &mut ignore) {
        Ok(summaries) => summaries
            .iter()
            .map(|summary| FileReport::of(&shown, summary))
            .collect(),
        Err(error) => vec![FileReport::failed(&shown, error.to_string())],
    }
}
