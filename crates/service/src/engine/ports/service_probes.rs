//! Messages that make a silent service identify itself, each a harmless read of its own protocol.
//!
//! None of them guesses a password or changes data; each one is what an ordinary client sends
//! first.
//!
//! The Java debugger (JDWP) is not probed: a program that waits for its debugger (`suspend=y`)
//! starts when a connection that sent the handshake is closed. Nothing is mounted, run or selected
//! either: FastCGI gets a question to its manager, SMB and RPC get what precedes a log-in.

use super::rpc;

/// A message, and the service that its response proves.
pub struct ServiceProbe {
    pub service: &'static str,
    /// Ports on which this message is sent first.
    pub ports: &'static [u16],
    pub bytes: &'static [u8],
    pub matches: fn(&[u8]) -> bool,
    /// Whether the first line of the response is shown: binary ones say nothing, but are evidence
    /// of earlier versions.
    pub is_shown: bool,
}

impl ServiceProbe {
    const fn new(
        service: &'static str,
        ports: &'static [u16],
        bytes: &'static [u8],
        matches: fn(&[u8]) -> bool,
    ) -> Self {
        Self {
            service,
            ports,
            bytes,
            matches,
            is_shown: true,
        }
    }

    /// A probe whose response is not text.
    const fn binary(self) -> Self {
        Self {
            is_shown: false,
            ..self
        }
    }
}

/// `{"hello": 1, "$db": "admin"}` as OP_MSG of MongoDB.
const MONGODB_HELLO: &[u8] =
    b"\x34\0\0\0\x01\0\0\0\0\0\0\0\xdd\x07\0\0\0\0\0\0\0\x1f\0\0\0\x10hello\0\x01\0\0\0\x02$db\0\x06\0\0\0admin\0\0";
/// An anonymous bind of LDAP version 3 (RFC 4513 §5.1.1).
const LDAP_BIND: &[u8] = b"\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\0\x80\0";
/// A connection request that offers TLS and CredSSP (MS-RDPBCGR §2.2.1.1).
const RDP_REQUEST: &[u8] = b"\x03\0\0\x13\x0e\xe0\0\0\0\0\0\x01\0\x08\0\x03\0\0\0";
/// CONNECT of MQTT 3.1.1 without user, with a clean session.
const MQTT_CONNECT: &[u8] = b"\x10\x14\0\x04MQTT\x04\x02\0\x0a\0\x08scandeck";
/// `version.bind`, class CHAOS, type TXT, with the length that TCP needs.
const DNS_VERSION: &[u8] =
    b"\0\x1e\x07\x07\x01\0\0\x01\0\0\0\0\0\0\x07version\x04bind\0\0\x10\0\x03";
/// The protocol header of AMQP 0-9-1.
const AMQP_HEADER: &[u8] = b"AMQP\0\0\x09\x01";
/// The connection set-up of an X11 client without authorization.
pub const X11_SETUP: &[u8] = b"l\0\x0b\0\0\0\0\0\0\0\0\0";
/// A negotiation of SMB 1 or 2, which every version of the protocol answers (MS-SMB2 §3.2.4.2.2.1).
pub const SMB_NEGOTIATE: &[u8] =
    b"\0\0\0\x45\xffSMB\x72\0\0\0\0\x18\x01\x48\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\x01\0\0\0\0\0\
    \0\x22\0\x02NT LM 0.12\0\x02SMB 2.002\0\x02SMB 2.???\0";
/// FCGI_GET_VALUES with one value, a question to the application manager that runs no script
/// (FastCGI Specification §4.1).
pub const FASTCGI_VALUES: &[u8] = b"\x01\x09\0\0\0\x11\0\0\x0f\0FCGI_MPXS_CONNS";

/// Displays 0 to 63.
const X11_PORTS: [u16; 64] = {
    let mut ports = [6000; 64];
    let mut at = 0;
    while at < ports.len() {
        ports[at] += at as u16;
        at += 1;
    }
    ports
};

/// The first message to an unknown service. Before HTTP, which Redis logs as an attack; web servers
/// refuse it.
pub const REDIS: &ServiceProbe =
    &ServiceProbe::new("redis", &[6379, 6380, 26379], b"PING\r\n", redis);

/// The other messages, the most common service first.
pub const PROBES: &[ServiceProbe] = &[
    // SSLRequest, which the server answers with one letter.
    ServiceProbe::new(
        "postgresql",
        &[5432, 5433],
        b"\0\0\0\x08\x04\xd2\x16\x2f",
        |response| matches!(response, [b'S' | b'N']),
    ),
    ServiceProbe::new("mongodb", &[27017, 27018, 27019], MONGODB_HELLO, mongodb),
    ServiceProbe::new("memcached", &[11211], b"version\r\n", |response| {
        response.starts_with(b"VERSION ")
    }),
    ServiceProbe::new("ldap", &[389, 3268], LDAP_BIND, ldap),
    // A connection confirm in a TPKT.
    ServiceProbe::new("rdp", &[3389], RDP_REQUEST, |response| {
        matches!(response, [3, 0, 0, _, _, 0xd0, ..])
    }),
    ServiceProbe::new("smb", &[445], SMB_NEGOTIATE, smb).binary(),
    ServiceProbe::new("dns", &[53], DNS_VERSION, dns),
    ServiceProbe::new("mqtt", &[1883], MQTT_CONNECT, |response| {
        matches!(response, [0x20, 2, _, 0..=5])
    }),
    ServiceProbe::new("amqp", &[5672], AMQP_HEADER, amqp),
    ServiceProbe::new("rpcbind", &[111], rpc::PORTMAPPER_NULL, |response| {
        rpc::results(response).is_some()
    })
    .binary(),
    ServiceProbe::new("nfs", &[2049], rpc::NFS_NULL, rpc::has_program).binary(),
    ServiceProbe::new("zookeeper", &[2181], b"srvr", zookeeper),
    ServiceProbe::new("fastcgi", &[9000], FASTCGI_VALUES, fastcgi).binary(),
    // CPing, which is answered by CPong.
    ServiceProbe::new("ajp", &[8009], b"\x12\x34\0\x01\x0a", |response| {
        response == b"AB\0\x01\x09"
    })
    .binary(),
    ServiceProbe::new("x11", &X11_PORTS, X11_SETUP, x11),
    ServiceProbe::new(
        "git",
        &[9418],
        b"002cgit-upload-pack /\0host=scandeck.invalid\0",
        git,
    ),
];

