//! Effects: requests of `update` to the outside, as data. The runtime executes them and answers
//! with a message.

use crate::base::{
    Alert, CaptureRow, CaseRequest, ChainRequest, FileToImport, Generation, TeamRequest, TextChunk,
    ViewJob,
};
use crate::config::AlertPlan;
use crate::input::CustomAction;
use scandeck_client::calls::CallId;
use scandeck_domain::alerts::EventAlert;
use scandeck_domain::chain::ChainData;
use scandeck_domain::export::{ExportFormat, ExportRow};
use scandeck_domain::mask::Mask;
use scandeck_domain::oob::{
    CaptureRecord, ClearedRequests, Payload, PayloadBook, PayloadRequest, Replay, out,
};
use scandeck_domain::proof::{ExpectedAnswer, FindingProof, ProofRequest};
use scandeck_domain::triage;
use scandeck_domain::triage::{Event, FindingKey, IssueId, ListedFinding, Subject};
use scandeck_report::{ChosenOptions, ReportScan};
use scandeck_wire::contract::import::FileImport;
use scandeck_wire::contract::schedule::NewSchedule;
use scandeck_wire::contract::target_tags::TagChange;
use scandeck_wire::contract::{
    EditWorkspace, LoggerId, NewReport, NewScan, NewTarget, NewWorkspace, ReportId, ScanCreated,
    ScanId, ScheduleId, Shared, Stamp, TargetId, WordlistId, WorkspaceId,
};
use std::path::PathBuf;
use std::sync::Arc;
use strum::EnumTryAs;

/// Identifies a call, to match its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// One request to the outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Quit the dashboard.
    Quit,
    /// Call the service; answered by `Msg::Called`.
    Call(Ticket, Box<Call>),
    /// Cancel a call in flight.
    CancelCall(CallId),
    /// Open an http or https URL in the browser of this machine; answered by `Msg::BrowserOpened`.
    OpenUrl(String),
    /// Put text on the clipboard; answered by `Msg::Copied`. `what` names it for the notice.
    Copy {
        /// For the notice, such as `URL of logger probe`.
        what: String,
        text: String,
        /// Whether the text is useless when masked, such as a URL that records requests. It is not
        /// copied while the mask is on.
        needs_names: bool,
    },
    /// Write a file under a cleaned name, without overwriting another, into the current directory
    /// unless the name has a path; answered by `Msg::Saved`.
    Save {
        /// The preferred base name.
        name: String,
        content: Arc<[u8]>,
    },
    /// Write the body of a captured request into the current directory, unless it is there already;
    /// answered by `Msg::BodySaved`.
    SaveBody {
        /// The preferred base name.
        name: String,
        /// The request.
        sent: Box<CaptureRecord>,
        /// Hides names in it.
        mask: Option<Mask>,
    },
    /// Write findings with their decisions into a file, as `Save` does; made off the UI thread.
    Export(Box<Exported>),
    /// Read the template of a report, and what the report would begin with; answered by
    /// `Msg::ReportPreviewed`.
    PreviewReport(Box<Exported>),
    /// Write captured requests into a file.
    ExportCaptures(Box<ExportedCaptures>),
    /// Seal the case of some findings, and write it into a file; answered by `Msg::Exported`.
    SealCase(Box<CaseRequest>),
    /// Open a field's text in `$EDITOR`; answered by `Msg::Edited`.
    Edit(String),
    /// Show a text in `$PAGER`; none is the text of the detail on the screen. Answered by
    /// `Msg::Paged`.
    Page(Option<String>),
    /// Hand the terminal back to the shell until it is resumed.
    Suspend,
    /// Redraw the screen.
    Redraw,
    /// Leave the first-start screen with a choice.
    Connect(ConnectionChoice),
    /// Read what the result file at a typed path contains; answered by `Msg::ImportRead`.
    ReadImport(String),
    /// List a folder for the completion of a path; answered by `Msg::FolderListed`.
    ListFolder(String),
    /// Read the report formats of the service; answered by `Msg::ReportFormats`.
    ReadReportFormats,
    /// Read the API key again from its source; answered by `Msg::KeyRead`.
    ReadKey,
    /// Add targets to the scope file of the local service; answered by `Msg::ScopeExtended`.
    AddToScope(Vec<String>),
    /// Start the local service again; answered by `Msg::ServiceStarted`.
    StartService,
    /// Make the rows of the findings, off the UI thread; answered by `Msg::Correlated`.
    Correlate(Generation, Box<triage::CorrelationInput>),
    /// Compute the view of the findings, off the UI thread; answered by `Msg::Viewed`.
    View(Box<ViewJob>),
    /// Search long texts, off the UI thread; answered by `Msg::TextsSearched`.
    SearchTexts(TextChunk),
    /// Read the long texts of findings, off the UI thread, and go on with them; answered by
    /// `Msg::FindingsRead`.
    ReadFindings(FindingUse, Vec<Arc<ListedFinding>>),
    /// Read whether the scope of this machine permits a proof; answered by `Msg::ProofChecked`.
    CheckProof(Box<PlannedProof>),
    /// Make the chain of an object, off the UI thread; answered by `Msg::Chained`.
    Chain(Box<ChainRequest>),
    /// Read the bodies of captures, off the UI thread, and go on with them; answered by
    /// `Msg::CapturesRead`.
    ReadCaptures(CaptureUse, Vec<CaptureRecord>),
    /// Run a command of the configuration; answered by `Msg::CommandEnded`.
    Run(Box<CommandRun>),
    /// Draw random numbers for payloads; answered by `Msg::PayloadNumbers`.
    DrawPayloadNumbers(Box<PayloadRequest>),
    /// Alert the user: the bell, a notification, the program and the webhooks of the configuration.
    /// Without routes, each of them first claims the events, and `Msg::AlertDue` follows. A failure
    /// is answered by `Msg::AlertFailed`.
    Alert(Box<Alert>),
    /// Send an alert that failed again when its next attempt is due; answered by `Msg::AlertDue`
    /// unless another process sends it.
    RetryAlert(Box<Alert>),
    /// Begin the file of sent alerts, if there is none: events before its beginning are not sent.
    BeginAlerts {
        /// The service's clock minus this machine's, in seconds.
        clock_offset: i64,
    },
    /// Find out which events of an alert no other process sends; answered by `Msg::AlertClaimed`
    /// for each channel, after the quiet time.
    ClaimAlert(Box<AlertRequest>),
    /// Send alerts by these programs and webhooks from now on.
    NotifyBy(Arc<AlertPlan>),
    /// Store decisions: one batch.
    Record(Vec<Arc<Event>>),
    /// Store a setting of a workspace (by name), or of all workspaces (empty).
    Remember {
        /// Its name, such as `tabs`.
        key: &'static str,
        /// Of which workspace.
        workspace: Shared,
        /// JSON.
        value: String,
    },
    /// Store payloads: new ones, and changed ones with a higher version.
    Plant(Vec<Arc<Payload>>),
    /// Look again for tokens in captures that were here before them; answered by
    /// `OobNews::Recognized`.
    Recognize {
        /// The captures, sharing what they hold.
        captures: Vec<CaptureRow>,
        /// The new tokens.
        grown: PayloadBook,
    },
    /// Let the terminal report the mouse, or not.
    Mouse(bool),
    /// Send `Msg::NextChunk` after the keys that are queued.
    NextChunk,
    /// Store one of several settings of a kind, without changing the others that another dashboard
    /// stored.
    RememberOne {
        /// The kind, such as `alert`.
        of: &'static str,
        /// Which one.
        name: Shared,
        /// Of which workspace.
        workspace: Shared,
        /// JSON.
        value: String,
    },
    /// Ask the sync task of the team for something; answered by `Msg::Team`.
    Team(TeamRequest),
    /// Store that findings were seen.
    MarkSeen {
        /// In which workspace, by name.
        workspace: Shared,
        /// Which.
        keys: Vec<FindingKey>,
    },
}

