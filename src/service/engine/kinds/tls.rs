//! Kinds of finding of the TLS scanner.

use super::{CRYPTOGRAPHY, FindingKind};
use crate::service::engine::risks;

/// All of this file.
pub const ALL: &[&FindingKind] = &[
    &SSL3,
    &TLS10,
    &TLS11,
    &NO_TLS13,
    &EXPIRED,
    &NOT_YET_VALID,
    &EXPIRES_SOON,
    &WRONG_NAME,
    &SELF_SIGNED,
    &UNTRUSTED,
    &WEAK_KEY,
    &WEAK_SIGNATURE,
];

const OLD_RISK: &str = "Someone on the path can make a client that still speaks it use it too, and then read or change \
                        parts of what is sent. Rules such as PCI DSS forbid it.";
const OLD_ADVICE: &str = "Switch the version off; offer TLS 1.2 and 1.3 only.";
const UNTRUSTED_RISK: &str = "Visitors see a warning and learn to click it away, so they would not notice somebody who \
                              answers in the server's place. Programs refuse the connection, or have the check switched off.";

/// SSL 3.0 is accepted.
pub const SSL3: FindingKind = FindingKind {
    id: "tls.protocol.ssl3",
    name: "SSL 3.0 is accepted",
    risk: risks::OLD_PROTOCOL,
    cwe: "CWE-327",
    owasp: CRYPTOGRAPHY,
    description: "The server answered a handshake of SSL 3.0, which is broken by design (POODLE) and must not be used.",
    risk_description: OLD_RISK,
    recommendation: OLD_ADVICE,
    references: &["https://www.rfc-editor.org/rfc/rfc7568"],
};

/// TLS 1.0 is accepted.
pub const TLS10: FindingKind = FindingKind {
    id: "tls.protocol.tls10",
    name: "TLS 1.0 is accepted",
    risk: risks::OLD_PROTOCOL,
    cwe: "CWE-327",
    owasp: CRYPTOGRAPHY,
    description: "The server answered a handshake of TLS 1.0, which was deprecated in 2021.",
    risk_description: OLD_RISK,
    recommendation: OLD_ADVICE,
    references: &["https://www.rfc-editor.org/rfc/rfc8996"],
};

/// TLS 1.1 is accepted.
pub const TLS11: FindingKind = FindingKind {
    id: "tls.protocol.tls11",
    name: "TLS 1.1 is accepted",
    description: "The server answered a handshake of TLS 1.1, which was deprecated in 2021.",
    ..TLS10
};

/// TLS 1.3 is not offered.
pub const NO_TLS13: FindingKind = FindingKind {
    id: "tls.protocol.no_tls13",
    name: "TLS 1.3 is not offered",
    risk: risks::GOOD_TO_HAVE,
    cwe: "CWE-693",
    owasp: CRYPTOGRAPHY,
    description: "The server speaks an earlier version of TLS, and not 1.3.",
    risk_description: "TLS 1.2 well configured is safe; 1.3 leaves no weak choice to make and connects faster.",
    recommendation: "Enable TLS 1.3.",
    references: &["https://www.rfc-editor.org/rfc/rfc8446"],
};

/// The certificate's time has passed.
pub const EXPIRED: FindingKind = FindingKind {
    id: "tls.certificate.expired",
    name: "Certificate expired",
    risk: risks::UNTRUSTED_CERTIFICATE,
    cwe: "CWE-298",
    owasp: CRYPTOGRAPHY,
    description: "The server's certificate is past its last day.",
    risk_description: UNTRUSTED_RISK,
    recommendation: "Renew the certificate, and let renewal run by itself (ACME).",
    references: &["https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.5"],
};

/// The certificate's time has not begun.
pub const NOT_YET_VALID: FindingKind = FindingKind {
    id: "tls.certificate.not_yet_valid",
    name: "Certificate not valid yet",
    description: "The first day of the server's certificate lies ahead.",
    recommendation: "Install a certificate that is valid now, and check the clock of the machine that issued it.",
    ..EXPIRED
};

/// The certificate has 14 days or less.
pub const EXPIRES_SOON: FindingKind = FindingKind {
    id: "tls.certificate.expires_soon",
    name: "Certificate expires within 14 days",
    risk: risks::EXPIRES_SOON,
    description: "The server's certificate has no more than 14 days left.",
    risk_description: "Renewal that runs by itself happens earlier; here it may have stopped working.",
    ..EXPIRED
};

/// The certificate is for other names.
pub const WRONG_NAME: FindingKind = FindingKind {
    id: "tls.certificate.wrong_name",
    name: "Certificate is for another name",
    risk: risks::UNTRUSTED_CERTIFICATE,
    cwe: "CWE-297",
    owasp: CRYPTOGRAPHY,
    description: "None of the names in the server's certificate is the name it was asked by.",
    risk_description: UNTRUSTED_RISK,
    recommendation: "Install a certificate whose subject alternative names cover this host.",
    references: &["https://www.rfc-editor.org/rfc/rfc9525"],
};

/// The certificate vouches for itself.
pub const SELF_SIGNED: FindingKind = FindingKind {
    id: "tls.certificate.self_signed",
    name: "Certificate is self-signed",
    risk: risks::UNTRUSTED_CERTIFICATE,
    cwe: "CWE-295",
    owasp: CRYPTOGRAPHY,
    description: "The server's certificate is signed with its own key, so nobody else vouches for it.",
    risk_description: UNTRUSTED_RISK,
    recommendation: "Install a certificate of an authority that the clients trust; inside an organisation, of its own \
                     authority.",
    references: &["https://www.rfc-editor.org/rfc/rfc5280#section-6"],
};

/// The chain ends at nobody who is trusted.
pub const UNTRUSTED: FindingKind = FindingKind {
    id: "tls.certificate.untrusted",
    name: "Certificate chain is not trusted",
    description: "The chain of certificates that the server sent does not lead to an authority this machine trusts. An \
                  intermediate certificate may be missing.",
    recommendation: "Send the whole chain, and use an authority that the clients trust.",
    ..SELF_SIGNED
};

/// The key is too small.
pub const WEAK_KEY: FindingKind = FindingKind {
    id: "tls.certificate.weak_key",
    name: "Certificate key is weak",
    risk: risks::WEAK_KEY,
    cwe: "CWE-326",
    owasp: CRYPTOGRAPHY,
    description: "The key of a certificate in the chain is shorter than 2048 bits (RSA, DSA) or 224 bits (elliptic).",
    risk_description: "With enough computing the private key can be found, and the server impersonated.",
    recommendation: "Make a new key: RSA of at least 2048 bits, or an elliptic one on P-256 or better.",
    references: &["https://csrc.nist.gov/pubs/sp/800/131/a/r2/final"],
};

/// The signature uses a broken hash.
pub const WEAK_SIGNATURE: FindingKind = FindingKind {
    id: "tls.certificate.weak_signature",
    name: "Certificate signature is weak",
    risk: risks::WEAK_KEY,
    cwe: "CWE-328",
    owasp: CRYPTOGRAPHY,
    description: "A certificate in the chain is signed with MD2, MD5 or SHA-1.",
    risk_description: "Collisions of these hashes can be made, and with them a false certificate with a true signature.",
    recommendation: "Have the certificate issued again with a SHA-256 signature or better.",
    references: &["https://www.rfc-editor.org/rfc/rfc9155"],
};
