//! Kinds of finding of the website scanner: what a server says and how it says it.
//!
//! Files that should not be readable have a file of their own: [`exposed`](super::exposed).

use super::{CRYPTOGRAPHY, ERROR_HANDLING, FindingKind, MISCONFIGURATION, OUTDATED};
use crate::service::engine::risks;

/// All of this file.
pub const ALL: &[&FindingKind] = &[
    &CSP_MISSING,
    &CSP_WEAK,
    &HSTS_MISSING,
    &HSTS_WEAK,
    &NOSNIFF_MISSING,
    &REFERRER_MISSING,
    &FRAMES_OPEN,
    &COOKIE_SECURE,
    &COOKIE_HTTP_ONLY,
    &COOKIE_SAME_SITE,
    &CORS_CREDENTIALS,
    &CORS_REFLECTED,
    &METHOD_TRACE,
    &METHOD_WRITE,
    &MIXED_CONTENT,
    &PLAIN_HTTP,
    &ERROR_PAGE,
    &SERVER_VERSION,
    &SERVER_OUTDATED,
    &ROBOTS_PATHS,
    &SECURITY_TXT,
];

/// No Content-Security-Policy.
pub const CSP_MISSING: FindingKind = FindingKind {
    id: "web.header.csp_missing",
    name: "Content-Security-Policy missing",
    risk: risks::MISSING_HARDENING,
    cwe: "CWE-693",
    owasp: MISCONFIGURATION,
    description: "Pages come without a Content-Security-Policy header, so the browser runs scripts from anywhere.",
    risk_description: "If someone manages to place a script in a page, nothing holds it back.",
    recommendation: "Send a Content-Security-Policy, first as report-only; begin with default-src 'self'.",
    references: &["https://developer.mozilla.org/en-US/docs/Web/HTTP/Guides/CSP"],
};

/// A Content-Security-Policy that allows what it is there to forbid.
pub const CSP_WEAK: FindingKind = FindingKind {
    id: "web.header.csp_weak",
    name: "Content-Security-Policy is weak",
    risk: risks::WEAK_HEADER,
    description: "The Content-Security-Policy lets scripts run that are written into the page, or come from anywhere.",
    risk_description: "A script that someone places in a page runs as if there were no policy.",
    recommendation: "Take 'unsafe-inline', 'unsafe-eval' and wildcards out of script-src; use nonces or hashes.",
    ..CSP_MISSING
};

/// No HSTS on HTTPS.
pub const HSTS_MISSING: FindingKind = FindingKind {
    id: "web.header.hsts_missing",
    name: "Strict-Transport-Security missing",
    risk: risks::MISSING_HARDENING,
    cwe: "CWE-319",
    owasp: CRYPTOGRAPHY,
    description: "The HTTPS answer has no Strict-Transport-Security header, so browsers may come back over plain HTTP.",
    risk_description: "Someone on the path can keep a visitor's next visit on plain HTTP and read along.",
    recommendation: "Send Strict-Transport-Security: max-age=31536000; includeSubDomains on every HTTPS answer.",
    references: &["https://www.rfc-editor.org/rfc/rfc6797"],
};

/// HSTS for a short time.
pub const HSTS_WEAK: FindingKind = FindingKind {
    id: "web.header.hsts_weak",
    name: "Strict-Transport-Security is short",
    risk: risks::WEAK_HEADER,
    description: "Strict-Transport-Security holds for less than 180 days, or is switched off with max-age=0.",
    ..HSTS_MISSING
};

/// No nosniff.
pub const NOSNIFF_MISSING: FindingKind = FindingKind {
    id: "web.header.nosniff_missing",
    name: "X-Content-Type-Options missing",
    cwe: "CWE-693",
    description: "Answers come without X-Content-Type-Options: nosniff, so browsers may guess another type than was sent.",
    risk_description: "A file that a user uploaded as text can be run as a script.",
    recommendation: "Send X-Content-Type-Options: nosniff on every answer.",
    references: &["https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/X-Content-Type-Options"],
    ..CSP_MISSING
};

/// No Referrer-Policy.
pub const REFERRER_MISSING: FindingKind = FindingKind {
    id: "web.header.referrer_missing",
    name: "Referrer-Policy missing",
    cwe: "CWE-200",
    description: "Answers come without a Referrer-Policy, or with one that sends whole addresses to other sites.",
    risk_description: "Addresses that hold a token or a name reach the sites that a page links to.",
    recommendation: "Send Referrer-Policy: strict-origin-when-cross-origin, or no-referrer.",
    references: &["https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Referrer-Policy"],
    ..CSP_MISSING
};

