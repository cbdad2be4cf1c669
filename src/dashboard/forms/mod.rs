//! Forms: fields to fill in, checked while they are typed, refused in the server's own words.
//!
//! ```text
//!   open ─► keys ─► check (after every key) ─► send ─► jobs ─► Batch ─► accepted: closed
//!    ▲                                                            └──► refused: words at the field, all kept
//!    └── draft (esc keeps it)
//! ```
//!
//! This file has what all forms share. Each kind has a file of its own with the fields it opens with, what it
//! refuses, and the calls it makes.

pub mod basic;
pub mod field;
pub mod own;
pub mod place;
pub mod report;
pub mod scan;
pub mod targets;

pub use own::ManualFindingDraft;

use crate::client::Problem;
use crate::contract::{ReportSource, Shared, TargetId, Workspace, WorkspaceId};
use crate::dashboard::base::{ConnectionChoice, FormTag, Job, Secret};
use crate::dashboard::data::Data;
use crate::dashboard::forms::ManualFindingDraft as OwnDraft;
use crate::dashboard::text::TextInput;
use crate::export::ExportFormat;
use crate::oob::Payload;
use crate::triage::{CaseId, EventId, ManualFinding};
use std::collections::BTreeMap;

pub use crate::dashboard::base::OwnOf;
pub use crate::dashboard::forms::place::Place;

pub use crate::dashboard::forms::field::{FieldId, FieldValue, FormField, LineNote};

/// A form as it stands.
#[derive(Clone, Debug)]
pub struct Form {
    /// Which.
    pub tag: FormTag,
    /// Its head, naming what it is about: `Scan 60 targets of Acme external`.
    pub title: String,
    /// All fields; those with `shown` off take no part.
    pub fields: Vec<FormField>,
    /// The focused field; the number of fields means the button.
    pub at: usize,
    /// What the button says: `Start 58 scans`.
    pub button: String,
    /// What sending makes, and what it leaves out; a line each.
    pub summary: Vec<String>,
    /// A refusal that belongs to no field.
    pub problem: Option<Problem>,
    /// It was sent and not answered yet.
    pub sending: bool,
    /// Sending was tried: what is missing is said from now on.
    pub tried: bool,
    /// What it acts on, captured when it was opened.
    pub subject: FormSubject,
    /// Lines that the server refused, with its words.
    pub(crate) refused_lines: BTreeMap<String, String>,
}

/// What a form acts on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FormSubject {
    pub workspace: Option<WorkspaceId>,
    /// Groups of targets a scan can be of, in the order of the choice.
    pub target_sets: Vec<Vec<(TargetId, Shared)>>,
    /// Groups of ids a report can be about.
    pub sets: Vec<IdSet>,
    /// The finding of one's own.
    pub own: Option<Box<OwnDraft>>,
}

/// Ids a report can be about, with the words of the choice: `marked`, `all shown`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdSet {
    pub words: String,
    pub source: ReportSource,
    pub ids: Vec<i64>,
    /// The same as rows of the findings, those of our own among them; none for scans.
    pub cases: Vec<CaseId>,
}

/// What a form is checked against.
#[derive(Clone, Copy, Debug)]
pub struct FormData<'a> {
    /// What the service told.
    pub data: &'a Data,
}

