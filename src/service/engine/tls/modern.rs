//! A TLS 1.3 handshake by rustls that accepts and records every certificate.

use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::TlsAnswer;

/// Tries a handshake with TLS 1.3 only.
pub async fn handshake(stream: TcpStream, host: &str) -> Option<TlsAnswer> {
    let capture = Arc::new(CertificateRecorder { provider: aws_lc_rs::default_provider(), chain: Mutex::default() });
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .ok()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::clone(&capture) as Arc<dyn ServerCertVerifier>)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).ok()?;
    let connected = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
    let chain = capture.chain.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let cipher = match &connected {
        Ok(stream) => stream.get_ref().1.negotiated_cipher_suite().map(|suite| format!("{:?}", suite.suite())),
        Err(_) => None,
    };
    // The server sends certificates after it has accepted the version, so they prove acceptance.
    Some(TlsAnswer { accepted: !chain.is_empty(), cipher: cipher.unwrap_or_default(), chain })
}

/// Accepts and records every certificate.
#[derive(Debug)]
struct CertificateRecorder {
    provider: CryptoProvider,
    chain: Mutex<Vec<Vec<u8>>>,
}

impl ServerCertVerifier for CertificateRecorder {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let chain = std::iter::once(end_entity).chain(intermediates).map(|one| one.to_vec()).collect();
        *self.chain.lock().unwrap_or_else(PoisonError::into_inner) = chain;
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
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
