//! Forms: fields to fill in, checked after every key, with the service's refusals shown at the
//! field.
//!
//! ```text
//!   open ─► keys ─► check (after every key) ─► send ─► jobs ─► Batch ─► accepted: closed
//!    ▲                                                            └──► refused: message at the field, input remains
//!    └── draft (esc saves it)
//! ```
//!
//! This folder has what all forms share. Each form is in the folder of its feature (`form.rs`): the
//! fields it opens with, what it refuses, and the calls that it makes ([`FormKind`]).

pub mod field;

pub use field::{FieldId, FieldValue, FormField, LineNote};

use crate::base::{FormTag, ImportPreview, Job, JobState, Secret};
use crate::config::ScanProfile;
use crate::data::Data;
use crate::text::TextInput;
use scandeck_domain::export::ExportFormat;
use scandeck_domain::problem::Problem;
use scandeck_domain::triage::{EventId, FindingKey, IssueId, ManualFinding, Verdict};
use scandeck_report::{ChosenOptions, ReportPreview, ReportTraits};
use scandeck_wire::contract::node::PlaceState;
use scandeck_wire::contract::{NewScan, ReportSource, Shared, TargetId, WordlistId, WorkspaceId};
use scandeck_wire::text;
use std::collections::BTreeMap;

/// A field whose input cannot be sent, and why.
pub type FieldProblem = (FieldId, String);

/// A job that was not done, and why the service refused it.
pub type UndoneJob = (Job, Option<Problem>);

/// The functions of one kind of form.
#[derive(Debug)]
pub struct FormKind {
    /// The verb of the notices: `create`.
    pub verb: &'static str,
    /// Shows and hides fields, and finds the problems of the present input.
    pub check: fn(&mut Form, &Data) -> Vec<FieldProblem>,
    /// The calls that sending makes.
    pub jobs: fn(&Form) -> Vec<Job>,
    /// Reduces the form to the jobs that were not done; true when it shows their refusals itself.
    pub keep_refused: fn(&mut Form, &[UndoneJob]) -> bool,
}

impl FormKind {
    /// A form without checks and calls.
    pub const fn new(verb: &'static str) -> Self {
        Self {
            verb,
            check: |_, _| Vec::new(),
            jobs: |_| Vec::new(),
            keep_refused: |_, _| false,
        }
    }
}

/// A form with its current values.
#[derive(Clone, Debug)]
pub struct Form {
    pub tag: FormTag,
    pub kind: &'static FormKind,
    /// Names the object: `Scan 60 targets`.
    pub title: String,
    /// All fields; those with `shown` off are neither drawn nor sent.
    pub fields: Vec<FormField>,
    /// The focused field; the number of fields means the button.
    pub at: usize,
    /// Label of the button: `Start 58 scans`.
    pub button: String,
    /// The objects that sending creates or excludes, a line each.
    pub summary: Vec<String>,
    /// A refusal that belongs to no field.
    pub problem: Option<Problem>,
    /// It was sent and not answered yet.
    pub sending: bool,
    /// Sending was attempted: missing input is an error from now on.
    pub tried: bool,
    /// The objects it acts on, captured when it was opened.
    pub subject: FormSubject,
    /// Lines that the service refused, with its message.
    pub(crate) refused_lines: BTreeMap<String, String>,
}

/// The objects that a form acts on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FormSubject {
    pub workspace: Option<WorkspaceId>,
    /// Groups of targets that can be scanned, in the order of the choice.
    pub target_sets: Vec<Vec<(TargetId, Shared)>>,
    /// Tags of targets, in the order of the choice after all targets.
    pub tags: Vec<Shared>,
    /// The service is one of scandeck: it has guests and places.
    pub has_extensions: bool,
    /// Places of a scan, in the order of the choice after the scope and the service itself.
    pub places: Vec<PlaceState>,
    /// Wordlists of a scan, in the order of the choice after the default one.
    pub wordlists: Vec<WordlistId>,
    /// Scan profiles, in the order of the choice after `none`.
    pub scan_profiles: Vec<ScanProfile>,
    /// The scans of a profile that the service refused: only they are sent again.
    pub refused_scans: Option<RefusedScans>,
    /// Groups of ids that a report can cover.
    pub sets: Vec<IdSet>,
    /// Report formats that the service refused, with its reasons.
    pub refused_formats: BTreeMap<String, String>,
    /// The template of a report with its data.
    pub preview: Option<TemplatePreview>,
    /// The manual finding.
    pub manual: Option<Box<ManualFindingDraft>>,
    /// The finding to which a payload can be bound, with its name.
    pub finding: Option<(FindingKey, Shared)>,
    /// The file to import.
    pub import: Option<ImportPreview>,
}

impl FormSubject {
    /// Whether both forms act on the same objects.
    fn has_objects_of(&self, other: &Self) -> bool {
        let objects = |of: &Self| (of.workspace, of.target_sets.clone(), of.sets.clone());
        objects(self) == objects(other)
    }
}

/// Scans of a profile that the service refused.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedScans {
    /// The chosen profile.
    pub profile: usize,
    pub scans: Vec<NewScan>,
}