/// The message that is usual on a port.
pub fn usual(port: u16) -> Option<&'static ServiceProbe> {
    std::iter::once(REDIS)
        .chain(PROBES)
        .find(|probe| probe.ports.contains(&port))
}

fn redis(response: &[u8]) -> bool {
    [
        &b"+PONG"[..],
        b"-NOAUTH",
        b"-DENIED",
        b"-MISCONF",
        b"-LOADING",
        b"-NOPERM",
    ]
    .iter()
    .any(|start| response.starts_with(start))
}

/// OP_MSG or OP_REPLY, with a field that every response has.
fn mongodb(response: &[u8]) -> bool {
    let is_message = matches!(response.get(12..16), Some([0xdd, 7, 0, 0] | [1, 0, 0, 0]));
    is_message && response.windows(3).any(|part| part == b"ok\0")
}

/// A sequence with message id 1 and a bind response.
fn ldap(response: &[u8]) -> bool {
    response.first() == Some(&0x30)
        && response
            .windows(4)
            .take(8)
            .any(|part| part == [2, 1, 1, 0x61])
}

/// A response with the id of the query.
fn dns(response: &[u8]) -> bool {
    matches!(response, [_, _, 7, 7, flags, ..] if flags & 0x80 != 0)
}

/// `connection.start` on channel 0, or the version that the server requires.
fn amqp(response: &[u8]) -> bool {
    let is_other_version = response.starts_with(b"AMQP") && response != AMQP_HEADER;
    is_other_version || matches!(response, [1, 0, 0, _, _, _, _, 0, 10, 0, 10, ..])
}

/// Success or failure, and version 11 of the protocol.
fn x11(response: &[u8]) -> bool {
    matches!(response, [0 | 1, _, 11, 0, ..])
}

/// A response of SMB 2, or one of SMB 1.
fn smb(response: &[u8]) -> bool {
    match response.get(4..14) {
        Some([0xfe, b'S', b'M', b'B', 64, ..]) => true,
        Some([0xff, b'S', b'M', b'B', 0x72, _, _, _, _, flags]) => flags & 0x80 != 0,
        _ => false,
    }
}

/// FCGI_GET_VALUES_RESULT, or FCGI_UNKNOWN_TYPE for the message that was sent.
fn fastcgi(response: &[u8]) -> bool {
    matches!(
        response,
        [1, 10, 0, 0, ..] | [1, 11, 0, 0, _, _, _, _, 9, ..]
    )
}

/// The result of the command, or its refusal.
fn zookeeper(response: &[u8]) -> bool {
    let text = String::from_utf8_lossy(response);
    let starts = [
        "Zookeeper version:",
        "srvr is not executed",
        "This ZooKeeper instance is not currently serving",
    ];
    starts.iter().any(|start| text.starts_with(start))
}

/// A packet line with references or an error.
fn git(response: &[u8]) -> bool {
    let is_line = response
        .get(..4)
        .is_some_and(|length| length.iter().all(u8::is_ascii_hexdigit));
    is_line
        && [&b"ERR "[..], b"refs/", b"HEAD"]
            .iter()
            .any(|word| response.windows(word.len()).any(|part| part == *word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_have_consistent_lengths() {
        assert_eq!(MONGODB_HELLO.len(), 0x34);
        assert_eq!(usize::from(MQTT_CONNECT[1]) + 2, MQTT_CONNECT.len());
        assert_eq!(usize::from(DNS_VERSION[1]) + 2, DNS_VERSION.len());
        assert_eq!(usize::from(RDP_REQUEST[3]), RDP_REQUEST.len());
        assert_eq!(usize::from(LDAP_BIND[1]) + 2, LDAP_BIND.len());
        assert_eq!(usize::from(FASTCGI_VALUES[5]) + 8, FASTCGI_VALUES.len());
        assert_eq!(usual(9418).unwrap().bytes.len(), 0x2c);
    }

    #[test]
    fn ports_of_displays_have_the_probe_of_x11() {
        let services: Vec<_> = [5999, 6000, 6063, 6064]
            .map(usual)
            .map(|probe| probe.map(|one| one.service))
            .into();
        assert_eq!(services, [None, Some("x11"), Some("x11"), None]);
    }

    #[test]
    fn responses_of_other_services_are_not_recognized() {
        for probe in PROBES.iter().chain([REDIS]) {
            for response in [
                &b""[..],
                b"HTTP/1.1 400 Bad Request\r\n\r\n",
                b"SSH-2.0-x\r\n",
                b"220 hello\r\n",
                b"ERROR\r\n",
                b"\x15\x03\x03\0\x02\x02\x46",
                probe.bytes,
            ] {
                assert!(
                    !(probe.matches)(response),
                    "{}: {response:?}",
                    probe.service
                );
            }
        }
    }
}
