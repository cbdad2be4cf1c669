//! `:import`: completion of the path, the form with the contents of the file, and the result.

use crate::base::{FileToImport, FolderNames, ImportPreview};
use crate::core::commands::tests::*;
use crate::forms::FieldId;
use scandeck_import::{FilePreview, SkippedEntries};
use scandeck_wire::contract::ImportId;
use scandeck_wire::contract::import::{
    FileImport, ImportedFile, ImportedScan, NewImport, SkippedResults,
};

const PATH: &str = "results/nuclei.jsonl";

fn preview() -> ImportPreview {
    let skipped = SkippedEntries {
        reason: "not a result".to_owned(),
        count: 1,
    };
    let file = FilePreview {
        file: PATH.to_owned(),
        format: Some("nuclei".to_owned()),
        tool: Some("nuclei".to_owned()),
        version: Some("3.3".to_owned()),
        targets: vec!["https://shop.test".to_owned()],
        findings: 2,
        by_risk: [("critical", 1), ("info", 1)].into(),
        skipped: vec![skipped],
        error: None,
    };
    ImportPreview {
        path: PATH.into(),
        length: 90,
        files: vec![file],
    }
}

fn read(app: &mut TestDashboard, result: Result<ImportPreview, Problem>) {
    app.send(Msg::ImportRead {
        path: PATH.to_owned(),
        result: Box::new(result),
    });
}

fn field(app: &TestDashboard, id: FieldId) -> String {
    app.form().field(id).unwrap().text()
}

#[test]
fn result_file_is_shown_before_it_is_sent() {
    let mut app = app();
    let effects = run(&mut app, &format!("import {PATH}"));
    let reading = Effect::ReadImport(PATH.to_owned());
    assert!(effects.contains(&reading), "{effects:?}");
    read(&mut app, Ok(preview()));
    assert_eq!(app.form().title, "Import nuclei.jsonl into Acme");
    assert_eq!(app.form().button, "Import 2 findings");
    for (id, text) in [
        (FieldId::ResultTool, "nuclei 3.3"),
        (FieldId::ResultTargets, "https://shop.test"),
        (FieldId::ResultFindings, "2: 1 critical, 1 info"),
        (FieldId::SkippedResults, "1 result: not a result"),
    ] {
        assert_eq!(field(&app, id), text);
    }
    let frame = app.frame().join("\n");
    assert!(frame.contains("2: 1 critical, 1 info"), "{frame}");

    let sent = app.calls("'shop.test' tab right ctrl-o");
    let expected = FileToImport {
        path: PATH.into(),
        length: 90,
        new: NewImport {
            workspace_id: Some(WorkspaceId(1)),
            target_name: Some("shop.test".to_owned()),
            format: None,
            file_name: Some("nuclei.jsonl".to_owned()),
            complete: Some(true),
        },
    };
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].1, Call::ImportFile(Box::new(expected)));
    let scan = ImportedScan {
        id: ScanId(9),
        findings: 2,
        ..ImportedScan::default()
    };
    let skipped = SkippedResults {
        reason: "not a result".into(),
        count: 1,
    };
    let file = ImportedFile {
        scans: vec![scan],
        skipped: vec![skipped],
        ..ImportedFile::default()
    };
    let import = FileImport {
        files: vec![file],
        ..FileImport::default()
    };
    app.answer(&sent, |_| {
        Ok(CallAnswer::Imported(Box::new(import.clone())))
    });
    assert!(app.model.overlay.modals.is_empty());
    let notices = app.notices();
    assert!(
        notices.contains("nuclei.jsonl imported: 1 scan with 2 findings, 1 result skipped"),
        "{notices}"
    );
}

