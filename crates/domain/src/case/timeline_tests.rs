//! The entries of a case: what each says, and what the mask leaves of it.

use serde_json::json;

use super::{
    CaseEntryKind, CaseMaker, CaseReport, CaseReports, FileDigest, MissingReports, case_events,
    page, seal, verify,
};
use crate::oob::{ArchivedCapture, Payload, Token};
use crate::triage::testing::Replica;
use crate::triage::{Bundle, Change, Identity, Manifest, Subject};
use scandeck_wire::contract::{
    Capture, Report, ReportFormat, ReportId, ReportStatus, Shared, Stamp,
};
use std::sync::Arc;

fn made() -> Stamp {
    Stamp::parse("2026-11-29 12:00:00").unwrap()
}

fn bundle() -> Bundle {
    let (alias, service) = (Shared::default(), "local".into());
    let maker = ("ann".into(), made());
    Bundle::new(Manifest::new("Acme external".into(), alias, service, maker))
}

fn masking(is_masked: bool) -> CaseMaker {
    CaseMaker {
        is_masked,
        ..CaseMaker::default()
    }
}

/// A finished report with the file `abc`.
fn finished() -> CaseReport {
    let mut digest = FileDigest::default();
    digest.add(b"a");
    digest.add(b"bc");
    CaseReport {
        report: Report {
            id: ReportId(7),
            download_name: "scandeck-acme-external-7.pdf".into(),
            status: ReportStatus::Finished,
            format: ReportFormat::Pdf,
            ..Report::default()
        },
        file: Some(digest.finish()),
    }
}

#[test]
fn decision_names_its_finding() {
    let identity = Identity {
        name: "Weak key".into(),
        asset: "shop.test".into(),
        ..Identity::default()
    };
    let mut ann = Replica::new("ann", 1);
    let note = Change::Note("seen by hand".into());
    let about = ann.does(Subject::Finding(identity), note);
    let baseline = ann.does(Subject::Workspace, Change::Baseline(None));
    for (event, text) in [
        (about, "Weak key on shop.test: note"),
        (baseline, "baseline"),
    ] {
        let decided = Bundle {
            events: vec![event],
            ..bundle()
        };
        let events = case_events(&decided, &CaseReports::default(), &masking(false));
        assert_eq!(events[1].text, text);
    }
}

#[test]
fn report_has_the_digest_of_its_file_and_under_the_mask_no_name() {
    let reports = CaseReports {
        reports: vec![finished()],
        missing: None,
    };
    for is_masked in [false, true] {
        let events = case_events(&bundle(), &reports, &masking(is_masked));
        let event = &events[1];
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let file = json!({"bytes": 3, "sha256": sha256});
        assert_eq!(event.data["file"], file);
        let end = " as pdf: finished, 3 bytes";
        assert!(event.text.ends_with(end), "{event:?}");
        let all = format!("{} {}", event.text, event.data).to_lowercase();
        assert_eq!(all.contains("acme"), !is_masked, "{all}");
    }
}

#[test]
fn report_is_a_sealed_entry_and_a_row_of_the_page() {
    let waiting = CaseReport {
        report: Report::default(),
        file: None,
    };
    let reports = CaseReports {
        reports: vec![finished(), waiting],
        missing: None,
    };
    let events = case_events(&bundle(), &reports, &masking(false));
    let sealed = seal("case", events, made()).unwrap();
    let case = verify(&sealed.file).unwrap();
    let entries = case.entries.iter();
    let of_reports = entries.filter(|one| one.kind == CaseEntryKind::Report);
    let lacks_file: Vec<bool> = of_reports.map(|one| one.data["file"].is_null()).collect();
    assert_eq!(lacks_file, [false, true]);
    let page = page::html("case", &case.entries, &case.seal);
    assert_eq!(page.matches("<td>report</td>").count(), 2, "{page}");
}

#[test]
fn first_entry_says_which_reports_are_missing() {
    let reports = CaseReports::without(MissingReports::WorkspaceUnknown(2));
    let events = case_events(&bundle(), &reports, &masking(false));
    let missing = "2 reports: the service does not name their workspace";
    assert!(events[0].text.ends_with(&format!(", without {missing}")));
    assert_eq!(events[0].data["missing_reports"], missing);
    let whole = case_events(&bundle(), &CaseReports::default(), &masking(false));
    assert!(whole[0].data["missing_reports"].is_null());
}

#[test]
fn mask_replaces_the_secrets_of_loggers_and_payloads() {
    let token: Token = "zzgorljsfevn".parse().unwrap();
    let payload = |url: &str| {
        Arc::new(Payload {
            token,
            url: url.into(),
            ..Payload::default()
        })
    };
    let archived = ArchivedCapture {
        workspace: "Acme external".into(),
        handler_url: "http://127.0.0.1:8766/l/s3cretofthird/".into(),
        capture: Arc::new(Capture {
            path: Some("/l/s3cretofthird/".into()),
            url_params: "t=zzgorljsfevn".into(),
            ..Capture::default()
        }),
        ..ArchivedCapture::default()
    };
    let recorded = Bundle {
        payloads: vec![
            payload("http://127.0.0.1:8766/l/s3cretoffirst/?t=zzgorljsfevn"),
            payload("http://127.0.0.1:8766/l/s3cretofsecond/zzgorljsfevn"),
            payload("http://oob.test"),
        ],
        captures: vec![archived],
        ..bundle()
    };
    for is_masked in [false, true] {
        let events = case_events(&recorded, &CaseReports::default(), &masking(is_masked));
        let of_each = events.iter();
        let shown: String = of_each
            .map(|event| format!("{} {}\n", event.text, event.data))
            .collect();
        for secret in [
            "zzgorljsfevn",
            "s3cretoffirst",
            "s3cretofsecond",
            "s3cretofthird",
            "oob.test",
        ] {
            assert_eq!(shown.contains(secret), !is_masked, "{secret}: {shown}");
        }
    }
}
