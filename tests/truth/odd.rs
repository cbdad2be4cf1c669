//! Servers that make scanners report what is not there.

use std::io::Write;
use std::sync::LazyLock;
use std::time::Duration;

use super::Answer;
use super::server::{HARDENED, not_found, page, response};

type OddServer = fn(&str, u32) -> Answer;

pub const ALL: &[(&str, OddServer)] = &[
    ("single-page app", single_page_app),
    ("soft 404", soft_404),
    ("wildcard redirect", wildcard_redirect),
    ("link maze", link_maze),
    ("traceback tutorial", tutorial),
    ("documentation", documentation),
    ("50 MB page", large_page),
    ("endless body", endless_body),
    ("gzip bomb", gzip_bomb),
    ("closes every second", closes_every_second),
    ("slow", slow),
    ("429 to everything", too_many_requests),
    ("403 to everything", forbidden),
    ("500 to everything", failing),
    ("file for every name", same_file),
];

fn single_page_app(path: &str, _: u32) -> Answer {
    match path {
        "/app.js" => response(
            "200 OK",
            HARDENED,
            "text/javascript",
            b"fetch('/api/items')",
        ),
        _ => page("<title>Admin dashboard</title><div id=root></div><script src=/app.js></script>"),
    }
}

fn soft_404(path: &str, _: u32) -> Answer {
    let shown: String = path
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || "/.-_~".contains(*c))
        .collect();
    page(&format!(
        "<title>Sorry</title><p>We could not find {shown}. APP_KEY=base64 DB_PASSWORD=secret phpinfo() PHP Version"
    ))
}

fn wildcard_redirect(path: &str, _: u32) -> Answer {
    match path {
        "/" => page("<title>Home</title>"),
        _ => response(
            "302 Found",
            &format!("{HARDENED}location: /\r\n"),
            "text/html",
            b"",
        ),
    }
}

fn link_maze(path: &str, number: u32) -> Answer {
    page(&format!(
        "<a href='{}/{number}'>next</a><a href='/x{number}/'>other</a>",
        path.trim_end_matches('/')
    ))
}

fn tutorial(path: &str, _: u32) -> Answer {
    match path {
        "/" => page(
            "<title>Reading tracebacks</title><p>Python prints <code>Traceback (most recent call last):</code> and then:</p>\
             <pre>Traceback (most recent call last):\n  File \"shop.py\", line 42, in show\nKeyError: 7</pre>\
             <pre>at org.acme.Shop.run(Shop.java:42)\nFatal error: x in /var/www/a.php on line 3</pre>\
             <p>Traceback (most recent call last) means that the last call is at the end.</p>",
        ),
        _ => not_found(),
    }
}

fn documentation(path: &str, _: u32) -> Answer {
    match path {
        "/" => page(
            "<title>Manual</title><a href=/docs/env>env</a><a href=/docs/admin>Admin guide</a><a href=/docs/index.html>index</a>",
        ),
        "/docs/env" => page(
            "<title>Settings</title><pre>DB_PASSWORD=change-me\nAPP_KEY=x\n-----BEGIN PRIVATE KEY-----\nMIIB...\n</pre>\
             <p>Index of /settings: AKIAIOSFODNN7EXAMPLE is an example. SQLSTATE[42000] is an error of SQL.</p>",
        ),
        "/docs/admin" => page(
            "<title>Admin guide</title><h1>Administration</h1><p>Open /server-status and /metrics.</p>",
        ),
        "/docs/index.html" => page("<title>Index of topics</title><a href=a.html>a</a>"),
        _ => not_found(),
    }
}

fn large_page(_: &str, _: u32) -> Answer {
    let size = 50 * 1024 * 1024;
    Answer::Large(
        format!(
            "HTTP/1.1 200 OK\r\n{HARDENED}content-type: text/html\r\ncontent-length: {size}\r\nconnection: close\r\n\r\n"
        ),
        size,
    )
}

fn endless_body(_: &str, _: u32) -> Answer {
    Answer::Large(
        format!(
            "HTTP/1.1 200 OK\r\n{HARDENED}content-type: text/html\r\nconnection: close\r\n\r\n"
        ),
        usize::MAX,
    )
}

/// 16 MB of zeros in 16 KB.
static BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&vec![0; 16 * 1024 * 1024]).unwrap();
    packed.finish().unwrap()
});

fn gzip_bomb(_: &str, _: u32) -> Answer {
    let headers = format!("{HARDENED}content-encoding: gzip\r\n");
    response("200 OK", &headers, "text/html", &BOMB)
}

fn closes_every_second(path: &str, number: u32) -> Answer {
    match (number % 2, path) {
        (1, _) => Answer::Closed,
        (_, "/") => page("<title>Home</title><a href=/a>a</a>"),
        (_, "/a") => page("<title>A</title>"),
        _ => not_found(),
    }
}

fn slow(path: &str, _: u32) -> Answer {
    let answer = if path == "/" {
        page("<title>Home</title>")
    } else {
        not_found()
    };
    match answer {
        Answer::Whole(bytes) => Answer::Late(Duration::from_millis(100), bytes),
        other => other,
    }
}

fn too_many_requests(_: &str, _: u32) -> Answer {
    response("429 Too Many Requests", "", "text/html", b"<p>slow down")
}

fn forbidden(_: &str, _: u32) -> Answer {
    response("403 Forbidden", "", "text/html", b"<p>forbidden")
}

fn failing(_: &str, _: u32) -> Answer {
    response("500 Internal Server Error", "", "text/html", b"<p>error")
}

fn same_file(path: &str, _: u32) -> Answer {
    match path {
        "/" => page("<title>Files</title>"),
        _ => response(
            "200 OK",
            HARDENED,
            "text/plain",
            b"APP_KEY=1234\nDB_PASSWORD=hunter2\npassword: hunter2\n",
        ),
    }
}
