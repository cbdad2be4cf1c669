//! The execution of effects: each one is executed at once, or by a task whose answer returns as a
//! message.

use crate::base::{
    Alert, AlertRequest, Call, CaptureRow, CaptureUse, CaseRequest, ChainRequest, ConnectionChoice,
    CopyFailed, Effect, Exported, ExportedCaptures, FindingUse, Generation, PlannedProof,
    ReportRequest, SavedExport, TextChunk, Ticket, ViewJob,
};
use crate::core::Msg;
use crate::core::draw::paged_text;
use crate::data::OobNews;
use crate::list::view;
use crate::runtime::alert_outbox::release_failed;
use crate::runtime::event_loop::EventLoop;
use crate::runtime::signals::stop_until_continued;
use crate::runtime::{
    CopyMethod, DecisionRequest, ProcessSignal, SignalStream, TaskReport, Terminal, alert, archive,
    browser, calls, clipboard, custom, editor, result_files,
};
use rustix::termios::{QueueSelector, tcflush};
use scandeck_client::{CallId, Problem, on_list_thread};
use scandeck_domain::alerts::AlertRoutes;
use scandeck_domain::export::{Export, ExportFormat, ReportFrame};
use scandeck_domain::mask::Mask;
use scandeck_domain::oob::{CaptureRecord, Payload, PayloadBook, PayloadRequest, request};
use scandeck_domain::triage::settings::setting;
use scandeck_domain::triage::{self, ListedFinding};
use scandeck_report::ReportTemplate;
use scandeck_report::read_report_template;
use scandeck_wire::contract::Shared;
use scandeck_wire::text::plural;
use std::io::{self, stdin};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::{JoinError, JoinSet, spawn_blocking};
use tokio::time::Instant;

/// Random numbers beyond the requested ones.
const SPARE: usize = 8;

