//! A weak site, the table of its weaknesses, and its hardened twin.

use super::Answer;
use super::server::{HARDENED, not_found, page, response};

/// Planted weaknesses by class.
#[rustfmt::skip]
pub const PLANTED: &[(&str, &str)] = &[
    ("headers", "web.header.csp_missing"), ("headers", "web.header.nosniff_missing"),
    ("headers", "web.header.referrer_missing"), ("headers", "web.header.frames_open"),
    ("headers", "web.server.version"), ("headers", "web.server.outdated"), ("headers", "web.method.write"),
    ("cookies", "web.cookie.http_only"), ("cookies", "web.cookie.same_site"),
    ("cors", "web.cors.credentials"),
    ("content", "web.error_page"), ("content", "web.robots"), ("content", "web.security_txt"),
    ("content", "web.form.csrf"), ("content", "web.form.password_plain"), ("content", "web.sri"),
    ("content", "web.cross_domain"), ("content", "web.listing"),
    ("scripts", "web.javascript.outdated"), ("scripts", "web.secret"), ("scripts", "web.exposed.source_map"),
    ("source control", "web.exposed.git"), ("source control", "web.exposed.svn"), ("source control", "web.exposed.hg"),
    ("source control", "web.exposed.cvs"), ("source control", "web.exposed.bzr"),
    ("files", "web.exposed.env"), ("files", "web.exposed.credentials"), ("files", "web.exposed.settings"),
    ("files", "web.exposed.backup"), ("files", "web.exposed.copy"), ("files", "web.exposed.database"),
    ("files", "web.exposed.private_key"), ("files", "web.exposed.ds_store"), ("files", "web.exposed.deployment"),
    ("files", "web.exposed.manifest"), ("files", "web.exposed.log"), ("files", "web.exposed.editor"),
    ("files", "web.exposed.web_inf"),
    ("services", "web.exposed.phpinfo"), ("services", "web.exposed.server_status"), ("services", "web.exposed.actuator"),
    ("services", "web.exposed.metrics"), ("services", "web.exposed.debug"), ("services", "web.exposed.api"),
    ("services", "web.exposed.graphql"), ("services", "web.exposed.admin"),
];

const HEADERS: &str = "server: Apache/2.4.49 (Unix)\r\nset-cookie: sid=1; Path=/\r\nallow: GET, PUT, DELETE\r\n\
    access-control-allow-credentials: true\r\n";

const START: &str = "<!doctype html><title>Shop</title><a href=/cart/view.php>cart</a><a href=/order/7>order</a>\
    <script src=/js/jquery.js></script><script src=/js/app.js></script><script src=https://cdn.example/x.js></script>\
    <form method=post action=/in><input name=user><input type=password name=p></form>";

