//! Verifies a chain that is longer than rustls accepts (six authorities), as OpenSSL does: by the
//! rules of RFC 5280 §6.1, up to 100 authorities.
//!
//! Name constraints are not evaluated: a long chain that has them is not judged here.

use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::CertificateDer;
use x509_parser::prelude::*;

/// The depth limit of OpenSSL.
const MAX_DEPTH: usize = 100;

/// Verifies a chain at `when`.
///
/// # Errors
/// The reason in words.
pub fn verify(
    chain: &[Vec<u8>],
    anchors: &[&CertificateDer<'static>],
    when: u64,
    algorithms: &WebPkiSupportedAlgorithms,
) -> Result<(), String> {
    let parsed: Result<Vec<X509Certificate>, _> = chain
        .iter()
        .map(|der| X509Certificate::from_der(der).map(|(_, certificate)| certificate))
        .collect();
    let Ok(parsed) = parsed else {
        return Err("a certificate of the chain cannot be read".to_owned());
    };
    let anchors: Vec<X509Certificate> = anchors
        .iter()
        .filter_map(|der| Some(X509Certificate::from_der(der).ok()?.1))
        .collect();
    let Some((mut current, rest)) = parsed.split_first() else {
        return Err("there is no certificate".to_owned());
    };
    let mut unused: Vec<&X509Certificate> = rest.iter().collect();
    check_time(current, when)?;
    for depth in 0..MAX_DEPTH {
        let issued = |issuer: &X509Certificate| {
            issuer.subject().as_raw() == current.issuer().as_raw()
                && is_signed(current, issuer, algorithms)
        };
        if anchors.iter().any(issued) {
            return Ok(());
        }
        let Some(at) = unused.iter().position(|issuer| issued(issuer)) else {
            return Err(missing_issuer(current, &unused));
        };
        let issuer = unused.swap_remove(at);
        check_time(issuer, when)?;
        check_authority(issuer, depth)?;
        current = issuer;
    }
    Err(format!("the chain has more than {MAX_DEPTH} authorities"))
}

/// Why no certificate of the chain issued this one.
fn missing_issuer(certificate: &X509Certificate, others: &[&X509Certificate]) -> String {
    let issuer = certificate.issuer();
    let is_issuer = |other: &&X509Certificate| other.subject().as_raw() == issuer.as_raw();
    match others.iter().any(is_issuer) {
        true => format!(
            "the signature of {} is not one of its issuer",
            certificate.subject()
        ),
        false => format!("neither the chain nor this machine has the certificate of {issuer}"),
    }
}

fn check_time(certificate: &X509Certificate, when: u64) -> Result<(), String> {
    let when = i64::try_from(when).unwrap_or(i64::MAX);
    let validity = certificate.validity();
    let is_valid =
        (validity.not_before.timestamp()..=validity.not_after.timestamp()).contains(&when);
    if is_valid {
        Ok(())
    } else {
        Err(format!(
            "{} was not valid at that time",
            certificate.subject()
        ))
    }
}

/// Whether a certificate may issue others, with `below` authorities between it and the certificate
/// of the server.
fn check_authority(certificate: &X509Certificate, below: usize) -> Result<(), String> {
    let name = certificate.subject();
    let constraints = certificate
        .basic_constraints()
        .ok()
        .flatten()
        .map(|one| one.value);
    if !constraints.is_some_and(|one| one.ca) {
        return Err(format!("{name} may not issue certificates"));
    }
    let most = constraints.and_then(|one| one.path_len_constraint);
    if most.is_some_and(|most| usize::try_from(most).is_ok_and(|most| below > most)) {
        return Err(format!(
            "{name} allows fewer authorities below it than the chain has"
        ));
    }
    if certificate
        .key_usage()
        .ok()
        .flatten()
        .is_some_and(|usage| !usage.value.key_cert_sign())
    {
        return Err(format!("the key of {name} is not for certificates"));
    }
    if certificate.name_constraints().ok().flatten().is_some() {
        return Err(format!(
            "the chain is long, and {name} limits the names of certificates, which was not checked"
        ));
    }
    Ok(())
}

/// Whether `issuer` signed a certificate.
fn is_signed(
    certificate: &X509Certificate,
    issuer: &X509Certificate,
    all: &WebPkiSupportedAlgorithms,
) -> bool {
    let oid = certificate.signature_algorithm.algorithm.as_bytes();
    let header = [0x06, u8::try_from(oid.len()).unwrap_or(0)];
    let fits =
        |identifier: &[u8]| identifier.starts_with(&header) && identifier[2..].starts_with(oid);
    let (key, signed) = (
        &issuer.public_key().subject_public_key.data,
        certificate.tbs_certificate.as_ref(),
    );
    all.all
        .iter()
        .filter(|algorithm| fits(algorithm.signature_alg_id().as_ref()))
        .any(|algorithm| {
            algorithm
                .verify_signature(key, signed, &certificate.signature_value.data)
                .is_ok()
        })
}

#[cfg(test)]
mod tests {
    use rcgen::{
        BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd,
    };
    use rustls::crypto::aws_lc_rs;

    use super::super::trust::{self, Trust};
    use super::*;

    const NOW: u64 = 1_790_000_000;

    /// What one authority of a chain does otherwise.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Fault {
        None,
        Expired,
        NoAuthority,
        PathLength,
        WrongKey,
        Missing,
    }

    /// A root and a chain of the server and `count` authorities; the authority `at`, from the root,
    /// has the fault.
    fn chain(count: usize, fault: Fault, at: usize) -> (CertificateDer<'static>, Vec<Vec<u8>>) {
        let params = |name: &str, is_ca| {
            let mut params = CertificateParams::new(vec!["shop.test".to_owned()]).unwrap();
            params.distinguished_name.push(DnType::CommonName, name);
            params.is_ca = is_ca;
            (params.not_before, params.not_after) =
                (date_time_ymd(2020, 1, 1), date_time_ymd(2040, 1, 1));
            params
        };
        let key = KeyPair::generate().unwrap();
        let root = params("root", IsCa::Ca(BasicConstraints::Unconstrained));
        let anchor = root.self_signed(&key).unwrap().der().clone();
        let (mut issuer, mut chain) = (Issuer::new(root, key), Vec::new());
        for number in 0..count {
            let has = |expected| fault == expected && number == at;
            let is_ca = match () {
                () if has(Fault::NoAuthority) => IsCa::ExplicitNoCa,
                () if has(Fault::PathLength) => IsCa::Ca(BasicConstraints::Constrained(2)),
                () => IsCa::Ca(BasicConstraints::Unconstrained),
            };
            let mut own = params(&format!("authority {number}"), is_ca);
            if has(Fault::Expired) {
                own.not_after = date_time_ymd(2021, 1, 1);
            }
            let key = KeyPair::generate().unwrap();
            let der = own.signed_by(&key, &issuer).unwrap().der().to_vec();
            if !has(Fault::Missing) {
                chain.push(der);
            }
            let key = if has(Fault::WrongKey) {
                KeyPair::generate().unwrap()
            } else {
                key
            };
            issuer = Issuer::new(own, key);
        }
        let key = KeyPair::generate().unwrap();
        chain.push(
            params("leaf", IsCa::NoCa)
                .signed_by(&key, &issuer)
                .unwrap()
                .der()
                .to_vec(),
        );
        chain.reverse();
        (anchor, chain)
    }

    #[test]
    fn long_chains_are_judged_by_their_certificates() {
        let algorithms = aws_lc_rs::default_provider().signature_verification_algorithms;
        for (fault, expected) in [
            (Fault::None, ""),
            (Fault::Expired, "CN=authority 3 was not valid at that time"),
            (
                Fault::NoAuthority,
                "CN=authority 3 may not issue certificates",
            ),
            (
                Fault::PathLength,
                "CN=authority 3 allows fewer authorities below it than the chain has",
            ),
            (
                Fault::WrongKey,
                "the signature of CN=authority 4 is not one of its issuer",
            ),
            (
                Fault::Missing,
                "neither the chain nor this machine has the certificate of CN=authority 3",
            ),
        ] {
            let (anchor, mut chain) = chain(12, fault, 3);
            let verified = verify(&chain, &[&anchor], NOW, &algorithms);
            assert_eq!(verified.err().unwrap_or_default(), expected);
            // The order of the authorities does not matter.
            chain[1..].reverse();
            assert_eq!(
                verify(&chain, &[&anchor], NOW, &algorithms)
                    .err()
                    .unwrap_or_default(),
                expected
            );
        }
        // The verifier of rustls gives up, and the path is verified here.
        let (anchor, twelve) = chain(12, Fault::None, 0);
        assert_eq!(
            trust::verify(&twelve, "shop.test", NOW, &[anchor]),
            Trust::Trusted
        );
        let (anchor, expired) = chain(12, Fault::Expired, 3);
        let why = trust::verify(&expired, "shop.test", NOW, &[anchor]);
        assert!(
            matches!(&why, Trust::Untrusted(why) if !why.contains("Other")),
            "{why:?}"
        );
        let (anchor, long) = chain(MAX_DEPTH + 1, Fault::None, 0);
        assert!(
            verify(&long, &[&anchor], NOW, &algorithms)
                .is_err_and(|why| why.contains("more than 100"))
        );
        assert!(verify(&long[..5], &[], NOW, &algorithms).is_err());
        assert!(
            verify(&[b"x".to_vec()], &[&anchor], NOW, &algorithms)
                .is_err_and(|why| why.contains("cannot be read"))
        );
    }
}
