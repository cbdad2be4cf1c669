//! A TLS listener for axum with concurrent handshakes, so that a slow client does not delay others.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use rustls::server::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;

const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns connections after their handshake.
pub struct TlsListener {
    address: SocketAddr,
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
}

impl TlsListener {
    /// Accepts connections until `stop`.
    pub fn new(
        listener: TcpListener,
        config: ServerConfig,
        stop: CancellationToken,
    ) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (done, ready) = mpsc::channel(16);
        let acceptor = TlsAcceptor::from(Arc::new(config));
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = accept_all(listener, acceptor, done) => {}
            }
        });
        Ok(Self { address, ready })
    }
}

async fn accept_all(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    done: mpsc::Sender<(TlsStream<TcpStream>, SocketAddr)>,
) {
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            // Out of descriptors until other connections close.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (acceptor, done) = (acceptor.clone(), done.clone());
        tokio::spawn(async move {
            if let Ok(Ok(stream)) = timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await {
                // The receiver is gone after the server has stopped.
                let _ = done.send((stream, peer)).await;
            }
        });
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(connection) => connection,
            // axum stops by its own signal.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.address)
    }
}
