//! Data of a later version: refused with both numbers, and untouched.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use super::{Home, fixture};

/// A schema that no version has.
const LATER: u32 = 9000;

/// Writes the later schema into the header of a SQLite file.
fn make_newer(file: &Path) -> Vec<u8> {
    let mut bytes = fs::read(file).unwrap();
    bytes[60..64].copy_from_slice(&LATER.to_be_bytes());
    fs::write(file, &bytes).unwrap();
    bytes
}

fn store(home: &Home, name: &str) -> PathBuf {
    home.path()
        .join("state/scandeck/of/profile-practice")
        .join(name)
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_decisions_and_captures_are_refused_untouched_and_named_by_doctor() {
    for (name, arguments) in [
        ("decisions.db", ["triage", "export"]),
        ("captures.db", ["captures", "list"]),
    ] {
        let home = Home::with_fixture();
        let file = store(&home, name);
        let before = make_newer(&file);
        let ended = home.run(&arguments).await;
        ended.refused(1, "schema 9000, supported ");
        let doctor = home.run(&["doctor"]).await;
        assert_eq!(doctor.code, 1, "{doctor:?}");
        let line = format!(
            "{} has schema 9000, this version reads up to ",
            file.display()
        );
        assert!(doctor.out.contains(&line), "{doctor:?}");
        assert_eq!(fs::read(&file).unwrap(), before, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_database_of_the_service_is_refused_untouched_and_named_by_doctor() {
    let home = Home::with_fixture();
    let (directory, file) = (home.service_dir(), home.service_dir().join("scandeck.db"));
    let before = make_newer(&file);
    let directory = directory.to_str().unwrap();
    let ended = home
        .run(&[
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--logger-listen",
            "127.0.0.1:0",
            "--data-dir",
            directory,
        ])
        .await;
    ended.refused(1, "has schema 9000, this version supports up to ");
    let doctor = home.run(&["doctor", "--data-dir", directory]).await;
    assert_eq!(doctor.code, 1, "{doctor:?}");
    let line = "scandeck.db has schema 9000, this version reads up to ";
    assert!(doctor.out.contains(line), "{doctor:?}");
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_bundle_is_refused_with_both_numbers() {
    let home = Home::empty();
    let text = fs::read_to_string(fixture("practice.bundle")).unwrap();
    let newer = text.replacen("\"version\":2", "\"version\":9000", 1);
    assert_ne!(newer, text);
    let file = home.path().join("later.bundle");
    fs::write(&file, newer).unwrap();
    let ended = home.run(&["unbundle", file.to_str().unwrap()]).await;
    ended.refused(
        1,
        "bundle version 9000 needs a newer scandeck; this one reads up to 2",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_case_is_refused_with_both_numbers() {
    let home = Home::empty();
    let file = home.path().join("later.case");
    fs::write(&file, later_case()).unwrap();
    let ended = home.run(&["case", "show", file.to_str().unwrap()]).await;
    ended.refused(
        1,
        "case format 9000 needs a newer scandeck; this one reads up to 2",
    );
}

/// A case with a kind of entry that this version does not know.
fn later_case() -> Vec<u8> {
    let line = r#"{"digest":"","entry":{"kind":"later","data":{"format":9000}}}"#;
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in [("timeline.jsonl", line), ("index.html", "")] {
        archive
            .start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}
