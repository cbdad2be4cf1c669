//! Imports in the store: hidden until they end, undone after an interruption.

use super::super::DatabaseError;
use super::super::deletion::DeletedNoun;
use super::super::findings::FindingFilter;
use super::super::scans::ScanFilter;
use super::super::targets::Deletion;
use super::super::testing::{add_target, open};
use super::super::versions::ListNoun;
use super::*;
use scandeck_wire::contract::import::{ImportOrigin, ImportedScan, TestedClasses};
use scandeck_wire::contract::{Finding, Risk, TargetId, TargetType, Tool};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;
const WORKSPACE: WorkspaceId = WorkspaceId(1);

/// Adds an import with a file of one part, and claims it.
async fn claim(store: &Store, digest: &str) -> QueuedImport {
    let new = ImportToAdd {
        workspace: WORKSPACE,
        file_name: "a.jsonl",
        digest,
        target_name: "",
        format: "",
        is_complete: false,
        imported_by: "anna",
    };
    let AddedImport::New(id) = store.add_import(&new, NOW).await.unwrap() else {
        panic!("not added");
    };
    assert!(store.import(id).await.unwrap().is_none(), "incomplete");
    store.add_import_part(id, 0, b"part").await.unwrap();
    assert!(store.queue_import(id).await.unwrap());
    let claimed = store.claim_import().await.unwrap().unwrap();
    assert_eq!(claimed.id, id);
    claimed
}

fn scan(target: &str) -> ScanToImport {
    ScanToImport {
        target: target.to_owned(),
        kind: TargetType::Hostname,
        tool: Tool(10_002),
        started: NOW,
        ended: NOW,
        origin: ImportOrigin::default(),
        by_risk: [0, 0, 0, 1, 0],
    }
}

fn findings(scan: &ImportedScan) -> FindingsToStore {
    findings_at(scan, "/")
}

fn findings_at(scan: &ImportedScan, place: &str) -> FindingsToStore {
    let finding = Finding {
        vuln_id: "nuclei:a".into(),
        risk_level: Risk::High,
        ..Finding::default()
    };
    FindingsToStore {
        scan: scan.id,
        target: scan.target_id,
        findings: vec![UnscannedFinding::of(&finding, place).unwrap()],
    }
}

/// Stores the hidden scans of an import with a finding each.
async fn add_scans(store: &Store, import: &QueuedImport, targets: &[&str]) -> Vec<ImportedScan> {
    let scans: Vec<ScanToImport> = targets.iter().map(|target| scan(target)).collect();
    let added = store.add_imported_scans(import, &scans, 10, NOW).await;
    let added = added.unwrap().unwrap();
    let all: Vec<FindingsToStore> = added.iter().map(findings).collect();
    let stored = store.add_imported_findings(import, added.len(), all);
    assert!(stored.await.unwrap());
    added
}

async fn show(store: &Store, import: &QueuedImport, scans: &[ImportedScan]) -> ImportEnd {
    let files = [ImportedFile {
        scans: scans.to_vec(),
        ..ImportedFile::default()
    }];
    let shown = store.show_import(import, scans.len(), &files, "", NOW);
    shown.await.unwrap()
}

/// The numbers of visible scans, findings and targets.
async fn counts(store: &Store) -> [usize; 3] {
    let filter = ScanFilter {
        limit: 100,
        ..ScanFilter::default()
    };
    let targets: i64 = sql("SELECT count(*) FROM targets")
        .one(store.read())
        .await
        .unwrap();
    let findings = store.finding_ids(&FindingFilter::default()).await.unwrap();
    [
        store.scans(&filter, NOW).await.unwrap().len(),
        findings.len(),
        targets as usize,
    ]
}

#[tokio::test]
async fn scans_of_an_import_appear_together() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let import = claim(&store, "d1").await;
    let scans = add_scans(&store, &import, &["a.test", "b.test"]).await;
    assert_eq!(counts(&store).await, [0, 0, 2]);
    assert!(store.scan(scans[0].id, NOW).await.unwrap().is_none());
    let hidden = store.delete_scan(scans[0].id).await.unwrap();
    assert_eq!(hidden, Deletion::NotFound);
    let workspace = store.workspace(WORKSPACE).await.unwrap().unwrap();
    assert_eq!(workspace.scan_count, 0);
    let versions = async || {
        let mut versions = Vec::new();
        for list in [ListNoun::Scans, ListNoun::Findings, ListNoun::Workspaces] {
            versions.push(store.list_version(list, Some(WORKSPACE)).await.unwrap());
        }
        versions
    };
    let before = versions().await;
    assert_eq!(show(&store, &import, &scans).await, ImportEnd::Shown);
    for (before, after) in before.iter().zip(versions().await) {
        assert_ne!(*before, after);
    }
    assert_eq!(counts(&store).await, [2, 2, 2]);
    let ended = store.import(import.id).await.unwrap().unwrap();
    assert_eq!(ended.state, ImportState::Finished);
    assert_eq!(ended.files[0].scans, scans);
    let summary = store.scan(scans[0].id, NOW).await.unwrap().unwrap();
    assert_eq!(summary.result_summary.high, Some(1));
    assert_eq!(summary.progress, 100);
}

