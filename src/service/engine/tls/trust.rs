//! Whether a chain leads to an authority that this machine trusts, regardless of validity and names.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, Error, RootCertStore};

static SYSTEM: LazyLock<Vec<CertificateDer<'static>>> =
    LazyLock::new(|| rustls_native_certs::load_native_certs().certs);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    Trusted,
    /// With the reason.
    Untrusted(String),
    /// The chain names a known authority, but its signature algorithm, such as SHA-1, is not verified.
    OldSignature,
    /// This machine has no trusted authorities.
    Unknown,
}

/// Verifies a chain at `when`, a time within its validity, so that an expired certificate of a trusted authority is not
/// also reported as untrusted.
pub fn verify(chain: &[Vec<u8>], host: &str, when: u64, anchors: &[CertificateDer<'static>]) -> Trust {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(SYSTEM.iter().chain(anchors).cloned());
    let provider = Arc::new(aws_lc_rs::default_provider());
    let Ok(verifier) = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build() else {
        return Trust::Unknown;
    };
    let chain: Vec<CertificateDer> = chain.iter().map(|der| CertificateDer::from(der.as_slice())).collect();
    let (Some((leaf, rest)), Ok(name)) = (chain.split_first(), ServerName::try_from(host)) else {
        return Trust::Unknown;
    };
    let when = UnixTime::since_unix_epoch(Duration::from_secs(when));
    match verifier.verify_server_cert(leaf, rest, &name, &[], when) {
        Ok(_) => Trust::Trusted,
        // The name is verified last, after the chain; another check reports it.
        Err(Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => Trust::Trusted,
        Err(Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            Trust::Untrusted("no trusted authority signed it".to_owned())
        }
        Err(Error::InvalidCertificate(CertificateError::UnsupportedSignatureAlgorithmContext { .. })) => {
            Trust::OldSignature
        }
        Err(error) => Trust::Untrusted(error.to_string()),
    }
}
