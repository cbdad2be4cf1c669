//! Chains of findings, payloads, certificates and addresses, and properties of every tree.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;
use crate::finding::FindingKey;
use crate::oob::{Payload, Token};
use scandeck_wire::contract::{CaptureId, FindingId, LoggerId, ScanId, Shared, Stamp};

fn finding(number: i64, target: &str, port: i64) -> LinkedFinding {
    LinkedFinding {
        key: FindingKey(number as u128),
        id: FindingId(number),
        name: format!("weakness {number}").into(),
        target: target.into(),
        port,
        scan: Some(ScanId(1)),
        traces: EvidenceTraces::default(),
    }
}

fn payload(token: u64, of: Option<i64>, target: &str) -> Arc<Payload> {
    Arc::new(Payload {
        token: Token::of(token),
        finding: of.map(|number| FindingKey(number as u128)),
        target: target.into(),
        ..Payload::default()
    })
}

fn captured(token: u64, id: i64) -> CapturedToken {
    CapturedToken {
        token: Token::of(token),
        logger: LoggerId(3),
        id: CaptureId(id),
        at: None,
    }
}

fn of_finding(number: i64) -> ChainObject {
    ChainObject::Finding(FindingKey(number as u128))
}

fn service(host: &str, port: u16) -> ChainObject {
    ChainObject::Service(ServiceAddress {
        host: host.into(),
        port,
    })
}

/// The lines of a tree, without those of facts.
fn objects(tree: &ChainTree) -> Vec<String> {
    let all = lines(tree).into_iter();
    all.filter(|line| line.object.is_some())
        .map(|line| line.printed())
        .collect()
}

fn nodes(tree: &ChainTree) -> Vec<&ChainNode> {
    let mut all = vec![&tree.root];
    let mut at = 0;
    while let Some(node) = all.get(at).copied() {
        all.extend(&node.children);
        at += 1;
    }
    all
}

#[test]
fn capture_leads_over_its_payload_to_the_finding_and_its_target() {
    let data = ChainData {
        findings: vec![finding(12, "shop.test", 443), finding(13, "shop.test", 443)],
        targets: vec!["shop.test".into()],
        payloads: vec![payload(7, Some(12), "shop.test"), payload(8, None, "")],
        captured: vec![captured(7, 118), captured(9, 119)],
        ..ChainData::default()
    };
    let capture = ChainObject::Capture {
        logger: LoggerId(3),
        id: CaptureId(118),
    };
    let tree = chain_of(&capture, &data);
    let expected = [
        "capture #118 of logger #3",
        "└─ seen: payload aaaaaaaaaaah (shop.test)",
        "   └─ seen: finding #12 weakness 12",
        "      └─ seen: service shop.test:443",
        "         └─ seen: target shop.test",
    ];
    assert_eq!(objects(&tree), expected);
    let facts = lines(&tree)[2].printed();
    assert_eq!(
        facts,
        "     capture #118 contains the token aaaaaaaaaaah; the payload has the token aaaaaaaaaaah"
    );
}

#[test]
fn token_in_the_evidence_of_a_manual_finding_leads_to_its_payload() {
    let mut manual = finding(-5, "shop.test", 0);
    manual.scan = None;
    manual.traces.tokens = BTreeSet::from([Token::of(7), Token::of(9)]);
    let data = ChainData {
        findings: vec![manual],
        targets: vec!["shop.test".into()],
        payloads: vec![payload(7, None, "")],
        captured: vec![captured(7, 118)],
        ..ChainData::default()
    };
    let tree = chain_of(&of_finding(-5), &data);
    let expected = [
        "manual finding weakness -5",
        "├─ seen: target shop.test",
        "└─ derived: payload aaaaaaaaaaah",
        "   └─ seen: capture #118 of logger #3",
    ];
    assert_eq!(objects(&tree), expected);
    let facts = lines(&tree)[2].printed();
    assert!(facts.contains("the manual finding is listed"), "{facts}");
}

#[test]
fn certificate_name_without_a_target_is_missing() {
    let mut of = finding(1, "shop.test", 443);
    of.traces.names = ["shop.test", "api.shop.test", "mail.test"]
        .map(Shared::from)
        .into();
    let data = ChainData {
        findings: vec![of],
        targets: ["shop.test", "mail.test", "xapi.shop.test"]
            .map(Shared::from)
            .into(),
        ..ChainData::default()
    };
    let tree = chain_of(&of_finding(1), &data);
    let missing: Vec<&str> = nodes(&tree)
        .into_iter()
        .filter(|node| node.is_missing)
        .map(|node| node.label.as_str())
        .collect();
    assert_eq!(missing, ["api.shop.test, which is no target"]);
    let shown = objects(&tree).join("\n");
    assert!(shown.contains("derived: target mail.test"), "{shown}");
    assert!(
        !shown.contains("xapi"),
        "similar names are no link: {shown}"
    );
}

