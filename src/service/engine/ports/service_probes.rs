//! Messages that make a silent service identify itself, each a harmless read of its own protocol.
//!
//! None of them guesses a password or changes data; each one is what an ordinary client sends first.
//!
//! The Java debugger (JDWP) is not probed: a program that waits for its debugger (`suspend=y`) starts when a connection
//! that sent the handshake is closed.

/// A message, and the service that its response proves.
pub struct ServiceProbe {
    pub service: &'static str,
    /// Ports on which this message is sent first.
    pub ports: &'static [u16],
    pub bytes: &'static [u8],
    pub matches: fn(&[u8]) -> bool,
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
const DNS_VERSION: &[u8] = b"\0\x1e\x07\x07\x01\0\0\x01\0\0\0\0\0\0\x07version\x04bind\0\0\x10\0\x03";
/// The protocol header of AMQP 0-9-1.
const AMQP_HEADER: &[u8] = b"AMQP\0\0\x09\x01";
/// The connection set-up of an X11 client without authorization.
const X11_SETUP: &[u8] = b"l\0\x0b\0\0\0\0\0\0\0\0\0";

/// The first message to an unknown service. Before HTTP, which Redis logs as an attack; web servers refuse it.
pub const REDIS: &ServiceProbe =
    &ServiceProbe { service: "redis", ports: &[6379, 6380, 26379], bytes: b"PING\r\n", matches: redis };

/// The other messages, the most common service first.
pub const PROBES: &[ServiceProbe] = &[
    ServiceProbe {
        service: "postgresql",
        ports: &[5432, 5433],
        // SSLRequest, which the server answers with one letter.
        bytes: b"\0\0\0\x08\x04\xd2\x16\x2f",
        matches: |response| matches!(response, [b'S' | b'N']),
    },
    ServiceProbe { service: "mongodb", ports: &[27017, 27018, 27019], bytes: MONGODB_HELLO, matches: mongodb },
    ServiceProbe {
        service: "memcached",
        ports: &[11211],
        bytes: b"version\r\n",
        matches: |response| response.starts_with(b"VERSION "),
    },
    ServiceProbe { service: "ldap", ports: &[389, 3268], bytes: LDAP_BIND, matches: ldap },
    ServiceProbe {
        service: "rdp",
        ports: &[3389],
        bytes: RDP_REQUEST,
        // A connection confirm in a TPKT.
        matches: |response| matches!(response, [3, 0, 0, _, _, 0xd0, ..]),
    },
    ServiceProbe { service: "dns", ports: &[53], bytes: DNS_VERSION, matches: dns },
    ServiceProbe {
        service: "mqtt",
        ports: &[1883],
        bytes: MQTT_CONNECT,
        matches: |response| matches!(response, [0x20, 2, _, 0..=5]),
    },
    ServiceProbe { service: "amqp", ports: &[5672], bytes: AMQP_HEADER, matches: amqp },
    ServiceProbe { service: "x11", ports: &[6000, 6001, 6002], bytes: X11_SETUP, matches: x11 },
    ServiceProbe {
        service: "git",
        ports: &[9418],
        bytes: b"002cgit-upload-pack /\0host=scandeck.invalid\0",
        matches: git,
    },
];

/// The message that is usual on a port.
pub fn usual(port: u16) -> Option<&'static ServiceProbe> {
    std::iter::once(REDIS).chain(PROBES).find(|probe| probe.ports.contains(&port))
}

fn redis(response: &[u8]) -> bool {
    [&b"+PONG"[..], b"-NOAUTH", b"-DENIED", b"-MISCONF", b"-LOADING", b"-NOPERM"]
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
    response.first() == Some(&0x30) && response.windows(4).take(8).any(|part| part == [2, 1, 1, 0x61])
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

/// A packet line with references or an error.
fn git(response: &[u8]) -> bool {
    let is_line = response.get(..4).is_some_and(|length| length.iter().all(u8::is_ascii_hexdigit));
    is_line
        && [&b"ERR "[..], b"refs/", b"HEAD"].iter().any(|word| response.windows(word.len()).any(|part| part == *word))
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
        assert_eq!(usual(9418).unwrap().bytes.len(), 0x2c);
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
                assert!(!(probe.matches)(response), "{}: {response:?}", probe.service);
            }
        }
    }
}
