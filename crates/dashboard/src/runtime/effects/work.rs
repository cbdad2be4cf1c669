//! The work of tasks: files, long texts, views. Each answers with a message.

use super::blocking;
use crate::base::{
    CaptureRow, CaptureUse, CaseRequest, ChainRequest, Exported, ExportedCaptures, FindingUse,
    Generation, PlannedProof, ReportRequest, SavedExport, TextChunk, ViewJob,
};
use crate::core::Msg;
use crate::data::OobNews;
use crate::list::view;
use crate::runtime::{calls, files};
use scandeck_client::{Problem, on_list_thread};
use scandeck_domain::export::{Export, ExportFormat, ReportFrame};
use scandeck_domain::mask::Mask;
use scandeck_domain::oob::{CaptureRecord, PayloadBook, request};
use scandeck_domain::triage::{self, ListedFinding};
use scandeck_report::ReportTemplate;
use scandeck_report::read_report_template;
use scandeck_wire::text::plural;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio::task::{JoinError, spawn_blocking};

pub(super) fn export(exported: &Exported) -> Result<SavedExport, Problem> {
    let Exported {
        name,
        format,
        title,
        query,
        made,
        rows,
        mask,
        report,
    } = exported;
    let frame = report_frame(report, *format).map_err(Problem::local)?;
    let written = scandeck_domain::export::write(
        *format,
        &Export {
            rows,
            title,
            made: *made,
            query,
            mask: mask.as_ref(),
            frame: Some(&frame),
        },
    );
    let file = written.map_err(|error| Problem::local(error.to_string()))?;
    Ok(SavedExport {
        path: files::save(name, &file.bytes)?,
        contents: file.contents(),
        is_masked: mask.is_some(),
    })
}

pub(super) async fn preview(exported: Box<Exported>) -> Msg {
    let template = exported.report.template.clone();
    let previewed = blocking(move || {
        let frame = report_frame(&exported.report, exported.format).map_err(Problem::local)?;
        let format = exported.format.of_report().unwrap_or_default();
        let export = Export {
            rows: &exported.rows,
            title: &exported.title,
            made: exported.made,
            query: &exported.query,
            mask: exported.mask.as_ref(),
            frame: Some(&frame),
        };
        scandeck_domain::export::report::preview(&export, &format)
            .map_err(|error| Problem::local(error.to_string()))
    });
    Msg::ReportPreviewed {
        template,
        result: Box::new(previewed.await),
    }
}

/// The template, and its options with those of the form.
fn report_frame(report: &ReportRequest, format: ExportFormat) -> Result<ReportFrame, String> {
    let template = match report.template.as_str() {
        "" => ReportTemplate::default(),
        path => read_report_template(Path::new(path))?,
    };
    Ok(ReportFrame {
        options: report
            .chosen
            .over(template.options_or(format.report_options())),
        template,
        targets: report.targets.clone(),
        scans: report.scans.clone(),
        chains: report.chains.clone(),
    })
}

pub(super) fn export_captures(exported: &ExportedCaptures) -> Result<SavedExport, Problem> {
    let read: io::Result<Vec<CaptureRecord>> =
        exported.sent.iter().map(CaptureRecord::whole).collect();
    let sent =
        read.map_err(|error| Problem::local(format!("body of a capture not read: {error}")))?;
    let written = exported.format.written(&sent, exported.mask.as_ref());
    Ok(SavedExport {
        path: files::save(&exported.name, written.as_bytes())?,
        contents: plural(sent.len(), "capture"),
        is_masked: exported.mask.is_some(),
    })
}

pub(super) fn seal_case(request: CaseRequest) -> Result<SavedExport, Problem> {
    let (name, is_masked) = (request.name.clone(), request.maker.is_masked);
    let sealed = request.seal();
    let sealed = sealed.map_err(|error| Problem::local(format!("case not sealed: {error}")))?;
    Ok(SavedExport {
        path: files::save(&name, &sealed.file)?,
        contents: format!("case with seal {}", sealed.seal),
        is_masked,
    })
}

