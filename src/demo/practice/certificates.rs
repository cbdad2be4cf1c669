//! Certificates of the practice portal: one for each combination of expired, self-signed and wrong
//! name.
//!
//! The valid one is signed by an authority that is created for this run; the demo's service trusts
//! it. Elliptic curve keys are used because their generation is fast.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use jiff::{Span, Zoned};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert, ServerConfig};
use rustls::sign::CertifiedKey;

use super::weaknesses::Weaknesses;

/// Expired, self-signed, wrong name.
type Faults = (bool, bool, bool);

const NAMES: &[&str] = &["localhost", "127.0.0.1", "::1"];
const WRONG_NAME: &str = "old-portal.practice.example";

/// Selects the certificate for the active weaknesses.
#[derive(Debug)]
struct CertificateResolver {
    certificates: HashMap<Faults, Arc<CertifiedKey>>,
    weaknesses: Weaknesses,
}

/// The TLS setup of the portal.
pub struct PortalTls {
    pub config: ServerConfig,
    /// The authority that signed the valid certificate.
    pub anchor: CertificateDer<'static>,
    /// The private key, which the shop exposes.
    pub private_key: String,
}

impl ResolvesServerCert for CertificateResolver {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let active = self.weaknesses.active();
        let has = |id: &str| active.contains(id);
        self.certificates
            .get(&(
                has("cert-expired"),
                has("cert-self-signed"),
                has("cert-name"),
            ))
            .cloned()
    }
}

pub fn create(weaknesses: &Weaknesses) -> io::Result<PortalTls> {
    let authority_key = KeyPair::generate().map_err(io::Error::other)?;
    let mut authority = params("Practice authority", Vec::new(), false)?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let anchor = authority
        .self_signed(&authority_key)
        .map_err(io::Error::other)?
        .der()
        .clone();
    let issuer = Issuer::new(authority, authority_key);

    let key = KeyPair::generate().map_err(io::Error::other)?;
    let mut certificates = HashMap::new();
    for faults in (0..8).map(|bits| (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0)) {
        certificates.insert(faults, Arc::new(certified(faults, &key, &issuer)?));
    }
    let resolver = CertificateResolver {
        certificates,
        weaknesses: weaknesses.clone(),
    };
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(resolver));
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(PortalTls {
        config,
        anchor,
        private_key: key.serialize_pem(),
    })
}

fn certified(
    faults: Faults,
    key: &KeyPair,
    issuer: &Issuer<'_, KeyPair>,
) -> io::Result<CertifiedKey> {
    let (expired, self_signed, wrong_name) = faults;
    let names = if wrong_name { &[WRONG_NAME][..] } else { NAMES };
    let params = params(
        "Practice portal",
        names.iter().map(|&name| name.to_owned()).collect(),
        expired,
    )?;
    let certificate = if self_signed {
        params.self_signed(key)
    } else {
        params.signed_by(key, issuer)
    };
    let chain = vec![certificate.map_err(io::Error::other)?.der().clone()];
    let der = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let signing = aws_lc_rs::sign::any_supported_type(&der).map_err(io::Error::other)?;
    Ok(CertifiedKey::new(chain, signing))
}

/// Parameters of a certificate that became valid three weeks ago and expires in three weeks, or
/// expired one week ago. Public authorities may issue certificates for 47 days from 2029 on.
fn params(subject: &str, names: Vec<String>, expired: bool) -> io::Result<CertificateParams> {
    let mut params = CertificateParams::new(names).map_err(io::Error::other)?;
    params.distinguished_name.push(DnType::CommonName, subject);
    let end = if expired {
        Span::new().weeks(-1)
    } else {
        Span::new().weeks(3)
    };
    let date = |from_now: Span| {
        let day = Zoned::now()
            .checked_add(from_now)
            .map_err(io::Error::other)?;
        Ok::<_, io::Error>(date_time_ymd(
            day.year().into(),
            day.month().unsigned_abs(),
            day.day().unsigned_abs(),
        ))
    };
    params.not_before = date(Span::new().weeks(-3))?;
    params.not_after = date(end)?;
    Ok(params)
}
