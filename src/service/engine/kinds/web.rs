//! Kinds of finding of the website scanner: headers, cookies, methods and page contents.
//!
//! Exposed files are in [`exposed`](super::exposed).

use super::{CRYPTOGRAPHY, ERROR_HANDLING, FindingKind, MISCONFIGURATION, OUTDATED};
use crate::service::engine::risks;

kinds! {
    CSP_MISSING {
        id: "web.header.csp_missing",
        name: "Content-Security-Policy header missing",
        risk: risks::MISSING_HARDENING,
        cwe: "CWE-693",
        owasp: MISCONFIGURATION,
        description: "Pages have no Content-Security-Policy header, so browsers run scripts from any source.",
        risk_description: "Without a policy, a cross-site scripting vulnerability can be exploited without \
                           restriction.",
        recommendation: "Send a Content-Security-Policy, first in report-only mode; start with default-src 'self'.",
        references: &["https://developer.mozilla.org/en-US/docs/Web/HTTP/Guides/CSP"],
    }

    CSP_WEAK {
        id: "web.header.csp_weak",
        name: "Weak Content-Security-Policy",
        risk: risks::WEAK_HEADER,
        description: "The Content-Security-Policy allows inline scripts, or scripts from any source.",
        risk_description: "The policy does not prevent the execution of injected scripts.",
        recommendation: "Remove 'unsafe-inline', 'unsafe-eval' and wildcards from script-src; use nonces or hashes.",
        ..CSP_MISSING
    }

    HSTS_MISSING {
        id: "web.header.hsts_missing",
        name: "Strict-Transport-Security header missing",
        risk: risks::MISSING_HARDENING,
        cwe: "CWE-319",
        owasp: CRYPTOGRAPHY,
        description: "HTTPS responses have no Strict-Transport-Security header, so browsers may use plain HTTP later.",
        risk_description: "A man-in-the-middle can keep a user's next visit on plain HTTP and read the traffic.",
        recommendation: "Send Strict-Transport-Security: max-age=31536000; includeSubDomains with every HTTPS \
                         response.",
        references: &["https://www.rfc-editor.org/rfc/rfc6797"],
    }

    HSTS_WEAK {
        id: "web.header.hsts_weak",
        name: "Strict-Transport-Security max-age too short",
        risk: risks::WEAK_HEADER,
        description: "Strict-Transport-Security is valid for less than 180 days, or disabled with max-age=0.",
        ..HSTS_MISSING
    }

    NOSNIFF_MISSING {
        id: "web.header.nosniff_missing",
        name: "X-Content-Type-Options header missing",
        description: "Responses have no X-Content-Type-Options: nosniff header, so browsers may guess another \
                      content type.",
        risk_description: "A browser may run a text file that a user uploaded as a script.",
        recommendation: "Send X-Content-Type-Options: nosniff with every response.",
        references: &["https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/X-Content-Type-Options"],
        ..CSP_MISSING
    }

    REFERRER_MISSING {
        id: "web.header.referrer_missing",
        name: "Referrer-Policy header missing",
        cwe: "CWE-200",
        description: "Responses have no Referrer-Policy, or one that sends full URLs to other sites.",
        risk_description: "URLs with tokens or personal data are sent to the sites that a page links to.",
        recommendation: "Send Referrer-Policy: strict-origin-when-cross-origin, or no-referrer.",
        references: &["https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Referrer-Policy"],
        ..CSP_MISSING
    }

    FRAMES_OPEN {
        id: "web.header.frames_open",
        name: "Clickjacking protection missing",
        cwe: "CWE-1021",
        description: "Neither the frame-ancestors directive of a Content-Security-Policy nor X-Frame-Options \
                      prevents other sites from framing these pages.",
        risk_description: "Another site can trick a logged-in user into clicking hidden elements (clickjacking).",
        recommendation: "Send Content-Security-Policy: frame-ancestors 'none' or 'self'; X-Frame-Options for old \
                         browsers.",
        references: &["https://cheatsheetseries.owasp.org/cheatsheets/Clickjacking_Defense_Cheat_Sheet.html"],
        ..CSP_MISSING
    }

    COOKIE_SECURE {
        id: "web.cookie.secure",
        name: "Cookie without Secure attribute",
        risk: risks::COOKIE_FLAG,
        cwe: "CWE-614",
        owasp: MISCONFIGURATION,
        description: "A cookie has no Secure attribute, so browsers also send it over plain HTTP.",
        risk_description: "A man-in-the-middle can read the cookie, and take over the session if it is a session \
                           cookie.",
        recommendation: "Set the Secure attribute, and serve the site over HTTPS only.",
        references: &["https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Set-Cookie#secure"],
    }

    COOKIE_HTTP_ONLY {
        id: "web.cookie.http_only",
        name: "Cookie without HttpOnly attribute",
        cwe: "CWE-1004",
        description: "A cookie has no HttpOnly attribute, so scripts in the page can read it.",
        risk_description: "An injected script can steal the cookie, and with it the session if it is a session cookie.",
        recommendation: "Set the HttpOnly attribute unless a script of the site must read this cookie.",
        references: &["https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Set-Cookie#httponly"],
        ..COOKIE_SECURE
    }

    COOKIE_SAME_SITE {
        id: "web.cookie.same_site",
        name: "Cookie without SameSite attribute",
        cwe: "CWE-1275",
        description: "A cookie has no SameSite attribute, or SameSite=None, so browsers also send it with cross-site \
                      requests.",
        risk_description: "Other sites can perform actions as a logged-in user (cross-site request forgery).",
        recommendation: "Set SameSite=Lax or Strict.",
        references: &[
            "https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Set-Cookie#samesitesamesite-value",
        ],
        ..COOKIE_SECURE
    }

    CORS_CREDENTIALS {
        id: "web.cors.credentials",
        name: "CORS allows any origin with credentials",
        risk: risks::OPEN_CORS,
        cwe: "CWE-942",
        owasp: MISCONFIGURATION,
        description: "The server reflects the Origin header in Access-Control-Allow-Origin and allows credentials.",
        risk_description: "Any site that a logged-in user visits can read the user's data on this site.",
        recommendation: "Compare Origin with an allowlist, and send CORS headers for those origins only.",
        references: &["https://developer.mozilla.org/en-US/docs/Web/HTTP/Guides/CORS"],
    }

    CORS_REFLECTED {
        id: "web.cors.reflected",
        name: "CORS reflects any origin",
        risk: risks::WEAK_HEADER,
        description: "The server reflects the Origin header in Access-Control-Allow-Origin.",
        risk_description: "Other sites can read public responses and, behind a firewall, responses that only the \
                           user's network may read.",
        ..CORS_CREDENTIALS
    }

    METHOD_TRACE {
        id: "web.method.trace",
        name: "HTTP TRACE method enabled",
        risk: risks::RISKY_METHOD,
        cwe: "CWE-693",
        owasp: MISCONFIGURATION,
        description: "The response to OPTIONS lists TRACE, by which a server returns a request with all its headers.",
        risk_description: "Headers that a proxy adds, and HttpOnly cookies, can become visible to scripts.",
        recommendation: "Disable the TRACE method.",
        references: &["https://owasp.org/www-community/attacks/Cross_Site_Tracing"],
    }

    METHOD_WRITE {
        id: "web.method.write",
        name: "HTTP methods that modify files allowed",
        cwe: "CWE-650",
        description: "The response to OPTIONS lists methods that write or delete files (PUT, DELETE, WebDAV). The \
                      scan did not use them.",
        risk_description: "If they work without authentication, anyone can create or delete files.",
        recommendation: "Disable unused methods, and require authentication for the others.",
        references: &["https://www.rfc-editor.org/rfc/rfc9110#section-9.3.4"],
        ..METHOD_TRACE
    }

    MIXED_CONTENT {
        id: "web.mixed_content",
        name: "Mixed content",
        risk: risks::MIXED_CONTENT,
        cwe: "CWE-319",
        owasp: CRYPTOGRAPHY,
        description: "HTTPS pages load scripts, styles, frames, forms or images over plain HTTP.",
        risk_description: "A man-in-the-middle can read and change these resources; browsers block them or warn.",
        recommendation: "Use https:// URLs; upgrade-insecure-requests helps in the meantime.",
        references: &["https://www.w3.org/TR/mixed-content/"],
    }

    PLAIN_HTTP {
        id: "web.plain_http",
        name: "Site available over plain HTTP",
        risk: risks::PLAIN_HTTP,
        description: "The start page is delivered over plain HTTP without a redirect to HTTPS.",
        risk_description: "A man-in-the-middle can read and change all traffic, including credentials.",
        recommendation: "Serve the site over HTTPS, and redirect plain HTTP to it.",
        references: &["https://www.rfc-editor.org/rfc/rfc9110#section-17.1"],
        ..MIXED_CONTENT
    }

    ERROR_PAGE {
        id: "web.error_page",
        name: "Error page discloses internals",
        risk: risks::VERBOSE_ERROR,
        cwe: "CWE-209",
        owasp: ERROR_HANDLING,
        description: "An error page contains a stack trace, a database message or paths on the server.",
        risk_description: "It discloses the software in use, its location and where it fails.",
        recommendation: "Show a generic error page, log the details on the server, and disable debug mode.",
        references: &["https://owasp.org/www-community/Improper_Error_Handling"],
    }

    SERVER_VERSION {
        id: "web.server.version",
        name: "Server version disclosed",
        risk: risks::DISCLOSURE,
        cwe: "CWE-200",
        owasp: MISCONFIGURATION,
        description: "Response headers contain the name and version of the software.",
        risk_description: "An attacker can select exploits for the known vulnerabilities of this version.",
        recommendation: "Send the product name only, or nothing (ServerTokens Prod, server_tokens off, expose_php \
                         off).",
        references: &["https://cwe.mitre.org/data/definitions/200.html"],
    }

    SERVER_OUTDATED {
        id: "web.server.outdated",
        name: "Outdated server software with known vulnerabilities",
        risk: risks::UNPROVED_VERSION,
        cwe: "CWE-1395",
        owasp: OUTDATED,
        description: "The version in the response headers has published vulnerabilities. The scan compared the \
                      version and did not test the vulnerability: distributions often backport fixes without a new \
                      version.",
        risk_description: "If the vulnerability is not fixed, attackers can use published exploits.",
        recommendation: "Update the software, or check whether the installed package contains the fix.",
        references: &["https://www.cisa.gov/known-exploited-vulnerabilities-catalog"],
    }

    ROBOTS_PATHS {
        id: "web.robots",
        name: "Sensitive paths in robots.txt",
        description: "robots.txt excludes paths with names that suggest private content, and so discloses them.",
        risk_description: "Attackers read robots.txt first. It does not restrict access.",
        recommendation: "Protect these paths with authentication, and remove them from robots.txt.",
        references: &["https://www.rfc-editor.org/rfc/rfc9309#section-3"],
        ..SERVER_VERSION
    }

    SECURITY_TXT {
        id: "web.security_txt",
        name: "security.txt missing",
        risk: risks::GOOD_TO_HAVE,
        cwe: "CWE-1059",
        owasp: MISCONFIGURATION,
        description: "The site has no /.well-known/security.txt with a Contact field.",
        risk_description: "Security researchers do not know where to report a vulnerability.",
        recommendation: "Publish a security.txt with Contact and Expires.",
        references: &["https://www.rfc-editor.org/rfc/rfc9116"],
    }
}
