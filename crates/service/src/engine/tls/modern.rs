//! A TLS 1.3 handshake by rustls that accepts and records every certificate.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::ResolvesClientCert;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::TlsAnswer;

/// Which keys of certificates a handshake accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    Any,
    Rsa,
    Elliptic,
}

/// Tries a handshake with TLS 1.3 only.
pub async fn handshake(stream: TcpStream, host: &str, keys: KeyKind) -> Option<TlsAnswer> {
    let (provider, chain) = (aws_lc_rs::default_provider(), Mutex::default());
    let capture = Arc::new(CertificateRecorder {
        provider,
        chain,
        keys,
        asks_certificate: AtomicBool::new(false),
        is_stapled: AtomicBool::new(false),
    });
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .ok()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::clone(&capture) as Arc<dyn ServerCertVerifier>)
        .with_client_cert_resolver(Arc::clone(&capture) as Arc<dyn ResolvesClientCert>);
    let name = ServerName::try_from(host.to_owned()).ok()?;
    let connected = TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await;
    let chain = capture
        .chain
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    let cipher = match &connected {
        Ok(stream) => stream
            .get_ref()
            .1
            .negotiated_cipher_suite()
            .map(|suite| format!("{:?}", suite.suite())),
        Err(_) => None,
    };
    // The server sends certificates after it has accepted the version, so they prove acceptance.
    Some(TlsAnswer {
        accepted: !chain.is_empty(),
        is_tls: !chain.is_empty(),
        cipher: cipher.unwrap_or_default(),
        chain,
        asks_certificate: capture.asks_certificate.load(Ordering::Relaxed),
        is_stapled: capture.is_stapled.load(Ordering::Relaxed),
        ..TlsAnswer::default()
    })
}

/// A connection by TLS 1.2 or 1.3 with any certificate, for reading what is inside.
pub async fn accept_any(stream: TcpStream, host: &str) -> Option<TlsStream<TcpStream>> {
    let (provider, chain) = (aws_lc_rs::default_provider(), Mutex::default());
    let (asks_certificate, is_stapled) = (AtomicBool::new(false), AtomicBool::new(false));
    let any = CertificateRecorder {
        provider,
        chain,
        keys: KeyKind::Any,
        asks_certificate,
        is_stapled,
    };
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .ok()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(any))
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).ok()?;
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
        .ok()
}

/// Accepts and records every certificate.
#[derive(Debug)]
struct CertificateRecorder {
    provider: CryptoProvider,
    chain: Mutex<Vec<Vec<u8>>>,
    keys: KeyKind,
    asks_certificate: AtomicBool,
    is_stapled: AtomicBool,
}

/// Notes that the server asks for a certificate of the client, and has none.
impl ResolvesClientCert for CertificateRecorder {
    fn resolve(
        &self,
        _root_hint_subjects: &[&[u8]],
        _schemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        self.asks_certificate.store(true, Ordering::Relaxed);
        None
    }

    fn has_certs(&self) -> bool {
        true
    }
}

impl ServerCertVerifier for CertificateRecorder {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let chain = std::iter::once(end_entity)
            .chain(intermediates)
            .map(|one| one.to_vec())
            .collect();
        *self.chain.lock().unwrap_or_else(PoisonError::into_inner) = chain;
        self.is_stapled
            .store(!ocsp_response.is_empty(), Ordering::Relaxed);
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let all = self
            .provider
            .signature_verification_algorithms
            .supported_schemes();
        let is_rsa = |scheme: &SignatureScheme| format!("{scheme:?}").starts_with("RSA");
        match self.keys {
            KeyKind::Any => all,
            KeyKind::Rsa => all.into_iter().filter(is_rsa).collect(),
            KeyKind::Elliptic => all.into_iter().filter(|scheme| !is_rsa(scheme)).collect(),
        }
    }
}