/// What a form starts from, captured when it is opened.
#[derive(Clone, Debug)]
pub enum FormOpening<'a> {
    NewWorkspace,
    EditWorkspace(&'a Workspace),
    /// Into the workspace of this name.
    NewTargets(&'a str),
    /// Of one of these groups of targets, each with its words.
    NewScan(Vec<(String, Vec<(TargetId, Shared)>)>),
    NewLogger,
    NewReport(Vec<IdSet>),
    Own(OwnDraft),
    /// Where this payload went.
    Place(&'a Payload),
    Connect,
}

impl Form {
    /// A form with these fields, the first shown one focused.
    pub fn new(tag: FormTag, title: impl Into<String>, button: impl Into<String>, fields: Vec<FormField>) -> Self {
        let mut form = Self {
            tag,
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
        form.at = form.next_place(0, 1).unwrap_or(form.fields.len());
        form
    }

    /// Opens a form.
    pub fn open(opening: FormOpening<'_>, workspace: Option<WorkspaceId>) -> Self {
        let mut form = match opening {
            FormOpening::NewWorkspace => basic::new_workspace(),
            FormOpening::EditWorkspace(workspace) => basic::edit_workspace(workspace),
            FormOpening::NewTargets(workspace) => targets::open(workspace),
            FormOpening::NewScan(sets) => scan::open(sets),
            FormOpening::NewLogger => basic::new_logger(),
            FormOpening::NewReport(sets) => report::open(sets),
            FormOpening::Own(draft) => own::open(draft),
            FormOpening::Place(payload) => place::open(payload),
            FormOpening::Connect => basic::connect(),
        };
        form.subject.workspace = workspace;
        form
    }

    /// Checks everything that is typed, says what is wrong at the fields; true when it can be sent.
    pub fn check(&mut self, known: &FormData<'_>) -> bool {
        let problems = match self.tag {
            FormTag::NewWorkspace => basic::check_workspace(self, known, None),
            FormTag::EditWorkspace(id) => basic::check_workspace(self, known, Some(id)),
            FormTag::NewTargets => targets::check(self, known),
            FormTag::NewScan => scan::check(self),
            FormTag::NewLogger => basic::check_logger(self, known),
            FormTag::NewReport => report::check(self),
            FormTag::Own(_) => own::check(self),
            FormTag::Place(_) => Vec::new(),
            FormTag::Connect => basic::check_connect(self),
        };
        self.place_problems(problems)
    }

    /// The calls that sending it makes; none for the address of a service.
    pub fn jobs(&self) -> Vec<Job> {
        match self.tag {
            FormTag::NewWorkspace => basic::make_workspace(self),
            FormTag::EditWorkspace(id) => basic::change_workspace(self, id),
            FormTag::NewTargets => targets::jobs(self),
            FormTag::NewScan => scan::jobs(self),
            FormTag::NewLogger => basic::make_logger(self),
            FormTag::NewReport => report::jobs(self),
            FormTag::Own(_) | FormTag::Place(_) | FormTag::Connect => Vec::new(),
        }
    }

    /// The report that is made here, with the decisions: its form and its findings. None where the service makes it.
    pub fn report_made_here(&self) -> Option<(ExportFormat, Vec<CaseId>)> {
        report::made_here(self)
    }

    /// The finding of one's own that it makes, and which one that changes.
    pub fn own(&self) -> Option<(Option<EventId>, ManualFinding)> {
        own::made(self)
    }

    /// Where the payload went, as the form has it.
    pub fn place(&self) -> Place {
        place::made(self)
    }

    /// What is being done by sending it, for the notices.
    pub fn verb(&self) -> &'static str {
        match self.tag {
            FormTag::NewScan => "start",
            FormTag::EditWorkspace(_) => "save",
            FormTag::Connect => "connect",
            _ => "make",
        }
    }

    /// The choice that the form of the first-start question makes.
    pub fn hosted(&self) -> ConnectionChoice {
        basic::hosted(self)
    }

    /// The field with this id.
    pub fn field(&self, id: FieldId) -> Option<&FormField> {
        self.fields.iter().find(|field| field.id == id)
    }

    /// The same, to change it.
    pub fn field_mut(&mut self, id: FieldId) -> Option<&mut FormField> {
        self.fields.iter_mut().find(|field| field.id == id)
    }

    /// The focused field, unless the button is.
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

    /// The trimmed text of a field that is shown; empty otherwise.
    pub fn text(&self, id: FieldId) -> String {
        self.field(id).filter(|field| field.shown).map(|field| field.text().trim().to_owned()).unwrap_or_default()
    }

    /// The chosen option of a field that is shown; the first one otherwise.
    pub fn choice(&self, id: FieldId) -> usize {
        self.field(id).filter(|field| field.shown).map(FormField::chosen).unwrap_or(0)
    }

    /// Shows or hides a field.
    pub fn show(&mut self, id: FieldId, shown: bool) {
        if let Some(field) = self.field_mut(id) {
            field.shown = shown;
        }
    }

    /// Focuses the next place in a direction, the button included.
    pub fn walk(&mut self, by: isize) {
        if by == 0 {
            return;
        }
        let places = self.fields.len() + 1;
        let start = (self.at as isize + by).rem_euclid(places as isize) as usize;
        if let Some(at) = self.next_place(start, by) {
            self.at = at;
        }
    }

    /// The first place that can be focused, from `start` in the direction of `by`, going around.
    fn next_place(&self, start: usize, by: isize) -> Option<usize> {
        let places = self.fields.len() + 1;
        let place = |step: usize| (start as isize + by.signum() * step as isize).rem_euclid(places as isize) as usize;
        (0..places).map(place).find(|&at| {
            self.fields.get(at).is_none_or(|field| field.shown && !matches!(field.value, FieldValue::Info(_)))
        })
    }

    /// Puts what a check found wrong at the fields; true when nothing is wrong. What is merely missing is said once
    /// sending was tried or the field was touched.
    pub fn place_problems(&mut self, problems: Vec<(FieldId, String)>) -> bool {
        for field in &mut self.fields {
            let found = problems.iter().find(|(id, _)| *id == field.id && field.shown);
            let said = found.filter(|_| self.tried || field.touched).map(|(_, words)| words.clone());
            field.error = said.or_else(|| field.words_of_the_server());
        }
        problems.is_empty()
    }

    /// Puts a refusal of the server at the field it is about, in its own words.
    pub fn land(&mut self, problem: Problem) {
        self.sending = false;
        let told = format!("{} {}", problem.message, problem.details.as_deref().unwrap_or_default()).to_lowercase();
        let about = self.named_in(&told);
        let about = about.or_else(|| match problem.status {
            Some(403 | 409) => self.fields.iter().position(|field| field.shown && field.id.names_the_thing()),
            _ => None,
        });
        match about {
            Some(at) => {
                let words = match &problem.details {
                    Some(details) => format!("{}: {details}", problem.message),
                    None => problem.message.clone(),
                };
                let field = &mut self.fields[at];
                field.refused = Some((Secret(field.text()), words.clone()));
                field.error = Some(words);
                self.at = at;
            }
            None => self.problem = Some(problem),
        }
    }

    /// The field that lower-case words are about: the one of the longest name in them, so that `report_callback.format`
    /// is not about a `format`, nor `resources` about a `source`.
    fn named_in(&self, told: &str) -> Option<usize> {
        let part_of_word =
            |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        let stands_alone = |at: usize, name: &str| {
            !part_of_word(told[..at].chars().next_back()) && !part_of_word(told[at + name.len()..].chars().next())
        };
        let shown = self.fields.iter().enumerate().filter(|(_, field)| field.shown);
        let named = shown.filter_map(|(at, field)| {
            let names = field.id.wire_names().iter();
            let found = names.filter(|name| told.match_indices(*name).any(|(at, name)| stands_alone(at, name)));
            Some((found.map(|name| name.len()).max()?, at))
        });
        named.max_by_key(|&(length, at)| (length, std::cmp::Reverse(at))).map(|(_, at)| at)
    }

    /// Takes over what was typed into a draft of the same form.
    pub fn take_draft(&mut self, draft: Form) {
        for old in draft.fields {
            if let Some(field) = self.field_mut(old.id)
                && field.keeps_draft()
            {
                field.value = old.value;
                field.touched = old.touched;
                field.refused = old.refused;
            }
        }
    }

    /// Whether anything was typed or chosen.
    pub fn is_touched(&self) -> bool {
        self.fields.iter().any(|field| field.touched)
    }

    /// Some typed lines cannot be sent yet.
    pub fn has_lines_left(&self) -> bool {
        self.fields.iter().flat_map(|field| &field.notes).any(|note| matches!(note, LineNote::Bad(_)))
    }

    /// After an answer: keeps what was not done, with the words of what was refused.
    pub fn keep_only(&mut self, left: Vec<(Job, Option<Problem>)>) {
        self.sending = false;
        match self.tag {
            FormTag::NewTargets => targets::keep_only(self, &left),
            FormTag::NewScan => scan::keep_only(self, &left),
            _ => {}
        }
        if self.tag != FormTag::NewTargets
            && let Some(problem) = left.into_iter().find_map(|(_, problem)| problem)
        {
            self.land(problem);
        }
    }
}
