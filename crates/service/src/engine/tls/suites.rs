//! Cipher suites and the weaknesses that their names show.

use std::sync::LazyLock;

use super::hello::Version;
use crate::engine::kinds::{FindingKind, tls};

/// Number and name of a suite, as `assets/engine/suites.txt` lists them.
static SUITES: LazyLock<Vec<(u16, &str)>> = LazyLock::new(|| {
    let lines = include_str!("../../../assets/engine/suites.txt").lines();
    let read = |line: &'static str| {
        let (number, name) = line.split_once(' ')?;
        Some((u16::from_str_radix(number, 16).ok()?, name))
    };
    lines
        .filter(|line| !line.starts_with('#'))
        .filter_map(read)
        .collect()
});

/// A weakness of cipher suites: id and description of its test, kind of finding, and whether a name
/// has it.
pub struct SuiteCheck {
    pub uid: &'static str,
    pub description: &'static str,
    pub kind: FindingKind,
    pub has: fn(&str) -> bool,
}

/// The checks of the suites that a server accepts. A suite can have several weaknesses.
pub const CHECKS: &[SuiteCheck] = &[
    SuiteCheck {
        uid: "tls.cipher.null",
        description: "Cipher suites without encryption",
        kind: tls::CIPHER_NULL,
        has: |name| name.contains("_NULL_"),
    },
    SuiteCheck {
        uid: "tls.cipher.anon",
        description: "Cipher suites without authentication",
        kind: tls::CIPHER_ANON,
        has: |name| name.contains("_anon_"),
    },
    SuiteCheck {
        uid: "tls.cipher.export",
        description: "Export cipher suites",
        kind: tls::CIPHER_EXPORT,
        has: |name| name.contains("_EXPORT"),
    },
    SuiteCheck {
        uid: "tls.cipher.des",
        description: "DES cipher suites",
        kind: tls::CIPHER_DES,
        has: |name| name.contains("_DES_") || name.contains("_DES40_"),
    },
    SuiteCheck {
        uid: "tls.cipher.rc4",
        description: "RC4 cipher suites",
        kind: tls::CIPHER_RC4,
        has: |name| name.contains("_RC4_"),
    },
    SuiteCheck {
        uid: "tls.cipher.3des",
        description: "3DES cipher suites",
        kind: tls::CIPHER_3DES,
        has: |name| name.contains("_3DES_"),
    },
    SuiteCheck {
        uid: "tls.cipher.rc2",
        description: "RC2 cipher suites",
        kind: tls::CIPHER_RC2,
        has: |name| name.contains("_RC2_"),
    },
    SuiteCheck {
        uid: "tls.cipher.idea",
        description: "IDEA cipher suites",
        kind: tls::CIPHER_IDEA,
        has: |name| name.contains("_IDEA_"),
    },
    SuiteCheck {
        uid: "tls.cipher.md5",
        description: "Cipher suites with MD5",
        kind: tls::CIPHER_MD5,
        has: |name| name.ends_with("_MD5"),
    },
    SuiteCheck {
        uid: "tls.cipher.rsa_exchange",
        description: "Cipher suites with RSA key exchange",
        kind: tls::RSA_EXCHANGE,
        has: |name| name.starts_with("RSA_"),
    },
    SuiteCheck {
        uid: "tls.cipher.no_forward_secrecy",
        description: "Cipher suites without forward secrecy",
        kind: tls::NO_FORWARD_SECRECY,
        has: |name| {
            // NULL suites have no encryption at all.
            let is_static = |kind: &&str| name.starts_with(*kind);
            ["RSA_", "DH_RSA_", "DH_DSS_", "ECDH_RSA_", "ECDH_ECDSA_"]
                .iter()
                .any(is_static)
                && !name.contains("_NULL_")
        },
    },
];

/// Whether a suite encrypts and authenticates in one step (AEAD).
pub fn is_aead(name: &str) -> bool {
    ["_GCM_", "_CCM", "_POLY1305"]
        .iter()
        .any(|mode| name.contains(mode))
}

/// Whether a suite encrypts by CBC with a separate MAC.
pub fn is_cbc(name: &str) -> bool {
    name.contains("_CBC_")
}

/// The suites to offer with a version, the common ones first.
pub fn offered(version: Version) -> Vec<u16> {
    let fits = |number: u16, name: &str| match version {
        Version::Ssl2 => false,
        Version::Tls13 => is_of_tls13(number),
        Version::Tls12 => !is_of_tls13(number),
        _ => {
            !is_of_tls13(number)
                && !["GCM", "CCM", "POLY1305", "SHA256", "SHA384"]
                    .iter()
                    .any(|new| name.contains(new))
        }
    };
    SUITES
        .iter()
        .filter(|(number, name)| fits(*number, name))
        .map(|(number, _)| *number)
        .collect()
}

/// TLS 1.3 suites name neither key exchange nor signature.
fn is_of_tls13(number: u16) -> bool {
    number >> 8 == 0x13
}