/// How a report with a template would begin.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplatePreview {
    /// The file.
    pub template: String,
    pub format: ExportFormat,
    pub chosen: ChosenOptions,
    pub issues: Vec<IssueId>,
    /// None until it is read.
    pub result: Option<Result<ReportPreview, Problem>>,
}

/// Ids that a report can cover, with the label of the choice: `marked`, `all shown`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdSet {
    pub label: String,
    pub source: ReportSource,
    pub ids: Vec<i64>,
    /// The same as rows of the findings, with manual findings; empty for scans.
    pub issues: Vec<IssueId>,
    /// How many of these rows have the same traits.
    pub traits: BTreeMap<ReportTraits, usize>,
}

/// The initial values of the form of a manual finding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ManualFindingDraft {
    /// The finding to change; a new one without it.
    pub id: Option<EventId>,
    pub finding: ManualFinding,
    /// Manual findings that the captures can be added to instead.
    pub others: Vec<(EventId, ManualFinding)>,
    /// The decided ones among the findings that it can change.
    pub decided: Vec<(EventId, Verdict)>,
}

impl Form {
    /// A form with these fields, the first shown one focused.
    pub fn new(
        tag: FormTag,
        kind: &'static FormKind,
        title: impl Into<String>,
        button: impl Into<String>,
        fields: Vec<FormField>,
    ) -> Self {
        let mut form = Self {
            tag,
            kind,
            title: title.into(),
            fields,
            at: 0,
            button: button.into(),
            summary: Vec::new(),
            problem: None,
            sending: false,
            tried: false,
            subject: FormSubject::default(),
            refused_lines: BTreeMap::new(),
        };
        form.at = form.next_place(0, 1);
        form
    }

    /// Its calls create objects in this workspace.
    pub fn in_workspace(mut self, workspace: Option<WorkspaceId>) -> Self {
        self.subject.workspace = workspace;
        self
    }

    /// Checks the input and puts the problems at the fields; true when it can be sent. Missing
    /// input is shown as an error once the field was touched or sending was attempted.
    pub fn check(&mut self, data: &Data) -> bool {
        let problems = (self.kind.check)(self, data);
        for field in &mut self.fields {
            let found = problems
                .iter()
                .find(|(id, _)| *id == field.id && field.shown);
            let shown = found
                .filter(|_| self.tried || field.touched)
                .map(|(_, problem)| problem.clone());
            field.error = shown.or_else(|| field.refusal());
        }
        if self.fields.get(self.at).is_some_and(|field| !field.shown) {
            self.at = self.next_place(self.at, 1);
        }
        problems.is_empty()
    }

    pub fn field(&self, id: FieldId) -> Option<&FormField> {
        self.fields.iter().find(|field| field.id == id)
    }

    pub fn field_mut(&mut self, id: FieldId) -> Option<&mut FormField> {
        self.fields.iter_mut().find(|field| field.id == id)
    }

    /// The focused field; none when the button has the focus.
    pub fn focused(&self) -> Option<&FormField> {
        self.fields.get(self.at)
    }

    /// The text that keys are typed into; none while the form is being sent.
    pub(crate) fn input(&mut self) -> Option<&mut TextInput> {
        let field = self.fields.get_mut(self.at).filter(|_| !self.sending)?;
        match &mut field.value {
            FieldValue::Text(input) => Some(&mut **input),
            FieldValue::Choice { .. } | FieldValue::Info(_) => None,
        }
    }

    fn shown(&self, id: FieldId) -> Option<&FormField> {
        self.field(id).filter(|field| field.shown)
    }

    /// The trimmed text of a field; empty when the field is not shown.
    pub fn text(&self, id: FieldId) -> String {
        self.shown(id)
            .map(|field| field.text().trim().to_owned())
            .unwrap_or_default()
    }

    /// The trimmed text of a field that is shown and not empty.
    pub fn filled(&self, id: FieldId) -> Option<String> {
        Some(self.text(id)).filter(|text| !text.is_empty())
    }

    /// The chosen option of a field; the first one when the field is not shown.
    pub fn choice(&self, id: FieldId) -> usize {
        self.shown(id).map_or(0, FormField::chosen)
    }

    pub fn is_shown(&self, id: FieldId) -> bool {
        self.shown(id).is_some()
    }

    pub fn show(&mut self, id: FieldId, shown: bool) {
        if let Some(field) = self.field_mut(id) {
            field.shown = shown;
        }
    }

    /// Focuses the next field in a direction, the button included.
    pub fn walk(&mut self, by: isize) {
        if by != 0 {
            let places = self.fields.len() + 1;
            let start = (self.at as isize + by).rem_euclid(places as isize) as usize;
            self.at = self.next_place(start, by);
        }
    }

