//! A service that other machines use: TLS, a reverse proxy, names, callbacks.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use reqwest::{Certificate, Client, Method};
use scandeck::service::{Parts, TlsFiles, start_with};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{JsonResponse, TestService, settings};

/// Writes a new certificate for 127.0.0.1; returns it.
pub(super) fn write_certificate(dir: &Path) -> (TlsFiles, Certificate) {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let files = TlsFiles {
        cert: dir.join("cert.pem"),
        key: dir.join("key.pem"),
    };
    std::fs::write(&files.cert, made.cert.pem()).unwrap();
    std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    std::fs::set_permissions(&files.key, PermissionsExt::from_mode(0o600)).unwrap();
    (
        files,
        Certificate::from_pem(made.cert.pem().as_bytes()).unwrap(),
    )
}

pub(super) fn client(trusted: Certificate) -> Client {
    Client::builder()
        .no_proxy()
        .tls_certs_only([trusted])
        .build()
        .unwrap()
}

#[tokio::test]
async fn api_with_certificate_speaks_tls_and_reloads_it() {
    let dir = tempfile::tempdir().unwrap();
    let (files, first) = write_certificate(dir.path());
    let mut settings = settings(dir.path());
    settings.tls = Some(files);
    let stop = CancellationToken::new();
    let running = start_with(settings, stop.clone(), Parts::default())
        .await
        .unwrap();
    let identity = running.identity.clone().unwrap();
    let service = TestService::of(running, stop);
    assert!(
        service.base.starts_with("https://127.0.0.1:"),
        "{}",
        service.base
    );
    let get = async |client: &Client, base: &str| {
        client
            .get(format!("{base}/workspaces"))
            .bearer_auth(&service.key)
            .send()
            .await
            .map(|answer| answer.status().as_u16())
    };
    assert_eq!(
        get(&client(first.clone()), &service.base).await.unwrap(),
        200
    );
    assert!(
        get(
            &client(first.clone()),
            &service.base.replace("https", "http")
        )
        .await
        .is_err(),
        "no plain HTTP"
    );

    std::fs::write(dir.path().join("key.pem"), "damaged").unwrap();
    assert!(
        identity
            .reload()
            .unwrap_err()
            .to_string()
            .contains("key.pem")
    );
    assert_eq!(
        get(&client(first.clone()), &service.base).await.unwrap(),
        200,
        "the old certificate remains"
    );
    let (files, second) = write_certificate(dir.path());
    std::fs::set_permissions(&files.key, PermissionsExt::from_mode(0o644)).unwrap();
    let refusal = identity.reload().unwrap_err().to_string();
    assert!(
        refusal.starts_with("other users can read the TLS key /") && refusal.contains("chmod 600"),
        "{refusal}"
    );
    std::fs::set_permissions(&files.key, PermissionsExt::from_mode(0o600)).unwrap();
    identity.reload().unwrap();
    assert_eq!(get(&client(second), &service.base).await.unwrap(), 200);
    assert!(get(&client(first), &service.base).await.is_err());
    service.stop().await;
}

#[tokio::test]
async fn forwarded_address_is_recorded_from_a_named_proxy_only() {
    for (proxies, expected) in [
        (vec!["127.0.0.0/8".parse().unwrap()], "198.51.100.7"),
        (Vec::new(), "127.0.0.1"),
    ] {
        let service = TestService::with(|settings| settings.behind_proxy = proxies).await;
        let logger = service
            .post("/http_loggers", json!({"label": "a"}))
            .await
            .created();
        let url = service.get("/http_loggers").await.data()[0]["handler_url"]
            .as_str()
            .unwrap()
            .to_owned();
        service
            .client
            .get(&url)
            .header("x-forwarded-for", "198.51.100.7")
            .send()
            .await
            .unwrap();
        let recorded = service.get(&format!("/http_loggers/{logger}/data")).await;
        assert_eq!(recorded.data()["requests"][0]["ip_address"], expected);
        service.stop().await;
    }
}

#[tokio::test]
async fn wrong_keys_behind_a_proxy_are_counted_per_client() {
    let service = TestService::with(|settings| {
        settings.behind_proxy = vec!["127.0.0.1/32".parse().unwrap()];
        settings.wrong_keys = 1;
    })
    .await;
    let send = async |from: &str| {
        let request = service
            .client
            .get(format!("{}/workspaces", service.base))
            .header("x-forwarded-for", from);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(
        [
            send("198.51.100.1").await,
            send("198.51.100.1").await,
            send("198.51.100.2").await
        ],
        [401, 429, 401]
    );
    service.stop().await;
}

#[tokio::test]
async fn allowed_host_name_is_accepted() {
    let service =
        TestService::with(|settings| settings.allow_hosts = vec!["scans.example.net".into()]).await;
    let get = async |host: &str| {
        let request = service
            .request(Method::GET, "/workspaces")
            .header("host", host);
        JsonResponse::read(request.send().await.unwrap()).await
    };
    for host in ["scans.example.net", "Scans.Example.Net:8765", "localhost"] {
        assert_eq!(get(host).await.status, 200, "{host}");
    }
    get("evil.scans.example.net")
        .await
        .assert_refused(403, "evil.scans.example.net");
    service.stop().await;
}

#[tokio::test]
async fn callback_to_address_that_is_not_public_needs_a_flag() {
    let service = TestService::with(|settings| {
        settings.allow_callbacks = vec!["127.0.0.5/32".parse().unwrap()];
        settings.allow_private = true;
    })
    .await;
    let post = async |url: &str| {
        let body =
            json!({"tool_id": 70, "target_name": "127.0.0.1", "report_callback": {"url": url}});
        service.post("/scans", body).await
    };
    for (url, ip) in [
        ("http://127.0.0.1:9/", "127.0.0.1"),
        ("http://localhost:9/", "127.0.0.1"),
        ("http://10.0.0.1/", "10.0.0.1"),
        ("http://[::1]/", "::1"),
        ("http://169.254.169.254/", "169.254.169.254"),
    ] {
        post(url).await.assert_refused(
            403,
            &format!("`scandeck serve --allow-callback {ip}` permits it"),
        );
    }
    post("http://127.0.0.5:9/hook").await.created();
    service.stop().await;
}