#[test]
fn seconds_are_counted_while_a_file_is_read_and_sent() {
    let mut app = app();
    let shows = |app: &mut TestDashboard, words: &str| {
        let wake = app.model.wake_at().unwrap();
        assert!(wake <= app.at + Duration::from_secs(1), "{words}");
        app.at += Duration::from_secs(12);
        app.send(Msg::Wake);
        let wake = app.model.wake_at().unwrap();
        assert!(wake <= app.at + Duration::from_secs(1), "{words}");
        let frame = app.frame().join("\n");
        assert!(frame.contains(words), "{frame}");
    };
    run(&mut app, &format!("import {PATH}"));
    shows(&mut app, "reading results/nuclei.jsonl: 12s");
    read(&mut app, Ok(preview()));
    assert!(!app.frame().join("\n").contains("reading results"));
    app.calls("ctrl-o");
    shows(&mut app, "import nuclei.jsonl: waiting 12s");
}

#[test]
fn repeated_file_says_so_and_refused_file_remains_in_the_form() {
    let mut app = app();
    read(&mut app, Ok(preview()));
    let sent = app.calls("ctrl-o");
    app.answer(&sent, |_| Err(Problem::local("the file is damaged")));
    assert!(app.form().problem.is_some() && !app.form().sending);
    let sent = app.calls("ctrl-o");
    let import = FileImport {
        same_as: Some(ImportId(3)),
        ..FileImport::default()
    };
    app.answer(&sent, |_| {
        Ok(CallAnswer::Imported(Box::new(import.clone())))
    });
    let notices = app.notices();
    assert!(notices.contains("was imported before"), "{notices}");
}

#[test]
fn unknown_file_opens_no_form_and_nameless_one_needs_a_target() {
    let mut app = app();
    read(&mut app, Err(Problem::local("no such file")));
    let mut unknown = preview();
    unknown.files = vec![FilePreview::failed(PATH, "not recognised".to_owned())];
    read(&mut app, Ok(unknown));
    assert!(app.model.overlay.modals.is_empty());
    let notices = app.notices();
    assert!(
        notices.contains("no such file") && notices.contains("not recognised"),
        "{notices}"
    );
    let mut nameless = preview();
    nameless.files[0].targets.clear();
    read(&mut app, Ok(nameless));
    assert_eq!(app.calls("ctrl-o").len(), 0);
    let error = app.form().field(FieldId::TargetName).unwrap().error.clone();
    assert!(error.is_some_and(|error| error.contains("names no target")));
    assert_eq!(app.calls("'shop.test' ctrl-o").len(), 1);
}

#[test]
fn path_is_completed_from_listed_folders() {
    let mut app = app();
    let listed = |folder: &str, names: &[&str]| {
        Msg::FolderListed(FolderNames {
            folder: folder.to_owned(),
            names: Some(names.iter().map(|name| (*name).to_owned()).collect()),
        })
    };
    let effects = app.keys(": 'import res'");
    let requested =
        |effects: &[Effect], folder: &str| effects.contains(&Effect::ListFolder(folder.to_owned()));
    assert!(requested(&effects, ""), "{effects:?}");
    app.send(listed("", &[".rest", "notes.md", "results/"]));
    assert_eq!(offered(&app), ["results/"]);
    let effects = app.keys("tab");
    assert!(requested(&effects, "results/"), "{effects:?}");
    assert_eq!(line(&app).input.text(), "import results/");
    app.send(listed("", &["late.json"]));
    assert!(offered(&app).is_empty());
    app.send(listed("results/", &["nuclei.jsonl", "zap.xml"]));
    assert_eq!(offered(&app), ["nuclei.jsonl", "zap.xml"]);
    app.keys("'nuc' tab");
    assert_eq!(line(&app).input.text(), format!("import {PATH}"));
    app.keys("esc");
    assert_eq!(app.model.overlay.folder, None);
}

#[test]
fn read_only_session_imports_nothing() {
    let mut app = app();
    app.model.session.read_only = true;
    let effects = app.keys(&format!(": 'import {PATH}' enter"));
    let is_reading = |effect: &Effect| matches!(effect, Effect::ReadImport(_));
    assert!(!effects.iter().any(is_reading), "{effects:?}");
}
