//! Which network an address belongs to: the internet, a private one, or this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// The IPv4 address that an IPv6 address reaches (mapped, or through NAT64); other addresses are
/// unchanged.
pub(super) fn embedded_ipv4(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = ip else { return ip };
    match v6.octets() {
        [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, v4 @ ..] => IpAddr::from(v4),
        _ => ip.to_canonical(),
    }
}

/// Private, unique local, link-local and loopback addresses, and those of carrier-grade NAT (RFC
/// 6598).
pub(super) fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, ..] = ip.octets();
            ip.is_private()
                || ip.is_loopback()
                || ip.is_link_local()
                || (a == 100 && b & 0xc0 == 64)
        }
        IpAddr::V6(ip) => ip.is_unique_local() || ip.is_loopback() || ip.is_unicast_link_local(),
    }
}

/// Whether the internet routes an address, so that it belongs to the owner of a name that resolves
/// to it.
pub fn is_public(ip: IpAddr) -> bool {
    let ip = embedded_ipv4(ip);
    let is_reserved = match ip {
        // This network, IETF protocol assignments, benchmarks (RFC 6890), and reserved addresses.
        IpAddr::V4(ip) => matches!(
            ip.octets(),
            [0, ..] | [192, 0, 0, _] | [198, 18 | 19, ..] | [240..=255, ..]
        ),
        // Site-local (RFC 3879), and local-use NAT64 (RFC 8215).
        IpAddr::V6(ip) => {
            matches!(
                ip.segments(),
                [0xfec0..=0xfeff, ..] | [0x64, 0xff9b, 1, ..] | [0, 0, 0, 0, 0, 0, ..]
            )
        }
    };
    !(is_private(ip) || is_reserved || ip.is_multicast())
}

/// Whether an address belongs to this machine: loopback, or an address that the kernel reaches from
/// itself.
pub fn is_this_host(ip: IpAddr) -> bool {
    let any: SocketAddr = match ip {
        _ if ip.is_loopback() => return true,
        IpAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        IpAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    // Connecting a datagram socket sends nothing; the kernel only looks up the route.
    let local = || -> std::io::Result<SocketAddr> {
        let socket = UdpSocket::bind(any)?;
        socket.connect((ip, 9))?;
        socket.local_addr()
    };
    local().is_ok_and(|local| local.ip() == ip)
}