/// An alert about events that other processes may send too.
#[derive(Clone, Debug, PartialEq)]
pub struct AlertRequest {
    pub alert: EventAlert,
    /// The service's clock minus this machine's, in seconds.
    pub clock_offset: i64,
}

/// A run of a command of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRun {
    pub action: CustomAction,
    /// Become environment variables: `ID` is `SCANDECK_ID`.
    pub variables: Vec<(&'static str, String)>,
    /// JSON for its standard input.
    pub input: String,
    /// Whether variables and input are masked; the command then does not get the address of the
    /// service either.
    pub is_masked: bool,
}

/// The action that the texts of findings are read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingUse {
    /// The screen shows them.
    Show,
    /// Show the differences between the later finding, which is the first, and the earlier one.
    Difference,
    /// Explain the presence of this finding.
    Why(IssueId),
    /// Send the request in the evidence of this finding again.
    Prove(IssueId),
    /// Copy them as JSON.
    Json,
    /// Write them into a file as JSON.
    SaveJson,
    /// Copy them as Markdown.
    Markdown,
    /// Copy the requests of their evidence as curl commands.
    Curl,
    /// Run a command of the configuration on them.
    Run(CustomAction),
}

/// The action that captures are read for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureUse {
    /// A query tests the next chunk.
    Filter,
    /// The detail shows them.
    Show,
    /// Copy one as a curl command.
    Curl,
    /// Copy them as raw HTTP.
    Raw,
    /// Copy them as Markdown.
    Markdown,
    /// Copy them as JSON.
    Json,
    /// Write them into a file as JSON.
    SaveJson,
    /// Open a manual finding with them as evidence.
    ManualFinding,
    /// Run a command of the configuration on them.
    Run(CustomAction),
    /// Send one again to this URL.
    Replay(String),
}

/// Contents of a report beside its findings, before its template is read.
#[derive(Clone, Debug, Default)]
pub struct ReportRequest {
    /// The options that replace those of the template.
    pub chosen: ChosenOptions,
    /// The file of the template; empty without one.
    pub template: String,
    pub targets: Vec<String>,
    pub scans: Vec<ReportScan>,
    /// The targets, payloads and captures that the findings can be connected to.
    pub chains: ChainData,
}

