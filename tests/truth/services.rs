//! Services on unusual ports: their names, those without authentication, and their closed twins.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};

use super::scripted::{RunningService, ScriptedService, http};

/// A service without authentication: the kind that a scan must report, and the service with
/// authentication.
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
    ScriptedService::new("smtp", b"220 mail.acme.test ESMTP Postfix\r\n", silent)
        .late(Duration::from_secs(2)),
    ScriptedService::new(
        "imap",
        b"* OK [CAPABILITY IMAP4rev1] Dovecot ready.\r\n",
        silent,
    ),
    ScriptedService::new("pop3", b"+OK Dovecot ready.\r\n", silent),
    ScriptedService::new("mysql", b"\x4a\0\0\0\x0a8.4.2\0\x08\0\0\0", silent),
    ScriptedService::new("vnc", b"RFB 003.008\n", silent),
    ScriptedService::new("telnet", b"\xff\xfd\x18\xff\xfd\x20", silent),
    ScriptedService::new("postgresql", b"", |received| {
        only(received, b"\0\0\0\x08\x04\xd2\x16\x2f", b"N")
    }),
    ScriptedService::new("ldap", b"", ldap),
    ScriptedService::new("rdp", b"", |received| {
        only(
            received,
            b"\x03\0\0\x13\x0e\xe0",
            b"\x03\0\0\x13\x0e\xd0\0\0\x12\x34\0\x02\x1f\x08\0\x02\0\0\0",
        )
    }),
    ScriptedService::new("dns", b"", |received| {
        only(
            received,
            b"\0\x1e\x07\x07",
            b"\0\x0c\x07\x07\x81\x85\0\x01\0\0\0\0\0\0",
        )
    }),
    ScriptedService::new("mqtt", b"", |received| {
        only(received, b"\x10", b"\x20\x02\0\x05")
    }),
    ScriptedService::new("amqp", b"", |received| {
        only(
            received,
            b"AMQP",
            b"\x01\0\0\0\0\x01\xfd\0\x0a\0\x0a\0\x09\0\0\x01\xd8",
        )
    }),
    ScriptedService::new("x11", b"", |received| {
        only(
            received,
            b"l\0\x0b\0",
            b"\0\x16\x0b\0\0\0\x06\0No protocol specified\n",
        )
    }),
    ScriptedService::new("git", b"", |received| {
        only(
            received,
            b"002cgit-upload-pack",
            b"0037ERR access denied or repository not exported: /",
        )
    }),
    ScriptedService::new("http", b"", |received| {
        http(received, |_| {
            (200, "Server: nginx/1.27\r\n", "<title>Shop</title>")
        })
    }),
    ScriptedService::new("https", b"", |received| {
        http(received, |_| (200, "", "<title>Portal</title>"))
    })
    .over_tls(),
    ScriptedService::new("imaps", b"* OK Dovecot ready.\r\n", silent).over_tls(),
    ScriptedService::new("echo", b"", |received| Some(received.to_vec())),
    // Servers that are odd rather than weak.
    ScriptedService::new("http", b"", |received| http(received, |_| (200, "", "[]"))),
    ScriptedService::new("http", b"", |received| {
        http(received, |_| (404, "", "404 page not found"))
    }),
    ScriptedService::new("unknown", b"", silent),
    ScriptedService::new("unknown", b"", close),
    // A Java debugger: a handshake would start a program that waits for it, so none is sent.
    ScriptedService::new("unknown", b"", |received| {
        only(received, b"JDWP-Handshake", b"JDWP-Handshake")
    }),
    ScriptedService::new("unknown", b"hello\r\n", |_| Some(b"OK\r\n".to_vec())),
    ScriptedService::new("unknown", b"", |_| Some(b"OK\r\n".to_vec())),
];

/// Services inside TLS that neither greet nor have time for several connections.
pub const INSIDE_TLS: &[ScriptedService] = &[
    ScriptedService::new("ldaps", b"", ldap).over_tls(),
    ScriptedService::new("https", b"", |received| {
        http(received, |_| (200, "", "<title>Camera</title>"))
    })
    .one_by_one(),
];

