//! The form that changes the tags of targets: `prod -old` adds one and removes another.

use crate::base::{Call, FormTag, Job, Tone};
use crate::data::Data;
use crate::forms::{FieldId, FieldProblem, Form, FormField, FormKind};
use crate::model::Model;
use scandeck_wire::contract::target_tags::{MOST_TAGS, TagChange, tags_text};
use scandeck_wire::contract::{Shared, Target, TargetId, WorkspaceId};
use scandeck_wire::text::plural;
use std::collections::BTreeSet;
use std::sync::Arc;

static KIND: FormKind = FormKind {
    check,
    jobs,
    ..FormKind::new("save")
};

/// Tags in use that the form names.
const NAMED: usize = 12;

/// The key of the form, on the marked targets or the selected one.
pub(crate) fn open(model: &mut Model, chosen: &[i64]) {
    if !model.has_extensions() {
        let why =
            "this service has no tags · only the local service and `scandeck serve` have them";
        return model.notify(Tone::Plain, why);
    }
    let targets: Vec<Arc<Target>> = model.items_of::<Target>(chosen).cloned().collect();
    match form(&targets, &tags_in_use(model, None)) {
        Some(form) => model.open_form(form),
        None => model.notify(Tone::Plain, "nothing selected"),
    }
}

/// The tags of the targets of a workspace, or of all targets that the dashboard knows.
pub(crate) fn tags_in_use(model: &Model, workspace: Option<WorkspaceId>) -> Vec<Shared> {
    let all = model.data.targets.value().map(|table| table.items());
    let of_workspace = |target: &&Arc<Target>| workspace.is_none_or(|id| target.workspace_id == id);
    let targets = all.unwrap_or_default().iter().filter(of_workspace);
    let tags: BTreeSet<&Shared> = targets.flat_map(|target| &target.tags).collect();
    tags.into_iter().cloned().collect()
}

fn form(targets: &[Arc<Target>], in_use: &[Shared]) -> Option<Form> {
    let first = targets.first()?;
    let title = match targets {
        [one] => format!("Tags of {}", one.name),
        many => format!("Tags of {}", plural(many.len(), "target")),
    };
    let mut fields = vec![
        FormField::line(FieldId::TargetTags, "Tags", "")
            .with_help("prod adds a tag; -prod removes one"),
    ];
    if !in_use.is_empty() {
        let named = &in_use[..in_use.len().min(NAMED)];
        fields.push(FormField::info(
            FieldId::TagsInUse,
            "In use",
            tags_text(named),
        ));
    }
    let mut form = Form::new(FormTag::TargetTags(first.id), &KIND, title, "Save", fields);
    let chosen = targets
        .iter()
        .map(|target| (target.id, target.name.clone()));
    form.subject.target_sets = vec![chosen.collect()];
    Some(form)
}

/// Shows the tags of one target after the change, or the number of targets.
fn check(form: &mut Form, data: &Data) -> Vec<FieldProblem> {
    let change = match typed_change(form) {
        Ok(change) => change,
        Err(why) => return vec![(FieldId::TargetTags, why)],
    };
    let table = data.targets.value();
    let targets = chosen(form).filter_map(|(id, _)| table?.get(*id));
    let after: Vec<Vec<Shared>> = targets
        .map(|target| change.applied_to(&target.tags))
        .collect();
    form.summary = match after.as_slice() {
        [] => Vec::new(),
        [tags] if tags.is_empty() => vec!["no tags".to_owned()],
        [tags] => vec![tags_text(tags)],
        many => vec![plural(many.len(), "target")],
    };
    if change.is_empty() {
        return vec![(FieldId::TargetTags, "a tag is required".to_owned())];
    }
    match after.iter().any(|tags| tags.len() > MOST_TAGS) {
        true => {
            let why = format!("a target has at most {MOST_TAGS} tags");
            vec![(FieldId::TargetTags, why)]
        }
        false => Vec::new(),
    }
}

fn typed_change(form: &Form) -> Result<TagChange, String> {
    let text = form.text(FieldId::TargetTags);
    let separates = |letter: char| letter.is_whitespace() || letter == ',';
    TagChange::parse(text.split(separates).filter(|word| !word.is_empty()))
}

fn chosen(form: &Form) -> impl Iterator<Item = &(TargetId, Shared)> {
    form.subject.target_sets.iter().flatten()
}

fn jobs(form: &Form) -> Vec<Job> {
    let Ok(change) = typed_change(form) else {
        return Vec::new();
    };
    let job = |(id, name): &(TargetId, Shared)| {
        let call = Call::ChangeTargetTags(*id, change.clone());
        Job::new(format!("tags of {name}"), call)
    };
    chosen(form).map(job).collect()
}

#[cfg(test)]
mod tests {
    use crate::base::Call;
    use crate::core::Msg;
    use crate::data::TeamNews;
    use crate::testing::*;
    use scandeck_wire::contract::target_tags::TagChange;
    use scandeck_wire::contract::team::Member;

    /// A dashboard at the local service, whose first target has the tag `old`.
    fn at_local_service() -> TestDashboard {
        let mut app = TestDashboard::new();
        app.send(Msg::Team(TeamNews::Member(Member {
            service: "s1".into(),
            ..Member::default()
        })));
        let mut first = target(1, "t1.acme.test");
        first.tags = vec!["old".into()];
        app.feed(Snapshot::Targets(table([first, target(2, "t2.acme.test")])));
        app
    }

    #[test]
    fn typed_tags_are_added_and_removed() {
        let mut app = at_local_service();
        assert_eq!(app.calls("2 T 'prod, -old'"), []);
        assert_eq!(app.form().summary, ["#prod"]);
        let sent = app.calls("ctrl-o");
        let change = TagChange::parse(["prod", "-old"]).unwrap();
        let expected = Call::ChangeTargetTags(TargetId(1), change);
        assert_eq!(sent[0].1, expected);
        assert_eq!(sent.len(), 1);
    }

    #[test]
    fn marked_targets_get_the_same_tags() {
        let mut app = at_local_service();
        let sent = app.calls("2 space space T 'prod' ctrl-o");
        let ids = sent.iter().map(|(_, call)| match call {
            Call::ChangeTargetTags(id, _) => *id,
            other => panic!("{other:?}"),
        });
        assert_eq!(ids.collect::<Vec<_>>(), [TargetId(1), TargetId(2)]);
    }

    #[test]
    fn invalid_tag_and_empty_input_are_not_sent() {
        for typed in ["'a.b/c'", ""] {
            let mut app = at_local_service();
            assert_eq!(app.calls(&format!("2 T {typed} ctrl-o")), [], "{typed}");
            assert!(app.form().fields[0].error.is_some(), "{typed}");
        }
    }

    #[test]
    fn list_shows_tags_and_filters_by_them() {
        let mut app = at_local_service();
        app.keys("2 z");
        let shown = app.frame().join("\n");
        assert!(shown.contains("TAGS") && shown.contains("#old"), "{shown}");
        assert_eq!(app.shown(Pane::Targets), [1, 2]);
        app.keys("/ 'tag:old' enter");
        assert_eq!(app.shown(Pane::Targets), [1]);
    }

    #[test]
    fn service_without_tags_gets_no_form() {
        let mut app = TestDashboard::new();
        assert_eq!(app.calls("2 T"), []);
        assert!(app.notices().contains("has no tags"), "{}", app.notices());
    }
}