#[tokio::test]
async fn findings_of_several_statements_have_ids_in_their_order() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let import = claim(&store, "d1").await;
    let scans = [scan("a.test"), scan("b.test")];
    let added = store.add_imported_scans(&import, &scans, 10, NOW).await;
    let added = added.unwrap().unwrap();
    let places: Vec<String> = (0..60).map(|number| format!("/{number}")).collect();
    let in_turn = places.iter().zip(added.iter().cycle());
    let batch: Vec<FindingsToStore> = in_turn
        .map(|(place, scan)| findings_at(scan, place))
        .collect();
    let stored = store.add_imported_findings(&import, added.len(), batch);
    assert!(stored.await.unwrap());
    let found: Vec<String> = sql("SELECT place FROM findings ORDER BY id")
        .all(store.read())
        .await
        .unwrap();
    assert_eq!(found, places);
}

#[tokio::test]
async fn interrupted_import_is_undone_and_claimed_again() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    add_target(&store, WORKSPACE, "a.test").await;
    let first = claim(&store, "d1").await;
    add_scans(&store, &first, &["a.test", "b.test"]).await;
    store.close().await;

    let store = open(temp.path()).await;
    store.register(NOW).await.unwrap();
    let again = store.claim_import().await.unwrap().unwrap();
    assert_eq!(again.id, first.id);
    store.undo_import(&again).await.unwrap();
    // The target that was there before remains.
    assert_eq!(counts(&store).await, [0, 0, 1]);
    let scans = add_scans(&store, &again, &["a.test", "b.test"]).await;
    // The interrupted attempt has no effect.
    store.undo_import(&first).await.unwrap();
    assert_eq!(show(&store, &first, &scans).await, ImportEnd::Lost);
    assert_eq!(show(&store, &again, &scans).await, ImportEnd::Shown);
    assert_eq!(counts(&store).await, [2, 2, 2]);
    assert!(store.claim_import().await.unwrap().is_none());
}

#[tokio::test]
async fn same_file_is_known_until_its_scans_are_deleted() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let first = claim(&store, "d1").await;
    let scans = add_scans(&store, &first, &["a.test", "b.test"]).await;
    assert_eq!(show(&store, &first, &scans).await, ImportEnd::Shown);
    let again = claim(&store, "d1").await;
    let known = Some(first.id);
    assert_eq!(store.earlier_import(&again).await.unwrap(), known);
    let ended = store.end_repeated_import(&again, first.id, NOW);
    ended.await.unwrap();
    let shown = store.import(again.id).await.unwrap().unwrap();
    assert_eq!((shown.same_as, shown.state), (known, ImportState::Finished));

    store.delete_scan(scans[0].id).await.unwrap();
    let third = claim(&store, "d1").await;
    assert_eq!(store.earlier_import(&third).await.unwrap(), known);
    assert_eq!(store.import_size(first.id).await.unwrap().0, 1);
    store.delete_scan(scans[1].id).await.unwrap();
    assert_eq!(store.earlier_import(&third).await.unwrap(), None);
    assert_eq!(store.import_size(first.id).await.unwrap().0, 0);
    assert_eq!(store.import_size(third.id).await.unwrap().0, 1);
}

#[tokio::test]
async fn empty_file_is_another_scan_each_time() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let first = claim(&store, EMPTY_FILE).await;
    let scans = add_scans(&store, &first, &["a.test"]).await;
    assert_eq!(show(&store, &first, &scans).await, ImportEnd::Shown);
    let again = claim(&store, EMPTY_FILE).await;
    assert_eq!(store.earlier_import(&again).await.unwrap(), None);
    let scans = add_scans(&store, &again, &["a.test"]).await;
    assert_eq!(show(&store, &again, &scans).await, ImportEnd::Shown);
}

