//! Text snapshots of a service with several nodes: the list above the calls, and the places that the
//! form of a scan offers.

use std::sync::Arc;

use insta::assert_snapshot;
use scandeck::contract::node::{NodeList, NodeState, PlaceState};
use scandeck::contract::team::Member;
use scandeck::dashboard::base::PollEvent;
use scandeck::dashboard::core::Msg;
use scandeck::dashboard::data::TeamNews;
use scandeck::dashboard::model::Model;
use scandeck::dashboard::ui::Theme;

use super::fixtures::{learn, populated, press, send};
use super::text;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn hold(name: &str, keys: &str) {
    for (columns, rows) in SIZES {
        let mut model = populated(columns, rows);
        let me = Member {
            service: "s".into(),
            ..Member::default()
        };
        send(&mut model, 80_000, Msg::Team(TeamNews::Member(me)));
        press(&mut model, keys);
        learn_nodes(&mut model);
        assert_snapshot!(
            format!("{name}_{columns}x{rows}"),
            text(&mut model, Theme::default())
        );
    }
}

fn learn_nodes(model: &mut Model) {
    let node = |name: &str, roles: &[&str], seconds_since_beat, clock_ahead_ms| NodeState {
        name: name.into(),
        roles: roles.iter().map(|&role| role.into()).collect(),
        version: "1.2.0".into(),
        running_scans: 2,
        seconds_since_beat,
        clock_ahead_ms,
        ..NodeState::default()
    };
    let place = |name: &str, workers| PlaceState {
        name: name.into(),
        vpn_profile_uuid: name.into(),
        workers,
    };
    let list = NodeList {
        nodes: vec![
            node("scan1.acme.test", &["api", "logger", "worker"], 0, -4),
            node("scan2.acme.test", &["api", "logger", "worker"], 3, 2_500),
            NodeState {
                place: Some("office".into()),
                ..node("pc1", &["worker"], 14, 12)
            },
        ],
        places: vec![place("lab", 0), place("office", 1)],
    };
    let mono = model.now.mono.as_millis() as u64;
    learn(model, mono, PollEvent::Nodes(Arc::new(list)));
}

#[test]
fn nodes_and_places_match_snapshots() {
    hold("activity_nodes", "8");
    hold("form_scan_places", "2 s");
}