#[test]
fn key_connects_services_only_if_two_have_it() {
    let mut all: Vec<LinkedFinding> = [(1, "a.test"), (2, "b.test"), (3, "c.test")]
        .map(|(number, target)| finding(number, target, 22))
        .into();
    all[0].traces.keys = BTreeSet::from(["ssh:one".into(), "ssh:two".into()]);
    all[1].traces.keys = BTreeSet::from(["ssh:two".into()]);
    let data = ChainData {
        findings: all,
        targets: ["a.test", "b.test", "c.test"].map(Shared::from).into(),
        ..ChainData::default()
    };
    let tree = chain_of(&service("a.test", 22), &data);
    let expected = [
        "service a.test:22",
        "├─ seen: target a.test",
        "└─ derived: key ssh:two",
        "   └─ derived: service b.test:22",
        "      └─ seen: target b.test",
    ];
    assert_eq!(objects(&tree), expected);
}

#[test]
fn secret_connects_findings_only_if_two_have_it() {
    let mut all: Vec<LinkedFinding> = [(1, "a.test"), (2, "b.test"), (3, "c.test")]
        .map(|(number, target)| finding(number, target, 443))
        .into();
    all[0].traces.secrets = BTreeSet::from(["secret:01".into(), "secret:02".into()]);
    all[1].traces.secrets = BTreeSet::from(["secret:02".into()]);
    all[2].traces.secrets = BTreeSet::from(["secret:03".into()]);
    let data = ChainData {
        findings: all,
        targets: ["a.test", "b.test", "c.test"].map(Shared::from).into(),
        ..ChainData::default()
    };
    let tree = chain_of(&of_finding(1), &data);
    let expected = [
        "finding #1 weakness 1",
        "├─ seen: service a.test:443",
        "│  └─ seen: target a.test",
        "└─ derived: secret #02",
        "   └─ derived: finding #2 weakness 2",
        "      └─ seen: service b.test:443",
        "         └─ seen: target b.test",
    ];
    assert_eq!(objects(&tree), expected);
    let facts = "the evidence of finding #1 has its digest; \
                 the evidence of finding #2 has its digest";
    let printed: Vec<String> = lines(&tree).iter().map(ChainLine::printed).collect();
    assert!(
        printed.iter().any(|line| line.ends_with(facts)),
        "{printed:#?}"
    );
}

#[test]
fn address_in_evidence_leads_to_the_service_of_another_target() {
    let mut of = finding(1, "https://shop.test/", 0);
    let addresses = ["shop.test:8443", "admin.test:8080", "other.test:80"];
    of.traces.services = addresses
        .map(|one| one.parse::<ServiceAddress>().unwrap())
        .into();
    let data = ChainData {
        findings: vec![of, finding(2, "admin.test", 8080)],
        targets: ["https://shop.test/", "admin.test"]
            .map(Shared::from)
            .into(),
        ..ChainData::default()
    };
    let tree = chain_of(&of_finding(1), &data);
    let expected = [
        "finding #1 weakness 1",
        "├─ seen: service shop.test:443",
        "│  └─ seen: target https://shop.test/",
        "└─ derived: service admin.test:8080",
        "   └─ seen: target admin.test",
    ];
    assert_eq!(objects(&tree), expected);
}

#[test]
fn wide_trees_count_the_links_that_they_leave_out() {
    let data = ChainData {
        payloads: vec![payload(7, None, "")],
        captured: (1..=25).map(|id| captured(7, id)).collect(),
        ..ChainData::default()
    };
    let tree = chain_of(&ChainObject::Payload(Token::of(7)), &data);
    assert_eq!((tree.root.children.len(), tree.root.left_out), (10, 15));
    let last = lines(&tree).pop().unwrap();
    assert_eq!(last.printed(), "└─ 15 more links not shown");
}

#[test]
fn link_of_a_person_has_its_author_and_reason() {
    let data = ChainData {
        findings: vec![finding(1, "shop.test", 443), finding(2, "db.test", 5432)],
        targets: ["shop.test", "db.test"].map(Shared::from).into(),
        manual: vec![RecordedLink {
            from: of_finding(1),
            to: of_finding(2),
            reason: "the password in the file opens the database".into(),
            who: "anna".into(),
            at: Stamp::parse("2026-11-20 14:06:00").unwrap(),
        }],
        ..ChainData::default()
    };
    let tree = chain_of(&of_finding(1), &data);
    let printed: Vec<String> = lines(&tree).iter().map(ChainLine::printed).collect();
    let fact = "anna added the link, 2026-11-20 14:06:00; \
                because the password in the file opens the database";
    assert!(
        printed.iter().any(|line| line.ends_with(fact)),
        "{printed:#?}"
    );
    let other = objects(&chain_of(&of_finding(2), &data)).join("\n");
    assert!(other.contains("said: finding #1 weakness 1"), "{other}");
}

