//! The cached lists: what is written, read and deleted.

use crate::runtime::cached_lists::*;
use scandeck_wire::contract::{Evidence, Finding, FindingId, Scan};
use std::os::unix::fs::PermissionsExt;

fn stamp() -> Stamp {
    Stamp::parse("2026-11-21 12:00:00").unwrap()
}

fn workspaces(all: &[(i64, &str)]) -> Snapshot {
    let one = |&(id, name): &(i64, &str)| Workspace {
        id: WorkspaceId(id),
        name: name.into(),
        ..Workspace::default()
    };
    Snapshot::Workspaces(Arc::new(Table::new(all.iter().map(one))))
}

fn findings() -> Vec<Finding> {
    let evidence: Evidence =
        serde_json::from_str("{\"type\": \"text\",\n \"data\": \"GET /\\u0007\"}").unwrap();
    let one = |id| Finding {
        id: FindingId(id),
        name: "Private key".into(),
        vuln_evidence: evidence.clone(),
        cvss: Some(7.5),
        ..Finding::default()
    };
    vec![one(1), one(2)]
}

/// Two workspaces with cached findings.
fn cached_lists() -> (tempfile::TempDir, CachedLists) {
    let temp = tempfile::tempdir().unwrap();
    let files = CachedLists::new(temp.path().join("last-known-x"));
    files
        .write(None, &workspaces(&[(1, "Acme"), (2, "Lab")]), stamp())
        .unwrap();
    for id in [1, 2] {
        let list = Snapshot::Findings(Arc::new(Table::new(findings())));
        files.write(Some(WorkspaceId(id)), &list, stamp()).unwrap();
    }
    (temp, files)
}

const FINDINGS: ListFile = (Some(WorkspaceId(1)), ListKind::Findings);

#[test]
fn list_is_read_as_written_with_time_and_shared_texts() {
    let (_temp, files) = cached_lists();
    let Some((Snapshot::Findings(read), at)) = files.read(FINDINGS) else {
        panic!("nothing was stored")
    };
    assert_eq!(
        read.items()
            .iter()
            .map(|item| item.whole().unwrap())
            .collect::<Vec<_>>(),
        findings()
    );
    assert!(read.items()[0].name.same(&read.items()[1].name));
    assert_eq!(at, stamp());
    let later = Stamp::parse("2026-11-21 13:00:00").unwrap();
    files.confirm(FINDINGS, later).unwrap();
    assert_eq!(files.read(FINDINGS).unwrap().1, later);
}

#[test]
fn current_workspace_is_stored() {
    let (_temp, files) = cached_lists();
    assert_eq!(files.worked_in(), None);
    files.work_in(WorkspaceId(2)).unwrap();
    assert_eq!(files.worked_in(), Some(WorkspaceId(2)));
}

#[test]
fn files_and_directories_are_private() {
    let (_temp, files) = cached_lists();
    files.work_in(WorkspaceId(1)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(&files.directory), mode(&files.of(WorkspaceId(1)))),
        (0o700, 0o700)
    );
    for path in [
        files.file(FINDINGS),
        files.file((None, ListKind::Workspaces)),
        files.directory.join("worked-in"),
    ] {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn damaged_file_counts_as_missing() {
    let (_temp, files) = cached_lists();
    let path = files.file(FINDINGS);
    let whole = fs::read(&path).unwrap();
    let longer = [&whole, &b"{}"[..]].concat();
    let damages: [&[u8]; 6] = [
        &whole[..whole.len() / 2],
        b"",
        b"3",
        b"{}",
        b"\xff\xfe",
        &longer,
    ];
    for damaged in damages {
        fs::write(&path, damaged).unwrap();
        assert!(
            files.read(FINDINGS).is_none(),
            "{}",
            String::from_utf8_lossy(damaged)
        );
    }
    assert!(
        files
            .read((Some(WorkspaceId(7)), ListKind::Scans))
            .is_none()
    );
}

#[test]
fn secret_parameters_are_not_written() {
    let (_temp, files) = cached_lists();
    let scan: Scan =
        serde_json::from_str(r#"{"id":1,"tool_params":{"authentication":{"pw":"hunter2"}}}"#)
            .unwrap();
    files
        .write(
            Some(WorkspaceId(1)),
            &Snapshot::Scans(Arc::new(Table::new([scan]))),
            stamp(),
        )
        .unwrap();
    let text = fs::read_to_string(files.file((Some(WorkspaceId(1)), ListKind::Scans))).unwrap();
    assert!(
        text.contains("tool_params") && !text.contains("hunter2"),
        "{text}"
    );
}

#[test]
fn deleted_workspace_is_removed_with_next_list() {
    let (_temp, files) = cached_lists();
    files
        .write(None, &workspaces(&[(2, "Lab")]), stamp())
        .unwrap();
    assert!(!files.of(WorkspaceId(1)).exists() && files.of(WorkspaceId(2)).exists());
}

#[test]
fn purge_removes_only_files_of_workspace() {
    for workspace in ["1", "ACME"] {
        let (temp, files) = cached_lists();
        assert!(purge(temp.path(), workspace).unwrap());
        assert!(!files.of(WorkspaceId(1)).exists() && files.of(WorkspaceId(2)).exists());
        let left = fs::read_to_string(files.file((None, ListKind::Workspaces))).unwrap();
        assert!(left.contains("Lab") && !left.contains("Acme"), "{left}");
        assert!(!purge(temp.path(), workspace).unwrap(), "already deleted");
        assert!(!purge(&temp.path().join("none"), workspace).unwrap());
    }
}

#[test]
fn purge_of_last_workspace_removes_directory() {
    let (temp, files) = cached_lists();
    files.work_in(WorkspaceId(1)).unwrap();
    let all = |workspace| about(temp.path(), workspace).unwrap();
    assert_eq!(
        (all("acme"), all("2")),
        (
            vec![CachedWorkspace::Lists("Acme".into())],
            vec![CachedWorkspace::Lists("Lab".into())]
        )
    );
    assert_eq!(
        (all("none"), names(temp.path()).unwrap()),
        (vec![], vec!["Acme".into(), "Lab".into()])
    );
    assert!(purge(temp.path(), "Acme").unwrap());
    assert_eq!((all("acme"), files.worked_in()), (vec![], None));
    assert!(purge(temp.path(), "Lab").unwrap() && !files.directory.exists());
}

#[test]
fn purge_removes_directory_with_unreadable_workspaces() {
    let (temp, files) = cached_lists();
    fs::write(files.file((None, ListKind::Workspaces)), "damaged").unwrap();
    assert_eq!(
        about(temp.path(), "Acme").unwrap(),
        [CachedWorkspace::Perhaps(files.directory.clone())]
    );
    assert!(purge(temp.path(), "Acme").unwrap());
    assert!(!files.directory.exists());
}
