//! The risk levels of findings, each with its reason (`service.md`, Engine).
//!
//! A kind of finding ([`kinds`](super::kinds)) names a row of this table instead of a level, so that checks for the same
//! weakness have the same risk.

use crate::contract::Risk;

macro_rules! table {
    ($($name:ident = $risk:ident, $reason:literal;)+) => {
        $(#[doc = $reason] pub const $name: Risk = Risk::$risk;)+
    };
}

table! {
    READABLE_SECRET = Critical, "A private key, password or token gives the rights of its owner immediately.";
    READABLE_SOURCE = High, "Source control, environment and database files contain code and personal data.";
    UNTRUSTED_CERTIFICATE = Medium, "Users cannot distinguish the server from a man-in-the-middle.";
    OLD_PROTOCOL = Medium, "TLS up to 1.1 has known attacks, which need a man-in-the-middle and effort.";
    WEAK_KEY = Medium, "The key or signature can be broken with sufficient time and computing power.";
    LISTING_WITH_FILES = Medium, "Attackers find files that were not meant to be public.";
    OPEN_CORS = Medium, "Any site can read responses with the rights of the user.";
    COOKIE_FLAG = Low, "An attacker needs a second weakness to steal the cookie.";
    WEAK_HEADER = Low, "The protection exists but has little effect.";
    PLAIN_HTTP = Low, "An attacker can read and change everything, but must be on the network path.";
    MIXED_CONTENT = Low, "A man-in-the-middle can change single resources but not the page.";
    RISKY_METHOD = Low, "The server claims to support the method; the scan did not use it.";
    VERBOSE_ERROR = Low, "Internals help an attacker to prepare an attack but give no access.";
    UNPROVED_VERSION = Low, "The version has known vulnerabilities, but its package may contain the fixes.";
    EXPIRES_SOON = Low, "The certificate is still valid for some days.";
    MISSING_HARDENING = Info, "A second line of defence is missing; the first may be sufficient.";
    OPEN_PORT = Info, "Only the operator knows whether the port should be open.";
    DISCLOSURE = Info, "The information helps an attacker to select exploits.";
    GOOD_TO_HAVE = Info, "Its absence causes no harm.";
}
