//! Whether a chain leads to an authority that this machine trusts, regardless of validity and
//! names.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, Error, RootCertStore};
use x509_parser::prelude::{FromDer, GeneralName, ParsedExtension, X509Certificate};

use super::path;

static SYSTEM: LazyLock<Vec<CertificateDer<'static>>> =
    LazyLock::new(|| rustls_native_certs::load_native_certs().certs);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    Trusted,
    /// With the reason.
    Untrusted(String),
    /// The chain names a known authority, but its signature algorithm, such as SHA-1, is not
    /// verified.
    OldSignature,
    /// This machine has no trusted authorities.
    Unknown,
}

/// Verifies a chain at `when`, a time within its validity, so that an expired certificate of a
/// trusted authority is not also reported as untrusted.
pub fn verify(
    chain: &[Vec<u8>],
    host: &str,
    when: u64,
    anchors: &[CertificateDer<'static>],
) -> Trust {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(SYSTEM.iter().chain(anchors).cloned());
    let provider = Arc::new(aws_lc_rs::default_provider());
    let algorithms = provider.signature_verification_algorithms;
    let Ok(verifier) =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build()
    else {
        return Trust::Unknown;
    };
    let certificates: Vec<CertificateDer> = chain
        .iter()
        .map(|der| CertificateDer::from(der.as_slice()))
        .collect();
    let (Some((leaf, rest)), Ok(name)) = (certificates.split_first(), ServerName::try_from(host))
    else {
        return Trust::Unknown;
    };
    let now = UnixTime::since_unix_epoch(Duration::from_secs(when));
    match verifier.verify_server_cert(leaf, rest, &name, &[], now) {
        Ok(_) => Trust::Trusted,
        // The name is verified last, after the chain; another check reports it.
        Err(Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => Trust::Trusted,
        Err(Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            Trust::Untrusted("no trusted authority signed it".to_owned())
        }
        Err(error) if is_too_long(&error) => {
            let anchors: Vec<&CertificateDer> = SYSTEM.iter().chain(anchors).collect();
            let verified = path::verify(chain, &anchors, when, &algorithms);
            verified.map_or_else(Trust::Untrusted, |()| Trust::Trusted)
        }
        Err(Error::InvalidCertificate(
            CertificateError::UnsupportedSignatureAlgorithmContext { .. },
        )) => Trust::OldSignature,
        Err(error) => Trust::Untrusted(reason(&error).to_owned()),
    }
}

/// What a chain lacks for trust, and the remedy, each as a sentence.
pub struct TrustAdvice {
    pub cause: String,
    pub remedy: String,
}

/// Distinguishes a server that omits an intermediate certificate from one whose authority is
/// private.
pub fn advice(chain: &[Vec<u8>]) -> Option<TrustAdvice> {
    let parsed = chain
        .iter()
        .map(|der| Some(X509Certificate::from_der(der).ok()?.1));
    let parsed: Vec<X509Certificate> = parsed.collect::<Option<_>>()?;
    let mut last = parsed.first()?;
    // Follows the issuers as far as the server sends them.
    for _ in 0..parsed.len() {
        let next = parsed
            .iter()
            .find(|one| one.subject().as_raw() == last.issuer().as_raw());
        let Some(next) = next.filter(|next| next.subject().as_raw() != last.subject().as_raw())
        else {
            break;
        };
        last = next;
    }
    let issuer = last.issuer();
    if last.subject().as_raw() == issuer.as_raw() {
        return Some(TrustAdvice {
            cause: format!("The chain is complete, but its root {issuer} is not one of the authorities of this machine."),
            remedy: "If the authority is that of your organization, install its root certificate at the clients, and at the \
                service (`scandeck serve` uses the certificates of the system). Otherwise use a certificate of a public \
                authority."
                .to_owned(),
        });
    }
    match issuer_url(last) {
        Some(url) => Some(TrustAdvice {
            cause: format!("The server does not send the intermediate certificate of {issuer}."),
            remedy: format!(
                "Add the intermediate certificate to the chain that the server sends; its authority publishes it at {url}."
            ),
        }),
        None => Some(TrustAdvice {
            cause: format!("Neither the server nor this machine has the certificate of {issuer}."),
            remedy:
                "Add the certificate of this authority to the chain that the server sends. If it is a private root, \
                install it at the clients."
                    .to_owned(),
        }),
    }
}

/// Where the authority publishes its certificate (RFC 5280 §4.2.2.1).
fn issuer_url(certificate: &X509Certificate) -> Option<String> {
    let access = certificate.extensions().iter().find_map(|extension| {
        match extension.parsed_extension() {
            ParsedExtension::AuthorityInfoAccess(access) => Some(access),
            _ => None,
        }
    })?;
    access
        .accessdescs
        .iter()
        .find_map(|one| match &one.access_location {
            // id-ad-caIssuers
            GeneralName::URI(url) if one.access_method.to_id_string() == "1.3.6.1.5.5.7.48.2" => {
                Some((*url).to_owned())
            }
            _ => None,
        })
}

/// Whether the verifier gave up because of its own limits. It does not export the names of these
/// errors.
fn is_too_long(error: &Error) -> bool {
    let text = error.to_string();
    [
        "MaximumPathDepth",
        "MaximumSignatureChecks",
        "MaximumPathBuildCalls",
    ]
    .iter()
    .any(|limit| text.contains(limit))
}

/// The reason for users; the errors of the verifier are names of its code.
fn reason(error: &Error) -> &'static str {
    use CertificateError as Problem;
    let Error::InvalidCertificate(problem) = error else {
        return "the chain cannot be verified";
    };
    match problem {
        Problem::BadEncoding => "a certificate of the chain is not encoded by the rules",
        Problem::Expired | Problem::ExpiredContext { .. } => {
            "an authority of the chain had expired"
        }
        Problem::NotValidYet | Problem::NotValidYetContext { .. } => {
            "an authority of the chain was not yet valid"
        }
        Problem::Revoked => "a certificate of the chain is revoked",
        Problem::UnhandledCriticalExtension => {
            "a certificate of the chain has a critical extension that is not known"
        }
        Problem::BadSignature => "a signature in the chain is wrong",
        Problem::InvalidPurpose | Problem::InvalidPurposeContext { .. } => {
            "the certificate is not for servers"
        }
        other => {
            let text = format!("{other:?}");
            let named = REASONS.iter().find(|(name, _)| text.contains(name));
            named.map_or("the chain cannot be verified", |(_, reason)| *reason)
        }
    }
}

/// Errors that the verifier names only in its debug text.
const REASONS: &[(&str, &str)] = &[
    (
        "CaUsedAsEndEntity",
        "the certificate of the server is one of an authority",
    ),
    (
        "EndEntityUsedAsCa",
        "a certificate of the chain issued another one, which it may not",
    ),
    (
        "PathLenConstraintViolated",
        "an authority allows fewer authorities below it than the chain has",
    ),
    (
        "NameConstraintViolation",
        "an authority of the chain may not issue certificates for these names",
    ),
    (
        "UnsupportedCertVersion",
        "a certificate of the chain has an old version (before X.509 version 3)",
    ),
    (
        "UnsupportedNameType",
        "an authority of the chain limits names of a kind that is not known",
    ),
    (
        "InvalidSerialNumber",
        "a certificate of the chain has an invalid serial number",
    ),
    (
        "TrailingData",
        "a certificate of the chain is followed by other data",
    ),
    (
        "MalformedExtensions",
        "a certificate of the chain has malformed extensions",
    ),
    (
        "ExtensionValueInvalid",
        "a certificate of the chain has an invalid extension",
    ),
];

#[cfg(test)]
mod tests {
    use rcgen::{
        BasicConstraints, CertificateParams, CustomExtension, DnType, IsCa, Issuer, KeyPair,
    };

    use super::*;

    #[test]
    fn missing_intermediate_and_private_authority_have_their_own_remedy() {
        let params = |name: &str| {
            let mut params = CertificateParams::new(vec!["shop.test".to_owned()]).unwrap();
            params.distinguished_name.push(DnType::CommonName, name);
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params
        };
        let key = KeyPair::generate().unwrap();
        let root = params("Acme root")
            .self_signed(&key)
            .unwrap()
            .der()
            .to_vec();
        let issuer = Issuer::new(params("Acme root"), key);
        let mut leaf = params("shop");
        let plain = leaf
            .signed_by(&KeyPair::generate().unwrap(), &issuer)
            .unwrap()
            .der()
            .to_vec();
        // AuthorityInfoAccess with caIssuers http://a.test/i
        let access =
            b"\x30\x1d\x30\x1b\x06\x08\x2b\x06\x01\x05\x05\x07\x30\x02\x86\x0fhttp://a.test/i"
                .to_vec();
        let mut access = CustomExtension::from_oid_content(&[1, 3, 6, 1, 5, 5, 7, 1, 1], access);
        access.set_criticality(false);
        leaf.custom_extensions.push(access);
        let with_url = leaf
            .signed_by(&KeyPair::generate().unwrap(), &issuer)
            .unwrap()
            .der()
            .to_vec();
        for (chain, cause, remedy) in [
            (
                vec![plain.clone(), root],
                "root CN=Acme root is not one of the authorities",
                "install its root",
            ),
            (
                vec![with_url],
                "does not send the intermediate certificate of CN=Acme root",
                "publishes it at http://a.test/i",
            ),
            (
                vec![plain],
                "Neither the server nor this machine",
                "private root",
            ),
        ] {
            let advice = advice(&chain).unwrap();
            assert!(advice.cause.contains(cause), "{}", advice.cause);
            assert!(advice.remedy.contains(remedy), "{}", advice.remedy);
        }
        assert!(advice(&[b"x".to_vec()]).is_none() && advice(&[]).is_none());
    }

    #[test]
    fn reasons_are_words_and_no_names_of_errors() {
        for problem in [
            CertificateError::BadEncoding,
            CertificateError::Expired,
            CertificateError::BadSignature,
            CertificateError::InvalidPurpose,
            CertificateError::ApplicationVerificationFailure,
        ] {
            let reason = reason(&Error::InvalidCertificate(problem));
            assert!(
                reason.contains(' ') && !reason.contains(['(', ':', '{']),
                "{reason}"
            );
        }
        assert_eq!(reason(&Error::DecryptError), "the chain cannot be verified");
    }
}
