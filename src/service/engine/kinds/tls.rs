//! Kinds of finding of the TLS scanner.

use super::{CRYPTOGRAPHY, FindingKind};
use crate::service::engine::risks;

const OLD_RISK: &str = "A man-in-the-middle can downgrade a client that supports this version, and then read or change \
                        parts of the traffic. Standards such as PCI DSS forbid this version.";
const OLD_ADVICE: &str = "Disable this version; offer TLS 1.2 and 1.3 only.";
const UNTRUSTED_RISK: &str = "Browsers show a warning that users learn to ignore, so they would not notice a \
                              man-in-the-middle. Other clients refuse the connection or disable the verification.";

kinds! {
    SSL3 {
        id: "tls.protocol.ssl3",
        name: "SSL 3.0 supported",
        risk: risks::OLD_PROTOCOL,
        cwe: "CWE-327",
        owasp: CRYPTOGRAPHY,
        description: "The server accepted an SSL 3.0 handshake. The protocol is broken by design (POODLE).",
        risk_description: OLD_RISK,
        recommendation: OLD_ADVICE,
        references: &["https://www.rfc-editor.org/rfc/rfc7568"],
    }

    TLS10 {
        id: "tls.protocol.tls10",
        name: "TLS 1.0 supported",
        description: "The server accepted a TLS 1.0 handshake. The protocol was deprecated in 2021.",
        references: &["https://www.rfc-editor.org/rfc/rfc8996"],
        ..SSL3
    }

    TLS11 {
        id: "tls.protocol.tls11",
        name: "TLS 1.1 supported",
        description: "The server accepted a TLS 1.1 handshake. The protocol was deprecated in 2021.",
        ..TLS10
    }

    NO_TLS13 {
        id: "tls.protocol.no_tls13",
        name: "TLS 1.3 not supported",
        risk: risks::GOOD_TO_HAVE,
        cwe: "CWE-693",
        description: "The server supports an earlier version of TLS but not TLS 1.3.",
        risk_description: "A well-configured TLS 1.2 is secure. TLS 1.3 has no weak options and connects faster.",
        recommendation: "Enable TLS 1.3.",
        references: &["https://www.rfc-editor.org/rfc/rfc8446"],
        ..SSL3
    }

    EXPIRED {
        id: "tls.certificate.expired",
        name: "Certificate expired",
        risk: risks::UNTRUSTED_CERTIFICATE,
        cwe: "CWE-298",
        description: "The certificate of the server has expired.",
        risk_description: UNTRUSTED_RISK,
        recommendation: "Renew the certificate, and automate renewal (ACME).",
        references: &["https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.5"],
        ..SSL3
    }

    NOT_YET_VALID {
        id: "tls.certificate.not_yet_valid",
        name: "Certificate not yet valid",
        description: "The validity period of the server's certificate begins in the future.",
        recommendation: "Install a certificate that is valid now, and check the clock of the issuing machine.",
        ..EXPIRED
    }

    EXPIRES_SOON {
        id: "tls.certificate.expires_soon",
        name: "Certificate expires within 14 days",
        risk: risks::EXPIRES_SOON,
        description: "The certificate of the server expires within 14 days.",
        risk_description: "Automated renewal happens earlier, so it may have failed.",
        ..EXPIRED
    }

    WRONG_NAME {
        id: "tls.certificate.wrong_name",
        name: "Certificate name mismatch",
        cwe: "CWE-297",
        description: "No name in the server's certificate matches the requested host name.",
        recommendation: "Install a certificate whose subject alternative names include this host.",
        references: &["https://www.rfc-editor.org/rfc/rfc9525"],
        ..EXPIRED
    }

    SELF_SIGNED {
        id: "tls.certificate.self_signed",
        name: "Self-signed certificate",
        cwe: "CWE-295",
        description: "The certificate of the server is signed with its own key instead of by a certificate authority.",
        recommendation: "Install a certificate of an authority that the clients trust; within an organisation, of \
                         its internal authority.",
        references: &["https://www.rfc-editor.org/rfc/rfc5280#section-6"],
        ..EXPIRED
    }

    UNTRUSTED {
        id: "tls.certificate.untrusted",
        name: "Certificate chain not trusted",
        description: "The certificate chain of the server does not lead to an authority that this machine trusts. An \
                      intermediate certificate may be missing.",
        recommendation: "Send the complete chain, and use an authority that the clients trust.",
        ..SELF_SIGNED
    }

    WEAK_KEY {
        id: "tls.certificate.weak_key",
        name: "Weak certificate key",
        risk: risks::WEAK_KEY,
        cwe: "CWE-326",
        description: "The key of a certificate in the chain is shorter than 2048 bits (RSA, DSA) or 224 bits \
                      (elliptic curve).",
        risk_description: "An attacker with sufficient computing power can derive the private key and impersonate \
                           the server.",
        recommendation: "Generate a new key: RSA of at least 2048 bits, or an elliptic curve key on P-256 or stronger.",
        references: &["https://csrc.nist.gov/pubs/sp/800/131/a/r2/final"],
        ..SSL3
    }

    WEAK_SIGNATURE {
        id: "tls.certificate.weak_signature",
        name: "Weak certificate signature algorithm",
        cwe: "CWE-328",
        description: "A certificate in the chain is signed with MD2, MD5 or SHA-1.",
        risk_description: "Collisions of these hashes are practical and allow forged certificates with a valid \
                           signature.",
        recommendation: "Reissue the certificate with a SHA-256 signature or stronger.",
        references: &["https://www.rfc-editor.org/rfc/rfc9155"],
        ..WEAK_KEY
    }
}
