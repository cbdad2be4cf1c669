//! Links, and the likenesses that make none.

use std::sync::Arc;

use super::*;

fn target(id: i64, name: &str) -> ChainTarget {
    ChainTarget {
        id: TargetId(id),
        name: name.into(),
    }
}

fn finding(key: u128, target: i64, text: &str) -> ChainFinding {
    ChainFinding {
        key: FindingKey(key),
        target: Some(TargetId(target)),
        texts: vec![text.into()],
    }
}

fn certificate(target: i64, serial: &str, names: &[&str]) -> ChainCertificate {
    ChainCertificate {
        target: TargetId(target),
        port: 443,
        issuer: "CN=Test".into(),
        serial: serial.into(),
        names: names.iter().map(|name| (*name).into()).collect(),
    }
}

fn ends(sources: &ChainSources) -> Vec<(ChainEnd, ChainEnd, LinkCertainty)> {
    links(sources)
        .into_iter()
        .map(|link| (link.from, link.to, link.certainty))
        .collect()
}

#[test]
fn token_links_capture_payload_and_finding() {
    let token = Token::of(77);
    let payload = Payload {
        token,
        finding: Some(FindingKey(5)),
        parameter: "url".into(),
        ..Payload::default()
    };
    let sources = ChainSources {
        payloads: vec![Arc::new(payload)],
        captures: vec![ChainCapture {
            logger: LoggerId(1),
            id: CaptureId(9),
            tokens: vec![token, Token::of(1)],
        }],
        findings: vec![finding(6, 1, &format!("seen in the log: /l/abc?t={token}"))],
        ..ChainSources::default()
    };
    let of_payload = ChainEnd::Payload(token);
    assert_eq!(
        ends(&sources),
        [
            (
                ChainEnd::Capture(LoggerId(1), CaptureId(9)),
                of_payload.clone(),
                LinkCertainty::Seen
            ),
            (
                of_payload.clone(),
                ChainEnd::Finding(FindingKey(5)),
                LinkCertainty::Said
            ),
            (
                of_payload,
                ChainEnd::Finding(FindingKey(6)),
                LinkCertainty::Seen
            ),
        ]
    );
}

#[test]
fn address_in_evidence_needs_host_and_port_of_another_target() {
    let with_text = |text: &str| ChainSources {
        targets: vec![target(1, "shop.test"), target(2, "api.test")],
        ports: [(TargetId(1), 443), (TargetId(2), 8443)].into(),
        findings: vec![finding(5, 1, text)],
        ..ChainSources::default()
    };
    let to_api = (
        ChainEnd::Finding(FindingKey(5)),
        ChainEnd::Service(TargetId(2), 8443),
        LinkCertainty::Derived,
    );
    let text = "url: \"https://API.test:8443/v1\", other";
    assert_eq!(ends(&with_text(text)), [to_api]);
    for text in [
        "https://api.test/v1",
        "https://shop.test/",
        "https://api.test.example:8443/",
        "api.test:8443",
    ] {
        assert_eq!(ends(&with_text(text)), [], "{text}");
    }
}

#[test]
fn certificates_are_the_same_by_issuer_and_serial_number() {
    let sources = ChainSources {
        targets: vec![target(1, "https://shop.test/"), target(2, "api.test")],
        certificates: vec![
            certificate(1, "01:02", &["shop.test", "*.shop.test", "new.shop.test"]),
            certificate(2, "01:02", &["api.test"]),
            certificate(2, "03", &[]),
            certificate(1, "", &["blank.test"]),
        ],
        ..ChainSources::default()
    };
    let service = |id: i64| ChainEnd::Service(TargetId(id), 443);
    assert_eq!(
        ends(&sources),
        [
            (service(1), service(2), LinkCertainty::Derived),
            (
                service(1),
                ChainEnd::Host("new.shop.test".into()),
                LinkCertainty::Derived
            ),
        ]
    );
}

#[test]
fn hosts_of_targets_and_texts_are_read_in_one_form() {
    assert_eq!(host_of("Shop.Test."), Some(("shop.test".into(), None)));
    assert_eq!(
        host_of("shop.test:8080"),
        Some(("shop.test".into(), Some(8080)))
    );
    assert_eq!(
        host_of("https://shop.test/a"),
        Some(("shop.test".into(), Some(443)))
    );
    assert_eq!(
        addresses("GET http://[::1]:81/x and (https://a.test)"),
        [("[::1]".to_owned(), 81), ("a.test".to_owned(), 443)]
    );
}
