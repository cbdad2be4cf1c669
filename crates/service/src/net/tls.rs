//! TLS of the listeners: the certificate, which can be replaced while the service runs, and a
//! connection with or without TLS.
//!
//! ```text
//!   --tls-cert, --tls-key ─► ServerIdentity ─► TlsAcceptor ─► handshake ─► Transport::Tls ─► HTTP
//!                   SIGHUP ──────┘ reload: new connections use the new certificate
//! ```

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::task::{Context, Poll};

use anyhow::{Context as _, anyhow, ensure};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::errors::cause_of;
use scandeck_wire::input_files::{self, InputKind, secret_metadata};

/// The files of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate and its chain (PEM).
    pub cert: PathBuf,
    /// Its private key (PEM).
    pub key: PathBuf,
}

/// The certificate of the service.
#[derive(Debug)]
pub struct ServerIdentity {
    files: TlsFiles,
    current: RwLock<Arc<CertifiedKey>>,
}

impl ServerIdentity {
    /// Reads the files.
    ///
    /// # Errors
    /// When a file cannot be read, or the key does not belong to the certificate.
    pub fn load(files: TlsFiles) -> anyhow::Result<Arc<Self>> {
        let current = RwLock::new(Arc::new(read(&files)?));
        Ok(Arc::new(Self { files, current }))
    }

    /// Reads the files again. After an error the current certificate remains in use.
    ///
    /// # Errors
    /// Those of [`Self::load`].
    pub fn reload(&self) -> anyhow::Result<()> {
        let new = Arc::new(read(&self.files)?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(())
    }

    /// The file of the certificate.
    pub fn path(&self) -> &Path {
        &self.files.cert
    }

    /// Accepts connections with the current certificate.
    ///
    /// # Errors
    /// When the TLS library refuses the configuration.
    pub fn acceptor(self: &Arc<Self>) -> anyhow::Result<TlsAcceptor> {
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth();
        let mut config = config.with_cert_resolver(Arc::clone(self) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

impl ResolvesServerCert for ServerIdentity {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(
            &self.current.read().unwrap_or_else(PoisonError::into_inner),
        ))
    }
}

fn read(files: &TlsFiles) -> anyhow::Result<CertifiedKey> {
    let contents = |path: &Path| {
        let read =
            input_files::read(path, InputKind::Certificates).and_then(input_files::without_mark);
        read.map_err(|error| anyhow!("cannot read {}: {}", path.display(), cause_of(&error)))
    };
    refuse_open_key(&files.key)?;
    let (cert, key) = (contents(&files.cert)?, contents(&files.key)?);
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&cert).collect();
    let chain = chain.with_context(|| format!("cannot read {}", files.cert.display()))?;
    ensure!(
        !chain.is_empty(),
        "{} contains no certificate (PEM)",
        files.cert.display()
    );
    if is_of_authority(&chain[0]) {
        tracing::warn!(
            "{} is a CA certificate, which strict clients refuse; create a server certificate with basicConstraints=CA:FALSE",
            files.cert.display()
        );
    }
    let key = PrivateKeyDer::from_pem_slice(&key);
    let key = key.map_err(|_| anyhow!("{} contains no private key (PEM)", files.key.display()))?;
    CertifiedKey::from_der(chain, key, &default_provider()).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => {
            anyhow!("{} is not the key of {}", files.key.display(), files.cert.display())
        }
        other => anyhow!(
            "cannot use the key {} ({other}); use an RSA key of at least 2048 bits, or an ECDSA P-256 key",
            files.key.display()
        ),
    })
}

/// Refuses a private key that others can read. A key of the administrator may be readable for a
/// group, as `ssl-cert` on Debian.
fn refuse_open_key(key: &Path) -> anyhow::Result<()> {
    let Ok(found) = secret_metadata(key) else {
        return Ok(());
    };
    let open_bits = if found.uid() == 0 { 0o037 } else { 0o077 };
    let mode = found.mode() & 0o7777;
    let key = key.display();
    ensure!(
        mode & open_bits == 0,
        "other users can read the TLS key {key} (mode {mode:04o}); run `chmod 600 {key}`"
    );
    Ok(())
}

/// Whether a certificate is that of an authority (CA).
fn is_of_authority(certificate: &CertificateDer<'_>) -> bool {
    let parsed = x509_parser::parse_x509_certificate(certificate);
    parsed.is_ok_and(|(_, certificate)| certificate.is_ca())
}

/// A connection with or without TLS.
pub enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for Transport {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
