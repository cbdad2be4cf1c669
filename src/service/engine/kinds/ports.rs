//! Kinds of finding of the port scanner.

use super::{FindingKind, MISCONFIGURATION};
use crate::service::engine::risks;

kinds! {
    OPEN {
        id: "port.open",
        name: "Open port",
        risk: risks::OPEN_PORT,
        cwe: "CWE-1327",
        owasp: MISCONFIGURATION,
        description: "The host accepted a TCP connection on this port, so a service listens there.",
        risk_description: "Every reachable service increases the attack surface. Only the operator knows whether it \
                           must be reachable from here.",
        recommendation: "Check whether the service must be reachable. If not, stop it, bind it to loopback, or block \
                         the port in the firewall.",
        references: &["https://cwe.mitre.org/data/definitions/1327.html"],
    }
}
