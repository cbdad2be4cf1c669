//! Services on unusual ports: their names, those without authentication, and their closed twins.

use std::time::Duration;

use super::scripted::{ScriptedService, http};

/// A service without authentication: the kind that a scan must report, and the service with authentication.
pub struct OpenService {
    pub open: ScriptedService,
    pub kind: &'static str,
    pub closed: ScriptedService,
}

fn silent(_: &[u8]) -> Option<Vec<u8>> {
    Some(Vec::new())
}

fn close(_: &[u8]) -> Option<Vec<u8>> {
    None
}

fn has(received: &[u8], part: &[u8]) -> bool {
    received.windows(part.len()).any(|window| window == part)
}

/// Closes the connection unless the message begins like one of the protocol.
fn only(received: &[u8], start: &[u8], response: &[u8]) -> Option<Vec<u8>> {
    received.starts_with(start).then(|| response.to_vec())
}

/// Services that are identified; none of them gives data to everybody.
pub const NAMED: &[ScriptedService] = &[
    ScriptedService::new("ssh", b"SSH-2.0-OpenSSH_9.7\r\n", silent),
    ScriptedService::new("smtp", b"220 mail.acme.test ESMTP Postfix\r\n", silent).late(Duration::from_secs(2)),
    ScriptedService::new("imap", b"* OK [CAPABILITY IMAP4rev1] Dovecot ready.\r\n", silent),
    ScriptedService::new("pop3", b"+OK Dovecot ready.\r\n", silent),
    ScriptedService::new("mysql", b"\x4a\0\0\0\x0a8.4.2\0\x08\0\0\0", silent),
    ScriptedService::new("vnc", b"RFB 003.008\n", silent),
    ScriptedService::new("telnet", b"\xff\xfd\x18\xff\xfd\x20", silent),
    ScriptedService::new("postgresql", b"", |received| only(received, b"\0\0\0\x08\x04\xd2\x16\x2f", b"N")),
    ScriptedService::new("ldap", b"", ldap),
    ScriptedService::new("rdp", b"", |received| {
        only(received, b"\x03\0\0\x13\x0e\xe0", b"\x03\0\0\x13\x0e\xd0\0\0\x12\x34\0\x02\x1f\x08\0\x02\0\0\0")
    }),
    ScriptedService::new("dns", b"", |received| {
        only(received, b"\0\x1e\x07\x07", b"\0\x0c\x07\x07\x81\x85\0\x01\0\0\0\0\0\0")
    }),
    ScriptedService::new("mqtt", b"", |received| only(received, b"\x10", b"\x20\x02\0\x05")),
    ScriptedService::new("amqp", b"", |received| {
        only(received, b"AMQP", b"\x01\0\0\0\0\x01\xfd\0\x0a\0\x0a\0\x09\0\0\x01\xd8")
    }),
    ScriptedService::new("x11", b"", |received| {
        only(received, b"l\0\x0b\0", b"\0\x16\x0b\0\0\0\x06\0No protocol specified\n")
    }),
    ScriptedService::new("git", b"", |received| {
        only(received, b"002cgit-upload-pack", b"0037ERR access denied or repository not exported: /")
    }),
    ScriptedService::new("http", b"", |received| {
        http(received, |_| (200, "Server: nginx/1.27\r\n", "<title>Shop</title>"))
    }),
    ScriptedService::new("https", b"", |received| http(received, |_| (200, "", "<title>Portal</title>"))).over_tls(),
    ScriptedService::new("imaps", b"* OK Dovecot ready.\r\n", silent).over_tls(),
    ScriptedService::new("echo", b"", |received| Some(received.to_vec())),
    // Servers that are odd rather than weak.
    ScriptedService::new("http", b"", |received| http(received, |_| (200, "", "[]"))),
    ScriptedService::new("http", b"", |received| http(received, |_| (404, "", "404 page not found"))),
    ScriptedService::new("unknown", b"", silent),
    ScriptedService::new("unknown", b"", close),
    // A Java debugger: a handshake would start a program that waits for it, so none is sent.
    ScriptedService::new("unknown", b"", |received| only(received, b"JDWP-Handshake", b"JDWP-Handshake")),
    ScriptedService::new("unknown", b"hello\r\n", |_| Some(b"OK\r\n".to_vec())),
    ScriptedService::new("unknown", b"", |_| Some(b"OK\r\n".to_vec())),
];