#[tokio::test]
async fn import_fails_when_the_limit_of_targets_is_reached_or_a_target_is_deleted() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let import = claim(&store, "d1").await;
    let two = [scan("a.test"), scan("b.test")];
    let refused = store.add_imported_scans(&import, &two, 1, NOW).await;
    assert_eq!(refused.unwrap(), Err(ImportRefusal::TargetLimit(1)));
    assert_eq!(counts(&store).await, [0, 0, 0]);

    let scans = add_scans(&store, &import, &["a.test", "b.test"]).await;
    let TargetId(deleted) = scans[0].target_id;
    store.delete_target(TargetId(deleted)).await.unwrap();
    assert_eq!(show(&store, &import, &scans).await, ImportEnd::Lost);
    store.undo_import(&import).await.unwrap();
    let failed = store.fail_import(&import, "a target was deleted", &[], NOW);
    failed.await.unwrap();
    assert_eq!(counts(&store).await, [0, 0, 0]);
    store.purge_imports(NOW).await.unwrap();
    assert_eq!(store.import_size(import.id).await.unwrap(), (0, 0));
    let shown = store.import(import.id).await.unwrap().unwrap();
    assert_eq!(shown.state, ImportState::Failed);
}

#[tokio::test]
async fn coverage_of_many_classes_keeps_those_that_the_series_has_found() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let first = claim(&store, "d1").await;
    let scans = add_scans(&store, &first, &["a.test"]).await;
    assert_eq!(show(&store, &first, &scans).await, ImportEnd::Shown);
    let second = claim(&store, "d2").await;
    let mut checks: Vec<_> = (0..2000).map(|n| format!("nuclei:{n:04}").into()).collect();
    checks.push("nuclei:a".into());
    let mut large = scan("a.test");
    large.origin.coverage.push(TestedClasses {
        checks,
        ..TestedClasses::default()
    });
    let added = store.add_imported_scans(&second, &[large], 10, NOW).await;
    let added = added.unwrap().unwrap();
    assert_eq!(show(&store, &second, &added).await, ImportEnd::Shown);
    let shown = store.scan(added[0].id, NOW).await.unwrap().unwrap();
    let origin = ImportOrigin::of(&shown).unwrap();
    assert_eq!(origin.coverage[0].checks, ["nuclei:a"]);
}

#[tokio::test]
async fn deleted_workspace_has_no_imports() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let import = claim(&store, "d1").await;
    let scans = add_scans(&store, &import, &["a.test"]).await;
    assert_eq!(show(&store, &import, &scans).await, ImportEnd::Shown);
    assert!(store.delete_workspace(WORKSPACE).await.unwrap());
    assert!(store.import(import.id).await.unwrap().is_none());
    assert_eq!(store.import_size(import.id).await.unwrap(), (0, 0));
}

#[tokio::test]
async fn import_into_a_workspace_that_is_being_deleted_stores_nothing_and_is_not_claimed() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let import = claim(&store, "d1").await;
    let scans = add_scans(&store, &import, &["a.test"]).await;
    let mut decision = store.change().await.unwrap();
    end_claims(&mut decision, WORKSPACE).await.unwrap();
    let noun = DeletedNoun::Workspace(WORKSPACE);
    let deletion = store.begin_deletion(decision, noun).await.unwrap();
    let more = vec![findings_at(&scans[0], "/more")];
    let stored = store.add_imported_findings(&import, 1, more);
    assert!(!stored.await.unwrap());
    assert_eq!(show(&store, &import, &scans).await, ImportEnd::Lost);
    assert!(store.claim_import().await.unwrap().is_none());
    let failed = store.end_deletion(deletion, Err(DatabaseError::PoolClosed));
    assert!(failed.await.is_err());
    let again = store.claim_import().await.unwrap().unwrap();
    assert_eq!(again.id, import.id);
}

#[tokio::test]
async fn import_is_undone_and_claimed_again_after_an_interrupted_deletion_of_its_workspace() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path()).await;
    let import = claim(&store, "d1").await;
    let scans = add_scans(&store, &import, &["a.test"]).await;
    // More than a batch deletes.
    let more: Vec<FindingsToStore> = (0..60)
        .map(|number| findings_at(&scans[0], &format!("/{number}")))
        .collect();
    let stored = store.add_imported_findings(&import, 1, more);
    assert!(stored.await.unwrap());
    store.deletions.interrupt();
    let interrupted = store.delete_workspace(WORKSPACE).await;
    assert!(interrupted.is_err(), "after its first batch");
    let again = store.claim_import().await.unwrap().unwrap();
    assert_eq!(again.id, import.id);
    store.undo_import(&again).await.unwrap();
    let hidden: i64 = sql("SELECT count(*) FROM scans")
        .one(store.read())
        .await
        .unwrap();
    assert_eq!(hidden, 0);
}
