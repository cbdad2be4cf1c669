//! Backup and restore of a data directory.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use reqwest::Method;
use scandeck::service::DataDir;
use scandeck::service::backup::{back_up_dir, restore_dir};
use scandeck::service::keys::{Role, add_key};
use serde_json::json;

use super::TestService;
use super::database::use_file;

fn open(path: &Path) -> DataDir {
    DataDir::open(path).unwrap()
}

#[tokio::test]
async fn backup_of_running_service_restores_its_data_and_keys() {
    let temp = tempfile::tempdir().unwrap();
    let (from, backup, to) = (
        temp.path().join("from"),
        temp.path().join("backup"),
        temp.path().join("to"),
    );
    use_file(&from);
    let service = TestService::in_dir(&from).await;
    let key = add_key(&open(&from), "ci", Role::Read, "ana@box")
        .await
        .unwrap()
        .unwrap();
    fs::write(
        from.join("scope.toml"),
        "allow = [{ target = '192.0.2.7' }]",
    )
    .unwrap();
    let target = service.target("127.0.0.1").await;
    back_up_dir(&open(&from), &backup, true).await.unwrap();
    let later = service.target("127.0.0.2").await;
    assert_eq!(
        fs::metadata(&backup).unwrap().permissions().mode() & 0o777,
        0o700
    );
    for file in fs::read_dir(&backup).unwrap() {
        let file = file.unwrap();
        assert_eq!(
            file.metadata().unwrap().permissions().mode() & 0o777,
            0o600,
            "{file:?}"
        );
    }
    let error = back_up_dir(&open(&from), &backup, true)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("already exists"), "{error}");

    restore_dir(&backup, &open(&to), false).await.unwrap();
    let restored = TestService::in_dir(&to).await;
    assert_eq!(restored.key, service.key);
    assert_eq!(
        restored.get(&format!("/targets/{target}")).await.status,
        200
    );
    assert_eq!(restored.get(&format!("/targets/{later}")).await.status, 404);
    restored
        .post("/targets", json!({"name": "192.0.2.7"}))
        .await
        .created();
    let named = restored
        .client
        .request(Method::GET, format!("{}/targets", restored.base))
        .bearer_auth(&key);
    assert_eq!(named.send().await.unwrap().status(), 200);
    let error = restore_dir(&backup, &open(&to), true)
        .await
        .unwrap_err()
        .to_string();
    let stop = format!(
        "`scandeck stop --data-dir {}`",
        to.canonicalize().unwrap().display()
    );
    assert!(
        error.contains("a service is running") && error.contains(&stop),
        "{error}"
    );
    restored.stop().await;

    let error = restore_dir(&backup, &open(&to), false)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("--replace"), "{error}");
    let old = restore_dir(&backup, &open(&to), true)
        .await
        .unwrap()
        .expect("a copy of the old database");
    assert!(old.ends_with("scandeck.db.bak-1"));
    assert_eq!(
        fs::metadata(&old).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let restored = TestService::in_dir(&to).await;
    assert_eq!(restored.count("/targets").await, 1);
    restored.stop().await;
    service.stop().await;
}

const NOT_OURS: &str = "scandeck.db is not a scandeck database";

#[tokio::test]
async fn backup_without_keys_or_damaged_backup_is_recognized() {
    let temp = tempfile::tempdir().unwrap();
    let (from, backup, to) = (
        temp.path().join("from"),
        temp.path().join("backup"),
        temp.path().join("to"),
    );
    use_file(&from);
    TestService::in_dir(&from).await.stop().await;
    back_up_dir(&open(&from), &backup, false).await.unwrap();
    let names: Vec<_> = fs::read_dir(&backup)
        .unwrap()
        .map(|file| file.unwrap().file_name())
        .collect();
    assert_eq!(names, ["scandeck.db"]);

    let original = fs::read(backup.join("scandeck.db")).unwrap();
    let mut newer = original.clone();
    newer[60..64].copy_from_slice(&9000_u32.to_be_bytes());
    let mut damaged = original.clone();
    damaged[4096..12_288].fill(0x5a);
    for (bytes, expected) in [
        (newer, "schema 9000"),
        (damaged, ""),
        (b"no database".to_vec(), NOT_OURS),
        (Vec::new(), NOT_OURS),
        (vec![0xd9; 4096], NOT_OURS),
    ] {
        fs::write(backup.join("scandeck.db"), bytes).unwrap();
        let error = restore_dir(&backup, &open(&to), false)
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{expected}: {error}");
        assert!(!to.join("scandeck.db").exists());
    }
    let error = restore_dir(temp.path(), &open(&to), false)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("is not a backup"), "{error}");
}

#[tokio::test]
async fn restore_moves_a_damaged_database() {
    let temp = tempfile::tempdir().unwrap();
    let (from, backup) = (temp.path().join("from"), temp.path().join("backup"));
    use_file(&from);
    TestService::in_dir(&from).await.stop().await;
    back_up_dir(&open(&from), &backup, true).await.unwrap();
    let mut damaged = fs::read(backup.join("scandeck.db")).unwrap();
    damaged[4096..].fill(0x5a);
    // A new database cannot be written where this directory is.
    let obstacle = from.join("scandeck.db.partial");
    for bytes in [b"no database".to_vec(), damaged] {
        fs::write(from.join("scandeck.db"), &bytes).unwrap();
        fs::create_dir(&obstacle).unwrap();
        restore_dir(&backup, &open(&from), true).await.unwrap_err();
        assert_eq!(fs::read(from.join("scandeck.db")).unwrap(), bytes);
        fs::remove_dir(&obstacle).unwrap();
        let old = restore_dir(&backup, &open(&from), true).await.unwrap();
        assert_eq!(fs::read(old.unwrap()).unwrap(), bytes);
        TestService::in_dir(&from).await.stop().await;
    }
}