/// Files of the weak site, with their content types.
#[rustfmt::skip]
const FILES: &[(&str, &str, &str)] = &[
    ("/", "text/html", START),
    ("/cart/view.php", "text/html", "<!doctype html><title>Cart</title>"),
    ("/js/jquery.js", "text/javascript", "/*! jQuery v1.12.4 | (c) jQuery Foundation */"),
    ("/js/app.js", "text/javascript", "const key = 'AKIAQ3EGRMTWZXCVBNM7';\n//# sourceMappingURL=app.js.map"),
    ("/js/app.js.map", "application/json", r#"{"version":3,"sources":["app.ts"],"sourcesContent":["x"],"mappings":"AAAA"}"#),
    ("/robots.txt", "text/plain", "User-agent: *\nDisallow: /private-data/\nDisallow: /admin/\n"),
    ("/private-data/", "text/html", "<title>Index of /private-data</title><a href=invoices.csv>invoices.csv</a>"),
    ("/private-data/dump.sql", "application/sql", "-- MySQL dump 10.13\nCREATE TABLE users (id int);\n"),
    ("/cart/.git/HEAD", "text/plain", "ref: refs/heads/main\n"),
    ("/.svn/entries", "text/plain", "12\n"),
    ("/.hg/requires", "text/plain", "revlogv1\nstore\nfncache\n"),
    ("/CVS/Entries", "text/plain", "/index.php/1.4/Mon Nov  2 10:00:00 2026//\nD/src////\n"),
    ("/.bzr/branch-format", "text/plain", "Bazaar-NG meta directory, format 1\n"),
    ("/cart/.env", "text/plain", "APP_ENV=production\nDB_PASSWORD=hunter22\n"),
    ("/.htpasswd", "text/plain", "ana:$apr1$x$abcdefgh\n"),
    ("/config.yml", "text/yaml", "database:\n  user: shop\n  password: hunter22\n"),
    ("/cart.zip", "application/zip", ""),
    ("/backup.zip", "application/zip", "PK\u{3}\u{4}...."),
    ("/cart/view.php~", "application/octet-stream", "<?php $db = connect('hunter22');"),
    ("/id_rsa", "text/plain", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n-----END OPENSSH PRIVATE KEY-----\n"),
    ("/.DS_Store", "application/octet-stream", "\0\0\0\u{1}Bud1\0\0"),
    ("/docker-compose.yml", "text/yaml", "services:\n  db:\n    image: postgres\n"),
    ("/package.json", "application/json", r#"{"name":"shop","dependencies":{"left-pad":"1.3.0"}}"#),
    ("/logs/error.log", "text/plain", "[2026-11-22 06:59:32] production.ERROR: no such order\n"),
    ("/.idea/workspace.xml", "application/xml", "<?xml version=\"1.0\"?><project version=\"4\"><component name=\"x\"/></project>"),
    ("/WEB-INF/web.xml", "application/xml", "<?xml version=\"1.0\"?><web-app></web-app>"),
    ("/phpinfo.php", "text/html", "<title>PHP 8.2.7 - phpinfo()</title><h1 class=p>PHP Version 8.2.7</h1>"),
    ("/server-status", "text/html", "<h1>Apache Server Status for shop (via 127.0.0.1)</h1>"),
    ("/actuator", "application/json", r#"{"_links":{"self":{"href":"/actuator"},"env":{"href":"/actuator/env"}}}"#),
    ("/metrics", "text/plain", "# HELP up Up.\n# TYPE up gauge\nup 1\n"),
    ("/debug/vars", "application/json", r#"{"cmdline":["/srv/shop"],"memstats":{"Alloc":1}}"#),
    ("/openapi.json", "application/json", r#"{"openapi":"3.0.1","paths":{"/items":{}}}"#),
    ("/graphql?query=%7B__schema%7BqueryType%7Bname%7D%7D%7D", "application/json", r#"{"data":{"__schema":{"queryType":{"name":"Query"}}}}"#),
    ("/admin/", "text/html", "<title>Shop administration</title><form method=post><input type=password></form>"),
    ("/crossdomain.xml", "application/xml", "<cross-domain-policy><allow-access-from domain=\"*\"/></cross-domain-policy>"),
];

/// The answers of the weak site, which allows any origin.
pub fn weak(path: &str, origin: &str) -> Answer {
    let headers = match origin {
        "" => HEADERS.to_owned(),
        origin => format!("{HEADERS}access-control-allow-origin: {origin}\r\n"),
    };
    if path == "/order/7" {
        let trace =
            b"<pre>Traceback (most recent call last):\n  File \"/srv/shop.py\", line 42, in show\nKeyError: 7</pre>";
        return response("500 Internal Server Error", &headers, "text/html", trace);
    }
    match FILES
        .iter()
        .find(|(file, _, body)| *file == path && !body.is_empty())
    {
        Some((_, kind, body)) => response("200 OK", &headers, kind, body.as_bytes()),
        None => response(
            "404 Not Found",
            &headers,
            "text/html",
            b"<title>Not found</title>",
        ),
    }
}

/// The same site without its weaknesses.
pub fn hardened(path: &str) -> Answer {
    match path {
        "/" => page(
            "<title>Shop</title><a href=/cart/view.php>cart</a><a href=/order/7>order</a><script src=/js/jquery.js></script>\
             <script src=/js/app.js></script><form method=post action=/search><input type=hidden name=csrf_token value=x></form>",
        ),
        "/cart/view.php" | "/order/7" => page("<title>Cart</title>"),
        "/js/jquery.js" => response(
            "200 OK",
            HARDENED,
            "text/javascript",
            b"/*! jQuery v3.7.1 | (c) OpenJS Foundation */",
        ),
        "/js/app.js" => response(
            "200 OK",
            HARDENED,
            "text/javascript",
            b"const key = document.title;",
        ),
        "/robots.txt" => response(
            "200 OK",
            HARDENED,
            "text/plain",
            b"User-agent: *\nDisallow: /cart/\n",
        ),
        "/.well-known/security.txt" => response(
            "200 OK",
            HARDENED,
            "text/plain",
            b"Contact: mailto:security@shop.example\nExpires: 2099-12-31T00:00:00Z\n",
        ),
        // Servers refuse hidden files for everybody.
        hidden if hidden.contains("/.") => response(
            "403 Forbidden",
            HARDENED,
            "text/html",
            b"<title>Forbidden</title>",
        ),
        _ => not_found(),
    }
}