impl EventLoop {
    pub async fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Quit => self.left = Some(None),
            Effect::Call(ticket, call) => self.call(ticket, *call),
            Effect::CancelCall(id) => self.cancel(id),
            Effect::Copy { what, text, .. } => self.copy(what, text),
            Effect::OpenUrl(url) => {
                self.spawn(async move { Msg::BrowserOpened(browser::open(url).await) })
            }
            Effect::Save { name, content } => self.write(async move {
                Msg::Saved(blocking(move || calls::save(&name, &content)).await)
            }),
            Effect::SaveBody { name, sent, mask } => self.write(save_body(name, sent, mask)),
            Effect::Export(exported) => {
                self.write(async move { Msg::Exported(blocking(move || export(&exported)).await) });
            }
            Effect::ExportCaptures(exported) => {
                self.write(async move {
                    Msg::Exported(blocking(move || export_captures(&exported)).await)
                });
            }
            Effect::SealCase(request) => {
                self.write(
                    async move { Msg::Exported(blocking(move || seal_case(*request)).await) },
                );
            }
            Effect::Edit(text) => self.edit(text).await,
            Effect::Page(text) => self.page(text).await,
            Effect::Suspend => self.suspend().await,
            Effect::Redraw => self.redraw(),
            Effect::NotifyBy(plan) => self.alert_plan = plan,
            // The next frame detects a terminal that is gone.
            Effect::Mouse(is_on) => _ = self.terminal.report_mouse(is_on),
            Effect::Connect(choice) => self.connect(choice),
            Effect::PreviewReport(exported) => self.spawn(preview(exported)),
            Effect::ReadImport(path) => self.spawn(async move {
                let typed = path.clone();
                let read = blocking(move || result_files::read(&typed)).await;
                let result = Box::new(read);
                Msg::ImportRead { path, result }
            }),
            Effect::ListFolder(folder) => self.spawn(async move {
                let listed = spawn_blocking(move || result_files::names_in(folder)).await;
                listed.map_or(Msg::Wake, Msg::FolderListed)
            }),
            Effect::ReadReportFormats => self.read_report_formats(),
            Effect::ReadKey => self.read_key(),
            Effect::StartService => self.start_service(),
            Effect::AddToScope(names) => self.add_to_scope(names),
            Effect::Correlate(generation, input) => self.spawn(correlate(generation, input)),
            Effect::View(job) => self.spawn(compute_view(job)),
            Effect::SearchTexts(chunk) => self.spawn(search_texts(chunk)),
            Effect::ReadFindings(purpose, findings) => self.spawn(read_texts(purpose, findings)),
            Effect::CheckProof(planned) => self.spawn(check_proof(planned)),
            Effect::Chain(request) => self.spawn(make_chain(request)),
            Effect::ReadCaptures(purpose, captures) => self.spawn(read_bodies(purpose, captures)),
            Effect::Plant(payloads) => self.plant(payloads),
            Effect::Recognize { captures, grown } => self.spawn(recognize(captures, grown)),
            // Sent as an answer and not queued, because the queue is handled before the next key.
            Effect::NextChunk => {
                _ = self
                    .answers
                    .0
                    .send(TaskReport::Msg(Box::new(Msg::NextChunk)))
            }
            Effect::Run(run) => self.spawn(async move {
                let result = custom::run(&run).await;
                Msg::CommandEnded {
                    action: run.action,
                    result,
                }
            }),
            Effect::Alert(alert) => self.alert(*alert),
            Effect::ClaimAlert(request) => self.claim_alert(&request),
            Effect::RetryAlert(alert) => {
                let routes = alert.routes.clone().unwrap_or_default();
                self.alert_when_due(&alert, &routes);
            }
            Effect::BeginAlerts { clock_offset } => self.begin_alerts(clock_offset),
            Effect::DrawPayloadNumbers(payload_request) => {
                self.draw_payload_numbers(payload_request)
            }
            Effect::Team(request) => {
                let backend = self.backend.as_ref();
                if let Some(team) = backend.and_then(|backend| backend.team.as_ref()) {
                    team.send(request);
                }
            }
            Effect::Record(events) => self.keep(DecisionRequest::Record(events)),
            Effect::Remember {
                key,
                workspace,
                value,
            } => self.remember(key.into(), workspace, value),
            Effect::RememberOne {
                of,
                name,
                workspace,
                value,
            } => self.remember(setting(of, &name), workspace, value),
            Effect::MarkSeen { workspace, keys } => {
                self.keep(DecisionRequest::MarkSeen { workspace, keys })
            }
        }
    }

    /// A call that ended meanwhile is reported as such.
    fn cancel(&mut self, id: CallId) {
        let backend = self.backend.as_ref();
        if let Some(client) = backend.and_then(|backend| backend.client.as_ref()) {
            client.cancel(id);
        }
    }

    fn plant(&mut self, payloads: Vec<Arc<Payload>>) {
        if let Some(backend) = &self.backend {
            let request = archive::ArchiveRequest::Plant(payloads);
            backend.archive.send(request);
        }
    }

    fn remember(&mut self, key: Shared, workspace: Shared, value: String) {
        self.keep(DecisionRequest::Remember {
            key,
            workspace,
            value,
        });
    }

    fn draw_payload_numbers(&mut self, payload_request: Box<PayloadRequest>) {
        // Payloads are recorded before their file is written, so the file must be possible first.
        let into = payload_request.into.as_deref();
        if let Some(Err(problem)) = into.map(calls::can_save) {
            let message = format!("{problem}; no payloads created");
            let refused = Msg::Saved(Err(Problem { message, ..problem }));
            return self.queue.push_back(refused);
        }
        // Some spare numbers, because tokens in use are skipped.
        let numbers = (0..payload_request.count + SPARE)
            .map(|_| rand::random())
            .collect();
        self.queue
            .push_back(Msg::PayloadNumbers(payload_request, numbers));
    }

    fn spawn(&mut self, work: impl Future<Output = Msg> + Send + 'static) {
        begin(&mut self.tasks, self.answers.0.clone(), work);
    }

    /// Writes a file, for which the end of the dashboard waits.
    fn write(&mut self, work: impl Future<Output = Msg> + Send + 'static) {
        begin(&mut self.files, self.answers.0.clone(), work);
    }

    /// Sends a request to the store of decisions, if there is one.
    fn keep(&mut self, request: DecisionRequest) {
        if let Some(backend) = &self.backend {
            backend.decisions.send(request);
        }
    }

    fn call(&mut self, ticket: Ticket, call: Call) {
        let backend = self.backend.as_ref();
        let service =
            backend.and_then(|backend| Some((backend.client.clone()?, backend.archive.archiver())));
        self.spawn(async move {
            let result = match service {
                Some((client, mut archive)) => calls::make(&client, &mut archive, call).await,
                None => Err(Problem::local("no service connected")),
            };
            Msg::Called { ticket, result }
        });
    }

    /// Reads the report formats of the service. A service without an OpenAPI document accepts or
    /// refuses each report itself.
    fn read_report_formats(&mut self) {
        let Some(client) = self
            .backend
            .as_ref()
            .and_then(|backend| backend.client.clone())
        else {
            return;
        };
        self.spawn(async move {
            match client.without_retries().report_formats().await {
                Ok(Some(formats)) => Msg::ReportFormats(formats),
                Ok(None) | Err(_) => Msg::Wake,
            }
        });
    }

    /// Reads the API key again and uses it.
    fn read_key(&mut self) {
        let backend = self.backend.as_ref();
        let Some((client, key)) =
            backend.and_then(|it| Some((it.client.clone()?, it.key.clone()?)))
        else {
            return;
        };
        self.spawn(async move {
            let read = async {
                let secret = key.read_again().await?;
                client.replace_key(&secret).map_err(Problem::from)
            };
            Msg::KeyRead {
                source: key.to_string(),
                result: read.await,
            }
        });
    }

    /// Starts the local service again, and uses its key.
    fn start_service(&mut self) {
        let backend = self.backend.as_ref();
        let Some((client, directory)) =
            backend.and_then(|it| Some((it.client.clone()?, it.service_dir.clone()?)))
        else {
            return;
        };
        self.spawn(async move {
            let start = async {
                let service = crate::runtime::local::find_or_start(&directory)
                    .await
                    .map_err(|error| Problem::local(error.to_string()).with_hint(error.hint()))?;
                if !client.can_move_to(&service.base) {
                    let moved = format!("the service now listens on {}", service.base);
                    return Err(
                        Problem::local(moved).with_hint("restart scandeck to connect to it")
                    );
                }
                client.replace_key(&service.key).map_err(Problem::from)?;
                Ok(service.note)
            };
            Msg::ServiceStarted(start.await)
        });
    }

    /// Adds targets to the scope of the local service.
    fn add_to_scope(&mut self, names: Vec<String>) {
        let Some(directory) = self.backend.as_ref().and_then(|it| it.service_dir.clone()) else {
            return;
        };
        self.spawn(async move {
            let added = crate::runtime::local::add_to_scope(&directory, &names).await;
            Msg::ScopeExtended(
                added.map_err(|error| Problem::local(error.to_string()).with_hint(error.hint())),
            )
        });
    }

    fn copy(&mut self, what: String, text: String) {
        let copied = match self.copy_method {
            CopyMethod::Tmux => {
                return self
                    .spawn(async move { Msg::Copied(clipboard::through_tmux(&what, text).await) });
            }
            CopyMethod::None(why) => Err(CopyFailed {
                why: why.to_owned(),
                text,
            }),
            CopyMethod::Osc52 => clipboard::osc_52(text).and_then(|sequence| {
                let sent = self.terminal.write(sequence.as_bytes());
                sent.map(|()| format!("{what} copied (OSC 52)"))
                    .map_err(|error| CopyFailed {
                        why: error.to_string(),
                        text: String::new(),
                    })
            }),
        };
        self.queue.push_back(Msg::Copied(copied));
    }

    fn alert(&mut self, alert: Alert) {
        let plan = Arc::clone(&self.alert_plan);
        let Some(routes) = alert.routes.clone() else {
            return self.alert_when_due(&alert, &plan.all_routes());
        };
        let sequence = self.notify_method.sequence_on(&alert, &routes);
        // The next frame detects a terminal that is gone.
        let _ = self.terminal.write(sequence.as_bytes());
        let Some(backend) = &self.backend else {
            return;
        };
        let directory = backend.alerts.directory().to_owned();
        let clock_offset = self.clock_offset();
        let answers = self.answers.0.clone();
        self.tasks.spawn(async move {
            for problem in alert::deliver(&plan, &routes, &alert).await {
                let failed = release_failed(&directory, &alert, problem, clock_offset).await;
                let report = Msg::AlertFailed {
                    problem: failed.problem,
                    again: failed.has_next.then(|| Box::new(alert.clone())),
                };
                let _ = answers.send(TaskReport::Msg(Box::new(report)));
            }
        });
    }

    /// Sends an alert on each of these channels when it is due there.
    fn alert_when_due(&mut self, alert: &Alert, routes: &AlertRoutes) {
        let clock_offset = self.clock_offset();
        let Some(backend) = &mut self.backend else {
            return;
        };
        let answers = self.answers.0.clone();
        let send = move |due: Alert| {
            let report = Msg::AlertDue(Box::new(due));
            let _ = answers.send(TaskReport::Msg(Box::new(report)));
        };
        backend
            .alerts
            .claim_alert(alert, routes, clock_offset, send);
    }

    fn begin_alerts(&mut self, clock_offset: i64) {
        if let Some(backend) = &mut self.backend {
            backend.alerts.begin(clock_offset);
        }
    }

    fn clock_offset(&self) -> i64 {
        self.model.connection.clock_offset.unwrap_or(0)
    }

    fn claim_alert(&mut self, request: &AlertRequest) {
        let Some(backend) = &mut self.backend else {
            return;
        };
        let answers = self.answers.0.clone();
        backend.alerts.claim(request, move |claimed, routes| {
            let claimed = Msg::AlertClaimed(Box::new(claimed), routes);
            let _ = answers.send(TaskReport::Msg(Box::new(claimed)));
        });
    }

    async fn edit(&mut self, text: String) {
        if let Some(edited) = self.with_own_terminal(editor::edit(&text)).await {
            self.queue.push_back(Msg::Edited(edited));
        }
    }

    async fn page(&mut self, text: Option<String>) {
        // The last frame is older than the keys before this one.
        if text.is_none() && self.draw_now().is_err() {
            self.left = Some(Some(1));
            return;
        }
        let Some(text) = text.or_else(|| paged_text(&self.model, &mut self.cache)) else {
            return self
                .queue
                .push_back(Msg::Paged(Err(Problem::local("no text to show in $PAGER"))));
        };
        // The card of a review may have been laid out before the mask.
        let text = self
            .model
            .mask()
            .map(|mask| mask.text(&text).into_owned())
            .unwrap_or(text);
        if let Some(paged) = self.with_own_terminal(editor::page(&text)).await {
            self.queue.push_back(Msg::Paged(paged));
        }
    }

    /// Gives the terminal to a program until it ends. `None` if a signal ends the dashboard
    /// meanwhile.
    async fn with_own_terminal<T>(&mut self, program: impl Future<Output = T>) -> Option<T> {
        self.release_terminal().await;
        let result = tokio::select! {
            biased;
            signal = ended(&mut self.signals) => {
                self.left = Some(Some(signal));
                return None;
            }
            result = program => result,
        };
        self.editor_ended = Some(Instant::now());
        // Keys that were typed for the other program, and answers that it requested.
        let _ = tcflush(stdin(), QueueSelector::IFlush);
        self.resume_terminal();
        Some(result)
    }

    async fn suspend(&mut self) {
        self.release_terminal().await;
        if let Err(error) = stop_until_continued().await {
            tracing::warn!(%error, "cannot suspend");
        }
        self.resume_terminal();
    }

    pub async fn release_terminal(&mut self) {
        // The reader is closed first, so that it takes no keys of the other program.
        if let Some(keyboard) = self.keyboard.take() {
            keyboard.close().await;
        }
        self.terminal.leave();
    }

    pub fn resume_terminal(&mut self) {
        if self
            .terminal
            .resume()
            .and_then(|()| self.open_keyboard())
            .is_err()
        {
            self.left = Some(Some(1));
            return;
        }
        self.queue.push_back(Msg::Resize(Terminal::size()));
        self.redraw();
    }

    fn redraw(&mut self) {
        // The next frame detects a terminal that is gone.
        self.terminal.clear();
        self.model.screen.dirty = true;
    }

    fn connect(&mut self, choice: ConnectionChoice) {
        let connecting = (self.connect)(choice);
        let answers = self.answers.0.clone();
        self.tasks.spawn(async move {
            let answer = match connecting.await {
                Ok(connected) => TaskReport::Connected(Box::new(connected)),
                Err(problem) => TaskReport::Msg(Box::new(Msg::Connected(Err(problem)))),
            };
            let _ = answers.send(answer);
        });
    }
}

