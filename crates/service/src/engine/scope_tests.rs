//! Scans whose scope or name resolution changes.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::ScanOutcome;
use super::testing::{ChangingResolver, TestScan};
use scandeck_wire::contract::Tool;

const NAME_AND_ADDRESS: &str = "allow = [{ target = 'shop.acme.test' }, { target = '127.0.0.1' }]";

/// A web server that answers every request with the same page, and notifies of each.
async fn web(arrived: Arc<Notify>, answer: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            arrived.notify_one();
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                match answer {
                    "" => std::future::pending().await,
                    page => stream.write_all(page.as_bytes()).await,
                }
            });
        }
    });
    port
}

const PAGE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi";

#[tokio::test]
async fn name_that_resolves_to_another_address_is_checked_again() {
    let folder = tempfile::tempdir().unwrap();
    let scope_file = folder.path().join("scope.toml");
    fs::write(&scope_file, NAME_AND_ADDRESS).unwrap();
    let resolver = ChangingResolver::new(&["127.0.0.1", "127.0.0.2"]);
    let port = web(Arc::default(), PAGE).await;
    let scan = || {
        let mut scan = TestScan::new(
            Tool::WEBSITE,
            &format!("http://shop.acme.test:{port}/"),
            json!({}),
        );
        scan.scope_file.clone_from(&scope_file);
        scan.resolver = resolver.clone();
        scan
    };
    // All requests of a scan go to the address that was checked, although the name has another one
    // by then.
    scan().run().await.check();
    let ScanOutcome::FailedToStart(why) = scan().run().await.outcome else {
        panic!("the second address is refused")
    };
    assert!(
        why.contains("127.0.0.2") && why.contains("`scandeck scope add 127.0.0.2`"),
        "{why}"
    );
}

#[tokio::test]
async fn change_of_the_scope_ends_a_running_scan() {
    let folder = tempfile::tempdir().unwrap();
    let scope_file = folder.path().join("scope.toml");
    let expired =
        "allow = [{ target = 'shop.acme.test' }, { target = '127.0.0.1', until = '2020-01-01' }]";
    let denied = format!("{NAME_AND_ADDRESS}\ndeny = [{{ target = '127.0.0.0/24' }}]");
    let removed = "allow = [{ target = '127.0.0.1' }]";
    for (change, cause) in [
        (expired, "until 2020-01-01"),
        (&denied, "denied"),
        (removed, "out of scope"),
    ] {
        fs::write(&scope_file, NAME_AND_ADDRESS).unwrap();
        let arrived = Arc::new(Notify::new());
        let port = web(Arc::clone(&arrived), "").await;
        let mut scan = TestScan::new(
            Tool::WEBSITE,
            &format!("http://shop.acme.test:{port}/"),
            json!({}),
        );
        scan.scope_file.clone_from(&scope_file);
        scan.resolver = ChangingResolver::new(&["127.0.0.1"]);
        let scan = tokio::spawn(scan.run());
        arrived.notified().await;
        fs::write(&scope_file, change).unwrap();
        let changed = Instant::now();
        let ScanOutcome::OutOfScope(why) = scan.await.unwrap().outcome else {
            panic!("{cause}")
        };
        assert!(why.contains(cause), "{why}");
        assert!(
            changed.elapsed() < Duration::from_secs(2),
            "{:?}",
            changed.elapsed()
        );
    }
}