    /// The first place that can be focused, from `start` in the direction of `by`, around the ends.
    /// The button always can.
    fn next_place(&self, start: usize, by: isize) -> usize {
        let places = self.fields.len() + 1;
        let place = |step: usize| {
            (start as isize + by.signum() * step as isize).rem_euclid(places as isize) as usize
        };
        let can_focus =
            |field: &FormField| field.shown && !matches!(field.value, FieldValue::Info(_));
        let found = (0..places)
            .map(place)
            .find(|&at| self.fields.get(at).is_none_or(can_focus));
        found.unwrap_or(self.fields.len())
    }

    /// Puts a refusal of the service at the field it names, in the words of the service.
    pub fn show_refusal(&mut self, problem: Problem) {
        self.sending = false;
        let text = format!(
            "{} {}",
            problem.message,
            problem.details.as_deref().unwrap_or_default()
        )
        .to_lowercase();
        let about = self.named_in(&text).or_else(|| match problem.status {
            Some(403 | 409) => self
                .fields
                .iter()
                .position(|field| field.shown && field.id.is_object_name()),
            _ => None,
        });
        let Some(at) = about else {
            self.problem = Some(problem);
            return;
        };
        let message = message_of(&problem);
        let field = &mut self.fields[at];
        field.refused = Some((Secret(field.text()), message.clone()));
        field.error = Some(message);
        self.at = at;
    }

    /// The field that a lower-case text names. The longest name wins, so that
    /// `report_callback.format` does not match `format`, nor `resources` match `source`.
    fn named_in(&self, text: &str) -> Option<usize> {
        let is_in_word = |letter: Option<char>| {
            letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
        };
        let is_word = |at: usize, name: &str| {
            !is_in_word(text[..at].chars().next_back())
                && !is_in_word(text[at + name.len()..].chars().next())
        };
        let shown = self
            .fields
            .iter()
            .enumerate()
            .filter(|(_, field)| field.shown);
        let named = shown.filter_map(|(at, field)| {
            let names = field.id.wire_names().iter();
            let found = names.filter(|name| {
                text.match_indices(*name)
                    .any(|(at, name)| is_word(at, name))
            });
            Some((found.map(|name| name.len()).max()?, at))
        });
        named
            .max_by_key(|&(length, at)| (length, std::cmp::Reverse(at)))
            .map(|(_, at)| at)
    }

    /// Restores what the user typed or chose in a draft of the same form.
    pub fn restore(&mut self, draft: Form) {
        self.refused_lines = draft.refused_lines;
        // A form that was closed while it is sent waits for its answer, that of other objects does
        // not.
        self.sending = draft.sending && self.subject.has_objects_of(&draft.subject);
        // The choice among them is a number.
        self.subject.places = draft.subject.places;
        for old in draft.fields.into_iter().filter(|old| old.touched) {
            if let Some(field) = self.field_mut(old.id)
                && field.is_in_drafts()
            {
                field.value = old.value;
                if let (FieldId::Names, FieldValue::Text(input)) = (field.id, &mut field.value) {
                    // A name that is typed next is a line of its own.
                    input.start_line();
                }
                field.touched = old.touched;
                field.refused = old.refused;
            }
        }
    }

    /// Whether it waits for the answer to these jobs. Its input does not change while it is sent.
    pub fn waits_for(&self, jobs: &[(Job, JobState)]) -> bool {
        self.sending
            && (self.kind.jobs)(self)
                .iter()
                .eq(jobs.iter().map(|(job, _)| job))
    }

    /// Whether anything was typed or chosen.
    pub fn is_touched(&self) -> bool {
        self.fields.iter().any(|field| field.touched)
    }

    /// Whether some typed lines cannot be sent yet.
    pub fn has_lines_left(&self) -> bool {
        self.fields
            .iter()
            .flat_map(|field| &field.notes)
            .any(|note| matches!(note, LineNote::Bad(_)))
    }

    /// Reduces the form to the jobs that were not done, with the messages of the refused ones.
    pub fn keep_refused(&mut self, left: Vec<UndoneJob>) {
        self.sending = false;
        let shows_refusals = (self.kind.keep_refused)(self, &left);
        let refusal = left.into_iter().find_map(|(_, problem)| problem);
        if let Some(problem) = refusal.filter(|_| !shows_refusals) {
            self.show_refusal(problem);
        }
    }
}

/// The message of a refusal with its details.
pub(crate) fn message_of(problem: &Problem) -> String {
    match &problem.details {
        Some(details) => format!("{}: {details}", problem.message),
        None => problem.message.clone(),
    }
}

/// The cause of a refusal in a few words, without the object: `out of scope` of
/// `shop.acme.test is out of scope; ...`.
pub(crate) fn cause_of(object: &str, problem: &Problem) -> String {
    let message = text::clean(problem.details.as_deref().unwrap_or(&problem.message)).into_owned();
    let cause = message.split([';', '(']).next().unwrap_or(&message).trim();
    // Of a URL the service names the host.
    match cause.split_once(' ') {
        Some((subject, rest)) if object.contains(subject.trim_end_matches(':')) => {
            rest.strip_prefix("is ").unwrap_or(rest).to_owned()
        }
        _ => cause.to_owned(),
    }
}

pub(crate) fn is_web_url(text: &str) -> bool {
    url::Url::parse(text)
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}