/// Runs blocking work on files. A panic becomes an error.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(Problem::local(error.to_string())))
}

/// Starts a task whose answer is a message.
fn begin(
    tasks: &mut JoinSet<()>,
    answers: UnboundedSender<TaskReport>,
    work: impl Future<Output = Msg> + Send + 'static,
) {
    tasks.spawn(async move {
        // At the end of the dashboard nobody receives it.
        let _ = answers.send(TaskReport::Msg(Box::new(work.await)));
    });
    // Finished tasks are removed, so that the set does not grow.
    while tasks.try_join_next().is_some() {}
}

fn export(exported: &Exported) -> Result<SavedExport, Problem> {
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
        path: calls::save(name, &file.bytes)?,
        contents: file.contents(),
        is_masked: mask.is_some(),
    })
}

async fn preview(exported: Box<Exported>) -> Msg {
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

fn export_captures(exported: &ExportedCaptures) -> Result<SavedExport, Problem> {
    let read: io::Result<Vec<CaptureRecord>> =
        exported.sent.iter().map(CaptureRecord::whole).collect();
    let sent =
        read.map_err(|error| Problem::local(format!("body of a capture not read: {error}")))?;
    let written = exported.format.written(&sent, exported.mask.as_ref());
    Ok(SavedExport {
        path: calls::save(&exported.name, written.as_bytes())?,
        contents: plural(sent.len(), "capture"),
        is_masked: exported.mask.is_some(),
    })
}

fn seal_case(request: CaseRequest) -> Result<SavedExport, Problem> {
    let (name, is_masked) = (request.name.clone(), request.maker.is_masked);
    let sealed = request.seal();
    let sealed = sealed.map_err(|error| Problem::local(format!("case not sealed: {error}")))?;
    Ok(SavedExport {
        path: calls::save(&name, &sealed.file)?,
        contents: format!("case with seal {}", sealed.seal),
        is_masked,
    })
}

async fn save_body(name: String, sent: Box<CaptureRecord>, mask: Option<Mask>) -> Msg {
    let mut body = request::body(&sent.capture).into_owned();
    if let Some(mask) = mask {
        body = mask.bytes(&body).into_owned();
    }
    let saved = blocking(move || calls::save_once(&name, &body)).await;
    Msg::BodySaved { sent, saved }
}

async fn correlate(generation: Generation, input: Box<triage::CorrelationInput>) -> Msg {
    let correlated = on_list_thread(move || triage::correlate(&input)).await;
    // `None` means that the work panicked: show no rows, but let later updates continue.
    Msg::Correlated(generation, Box::new(correlated.unwrap_or_default()))
}

async fn compute_view(job: Box<ViewJob>) -> Msg {
    let key = Box::new(job.key.clone());
    // The task fails only with a panic or at the end; then the rows remain those of the last view.
    let viewed = spawn_blocking(move || Box::new(view(&job))).await;
    Msg::Viewed(key, viewed.ok())
}

async fn search_texts(chunk: TextChunk) -> Msg {
    let searched = chunk.clone();
    let found = spawn_blocking(move || searched.search()).await;
    Msg::TextsSearched(chunk, found.ok())
}

/// The long texts of findings.
async fn read_texts(purpose: FindingUse, findings: Vec<Arc<ListedFinding>>) -> Msg {
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

async fn check_proof(planned: Box<PlannedProof>) -> Msg {
    let checked = planned.clone();
    let result = blocking(move || calls::check_scope(&checked)).await;
    Msg::ProofChecked(planned, result)
}

async fn make_chain(request: Box<ChainRequest>) -> Msg {
    let make = move || {
        let made = request.tree();
        made.map_err(|error| Problem::local(format!("evidence of the findings not read: {error}")))
    };
    Msg::Chained(Box::new(blocking(make).await))
}

/// The bodies of captures.
async fn read_bodies(purpose: CaptureUse, captures: Vec<CaptureRecord>) -> Msg {
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
async fn recognize(captures: Vec<CaptureRow>, grown: PayloadBook) -> Msg {
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

/// Waits for a signal that ends the dashboard while another program has the terminal. Typed signals
/// do not: they were typed for that program.
async fn ended(signals: &mut SignalStream) -> i32 {
    loop {
        match signals.next().await {
            signal if signal.is_typed() => {}
            ProcessSignal::End(signal) => return signal,
            ProcessSignal::Continued | ProcessSignal::Resized => {}
        }
    }
}
