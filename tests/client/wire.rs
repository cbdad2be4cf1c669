//! Servers that take a connection and then misbehave below HTTP.

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

/// A server that gives each connection to `behave` and counts them.
struct Rude {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    _task: AbortOnDropHandle<()>,
}

impl Rude {
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
        Self { address, connections, _task: AbortOnDropHandle::new(task) }
    }

    fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Reads the request's head, so that an answer is not taken for an early one.
async fn read_request(stream: &mut TcpStream) {
    let mut head = Vec::new();
    let mut byte = [0; 1];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).await.is_ok_and(|read| read == 1) {
        head.push(byte[0]);
    }
}

#[tokio::test]
async fn a_service_that_hangs_costs_the_total_timeout_and_no_more() {
    let rude = Rude::start(|stream| async move {
        let _open = stream;
        std::future::pending().await
    })
    .await;
    let client = client_with(&rude.origin(), |settings| settings.total_timeout = Duration::from_millis(300));
    let began = Instant::now();
    assert_eq!(client.list_workspaces().await.unwrap_err().kind, ErrorKind::Timeout);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!(rude.connections(), 1, "a timeout is not tried again: the time is spent");
}

#[tokio::test]
async fn a_service_that_drips_costs_the_total_timeout_too() {
    let rude = Rude::start(|mut stream| async move {
        read_request(&mut stream).await;
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n";
        let _ = stream.write_all(head).await;
        while stream.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let client = client_with(&rude.origin(), |settings| settings.total_timeout = Duration::from_millis(300));
    assert_eq!(client.list_workspaces().await.unwrap_err().kind, ErrorKind::Timeout);
}

#[tokio::test]
async fn a_reset_is_tried_again_where_that_is_safe() {
    let rude = Rude::start(|mut stream| async move {
        read_request(&mut stream).await;
        // Closing with nothing sent: the client sees its connection end before an answer.
        drop(stream);
    })
    .await;
    let client = client(&rude.origin());
    assert_eq!(client.list_workspaces().await.unwrap_err().kind, ErrorKind::Connect);
    assert_eq!(rude.connections(), 3);
    let new = scandeck::contract::NewWorkspace { name: "a".into(), description: None };
    assert_eq!(client.create_workspace(&new).await.unwrap_err().kind, ErrorKind::Connect);
    assert_eq!(rude.connections(), 4, "the service may have made it already");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_no_answer() {
    let rude = Rude::start(|mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{\"data\": [").await;
    })
    .await;
    assert_eq!(client(&rude.origin()).list_workspaces().await.unwrap_err().kind, ErrorKind::Connect);
    assert_eq!(rude.connections(), 3);
}

#[tokio::test]
async fn what_is_no_http_at_all_is_told() {
    let rude = Rude::start(|mut stream| async move {
        let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n").await;
        read_request(&mut stream).await;
    })
    .await;
    let error = client(&rude.origin()).list_workspaces().await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Connect, "{error}");
}

#[tokio::test]
async fn https_to_a_plain_port_is_a_tls_error() {
    let rude = Rude::start(|mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
    })
    .await;
    let error = client(&format!("https://{}", rude.address)).list_workspaces().await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Tls, "{error}");
}

#[tokio::test]
async fn a_refused_connection_says_so_and_what_to_do() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = client(&format!("http://{free}")).list_workspaces().await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Connect);
    assert!(
        error.to_string().to_lowercase().contains("refused") && error.hint().contains("scandeck status"),
        "{error}"
    );
}

#[tokio::test]
async fn dropping_a_call_ends_its_connection() {
    let (closed, mut told) = tokio::sync::mpsc::unbounded_channel();
    let rude = Rude::start(move |mut stream| {
        let closed = closed.clone();
        async move {
            read_request(&mut stream).await;
            let _ = closed.send("asked");
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
            let _ = closed.send("closed");
        }
    })
    .await;
    let client = client_with(&rude.origin(), |settings| settings.total_timeout = Duration::from_secs(60));
    let call = tokio::spawn(async move { client.list_workspaces().await });
    assert_eq!(told.recv().await, Some("asked"));
    call.abort();
    assert_eq!(told.recv().await, Some("closed"));
}
