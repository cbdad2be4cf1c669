//! Kinds of finding of the port scanner.

use super::{FindingKind, MISCONFIGURATION};
use crate::service::engine::risks;

/// All of this file.
pub const ALL: &[&FindingKind] = &[&OPEN];

/// A TCP port that takes connections.
pub const OPEN: FindingKind = FindingKind {
    id: "port.open",
    name: "Open port",
    risk: risks::OPEN_PORT,
    cwe: "CWE-1327",
    owasp: MISCONFIGURATION,
    description: "A TCP connection to this port was accepted, so a program listens there.",
    risk_description: "Each reachable service is something an attacker can talk to. Whether it should be reachable \
                       from here is known to whoever runs the host.",
    recommendation: "Check that the service is meant to be reachable. If not, stop it, bind it to loopback, or close \
                     the port in the firewall.",
    references: &["https://cwe.mitre.org/data/definitions/1327.html"],
};