/// The name of a suite, or its number.
pub fn name(number: u16) -> String {
    let suite = SUITES.iter().find(|(suite, _)| *suite == number);
    suite.map_or_else(|| format!("0x{number:04x}"), |(_, name)| (*name).to_owned())
}

/// The name in the registry of IANA: `TLS_DH_anon_WITH_AES_128_CBC_SHA` for
/// `DH_anon_AES_128_CBC_SHA`.
pub fn iana(name: &str) -> String {
    const EXCHANGE: &[&str] = &[
        "RSA",
        "DH",
        "DHE",
        "ECDH",
        "ECDHE",
        "DSS",
        "ECDSA",
        "anon",
        "EXPORT",
        "EXPORT1024",
        "PSK",
        "KRB5",
    ];
    // As rustls writes suites of TLS 1.3: `TLS13_AES_256_GCM_SHA384`.
    if let Some(suite) = name.strip_prefix("TLS13_") {
        return format!("TLS_{suite}");
    }
    // Those of SSL 2.0 have names of their own.
    if ["0x", "TLS", "SSL"]
        .iter()
        .any(|start| name.starts_with(start))
        || name.is_empty()
    {
        return name.to_owned();
    }
    let words: Vec<&str> = name.split('_').collect();
    let count = words
        .iter()
        .take_while(|word| EXCHANGE.contains(word))
        .count();
    let (exchange, cipher) = words.split_at(count);
    let hash = if count > 0 && name.ends_with("POLY1305") {
        "_SHA256"
    } else {
        ""
    };
    match count {
        0 => format!("TLS_{name}"),
        _ => format!("TLS_{}_WITH_{}{hash}", exchange.join("_"), cipher.join("_")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn suites_are_distinct_and_old_versions_get_no_new_ones() {
        let numbers: BTreeSet<u16> = SUITES.iter().map(|(number, _)| *number).collect();
        assert!(numbers.len() == SUITES.len() && numbers.len() > 150);
        assert_eq!(
            offered(Version::Tls13),
            [0x1301, 0x1302, 0x1303, 0x1304, 0x1305]
        );
        assert!(
            offered(Version::Tls12).contains(&0xcca8) && !offered(Version::Tls10).contains(&0xcca8)
        );
        assert!(offered(Version::Ssl3).contains(&0x0003));
    }

    #[test]
    fn names_of_iana_are_complete() {
        for (name, expected) in [
            (
                "DH_anon_AES_128_CBC_SHA",
                "TLS_DH_anon_WITH_AES_128_CBC_SHA",
            ),
            (
                "DH_anon_EXPORT_RC4_40_MD5",
                "TLS_DH_anon_EXPORT_WITH_RC4_40_MD5",
            ),
            ("RSA_NULL_MD5", "TLS_RSA_WITH_NULL_MD5"),
            (
                "ECDHE_RSA_CHACHA20_POLY1305",
                "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
            ),
            ("AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"),
            ("TLS13_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
            ("SSL_CK_RC4_128_WITH_MD5", "SSL_CK_RC4_128_WITH_MD5"),
            ("", ""),
            ("0x1234", "0x1234"),
        ] {
            assert_eq!(iana(name), expected);
        }
    }

    #[test]
    fn weaknesses_are_read_from_names() {
        let weak = |name: &str| -> Vec<&str> {
            CHECKS
                .iter()
                .filter(|check| (check.has)(name))
                .map(|check| &check.uid["tls.cipher.".len()..])
                .collect()
        };
        for (name, expected) in [
            ("RSA_NULL_SHA", &["null", "rsa_exchange"][..]),
            (
                "DH_anon_EXPORT_RC4_40_MD5",
                &["anon", "export", "rc4", "md5"],
            ),
            (
                "RSA_EXPORT_DES40_CBC_SHA",
                &["export", "des", "rsa_exchange", "no_forward_secrecy"],
            ),
            (
                "RSA_EXPORT_RC2_CBC_40_MD5",
                &["export", "rc2", "md5", "rsa_exchange", "no_forward_secrecy"],
            ),
            (
                "RSA_IDEA_CBC_SHA",
                &["idea", "rsa_exchange", "no_forward_secrecy"],
            ),
            ("DHE_RSA_DES_CBC_SHA", &["des"]),
            ("ECDHE_RSA_3DES_EDE_CBC_SHA", &["3des"]),
            ("ECDH_RSA_AES_128_CBC_SHA", &["no_forward_secrecy"]),
            ("ECDHE_RSA_AES_128_GCM_SHA256", &[]),
            ("AES_128_GCM_SHA256", &[]),
        ] {
            assert_eq!(weak(name), expected, "{name}");
        }
        for (number, name) in SUITES.iter() {
            let other = ["_RC4_", "_NULL_"].iter().any(|other| name.contains(other));
            let modes = [is_aead(name), is_cbc(name), other];
            assert_eq!(
                modes.iter().filter(|is_mode| **is_mode).count(),
                1,
                "{number:04x} {name}"
            );
        }
    }
}