fn ldap(received: &[u8]) -> Option<Vec<u8>> {
    only(
        received,
        b"\x30\x0c\x02\x01\x01\x60",
        b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x31\x04\0\x04\0",
    )
}

const LIST: &str = "[{\"Id\":\"1\",\"index\":\"orders\"}]";

/// Services without authentication, with their closed twins.
pub const OPEN: &[OpenService] = &[
    OpenService {
        kind: "port.unauthenticated.redis",
        open: ScriptedService::new("redis", b"", |received| match received {
            b"PING\r\n" => Some(b"+PONG\r\n".to_vec()),
            b"INFO server\r\n" => {
                Some(b"$40\r\n# Server\r\nredis_version:7.4.0\r\nos:Linux x\r\n\r\n".to_vec())
            }
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
            mongodb(
                received,
                b"\x02errmsg\0\x1e\0\0\0requires authentication\0\x01ok\0",
            )
        }),
    },
    OpenService {
        kind: "port.unauthenticated.rsync",
        open: ScriptedService::new("rsync", b"@RSYNCD: 31.0\n", |received| {
            rsync(received, b"@RSYNCD: OK\n")
        }),
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
                _ => (
                    404,
                    "Server: Docker/27.1.1 (linux)\r\n",
                    "{\"message\":\"page not found\"}",
                ),
            })
        }),
        closed: ScriptedService::new("docker", b"", |received| {
            http(received, |_| {
                (
                    403,
                    "Server: Docker/27.1.1 (linux)\r\n",
                    "{\"message\":\"authorization denied\"}",
                )
            })
        }),
    },
    OpenService {
        kind: "port.unauthenticated.elasticsearch",
        open: ScriptedService::new("elasticsearch", b"", |received| {
            http(received, |request| match request {
                "GET /" => (
                    200,
                    "",
                    "{\"name\":\"a\",\"tagline\" : \"You Know, for Search\"}",
                ),
                "GET /_cat/indices?format=json" => (200, "", LIST),
                _ => (404, "", "{}"),
            })
        }),
        closed: ScriptedService::new("elasticsearch", b"", |received| {
            http(received, |request| match request {
                "GET /" => (
                    200,
                    "",
                    "{\"name\":\"a\",\"tagline\" : \"You Know, for Search\"}",
                ),
                _ => (
                    401,
                    "",
                    "{\"error\":\"missing authentication credentials\"}",
                ),
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
            http(received, |_| {
                (400, "", "WebSockets request was expected\r\n")
            })
        }),
    },
    OpenService {
        kind: "port.unauthenticated.etcd",
        open: ScriptedService::new("http", b"", |received| {
            http(received, |request| match request {
                "GET /version" => (
                    200,
                    "",
                    "{\"etcdserver\":\"3.5.15\",\"etcdcluster\":\"3.5.0\"}",
                ),
                "POST /v3/kv/range" => (
                    200,
                    "",
                    "{\"header\":{\"revision\":\"9\"},\"kvs\":[{\"key\":\"YQ==\"}]}",
                ),
                _ => (404, "", "404 page not found\n"),
            })
        }),
        closed: ScriptedService::new("http", b"", |received| {
            http(received, |request| match request {
                "GET /version" => (
                    200,
                    "",
                    "{\"etcdserver\":\"3.5.15\",\"etcdcluster\":\"3.5.0\"}",
                ),
                "POST /v3/kv/range" => (
                    400,
                    "",
                    "{\"error\":\"etcdserver: user name is empty\",\"code\":3}",
                ),
                _ => (404, "", "404 page not found\n"),
            })
        }),
    },
    OpenService {
        kind: "port.unauthenticated.kubernetes",
        open: ScriptedService::new("kubernetes", b"", |received| {
            http(received, |request| match request {
                "GET /api/v1/namespaces?limit=1" => (
                    200,
                    "",
                    "{\"kind\":\"NamespaceList\",\"apiVersion\":\"v1\"}",
                ),
                _ => (403, "", FORBIDDEN),
            })
        })
        .over_tls(),
        closed: ScriptedService::new("kubernetes", b"", |received| {
            http(received, |_| (403, "", FORBIDDEN))
        })
        .over_tls(),
    },
];

/// The body of an answer to each command of a null session.
fn null_session(command: u8, received: &[u8]) -> Vec<u8> {
    let pipe = |data: &[u8]| {
        let mut body = vec![0; 48];
        (body[32], body[36]) = (112, data.len() as u8);
        body.extend(data);
        body
    };
    match command {
        11 if has(received, b"\x05\0\x0b\x03") => pipe(b"\x05\0\x0c\x03"),
        11 => pipe(
            &[
                &b"\x05\0\x02\x03"[..],
                &[0; 20],
                b"\x01\0\0\0\x01\0\0\0\x04\0\x02\0\x02\0\0\0\0\0\0\0",
            ]
            .concat(),
        ),
        _ => vec![7; 88],
    }
}

/// SMB 2 with required signing, which grants a null session its tree, and the list of shares unless
/// it `refuses` the pipe.
fn smb_session(received: &[u8], refuses: bool) -> Option<Vec<u8>> {
    let message = received.get(4..)?;
    if !message.starts_with(b"\xfeSMB") {
        return smb(received, false, 3);
    }
    let command = message[12];
    // The anonymous user has no response; a guessed one would have.
    let status: [u8; 4] = match command {
        1 if has(received, b"NTLMSSP\0\x01") => [0x16, 0, 0, 0xc0],
        1 if !has(received, b"NTLMSSP\0\x03\0\0\0\x01\0\x01\0") => [0x6d, 0, 0, 0xc0],
        5 if refuses => [0x22, 0, 0, 0xc0],
        _ => [0; 4],
    };
    let mut answer = b"\xfeSMB\x40\0\0\0".to_vec();
    answer.extend(status);
    answer.extend([command, 0, 1, 0, 1]);
    answer.resize(64, 0);
    answer.extend(null_session(command, received));
    Some([&[0, 0, 0, answer.len() as u8][..], &answer].concat())
}

/// Services that are open to everybody by protocols of their own, with their closed twins.
pub const OPEN_BY_PROTOCOL: &[OpenService] = &[
    OpenService {
        kind: "port.unauthenticated.postgresql",
        open: ScriptedService::new("postgresql", b"", |received| {
            postgres(received, b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I")
        }),
        // SASL with SCRAM-SHA-256.
        closed: ScriptedService::new("postgresql", b"", |received| {
            postgres(received, b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0")
        }),
    },
    OpenService {
        kind: "port.unauthenticated.vnc",
        open: ScriptedService::new("vnc", b"RFB 003.008\n", |received| {
            vnc(received, b"\x02\x02\x01")
        }),
        closed: ScriptedService::new("vnc", b"RFB 003.008\n", |received| {
            vnc(received, b"\x02\x02\x13")
        }),
    },
    OpenService {
        kind: "port.unauthenticated.vnc",
        open: ScriptedService::new("vnc", b"RFB 003.003\n", |received| {
            vnc(received, b"\0\0\0\x01")
        }),
        closed: ScriptedService::new("vnc", b"RFB 003.003\n", |received| {
            vnc(received, b"\0\0\0\x02")
        }),
    },
    OpenService {
        kind: "port.unauthenticated.x11",
        open: ScriptedService::new("x11", b"", |received| {
            let head = b"\x01\0\x0b\0\0\0\x0a\0\x98\x3d\xb8\0\0\0\x20\0\xff\xff\x1f\0\0\x01\0\0\x0a\0\xff\xff\x01\x07";
            let rest = b"\0\0\x20\x20\x08\xff\0\0\0\0Acme X.Org\0\0";
            only(
                received,
                b"l\0\x0b\0",
                &[&head[..], rest, &[0; 64]].concat(),
            )
        }),
        closed: ScriptedService::new("x11", b"", |received| {
            only(
                received,
                b"l\0\x0b\0",
                b"\0\x16\x0b\0\0\0\x06\0No protocol specified\n",
            )
        }),
    },
    OpenService {
        kind: "port.unauthenticated.ajp",
        open: ScriptedService::new("ajp", b"", |received| ajp(received, 404)),
        closed: ScriptedService::new("ajp", b"", |received| ajp(received, 403)),
    },
    OpenService {
        kind: "port.unauthenticated.fastcgi",
        open: ScriptedService::new("fastcgi", b"", |received| {
            only(
                received,
                b"\x01\x09\0\0",
                b"\x01\x0a\0\0\0\x12\0\0\x0f\x01FCGI_MPXS_CONNS0",
            )
        }),
        closed: ScriptedService::new("fastcgi", b"", |received| {
            only(
                received,
                b"\x01\x09\0\0",
                b"\x01\x0b\0\0\0\x08\0\0\x09\0\0\0\0\0\0\0",
            )
        }),
    },
    OpenService {
        kind: "port.unauthenticated.zookeeper",
        open: ScriptedService::new("zookeeper", b"", |received| match received {
            b"srvr" => Some(
                b"Zookeeper version: 3.8.0-5a02a05, built on 2022-02-25\nMode: standalone\n"
                    .to_vec(),
            ),
            b"envi" => {
                Some(b"Environment:\nzookeeper.version=3.8.0\njava.home=/usr/lib/jvm\n".to_vec())
            }
            _ => None,
        }),
        closed: ScriptedService::new("zookeeper", b"", |received| match received {
            b"srvr" => Some(
                b"Zookeeper version: 3.8.0-5a02a05, built on 2022-02-25\nMode: standalone\n"
                    .to_vec(),
            ),
            b"envi" => Some(b"envi is not executed because it is not in the whitelist.\n".to_vec()),
            _ => None,
        }),
    },
    OpenService {
        kind: "port.unauthenticated.smb",
        open: ScriptedService::new("smb", b"", |received| smb_session(received, false)),
        closed: ScriptedService::new("smb", b"", |received| smb_session(received, true)),
    },
    OpenService {
        kind: "port.smb.smb1",
        open: ScriptedService::new("smb", b"", |received| smb(received, true, 3)),
        closed: ScriptedService::new("smb", b"", |received| smb(received, false, 3)),
    },
    OpenService {
        kind: "port.smb.signing",
        open: ScriptedService::new("smb", b"", |received| smb(received, false, 1)),
        closed: ScriptedService::new("smb", b"", |received| smb(received, false, 2)),
    },
];

/// Refuses TLS, and answers the startup of a session; a query would close the connection.
fn postgres(received: &[u8], answer: &[u8]) -> Option<Vec<u8>> {
    match received {
        b"\0\0\0\x08\x04\xd2\x16\x2f" => Some(b"N".to_vec()),
        _ => only(received, b"\0\0\0\x29\0\x03\0\0user\0postgres\0", answer),
    }
}

/// The security types for a client that sends its version.
fn vnc(received: &[u8], types: &[u8]) -> Option<Vec<u8>> {
    only(received, b"RFB 003.00", types)
}

/// CPong, or the headers of a response to a request with this status.
fn ajp(received: &[u8], status: u16) -> Option<Vec<u8>> {
    match received {
        b"\x12\x34\0\x01\x0a" => Some(b"AB\0\x01\x09".to_vec()),
        _ => {
            let headers = [
                &b"AB\0\x09\x04"[..],
                &status.to_be_bytes(),
                b"\0\x01-\0\0\0",
            ]
            .concat();
            only(received, b"\x12\x34", &headers)
        }
    }
}

/// A server of SMB 2 with this security mode, which may accept SMB 1.
fn smb(received: &[u8], accepts_smb1: bool, security: u8) -> Option<Vec<u8>> {
    if !received.get(4..)?.starts_with(b"\xffSMB\x72") {
        return None;
    }
    if !has(received, b"SMB 2.") {
        let (words, dialect): (u8, [u8; 2]) = if accepts_smb1 {
            (17, [0, 0])
        } else {
            (1, [0xff, 0xff])
        };
        let mut answer = b"\xffSMB\x72\0\0\0\0\x98\x01\x48".to_vec();
        answer.resize(32, 0);
        answer.extend([&[words][..], &dialect, &vec![0; 2 * usize::from(words)]].concat());
        return Some([&[0, 0, 0, answer.len() as u8][..], &answer].concat());
    }
    let mut answer = b"\xfeSMB\x40\0\0\0\0\0\0\0\0\0\x01\0\x01".to_vec();
    answer.resize(64, 0);
    answer.extend([65, 0, security, 0, 0xff, 2]);
    answer.resize(64 + 64, 0);
    Some([&[0, 0, 0, answer.len() as u8][..], &answer].concat())
}

/// A service whose port the port mapper names: NFS with one export, to this group of clients.
pub async fn start_nfs(group: &'static str) -> RunningService {
    let mountd = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mountd_port = u32::from(mountd.local_addr().unwrap().port());
    let exports = move |call: &RpcHead| match (call.program, call.procedure) {
        (100_005, 5) => {
            let words = |text: &str| {
                let mut all = (text.len() as u32).to_be_bytes().to_vec();
                all.extend(text.bytes());
                all.resize(all.len().next_multiple_of(4), 0);
                all
            };
            let one = 1_u32.to_be_bytes().to_vec();
            let groups = if group.is_empty() {
                Vec::new()
            } else {
                [one.clone(), words(group)].concat()
            };
            Some([one, words("/srv/files"), groups, vec![0; 8]].concat())
        }
        _ => None,
    };
    serve_rpc(mountd, exports);
    let mapper = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = mapper.local_addr().unwrap().port();
    serve_rpc(mapper, move |call| match (call.program, call.procedure) {
        (100_000, 0) => Some(Vec::new()),
        (100_000, 3) => Some(mountd_port.to_be_bytes().to_vec()),
        _ => None,
    });
    RunningService {
        port,
        received: Arc::default(),
    }
}

struct RpcHead {
    program: u32,
    procedure: u32,
}

/// Answers calls; without results the program is unavailable.
fn serve_rpc(
    listener: TcpListener,
    results: impl Fn(&RpcHead) -> Option<Vec<u8>> + Clone + Send + 'static,
) {
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let results = results.clone();
            tokio::spawn(async move {
                let mut call = [0; 512];
                let count = stream.read(&mut call).await.unwrap_or(0);
                let word =
                    |at: usize| u32::from_be_bytes(call[4 * at..4 * at + 4].try_into().unwrap());
                if count < 44 || word(2) != 0 || word(3) != 2 {
                    return;
                }
                let results = results(&RpcHead {
                    program: word(4),
                    procedure: word(6),
                });
                let status = u32::from(results.is_none());
                let words = [1, 0, 0, 0, status].into_iter().flat_map(u32::to_be_bytes);
                let mut body = call[4..8].to_vec();
                body.extend(words.chain(results.unwrap_or_default()));
                let mut record = (0x8000_0000 | body.len() as u32).to_be_bytes().to_vec();
                record.extend(body);
                let _ = stream.write_all(&record).await;
            });
        }
    });
}

/// Memcached that requires authentication by TCP, and answers everybody by UDP.
pub async fn start_memcached_with_udp() -> RunningService {
    let by_tcp = OPEN
        .iter()
        .find(|one| one.open.name == "memcached")
        .unwrap()
        .closed;
    let running = by_tcp.start().await;
    let socket = UdpSocket::bind(("127.0.0.1", running.port)).await.unwrap();
    tokio::spawn(async move {
        let mut request = [0; 512];
        while let Ok((count, from)) = socket.recv_from(&mut request).await {
            if request[8..count.max(8)] == *b"stats\r\n" {
                let response = [
                    &request[..2],
                    b"\0\0\0\x01\0\0STAT pid 1\r\nSTAT version 1.6.18\r\nEND\r\n",
                ]
                .concat();
                let _ = socket.send_to(&response, from).await;
            }
        }
    });
    running
}

const FORBIDDEN: &str =
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":\"Forbidden\"}";

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