/// Services inside TLS that neither greet nor have time for several connections.
pub const INSIDE_TLS: &[ScriptedService] = &[
    ScriptedService::new("ldaps", b"", ldap).over_tls(),
    ScriptedService::new("https", b"", |received| http(received, |_| (200, "", "<title>Camera</title>"))).one_by_one(),
];

fn ldap(received: &[u8]) -> Option<Vec<u8>> {
    only(received, b"\x30\x0c\x02\x01\x01\x60", b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x31\x04\0\x04\0")
}

const LIST: &str = "[{\"Id\":\"1\",\"index\":\"orders\"}]";

/// Services without authentication, with their closed twins.
pub const OPEN: &[OpenService] = &[
    OpenService {
        kind: "port.unauthenticated.redis",
        open: ScriptedService::new("redis", b"", |received| match received {
            b"PING\r\n" => Some(b"+PONG\r\n".to_vec()),
            b"INFO server\r\n" => Some(b"$40\r\n# Server\r\nredis_version:7.4.0\r\nos:Linux x\r\n\r\n".to_vec()),
            _ => silent(received),
        }),
        closed: ScriptedService::new("redis", b"", |received| match received.ends_with(b"\r\n") {
            true => Some(b"-NOAUTH Authentication required.\r\n".to_vec()),
            false => silent(received),
        }),
    },
    OpenService {
        kind: "port.unauthenticated.memcached",
        open: ScriptedService::new("memcached", b"", |received| match received {
            b"version\r\n" => Some(b"VERSION 1.6.31\r\n".to_vec()),
            b"stats\r\n" => Some(b"STAT pid 1\r\nSTAT version 1.6.31\r\nEND\r\n".to_vec()),
            _ => Some(b"ERROR\r\n".to_vec()),
        }),
        closed: ScriptedService::new("memcached", b"", |received| match received {
            b"version\r\n" => Some(b"VERSION 1.6.31\r\n".to_vec()),
            _ => Some(b"CLIENT_ERROR unauthenticated\r\n".to_vec()),
        }),
    },
    OpenService {
        kind: "port.unauthenticated.mongodb",
        open: ScriptedService::new("mongodb", b"", |received| {
            mongodb(received, b"\x04databases\0\x05\0\0\0\0\x01ok\0")
        }),
        closed: ScriptedService::new("mongodb", b"", |received| {
            mongodb(received, b"\x02errmsg\0\x1e\0\0\0requires authentication\0\x01ok\0")
        }),
    },
    OpenService {
        kind: "port.unauthenticated.rsync",
        open: ScriptedService::new("rsync", b"@RSYNCD: 31.0\n", |received| rsync(received, b"@RSYNCD: OK\n")),
        closed: ScriptedService::new("rsync", b"@RSYNCD: 31.0\n", |received| {
            rsync(received, b"@RSYNCD: AUTHREQD Zm9vYmFy\n")
        }),
    },
    OpenService {
        kind: "port.unauthenticated.ftp",
        open: ScriptedService::new("ftp", b"220 (vsFTPd 3.0.5)\r\n", |received| {
            ftp(received, b"230 Login successful.\r\n")
        }),
        closed: ScriptedService::new("ftp", b"220 (vsFTPd 3.0.5)\r\n", |received| {
            ftp(received, b"530 Login incorrect.\r\n")
        }),
    },
    OpenService {
        kind: "port.unauthenticated.docker",
        open: ScriptedService::new("docker", b"", |received| {
            http(received, |request| match request {
                "GET /containers/json?limit=1" => (200, "", LIST),
                _ => (404, "Server: Docker/27.1.1 (linux)\r\n", "{\"message\":\"page not found\"}"),
            })
        }),
        closed: ScriptedService::new("docker", b"", |received| {
            http(received, |_| (403, "Server: Docker/27.1.1 (linux)\r\n", "{\"message\":\"authorization denied\"}"))
        }),
    },
    OpenService {
        kind: "port.unauthenticated.elasticsearch",
        open: ScriptedService::new("elasticsearch", b"", |received| {
            http(received, |request| match request {
                "GET /" => (200, "", "{\"name\":\"a\",\"tagline\" : \"You Know, for Search\"}"),
                "GET /_cat/indices?format=json" => (200, "", LIST),
                _ => (404, "", "{}"),
            })
        }),
        closed: ScriptedService::new("elasticsearch", b"", |received| {
            http(received, |request| match request {
                "GET /" => (200, "", "{\"name\":\"a\",\"tagline\" : \"You Know, for Search\"}"),
                _ => (401, "", "{\"error\":\"missing authentication credentials\"}"),
            })
        }),
    },
    OpenService {
        kind: "port.unauthenticated.node_inspector",
        open: ScriptedService::new("node-inspector", b"", |received| {
            http(received, |request| match request {
                "GET /json/list" => (200, "", "[{\"webSocketDebuggerUrl\":\"ws://127.0.0.1/x\"}]"),
                _ => (400, "", "WebSockets request was expected\r\n"),
            })
        }),
        closed: ScriptedService::new("node-inspector", b"", |received| {
            http(received, |_| (400, "", "WebSockets request was expected\r\n"))
        }),
    },
    OpenService {
        kind: "port.unauthenticated.etcd",
        open: ScriptedService::new("http", b"", |received| {
            http(received, |request| match request {
                "GET /version" => (200, "", "{\"etcdserver\":\"3.5.15\",\"etcdcluster\":\"3.5.0\"}"),
                "POST /v3/kv/range" => (200, "", "{\"header\":{\"revision\":\"9\"},\"kvs\":[{\"key\":\"YQ==\"}]}"),
                _ => (404, "", "404 page not found\n"),
            })
        }),
        closed: ScriptedService::new("http", b"", |received| {
            http(received, |request| match request {
                "GET /version" => (200, "", "{\"etcdserver\":\"3.5.15\",\"etcdcluster\":\"3.5.0\"}"),
                "POST /v3/kv/range" => (400, "", "{\"error\":\"etcdserver: user name is empty\",\"code\":3}"),
                _ => (404, "", "404 page not found\n"),
            })
        }),
    },
    OpenService {
        kind: "port.unauthenticated.kubernetes",
        open: ScriptedService::new("kubernetes", b"", |received| {
            http(received, |request| match request {
                "GET /api/v1/namespaces?limit=1" => (200, "", "{\"kind\":\"NamespaceList\",\"apiVersion\":\"v1\"}"),
                _ => (403, "", FORBIDDEN),
            })
        })
        .over_tls(),
        closed: ScriptedService::new("kubernetes", b"", |received| http(received, |_| (403, "", FORBIDDEN))).over_tls(),
    },
];

const FORBIDDEN: &str = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":\"Forbidden\"}";

/// OP_MSG: the reply to `hello`, else this one.
fn mongodb(received: &[u8], reply: &[u8]) -> Option<Vec<u8>> {
    let header = b"\0\0\0\0\x01\0\0\0\x01\0\0\0\xdd\x07\0\0\0\0\0\0\0";
    let body = match (received.get(12..16), has(received, b"hello\0")) {
        (Some([0xdd, 7, 0, 0]), true) => b"\x08isWritablePrimary\0\x01\x01ok\0",
        (Some([0xdd, 7, 0, 0]), false) => reply,
        _ => return None,
    };
    Some([header, body].concat())
}

/// The list of modules, or the response to the request for the module `files`.
fn rsync(received: &[u8], response: &[u8]) -> Option<Vec<u8>> {
    match received {
        [.., b'\n', b'\n'] => Some(b"files          \tPublic files\n@RSYNCD: EXIT\n".to_vec()),
        [.., b'f', b'i', b'l', b'e', b's', b'\n'] => Some(response.to_vec()),
        _ => silent(received),
    }
}

fn ftp(received: &[u8], response: &[u8]) -> Option<Vec<u8>> {
    match received {
        b"USER anonymous\r\n" => Some(b"331 Please specify the password.\r\n".to_vec()),
        [b'P', b'A', b'S', b'S', ..] => Some(response.to_vec()),
        b"QUIT\r\n" => None,
        _ => Some(b"530 Please login with USER and PASS.\r\n".to_vec()),
    }
}
