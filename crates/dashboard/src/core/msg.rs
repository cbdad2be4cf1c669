//! Messages: everything that can happen to the dashboard.

use crate::base::{
    Alert, CachedList, CallAnswer, CaptureUse, CopyFailed, FindingUse, FolderNames, Generation,
    ImportPreview, LiveSettings, PlannedProof, SavedExport, Session, Size, TextChunk, Ticket,
    Update, ViewKey,
};
use crate::data::{OobNews, ReadFinding, RecordedCalls, TeamNews, TriageNews};
use crate::input::CustomAction;
use crate::list::FindingsView;
use crossterm::event::{KeyEvent, MouseEvent};
use scandeck_domain::alerts::{AlertRoutes, EventAlert};
use scandeck_domain::chain::ChainTree;
use scandeck_domain::oob::{CaptureRecord, PayloadRequest};
use scandeck_domain::problem::Problem;
use scandeck_domain::query::RowSet;
use scandeck_domain::triage::Correlated;
use scandeck_report::ReportPreview;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
pub enum Msg {
    /// A key was pressed (or repeated; releases are not sent).
    Key(KeyEvent),
    /// A button of the mouse was pressed, moved or released, or the wheel turned.
    Mouse(MouseEvent),
    /// Text was pasted.
    Paste(String),
    /// The terminal has this size now.
    Resize(Size),
    /// An update of the poller.
    Update(Update),
    /// A call that the user started was answered.
    Called {
        ticket: Ticket,
        result: Result<CallAnswer, Problem>,
    },
    /// The clipboard was written, with a message about how, or was not.
    Copied(Result<String, CopyFailed>),
    /// A URL was opened in the browser, or was not.
    BrowserOpened(Result<String, Problem>),
    /// The editor was left; the text is the field's new content.
    Edited(Result<String, Problem>),
    /// The pager was left.
    Paged(Result<(), Problem>),
    /// A file was written: its full path.
    Saved(Result<std::path::PathBuf, Problem>),
    /// An export was written.
    Exported(Result<SavedExport, Problem>),
    /// The body of a captured request was written, for the curl command that is to send it.
    BodySaved {
        /// The request.
        sent: Box<CaptureRecord>,
        /// The file's full path.
        saved: Result<std::path::PathBuf, Problem>,
    },
    /// Result of the first-start choice: the connected service, or the problem.
    Connected(Result<Session, Problem>),
    /// The report formats that the service lists in its OpenAPI document.
    ReportFormats(BTreeSet<String>),
    /// The report with the template in this file would begin like this, or why it was not read.
    ReportPreviewed {
        template: String,
        result: Box<Result<ReportPreview, Problem>>,
    },
    /// The result file at a typed path was read, or not.
    ImportRead {
        path: String,
        result: Box<Result<ImportPreview, Problem>>,
    },
    /// A folder was listed for the completion of a path.
    FolderListed(FolderNames),
    /// The API key was read again from its source; whether it is another one.
    KeyRead {
        source: String,
        result: Result<bool, Problem>,
    },
    /// Targets were added to the scope file of the local service: their number, or why not.
    ScopeExtended(Result<usize, Problem>),
    /// The local service was started again, or why not.
    ServiceStarted(Result<Option<String>, Problem>),
    /// The local service has another base URL.
    ServiceMoved(String),
    /// The rows of the findings were made.
    Correlated(Generation, Box<Correlated>),
    /// The view of the findings was computed. None if it could not be.
    Viewed(Box<ViewKey>, Option<Box<FindingsView>>),
    /// Long texts were searched: the matches of each clause, by the index of the row. None if they
    /// could not be.
    TextsSearched(TextChunk, Option<Vec<RowSet>>),
    /// The long texts of findings were read, or not.
    FindingsRead(FindingUse, Vec<ReadFinding>),
    /// The scope of this machine permits a proof, or not.
    ProofChecked(Box<PlannedProof>, Result<(), Problem>),
    /// The chain of an object was made, or not.
    Chained(Box<Result<ChainTree, Problem>>),
    /// The bodies of captures were read; those that could not be read still name their place, with
    /// the reason.
    CapturesRead {
        purpose: CaptureUse,
        captures: Vec<CaptureRecord>,
        problem: Option<Problem>,
    },
    /// A list as an earlier dashboard read it.
    Cached(CachedList),
    /// Calls of the API began or ended, while the activity view is open.
    Calls(Box<RecordedCalls>),
    /// News from the store of decisions.
    Triage(TriageNews),
    /// News of the team.
    Team(TeamNews),
    /// News from the archive of captures and payloads.
    Oob(OobNews),
    /// Random numbers for new payloads: several for each, in case a token exists already.
    PayloadNumbers(Box<PayloadRequest>, Vec<u64>),
    /// No other process sends these events on these channels.
    AlertClaimed(Box<EventAlert>, AlertRoutes),
    /// This process sends this alert on its channel now.
    AlertDue(Box<Alert>),
    /// The program or a webhook of an alert failed; with the alert if there is another attempt.
    AlertFailed {
        problem: Problem,
        again: Option<Box<Alert>>,
    },
    /// A command of the configuration ended with this output, or failed.
    CommandEnded {
        action: CustomAction,
        result: Result<String, Problem>,
    },
    /// The settings were read again after a change of their files.
    SettingsRead(Result<Box<LiveSettings>, Problem>),
    /// The next chunk of captures is to be queried.
    NextChunk,
    /// The time [`Model::wake_at`](super::Model::wake_at) named has come.
    Wake,
}