/// An export that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedExport {
    pub path: PathBuf,
    /// `12 findings (7 excluded)`
    pub contents: String,
    pub is_masked: bool,
}

/// An export to be written.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The preferred base name.
    pub name: String,
    /// Its form.
    pub format: ExportFormat,
    /// The title of the document.
    pub title: Shared,
    /// The query that chose them; empty where a person did.
    pub query: String,
    /// When it was requested.
    pub made: Stamp,
    /// The findings, in order.
    pub rows: Vec<ExportRow>,
    /// Of a report: options and scope.
    pub report: ReportRequest,
    /// Hides names in the file.
    pub mask: Option<Mask>,
}

/// Captured requests to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedCaptures {
    /// The preferred base name.
    pub name: String,
    /// Their form.
    pub format: out::CaptureFormat,
    /// The captures, in order.
    pub sent: Vec<CaptureRecord>,
    /// Hides names in the file.
    pub mask: Option<Mask>,
}

/// The same findings into the same file.
impl PartialEq for Exported {
    fn eq(&self, other: &Self) -> bool {
        let keys = |it: &Self| {
            it.rows
                .iter()
                .map(|row| row.issue.key())
                .collect::<Vec<_>>()
        };
        (&self.name, self.format, &self.query, self.made)
            == (&other.name, other.format, &other.query, other.made)
            && keys(self) == keys(other)
    }
}

/// The answer to the first-start question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionChoice {
    /// A service on this machine.
    Here,
    /// A service elsewhere.
    Hosted {
        /// Base URL as typed.
        base_url: String,
        /// Key as typed; saved to a 0600 file only.
        key: Secret,
    },
    /// The temporary demo.
    Demo,
}

/// A typed text that is or may be a secret. It has no printable form.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("•••")
    }
}

/// A call that an action of the user makes, beside the polling.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    CreateWorkspace(NewWorkspace),
    EditWorkspace(WorkspaceId, EditWorkspace),
    /// The requests of its loggers are archived first.
    DeleteWorkspace(WorkspaceId),
    CreateTarget(NewTarget),
    DeleteTarget(TargetId),
    ChangeTargetTags(TargetId, TagChange),
    StartScan(NewScan),
    StopScan(ScanId),
    DeleteScan(ScanId),
    CreateLogger {
        label: String,
        workspace: Option<WorkspaceId>,
    },
    /// Its requests are archived first, under the workspace of this name.
    DeleteLogger {
        logger: LoggerId,
        workspace: Shared,
    },
    /// The same, but the logger remains.
    ClearLogger {
        logger: LoggerId,
        workspace: Shared,
    },
    CreateReport(NewReport),
    DeleteReport(ReportId),
    /// Sends a result file and waits for the end of its import.
    ImportFile(Box<FileToImport>),
    /// Saved to the current directory under its cleaned name.
    DownloadReport(ReportId, Shared),
    DeleteWordlist(WordlistId),
    CreateSchedule(Box<NewSchedule>),
    PauseSchedule(ScheduleId),
    ResumeSchedule(ScheduleId),
    /// Its scans remain.
    DeleteSchedule(ScheduleId),
    /// Its words, for looking.
    WordlistContents(WordlistId),
    /// Shows requests that match no logger.
    UnattributedRequests,
    /// Its words, saved to a file under this name.
    DownloadWordlist(WordlistId, Shared),
    /// Sends a captured request to a typed URL, not to the service.
    Replay(Box<Replay>),
    /// Sends the request of a finding to the target, not to the service.
    Prove(Box<PlannedProof>),
}

/// The request of a finding, as a prompt shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedProof {
    pub issue: IssueId,
    /// The subject of its event.
    pub subject: Subject,
    /// The workspace of the finding, by name.
    pub workspace: Shared,
    pub request: ProofRequest,
    pub expected: ExpectedAnswer,
    /// Whoever runs the dashboard allows payloads.
    pub allow_active: bool,
}

/// The result of a call that succeeded.
#[derive(Clone, Debug, PartialEq, EnumTryAs)]
pub enum CallAnswer {
    Done,
    /// The id of the created object.
    Created(i64),
    /// The scan that was started; some services omit its id.
    Scan(ScanCreated),
    /// The report that was requested.
    Report(ReportId),
    /// The file that was written, with its full path.
    Saved(PathBuf),
    /// The report is not ready yet.
    NotReady,
    /// There is nothing to download.
    NoData,
    /// A text to show.
    Text(Shared),
    /// The requests that were archived before the service deleted them.
    Emptied(ClearedRequests),
    /// The status of the response to a request that was sent again.
    Status(u16),
    /// What the answer to the request of a finding says.
    Proof(Box<FindingProof>),
    /// The scans of a result file.
    Imported(Box<FileImport>),
}

/// A text that could not be copied, and is shown instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyFailed {
    pub why: String,
    pub text: String,
}
