//! `scandeck import`: what result files of other scanners contain, and storing them at the service.
//!
//! ```text
//!   files, folders, standard input ─► scandeck_import ─► FilePreview ─► lines or JSON, exit code
//!                                 └─► without --dry-run: `dashboard/headless/import`
//! ```

pub mod files;
pub mod reading;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::dashboard::headless::import as service;
use super::stdio;
use scandeck_import::{FilePreview, SkippedEntries};
use scandeck_wire::text::{self, plural};

#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  scandeck import nuclei.jsonl scan.nessus
  scandeck import --dry-run --recursive results/
  nmap -oX - shop.acme.test | scandeck import -")]
pub struct ImportArgs {
    /// Files, or `-` for standard input; the format is recognised by the content
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Only show what the files contain
    #[arg(long)]
    pub dry_run: bool,
    /// Read the files of folders, also of those inside
    #[arg(long)]
    pub recursive: bool,
    /// Format of the files, when it is not recognised; `docs/imports.md` lists all
    #[arg(long, value_name = "NAME")]
    pub format: Option<String>,
    // Last, because its heading applies to all later arguments.
    #[command(flatten)]
    pub service: service::ImportStore,
}

#[derive(Serialize)]
struct FileList<'a, T> {
    files: &'a [T],
}

/// Shows what the files contain, and stores it. The exit code is 1 if one of them could not be read
/// completely.
///
/// # Errors
/// When a folder cannot be listed, the output cannot be written, and those of the service.
pub async fn run(args: ImportArgs) -> anyhow::Result<ExitCode> {
    if !args.dry_run {
        return service::run(args).await;
    }
    let format = args.format.as_deref();
    let mut previews = Vec::new();
    for path in files::listed(&args.files, args.recursive)? {
        let read = files::preview(&path, format);
        if !args.service.is_json() {
            print_previews(&read)?;
        }
        previews.extend(read);
    }
    if args.service.is_json() {
        print_json(&previews)?;
    }
    Ok(code(&previews))
}

/// 1 if a file was not read, or not to its end.
pub fn code(previews: &[FilePreview]) -> ExitCode {
    match previews.iter().any(|file| file.error.is_some()) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

/// Prints `{"files": [...]}`.
///
/// # Errors
/// When the output cannot be written.
pub fn print_json<T: Serialize>(files: &[T]) -> anyhow::Result<()> {
    let json = serde_json::to_string(&FileList { files })?;
    stdio::print(format!("{}\n", text::escaped_json(&json)).as_bytes())
}

/// Columns of a label, with its indent.
const LABEL: usize = 12;

/// Prints some lines for each file.
///
/// # Errors
/// When the output cannot be written.
pub fn print_previews(previews: &[FilePreview]) -> anyhow::Result<()> {
    let all: String = previews.iter().map(lines).collect();
    stdio::print_lines(&all, LABEL)
}

fn lines(preview: &FilePreview) -> String {
    let damage = preview
        .error
        .as_deref()
        .filter(|_| preview.format.is_some());
    let damage = damage.map(|damage| format!("  incomplete: {}\n", text::clean(damage)));
    contents(preview) + &damage.unwrap_or_default()
}

/// Prints what a file contains, or why it was not read.
///
/// # Errors
/// When the output cannot be written.
pub fn print_contents(preview: &FilePreview) -> anyhow::Result<()> {
    stdio::print_lines(&contents(preview), LABEL)
}

fn contents(preview: &FilePreview) -> String {
    let file = text::clean(&preview.file);
    let Some(format) = &preview.format else {
        let why = preview.error.as_deref().unwrap_or("format not recognised");
        return format!("{file}\n  not read: {}\n", text::clean(why));
    };
    let mut lines = format!(
        "{file}\n  format    {}\n  tool      {}\n  findings  {}\n  targets   {}\n",
        text::clean(format),
        text::clean(&preview.tool_words()),
        preview.finding_words(),
        text::clean(&preview.target_words())
    );
    for SkippedEntries { reason, count } in &preview.skipped {
        let results = plural(usize::try_from(*count).unwrap_or(usize::MAX), "result");
        lines.push_str(&format!("  skipped   {results}: {}\n", text::clean(reason)));
    }
    lines
}