/// Pages may be framed.
pub const FRAMES_OPEN: FindingKind = FindingKind {
    id: "web.header.frames_open",
    name: "Pages can be framed by any site",
    cwe: "CWE-1021",
    description: "Neither frame-ancestors of a Content-Security-Policy nor X-Frame-Options keeps other sites from showing \
                  these pages in a frame.",
    risk_description: "A visitor who is logged in can be led to click what they do not see.",
    recommendation: "Send Content-Security-Policy: frame-ancestors 'none' or 'self'; X-Frame-Options for old browsers.",
    references: &["https://cheatsheetseries.owasp.org/cheatsheets/Clickjacking_Defense_Cheat_Sheet.html"],
    ..CSP_MISSING
};

/// A cookie without Secure.
pub const COOKIE_SECURE: FindingKind = FindingKind {
    id: "web.cookie.secure",
    name: "Cookie without Secure",
    risk: risks::COOKIE_FLAG,
    cwe: "CWE-614",
    owasp: MISCONFIGURATION,
    description: "A cookie is set without the Secure attribute, so browsers also send it over plain HTTP.",
    risk_description: "Someone on the path reads the cookie; if it is a session's, they are that user.",
    recommendation: "Set the Secure attribute, and serve the site over HTTPS only.",
    references: &["https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Set-Cookie#secure"],
};

/// A cookie without HttpOnly.
pub const COOKIE_HTTP_ONLY: FindingKind = FindingKind {
    id: "web.cookie.http_only",
    name: "Cookie without HttpOnly",
    cwe: "CWE-1004",
    description: "A cookie is set without the HttpOnly attribute, so scripts in the page can read it.",
    risk_description: "One injected script is enough to take the cookie; if it is a session's, they are that user.",
    recommendation: "Set the HttpOnly attribute unless a script of yours really reads this cookie.",
    references: &["https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Set-Cookie#httponly"],
    ..COOKIE_SECURE
};

/// A cookie without SameSite.
pub const COOKIE_SAME_SITE: FindingKind = FindingKind {
    id: "web.cookie.same_site",
    name: "Cookie without SameSite",
    cwe: "CWE-1275",
    description: "A cookie is set without a SameSite attribute, or with None, so other sites can make browsers send it.",
    risk_description: "Other sites can act in the name of a visitor who is logged in (CSRF).",
    recommendation: "Set SameSite=Lax or Strict.",
    references: &[
        "https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Set-Cookie#samesitesamesite-value",
    ],
    ..COOKIE_SECURE
};

/// CORS for every origin, with credentials.
pub const CORS_CREDENTIALS: FindingKind = FindingKind {
    id: "web.cors.credentials",
    name: "Any site may read answers with the visitor's rights",
    risk: risks::OPEN_CORS,
    cwe: "CWE-942",
    owasp: MISCONFIGURATION,
    description: "The server repeats whatever Origin it is sent in Access-Control-Allow-Origin, and allows credentials.",
    risk_description: "Any web site a logged-in visitor opens can read their data here.",
    recommendation: "Compare Origin with a list of your own origins; send the CORS headers only for those.",
    references: &["https://developer.mozilla.org/en-US/docs/Web/HTTP/Guides/CORS"],
};

/// CORS for every origin, without credentials.
pub const CORS_REFLECTED: FindingKind = FindingKind {
    id: "web.cors.reflected",
    name: "CORS repeats any origin",
    risk: risks::WEAK_HEADER,
    description: "The server repeats whatever Origin it is sent in Access-Control-Allow-Origin.",
    risk_description: "Other sites read what is public here; behind a firewall they read what the visitor's network may.",
    ..CORS_CREDENTIALS
};

/// TRACE is allowed.
pub const METHOD_TRACE: FindingKind = FindingKind {
    id: "web.method.trace",
    name: "TRACE is allowed",
    risk: risks::RISKY_METHOD,
    cwe: "CWE-693",
    owasp: MISCONFIGURATION,
    description: "The answer to OPTIONS lists TRACE, by which a server repeats a request with all its headers.",
    risk_description: "Headers that a proxy adds, and cookies hidden from scripts, can become visible.",
    recommendation: "Switch TRACE off.",
    references: &["https://owasp.org/www-community/attacks/Cross_Site_Tracing"],
};

/// PUT or another writing method of file servers is allowed.
pub const METHOD_WRITE: FindingKind = FindingKind {
    id: "web.method.write",
    name: "Writing methods are allowed on the start page",
    cwe: "CWE-650",
    description: "The answer to OPTIONS lists methods by which files are written or removed (PUT, DELETE, WebDAV). \
                  They were not tried.",
    risk_description: "If they work without a login, anyone can place or remove files.",
    recommendation: "Switch them off where nothing uses them; elsewhere ask for a login.",
    references: &["https://www.rfc-editor.org/rfc/rfc9110#section-9.3.4"],
    ..METHOD_TRACE
};

