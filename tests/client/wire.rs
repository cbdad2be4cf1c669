//! Servers that accept a connection and then violate HTTP.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use scandeck::client::ErrorKind;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

use super::{client, client_with};

/// A server that passes each connection to `behave` and counts connections.
struct RawServer {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    _task: AbortOnDropHandle<()>,
}

impl RawServer {
    async fn start<F, B>(behave: B) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
        B: Fn(TcpStream) -> F + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(behave(stream));
            }
        });
        Self {
            address,
            connections,
            _task: AbortOnDropHandle::new(task),
        }
    }

    fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Reads the head of the request, so that the response does not come before the request.
async fn read_request(stream: &mut TcpStream) {
    let mut head = Vec::new();
    let mut byte = [0; 1];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).await.is_ok_and(|read| read == 1) {
        head.push(byte[0]);
    }
}

#[tokio::test]
async fn hanging_service_ends_at_total_timeout() {
    let server = RawServer::start(|stream| async move {
        let _open = stream;
        std::future::pending().await
    })
    .await;
    let client = client_with(&server.origin(), |settings| {
        settings.total_timeout = Duration::from_millis(300)
    });
    let started = Instant::now();
    assert_eq!(
        client.list_workspaces().await.unwrap_err().kind,
        ErrorKind::Timeout
    );
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(server.connections(), 1, "a timeout is not retried");
}

#[tokio::test]
async fn slow_body_ends_at_total_timeout() {
    let server = RawServer::start(|mut stream| async move {
        read_request(&mut stream).await;
        let head =
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n";
        let _ = stream.write_all(head).await;
        while stream.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let client = client_with(&server.origin(), |settings| {
        settings.total_timeout = Duration::from_millis(300)
    });
    assert_eq!(
        client.list_workspaces().await.unwrap_err().kind,
        ErrorKind::Timeout
    );
}

#[tokio::test]
async fn closed_connection_is_retried_for_idempotent_requests_only() {
    let server = RawServer::start(|mut stream| async move {
        read_request(&mut stream).await;
        // The client sees the connection end before any response.
        drop(stream);
    })
    .await;
    let client = client(&server.origin());
    assert_eq!(
        client.list_workspaces().await.unwrap_err().kind,
        ErrorKind::Connect
    );
    assert_eq!(server.connections(), 3);
    let new = scandeck::contract::NewWorkspace {
        name: "a".into(),
        description: None,
    };
    assert_eq!(
        client.create_workspace(&new).await.unwrap_err().kind,
        ErrorKind::Connect
    );
    assert_eq!(
        server.connections(),
        4,
        "a creation is not retried, because the service may have completed it"
    );
}

#[tokio::test]
async fn truncated_body_is_a_connection_error() {
    let server = RawServer::start(|mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{\"data\": [")
            .await;
    })
    .await;
    assert_eq!(
        client(&server.origin())
            .list_workspaces()
            .await
            .unwrap_err()
            .kind,
        ErrorKind::Connect
    );
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn non_http_server_is_a_connection_error() {
    let server = RawServer::start(|mut stream| async move {
        let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n").await;
        read_request(&mut stream).await;
    })
    .await;
    let error = client(&server.origin())
        .list_workspaces()
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Connect, "{error}");
}

#[tokio::test]
async fn https_to_plain_port_is_a_tls_error() {
    let server = RawServer::start(|mut stream| async move {
        let _ = stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
            .await;
    })
    .await;
    let error = client(&format!("https://{}", server.address))
        .list_workspaces()
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Tls, "{error}");
}

#[tokio::test]
async fn refused_connection_names_cause_and_remedy() {
    let free = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let error = client(&format!("http://{free}"))
        .list_workspaces()
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Connect);
    assert!(
        error.is_refused
            && error.to_string().to_lowercase().contains("refused")
            && error.hint().contains("base URL"),
        "{error}"
    );
}

#[tokio::test]
async fn dropped_call_closes_its_connection() {
    let (events, mut received) = tokio::sync::mpsc::unbounded_channel();
    let server = RawServer::start(move |mut stream| {
        let events = events.clone();
        async move {
            read_request(&mut stream).await;
            let _ = events.send("requested");
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
            let _ = events.send("closed");
        }
    })
    .await;
    let client = client_with(&server.origin(), |settings| {
        settings.total_timeout = Duration::from_secs(60)
    });
    let call = tokio::spawn(async move { client.list_workspaces().await });
    assert_eq!(received.recv().await, Some("requested"));
    call.abort();
    assert_eq!(received.recv().await, Some("closed"));
}