#[test]
fn findings_of_one_service_are_not_chained_to_each_other() {
    let data = ChainData {
        findings: vec![finding(1, "shop.test", 443), finding(2, "shop.test", 443)],
        targets: vec!["shop.test".into()],
        ..ChainData::default()
    };
    let roots = [of_finding(1), of_finding(2)];
    let tree = ChainLinks::of(&data, &roots).tree(&roots[0]);
    let expected = [
        "finding #1 weakness 1",
        "└─ seen: service shop.test:443",
        "   └─ seen: target shop.test",
    ];
    assert_eq!(objects(&tree), expected);
    assert!(!tree.leads_further());
}

#[test]
fn unknown_object_is_a_tree_of_itself() {
    let tree = chain_of(&of_finding(1), &ChainData::default());
    assert_eq!(nodes(&tree).len(), 1);
    assert_eq!(tree.json()["links"], serde_json::json!([]));
}

fn any_finding() -> impl Strategy<Value = LinkedFinding> {
    let hosts = || select(vec!["a.test", "b.test", "c.test"]);
    let targets = select(vec!["a.test", "b.test", "https://c.test/", ""]);
    let keys = subsequence(vec!["ssh:one", "sha1:two"], 0..=2);
    let names = proptest::collection::btree_set(hosts(), 0..3);
    let services = proptest::collection::btree_set((hosts(), 442_u16..445), 0..3);
    let secrets = subsequence(vec!["secret:01", "secret:02"], 0..=2);
    (
        0..12_i64,
        targets,
        442..445_i64,
        (keys, secrets),
        names,
        services,
    )
        .prop_map(|(number, target, port, (keys, secrets), names, services)| {
            let mut of = finding(number, target, port);
            of.traces.keys = keys.into_iter().map(Shared::from).collect();
            of.traces.secrets = secrets.into_iter().map(Shared::from).collect();
            of.traces.names = names.into_iter().map(Shared::from).collect();
            let addresses = services.into_iter().map(|(host, port)| ServiceAddress {
                host: host.into(),
                port,
            });
            of.traces.services = addresses.collect();
            of
        })
}

fn any_data() -> impl Strategy<Value = ChainData> {
    let payloads = (0..6_u64, proptest::option::of(0..12_i64));
    let hits = (0..6_u64, 0..20_i64);
    (
        proptest::collection::vec(any_finding(), 0..20),
        subsequence(vec!["a.test", "b.test", "https://c.test/"], 0..=3),
        proptest::collection::vec(payloads, 0..6),
        proptest::collection::vec(hits, 0..30),
    )
        .prop_map(|(findings, targets, payloads, hits)| ChainData {
            findings,
            targets: targets.into_iter().map(Shared::from).collect(),
            payloads: payloads
                .into_iter()
                .map(|(token, of)| payload(token, of, "a.test"))
                .collect(),
            captured: hits
                .into_iter()
                .map(|(token, id)| captured(token, id))
                .collect(),
            manual: Vec::new(),
        })
}

fn any_root() -> impl Strategy<Value = ChainObject> {
    prop_oneof![
        (0..12_i64).prop_map(of_finding),
        (0..6_u64).prop_map(|token| ChainObject::Payload(Token::of(token))),
        Just(service("a.test", 443)),
        Just(ChainObject::Target("b.test".into())),
        Just(ChainObject::Key("ssh:one".into())),
    ]
}

proptest! {
    #[test]
    fn every_link_has_two_facts_and_no_object_is_shown_twice(data in any_data(), root in any_root()) {
        let tree = chain_of(&root, &data);
        let all = nodes(&tree);
        let distinct: BTreeSet<&ChainObject> = all.iter().map(|node| &node.object).collect();
        prop_assert_eq!(distinct.len(), all.len());
        prop_assert!(all.len() <= 200);
        for node in &all[1..] {
            let facts = &node.link.as_ref().unwrap().facts;
            prop_assert!(facts.iter().all(|fact| !fact.is_empty()), "{:?}", node);
            prop_assert_ne!(&facts[0], &facts[1]);
        }
    }

    #[test]
    fn data_in_any_order_gives_the_same_tree(data in any_data(), root in any_root()) {
        let mut reversed = data.clone();
        reversed.findings.reverse();
        reversed.targets.reverse();
        reversed.payloads.reverse();
        reversed.captured.reverse();
        reversed.captured.extend(data.captured.first().copied());
        prop_assert_eq!(chain_of(&root, &data), chain_of(&root, &reversed));
    }

    #[test]
    fn names_of_objects_round_trip(root in any_root()) {
        prop_assert_eq!(root.to_string().parse(), Ok(root));
    }
}