/// HTTPS pages load parts over HTTP.
pub const MIXED_CONTENT: FindingKind = FindingKind {
    id: "web.mixed_content",
    name: "HTTPS page loads parts over plain HTTP",
    risk: risks::MIXED_CONTENT,
    cwe: "CWE-319",
    owasp: CRYPTOGRAPHY,
    description: "Pages delivered over HTTPS name scripts, styles, frames, forms or images by http:// addresses.",
    risk_description: "Someone on the path can read and change these parts, and browsers block or warn.",
    recommendation: "Use https:// addresses; upgrade-insecure-requests helps in the meantime.",
    references: &["https://www.w3.org/TR/mixed-content/"],
};

/// The site works over plain HTTP.
pub const PLAIN_HTTP: FindingKind = FindingKind {
    id: "web.plain_http",
    name: "Site answers over plain HTTP",
    risk: risks::PLAIN_HTTP,
    cwe: "CWE-319",
    owasp: CRYPTOGRAPHY,
    description: "The start page is delivered over plain HTTP and does not send the visitor to HTTPS.",
    risk_description: "Everybody on the path reads and changes what is sent, logins included.",
    recommendation: "Serve the site over HTTPS and redirect plain HTTP to it.",
    references: &["https://www.rfc-editor.org/rfc/rfc9110#section-17.1"],
};

/// Errors show internals.
pub const ERROR_PAGE: FindingKind = FindingKind {
    id: "web.error_page",
    name: "Error page shows internals",
    risk: risks::VERBOSE_ERROR,
    cwe: "CWE-209",
    owasp: ERROR_HANDLING,
    description: "An error page shows a stack trace, a database message or paths on the server's disk.",
    risk_description: "It tells which software is in use, where it lies and where it breaks.",
    recommendation: "Show visitors a plain error page and keep the details in the log; switch debug mode off.",
    references: &["https://owasp.org/www-community/Improper_Error_Handling"],
};

/// Headers name versions.
pub const SERVER_VERSION: FindingKind = FindingKind {
    id: "web.server.version",
    name: "Server tells its version",
    risk: risks::DISCLOSURE,
    cwe: "CWE-200",
    owasp: MISCONFIGURATION,
    description: "Headers of the answer name the software with its version.",
    risk_description: "It saves an attacker the guess which known holes to try.",
    recommendation: "Send the product name alone, or nothing (ServerTokens Prod, server_tokens off, expose_php off).",
    references: &["https://cwe.mitre.org/data/definitions/200.html"],
};

/// The version that headers name is known to have holes.
pub const SERVER_OUTDATED: FindingKind = FindingKind {
    id: "web.server.outdated",
    name: "Server software has known holes",
    risk: risks::UNPROVED_VERSION,
    cwe: "CWE-1395",
    owasp: OUTDATED,
    description: "The version that the headers name is one with published holes. It was compared, not tried: packagers \
                  often mend holes without a new version number.",
    risk_description: "If the hole is not mended, published programs exist that use it.",
    recommendation: "Update the software, or look up whether the package at hand has the fix.",
    references: &["https://www.cisa.gov/known-exploited-vulnerabilities-catalog"],
};

/// robots.txt names private paths.
pub const ROBOTS_PATHS: FindingKind = FindingKind {
    id: "web.robots",
    name: "robots.txt names private places",
    risk: risks::DISCLOSURE,
    cwe: "CWE-200",
    owasp: MISCONFIGURATION,
    description: "robots.txt asks search engines to stay out of places whose names sound private, and so names them to all.",
    risk_description: "It is the first file an attacker reads. It keeps nobody out.",
    recommendation: "Protect these places by a login; leave them out of robots.txt.",
    references: &["https://www.rfc-editor.org/rfc/rfc9309#section-3"],
};

/// No security.txt.
pub const SECURITY_TXT: FindingKind = FindingKind {
    id: "web.security_txt",
    name: "security.txt missing",
    risk: risks::GOOD_TO_HAVE,
    cwe: "CWE-1059",
    owasp: MISCONFIGURATION,
    description: "There is no /.well-known/security.txt with a Contact line.",
    risk_description: "People who find a weakness do not know whom to tell.",
    recommendation: "Publish one with Contact and Expires.",
    references: &["https://www.rfc-editor.org/rfc/rfc9116"],
};
