//! The execution of effects: each one is executed at once, or by a task whose answer returns as a
//! message.

mod alerts;
mod own_terminal;
mod service;
mod work;

use crate::base::{Call, ConnectionChoice, CopyFailed, Effect, Ticket};
use crate::core::Msg;
use crate::runtime::event_loop::EventLoop;
use crate::runtime::{
    CopyMethod, DecisionRequest, TaskReport, archive, browser, calls, clipboard, custom, files,
    result_files,
};
use scandeck_client::{CallId, Problem};
use scandeck_domain::oob::{Payload, PayloadRequest};
use scandeck_domain::triage::settings::setting;
use scandeck_wire::contract::Shared;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::{JoinSet, spawn_blocking};

use work::{
    check_proof, compute_view, correlate, export, export_captures, make_chain, preview,
    read_bodies, read_texts, recognize, save_body, seal_case, search_texts,
};

/// Random numbers beyond the requested ones.
const SPARE: usize = 8;

impl EventLoop {
    pub async fn execute(&mut self, effect: Effect) {
        match effect {
            Effect::Quit => self.left = Some(None),
            Effect::Call(ticket, call) => self.call(ticket, *call),
            Effect::CancelCall(id) => self.cancel(id),
            Effect::Copy { what, text, .. } => self.copy(what, text),
            Effect::OpenUrl(url) => {
                self.spawn(async move { Msg::BrowserOpened(browser::open(url).await) })
            }
            Effect::Save { name, content } => self.write(async move {
                Msg::Saved(blocking(move || files::save(&name, &content)).await)
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
        if let Some(Err(problem)) = into.map(files::can_save) {
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