pub(super) async fn save_body(name: String, sent: Box<CaptureRecord>, mask: Option<Mask>) -> Msg {
    let mut body = request::body(&sent.capture).into_owned();
    if let Some(mask) = mask {
        body = mask.bytes(&body).into_owned();
    }
    let saved = blocking(move || files::save_once(&name, &body)).await;
    Msg::BodySaved { sent, saved }
}

pub(super) async fn correlate(generation: Generation, input: Box<triage::CorrelationInput>) -> Msg {
    let correlated = on_list_thread(move || triage::correlate(&input)).await;
    // `None` means that the work panicked: show no rows, but let later updates continue.
    Msg::Correlated(generation, Box::new(correlated.unwrap_or_default()))
}

pub(super) async fn compute_view(job: Box<ViewJob>) -> Msg {
    let key = Box::new(job.key.clone());
    // The task fails only with a panic or at the end; then the rows remain those of the last view.
    let viewed = spawn_blocking(move || Box::new(view(&job))).await;
    Msg::Viewed(key, viewed.ok())
}

pub(super) async fn search_texts(chunk: TextChunk) -> Msg {
    let searched = chunk.clone();
    let found = spawn_blocking(move || searched.search()).await;
    Msg::TextsSearched(chunk, found.ok())
}

/// The long texts of findings.
pub(super) async fn read_texts(purpose: FindingUse, findings: Vec<Arc<ListedFinding>>) -> Msg {
    let read = |finding: Arc<ListedFinding>| {
        let texts = finding
            .texts()
            .map_err(|error| Problem::local(error.to_string()));
        (finding, texts)
    };
    let read = spawn_blocking(move || findings.into_iter().map(read).collect()).await;
    // The task fails only with a panic or at the end.
    Msg::FindingsRead(purpose, read.unwrap_or_default())
}

pub(super) async fn check_proof(planned: Box<PlannedProof>) -> Msg {
    let checked = planned.clone();
    let result = blocking(move || calls::check_scope(&checked)).await;
    Msg::ProofChecked(planned, result)
}

pub(super) async fn make_chain(request: Box<ChainRequest>) -> Msg {
    let make = move || {
        let made = request.tree();
        made.map_err(|error| Problem::local(format!("evidence of the findings not read: {error}")))
    };
    Msg::Chained(Box::new(blocking(make).await))
}

/// The bodies of captures.
pub(super) async fn read_bodies(purpose: CaptureUse, captures: Vec<CaptureRecord>) -> Msg {
    let unread = captures.clone();
    let read = spawn_blocking(move || read_captures(captures)).await;
    let failed = |error: JoinError| (unread, Some(Problem::local(error.to_string())));
    let (captures, problem) = read.unwrap_or_else(failed);
    Msg::CapturesRead {
        purpose,
        captures,
        problem,
    }
}

/// The captures in which there are new tokens.
pub(super) async fn recognize(captures: Vec<CaptureRow>, grown: PayloadBook) -> Msg {
    let again = move || {
        let changed = captures
            .iter()
            .map(|captured| (captured.id(), captured.mentions_of(&grown)));
        changed.filter_map(|(id, now)| Some((id, now?))).collect()
    };
    let changed = spawn_blocking(again).await.unwrap_or_default();
    Msg::Oob(OobNews::Recognized(changed))
}

/// The captures with their bodies, and why bodies could not be read.
fn read_captures(mut captures: Vec<CaptureRecord>) -> (Vec<CaptureRecord>, Option<Problem>) {
    let mut problem = None;
    for capture in &mut captures {
        match capture.whole() {
            Ok(whole) => *capture = whole,
            Err(error) => problem = Some(Problem::local(error.to_string())),
        }
    }
    (captures, problem)
}
