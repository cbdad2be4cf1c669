//! The CVEs of weaknesses of TLS, by the kind of finding and its evidence.
//!
//! A CVE is named only where the scan proved what it describes. ROBOT, whose proof needs messages
//! that no check sends, is a reference of `tls.cipher.rsa_exchange`; BEAST and Lucky 13 depend on
//! the countermeasures of clients and libraries.

use crate::engine::kinds::{FindingKind, tls};

/// Kind of finding, a text that the evidence must contain, CVE.
const CVES: &[(FindingKind, &str, &str)] = &[
    // DROWN.
    (tls::SSL2, "", "CVE-2016-0800"),
    // POODLE.
    (tls::SSL3, "", "CVE-2014-3566"),
    // FREAK, for clients that accept a key of 512 bits; and Logjam.
    (tls::CIPHER_EXPORT, "TLS_RSA_EXPORT", "CVE-2015-0204"),
    (tls::CIPHER_EXPORT, "TLS_DHE_", "CVE-2015-4000"),
    // Sweet32: ciphers with blocks of 64 bits.
    (tls::CIPHER_3DES, "", "CVE-2016-2183"),
    (tls::CIPHER_DES, "", "CVE-2016-2183"),
    (tls::CIPHER_IDEA, "", "CVE-2016-2183"),
    (tls::CIPHER_RC2, "", "CVE-2016-2183"),
    (tls::CIPHER_RC4, "", "CVE-2013-2566"),
    (tls::CIPHER_RC4, "", "CVE-2015-2808"),
    // CRIME.
    (tls::COMPRESSION, "", "CVE-2012-4929"),
    (tls::INSECURE_RENEGOTIATION, "", "CVE-2009-3555"),
    // Certificates forged by collisions of MD5.
    (tls::WEAK_SIGNATURE, "md5WithRSA", "CVE-2004-2761"),
];

/// The CVEs that these rows of evidence prove.
pub fn of(kind: FindingKind, rows: &[Vec<String>]) -> impl Iterator<Item = &'static str> {
    let has = move |text: &str| rows.iter().flatten().any(|cell| cell.contains(text));
    CVES.iter()
        .filter(move |(of, text, _)| *of == kind && has(text))
        .map(|(.., cve)| *cve)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn export_suites_have_the_attack_of_their_key_exchange() {
        for (suite, expected) in [
            ("TLS_RSA_EXPORT_WITH_RC4_40_MD5", &["CVE-2015-0204"][..]),
            ("TLS_DHE_RSA_EXPORT_WITH_DES40_CBC_SHA", &["CVE-2015-4000"]),
            ("TLS_DH_anon_EXPORT_WITH_RC4_40_MD5", &[]),
        ] {
            let rows = vec![vec!["TLS 1.0".to_owned(), suite.to_owned()]];
            assert_eq!(
                of(tls::CIPHER_EXPORT, &rows).collect::<Vec<_>>(),
                expected,
                "{suite}"
            );
        }
        let sha1 = vec![vec!["Reason".to_owned(), "CN=a: sha1WithRSA".to_owned()]];
        assert_eq!(of(tls::WEAK_SIGNATURE, &sha1).count(), 0);
    }
}
