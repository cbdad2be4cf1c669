//! The form of a new schedule: a scan profile of the configuration, and when it starts.

use crate::base::{Call, FormTag, Job};
use crate::config::ScanProfile;
use crate::data::Data;
use crate::forms::{FieldId, FieldProblem, Form, FormField, FormKind};
use scandeck_wire::contract::schedule::NewSchedule;
use scandeck_wire::contract::{Shared, TargetId, WorkspaceId};
use scandeck_wire::text::plural;

static KIND: FormKind = FormKind {
    check,
    jobs,
    ..FormKind::new("create")
};

/// The targets that a new schedule can have beside all of the workspace.
pub(crate) struct ChosenTargets {
    /// Words of the choice.
    pub label: String,
    pub targets: Vec<(TargetId, Shared)>,
}

pub(crate) fn open(
    profiles: &[ScanProfile],
    chosen: Option<ChosenTargets>,
    tags: Vec<Shared>,
    workspace: WorkspaceId,
) -> Form {
    let labels = profiles.iter().map(|profile| {
        let scans = plural(profile.scans.len(), "scan");
        format!("{} ({scans} of each target)", profile.name)
    });
    let of_chosen = chosen.iter().map(|one| one.label.clone());
    let all = "all of the workspace at each start".to_owned();
    let tagged = tags
        .iter()
        .map(|tag| format!("those with #{tag} at each start"));
    let targets = of_chosen.chain([all]).chain(tagged);
    let fields = vec![
        FormField::choice(FieldId::ScanProfile, "Scan profile", labels, 0),
        FormField::choice(FieldId::Targets, "Targets", targets, 0),
        FormField::preset(FieldId::Every, "Every", "1d").with_help("15min, 6h, 1d, 2w or 1mo"),
        FormField::line(FieldId::At, "At", "").with_help("02:00; empty: one interval from now"),
        FormField::line(FieldId::First, "First day", "")
            .with_help("2026-12-07; empty: today or tomorrow"),
        FormField::line(FieldId::Window, "May be late", "")
            .with_help("90min, 6h or 2d; later starts are skipped; empty: 6h"),
        FormField::line(FieldId::Name, "Name", "").with_help("empty: the scan profile"),
    ];
    let mut form = Form::new(
        FormTag::NewSchedule,
        &KIND,
        "New schedule",
        "Create",
        fields,
    )
    .in_workspace(Some(workspace));
    form.subject.scan_profiles = profiles.to_vec();
    form.subject.target_sets = chosen.into_iter().map(|one| one.targets).collect();
    form.subject.tags = tags;
    form
}

fn check(form: &mut Form, _: &Data) -> Vec<FieldProblem> {
    let mut problems = Vec::new();
    if profile(form).is_none() {
        let why = "add [[scan_profiles.NAME]] to the configuration file".to_owned();
        problems.push((FieldId::ScanProfile, why));
    }
    if form.text(FieldId::Every).is_empty() {
        problems.push((FieldId::Every, "the interval is required".to_owned()));
    }
    if form.text(FieldId::At).is_empty() && !form.text(FieldId::First).is_empty() {
        let why = "the first day needs a time of day".to_owned();
        problems.push((FieldId::At, why));
    }
    problems
}

fn profile(form: &Form) -> Option<&ScanProfile> {
    let profiles = &form.subject.scan_profiles;
    profiles.get(form.choice(FieldId::ScanProfile))
}

fn jobs(form: &Form) -> Vec<Job> {
    let Some(profile) = profile(form) else {
        return Vec::new();
    };
    let typed = |field| Some(form.text(field)).filter(|text| !text.is_empty());
    let name = typed(FieldId::Name).unwrap_or_else(|| profile.name.clone());
    let (sets, at) = (&form.subject.target_sets, form.choice(FieldId::Targets));
    // The choice of all targets is between the sets and the tags.
    let tag = at.checked_sub(sets.len() + 1);
    let new = NewSchedule {
        name: name.clone(),
        workspace_id: form.subject.workspace,
        every: form.text(FieldId::Every),
        at: typed(FieldId::At),
        first: typed(FieldId::First),
        window: typed(FieldId::Window),
        target_ids: sets
            .get(at)
            .map(|targets| targets.iter().map(|(id, _)| *id).collect()),
        tag: tag.and_then(|at| form.subject.tags.get(at)).cloned(),
        scans: profile.scans.clone(),
    };
    let call = Call::CreateSchedule(Box::new(new));
    vec![Job::new(format!("schedule {name}"), call)]
}
