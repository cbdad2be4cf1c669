//! Open ports with the banners of well-known services, while their weakness is on.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::weaknesses::Weaknesses;

/// Weakness and banner.
const GREETINGS: &[(&str, &str)] = &[
    ("port-ssh", "SSH-2.0-practice_1.0\r\n"),
    ("port-ftp", "220 practice FTP server ready\r\n"),
    ("port-smtp", "220 practice.localhost ESMTP ready\r\n"),
];

/// Opens the ports; returns each with its weakness.
pub async fn open(
    weaknesses: &Weaknesses,
    stop: &CancellationToken,
) -> io::Result<Vec<(&'static str, SocketAddr)>> {
    let mut ports = Vec::new();
    for (id, greeting) in GREETINGS {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        ports.push((*id, address));
        let (weaknesses, stop) = (weaknesses.clone(), stop.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = listen(id, greeting, listener, weaknesses) => {}
            }
        });
    }
    Ok(ports)
}

/// Listens while the weakness is on, always on the same port.
async fn listen(id: &str, greeting: &'static str, listener: TcpListener, weaknesses: Weaknesses) {
    let mut changes = weaknesses.watch();
    let Ok(address) = listener.local_addr() else {
        return;
    };
    let mut listener = Some(listener);
    loop {
        let is_active = changes.borrow_and_update().contains(id);
        match (&listener, is_active) {
            (Some(open), true) => tokio::select! {
                accepted = open.accept() => if let Ok((stream, _)) = accepted {
                    tokio::spawn(greet(stream, greeting));
                },
                changed = changes.changed() => if changed.is_err() { return },
            },
            (Some(_), false) => listener = None,
            (None, true) => match TcpListener::bind(address).await {
                Ok(again) => listener = Some(again),
                // Another process uses the port for a moment.
                Err(_) => sleep(Duration::from_millis(100)).await,
            },
            (None, false) => {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Sends the banner, and closes the connection when the client does or is silent for a while.
async fn greet(mut stream: TcpStream, greeting: &str) {
    let mut received = [0; 512];
    if stream.write_all(greeting.as_bytes()).await.is_ok() {
        while let Ok(Ok(1..)) = timeout(Duration::from_secs(2), stream.read(&mut received)).await {}
    }
}
