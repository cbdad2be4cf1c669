//! Certificates of the practice portal: one for each mix of expired, self-signed and wrong name.
//!
//! The mended one is signed by an authority made for this run; its certificate is the trust anchor that the demo's
//! service gets. Keys are elliptic: making one takes no time.

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
type Mix = (bool, bool, bool);

/// The right names.
const NAMES: &[&str] = &["localhost", "127.0.0.1", "::1"];
/// The wrong one.
const OTHER_NAME: &str = "old-portal.practice.example";

/// Every certificate, and which one to show.
#[derive(Debug)]
struct Shelf {
    certificates: HashMap<Mix, Arc<CertifiedKey>>,
    weaknesses: Weaknesses,
}

/// What the portal needs.
pub struct Made {
    /// For its TLS listener.
    pub config: ServerConfig,
    /// The authority that signed the mended certificate.
    pub anchor: CertificateDer<'static>,
    /// Its private key, which the shop leaves lying about.
    pub private_key: String,
}

impl ResolvesServerCert for Shelf {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let broken = self.weaknesses.broken();
        let has = |id: &str| broken.contains(id);
        self.certificates.get(&(has("cert-expired"), has("cert-self-signed"), has("cert-name"))).cloned()
    }
}

/// Makes everything.
pub fn make(weaknesses: &Weaknesses) -> io::Result<Made> {
    let authority_key = KeyPair::generate().map_err(io::Error::other)?;
    let mut authority = params("Practice authority", Vec::new(), false)?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let anchor = authority.self_signed(&authority_key).map_err(io::Error::other)?.der().clone();
    let issuer = Issuer::new(authority, authority_key);

    let key = KeyPair::generate().map_err(io::Error::other)?;
    let mut certificates = HashMap::new();
    for mix in (0..8).map(|bits| (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0)) {
        certificates.insert(mix, Arc::new(certified(mix, &key, &issuer)?));
    }
    let shelf = Shelf { certificates, weaknesses: weaknesses.clone() };
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(shelf));
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Made { config, anchor, private_key: key.serialize_pem() })
}

fn certified(mix: Mix, key: &KeyPair, issuer: &Issuer<'_, KeyPair>) -> io::Result<CertifiedKey> {
    let (expired, self_signed, wrong_name) = mix;
    let names = if wrong_name { &[OTHER_NAME][..] } else { NAMES };
    let params = params("Practice portal", names.iter().map(|&name| name.to_owned()).collect(), expired)?;
    let certificate = if self_signed { params.self_signed(key) } else { params.signed_by(key, issuer) };
    let chain = vec![certificate.map_err(io::Error::other)?.der().clone()];
    let der = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let signing = aws_lc_rs::sign::any_supported_type(&der).map_err(io::Error::other)?;
    Ok(CertifiedKey::new(chain, signing))
}

/// From half a year ago, for three months from now or until four weeks ago.
fn params(subject: &str, names: Vec<String>, expired: bool) -> io::Result<CertificateParams> {
    let mut params = CertificateParams::new(names).map_err(io::Error::other)?;
    params.distinguished_name.push(DnType::CommonName, subject);
    let end = if expired { Span::new().weeks(-4) } else { Span::new().months(3) };
    let date = |from_now: Span| {
        let day = Zoned::now().checked_add(from_now).map_err(io::Error::other)?;
        Ok::<_, io::Error>(date_time_ymd(day.year().into(), day.month().unsigned_abs(), day.day().unsigned_abs()))
    };
    params.not_before = date(Span::new().months(-6))?;
    params.not_after = date(end)?;
    Ok(params)
}
