//! Text snapshots of a team: the header, the list with members and plans, and a review card.

use std::sync::Arc;

use insta::assert_snapshot;
use scandeck::contract::team::{Member, Viewer};
use scandeck::dashboard::base::FirstJoin;
use scandeck::dashboard::core::Msg;
use scandeck::dashboard::data::{TeamNews, TriageNews};
use scandeck::dashboard::model::Model;
use scandeck::dashboard::ui::Theme;
use scandeck::triage::{Change, Decision, EventWriter, Subject, Verdict};

use super::fixtures::{ago, populated, press, send};
use super::text;

const SIZES: [(u16, u16); 2] = [(80, 24), (200, 60)];

fn hold(name: &str, make: impl Fn(u16, u16) -> Model) {
    for (columns, rows) in SIZES {
        assert_snapshot!(
            format!("{name}_{columns}x{rows}"),
            text(&mut make(columns, rows), Theme::default())
        );
    }
}

/// Anna's dashboard; Bob looks at the second finding, has it in review and the third assigned.
fn team(columns: u16, rows: u16) -> Model {
    let mut model = populated(columns, rows);
    let me = Member {
        name: "anna".into(),
        role: "triage".into(),
        service: "s".into(),
    };
    send(&mut model, 80_000, Msg::Team(TeamNews::Member(me)));
    press(&mut model, "3 g g j");
    let selected = |model: &Model| {
        let id = model.lists.findings.selected.unwrap();
        let table = model.data.findings.value().unwrap();
        table.get(id).unwrap().identity.clone()
    };
    let claimed = selected(&model);
    press(&mut model, "j");
    let assigned = selected(&model);
    let mut bob = EventWriter {
        who: "bob".into(),
        instance: 2,
        number: 0,
        workspace: "Acme external".into(),
    };
    let in_review = Change::Decide(Decision {
        verdict: Verdict::InReview,
        ..Decision::default()
    });
    let changes = [
        (&claimed, in_review),
        (&assigned, Change::Assign(Some("anna".into()))),
        (&assigned, Change::Due("2026-10-20".parse().ok())),
    ];
    let events = changes.map(|(identity, change)| {
        let (batch, subject) = (bob.next(), Subject::Finding(identity.clone()));
        Arc::new(bob.write((ago(600), 1), batch, Vec::new(), subject, change))
    });
    send(
        &mut model,
        81_000,
        Msg::Triage(TriageNews::Events(events.into())),
    );
    let viewer = |who: &str, finding: Option<String>| Viewer {
        who: who.into(),
        finding: finding.map(|key| key.as_str().into()),
        since: Some(ago(120)),
    };
    let viewers = [
        viewer("bob", Some(claimed.key.to_string())),
        viewer("carla", None),
    ];
    let exchanged = TeamNews::Exchanged {
        workspace: 1.into(),
        viewers: viewers.into(),
        unsent: 0,
        refused: Arc::default(),
        problem: None,
    };
    send(&mut model, 82_000, Msg::Team(exchanged));
    model
}

#[test]
fn members_claims_and_plans_match_snapshots() {
    hold("team_list", |columns, rows| {
        let mut model = team(columns, rows);
        press(&mut model, "k");
        model
    });
    hold("team_review", |columns, rows| {
        let mut model = team(columns, rows);
        press(&mut model, "g g B J");
        model
    });
    hold("team_question", |columns, rows| {
        let mut model = team(columns, rows);
        let question = FirstJoin {
            workspace: 1.into(),
            name: "Acme external".into(),
            own: 212,
            others: 97,
            findings: 14,
            conflicts: 3,
            payloads: 6,
        };
        let asked = Msg::Team(TeamNews::Question(question));
        send(&mut model, 90_000, asked);
        model
    });
    hold("team_members", |columns, rows| {
        let mut model = team(columns, rows);
        press(&mut model, ": t e a m enter");
        model
    });
}
