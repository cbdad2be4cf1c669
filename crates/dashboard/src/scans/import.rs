//! `:import FILE`: shows a result file of another scanner before anything is stored, and imports
//! it.
//!
//! ```text
//!   :import FILE ─► Effect::ReadImport ─► Msg::ImportRead ─► form ─ ctrl-o ─► Call::ImportFile ─► notice
//! ```

use crate::base::{Call, Effect, FileReading, FileToImport, FormTag, ImportPreview, Job, Tone};
use crate::data::Data;
use crate::forms::{FieldId, FieldProblem, Form, FormField, FormKind};
use crate::input::{Action, ItemAction};
use crate::model::Model;
use crate::palette::{Args, ArgumentShape, ArgumentSlot, Command};
use scandeck_domain::problem::Problem;
use scandeck_import::{FilePreview, SkippedEntries};
use scandeck_wire::contract::WorkspaceId;
use scandeck_wire::contract::import::NewImport;
use scandeck_wire::text::{plural, thousands};

pub(crate) static COMMANDS: &[Command] = &[Command::new(
    "import",
    &[ArgumentSlot::needed(ArgumentShape::Path)],
    "show a result file of another scanner, and import it",
    "import results/nuclei.jsonl",
    import,
)
.off_when(|model| model.off(Action::Item(ItemAction::Scan)))];

static KIND: FormKind = FormKind {
    check: |form, _: &Data| check(form),
    jobs,
    ..FormKind::new("import")
};

fn import(model: &mut Model, args: &Args, effects: &mut Vec<Effect>) -> Result<(), String> {
    let path = args.text().unwrap_or_default();
    let path = path.trim_matches('"').to_owned();
    model.scans.readings.push(FileReading {
        path: path.clone(),
        began: model.now.mono,
    });
    effects.push(Effect::ReadImport(path));
    Ok(())
}

/// Opens the form of a file that was read.
pub(crate) fn handle_read(model: &mut Model, path: &str, result: Result<ImportPreview, Problem>) {
    let readings = &mut model.scans.readings;
    if let Some(at) = readings.iter().position(|reading| reading.path == path) {
        readings.remove(at);
    }
    let preview = match result {
        Ok(preview) => preview,
        Err(problem) => return model.notify_problem("file not imported", &problem),
    };
    if preview.known().next().is_none() {
        let reason = preview.files.iter().find_map(|file| file.error.as_deref());
        let reason = reason.unwrap_or("the format is not recognised");
        return model.notify(Tone::Bad, format!("{path} not imported: {reason}"));
    }
    if !model.overlay.modals.is_empty() {
        let text = format!("{path} was read; repeat :import when no form is open");
        return model.notify(Tone::Plain, text);
    }
    let workspace = model.workspace();
    let name = workspace.map(|one| one.name.to_string());
    let form = open(preview, workspace.map(|one| one.id), name.as_deref());
    // A draft would be about another file.
    model.overlay.drafts.remove(&FormTag::Import);
    model.open_form(form);
}

fn open(preview: ImportPreview, workspace: Option<WorkspaceId>, name: Option<&str>) -> Form {
    let file = preview.name();
    let title = match name {
        Some(name) => format!("Import {file} into {name}"),
        None => format!("Import {file}"),
    };
    let count = usize::try_from(preview.findings()).unwrap_or(usize::MAX);
    let button = format!("Import {}", plural(count, "finding"));
    let mut fields = match preview.files.as_slice() {
        [one] => contents(one),
        several => vec![archive(several)],
    };
    let target = FormField::line(FieldId::TargetName, "Target", "")
        .with_help("for all results; empty: those of the file");
    let complete = FormField::toggle(FieldId::Complete, "Complete", false)
        .with_help("yes: findings not in the file are absent");
    fields.extend([target, complete]);
    let form = Form::new(FormTag::Import, &KIND, title, button, fields);
    let mut form = form.in_workspace(workspace);
    form.subject.import = Some(preview);
    form
}

/// The contents of one file, a field for each fact.
fn contents(file: &FilePreview) -> Vec<FormField> {
    let format = file.format.clone().unwrap_or_default();
    let facts = [
        (FieldId::Format, "Format", Some(format)),
        (FieldId::ResultTool, "Tool", Some(file.tool_words())),
        (FieldId::ResultTargets, "Targets", Some(file.target_words())),
        (
            FieldId::ResultFindings,
            "Findings",
            Some(file.finding_words()),
        ),
        (FieldId::SkippedResults, "Skipped", skipped(&file.skipped)),
        (FieldId::ResultFiles, "Damage", file.error.clone()),
    ];
    let shown = facts.into_iter().filter_map(|(id, label, text)| {
        let text = text?;
        Some(FormField::info(id, label, text))
    });
    shown.collect()
}

/// `3 results: not a match`, a line for each reason; none if nothing is skipped.
fn skipped(entries: &[SkippedEntries]) -> Option<String> {
    let lines = entries.iter().map(|entries| {
        let count = usize::try_from(entries.count).unwrap_or(usize::MAX);
        format!("{}: {}", plural(count, "result"), entries.reason)
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The files of an archive, a line for each.
fn archive(files: &[FilePreview]) -> FormField {
    let line = |file: &FilePreview| {
        let skipped: u64 = file.skipped.iter().map(|entries| entries.count).sum();
        let mut words = match file.format {
            Some(_) => format!("{}, findings {}", file.tool_words(), file.finding_words()),
            None => "not imported".to_owned(),
        };
        if skipped > 0 {
            words.push_str(&format!(", {} skipped", thousands(skipped)));
        }
        if let Some(error) = &file.error {
            words.push_str(&format!(", {error}"));
        }
        format!("{}: {words}", file.file)
    };
    let lines: Vec<String> = files.iter().map(line).collect();
    FormField::info(FieldId::ResultFiles, "Files", lines.join("\n"))
}

/// A file that names no target needs one.
fn check(form: &Form) -> Vec<FieldProblem> {
    let files = form.subject.import.iter().flat_map(ImportPreview::known);
    let mut files = files.filter(|file| file.findings > 0);
    let is_nameless = files.any(|file| file.targets.is_empty());
    match is_nameless && form.filled(FieldId::TargetName).is_none() {
        true => vec![(
            FieldId::TargetName,
            "the file names no target; type one".to_owned(),
        )],
        false => Vec::new(),
    }
}

fn jobs(form: &Form) -> Vec<Job> {
    let Some(preview) = &form.subject.import else {
        return Vec::new();
    };
    let name = preview.name();
    let new = NewImport {
        workspace_id: form.subject.workspace,
        target_name: form.filled(FieldId::TargetName),
        format: None,
        file_name: Some(name.clone()),
        complete: (form.choice(FieldId::Complete) == 1).then_some(true),
    };
    let file = FileToImport {
        path: preview.path.clone(),
        length: preview.length,
        new,
    };
    vec![Job::new(name, Call::ImportFile(Box::new(file)))]
}
