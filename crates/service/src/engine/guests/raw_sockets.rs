//! Whether guests may open raw sockets, which a UDP scan needs: as root, or by an ambient
//! capability of the service.

use std::fs;

use scandeck_wire::contract::RAW_SOCKETS;

/// The number of `CAP_NET_RAW` (capabilities(7)).
const NET_RAW: u32 = 13;

/// The rights of guests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawSockets {
    /// As root.
    Root,
    /// By the ambient capability; nmap uses it only with `--privileged`.
    Capability,
    Forbidden,
}

impl RawSockets {
    pub fn of_guests() -> Self {
        let is_root = rustix::process::geteuid().is_root();
        match fs::read_to_string("/proc/self/status") {
            Ok(status) => Self::of_status(is_root, &status),
            // Not Linux.
            Err(_) if is_root => Self::Root,
            Err(_) => Self::Forbidden,
        }
    }

    /// Reads the capabilities of `/proc/self/status`. A container can deny them to root.
    fn of_status(is_root: bool, status: &str) -> Self {
        let has = |field: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(field));
            let bits = line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
            bits.is_some_and(|bits| bits >> NET_RAW & 1 == 1)
        };
        match is_root {
            true if has("CapEff:") => Self::Root,
            false if has("CapAmb:") => Self::Capability,
            _ => Self::Forbidden,
        }
    }

    /// Why a UDP scan is refused.
    pub fn refusal(subject: &str) -> String {
        format!(
            "{subject} needs raw sockets, which this service may not open: run it as root or with the ambient \
             capability {RAW_SOCKETS}, or scan TCP"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_read_from_the_status_of_the_process() {
        let status = |effective: &str, ambient: &str| {
            format!("Name:\tx\nCapEff:\t{effective}\nCapAmb:\t{ambient}\n")
        };
        let (none, raw) = ("0000000000000000", "0000000000002000");
        for (is_root, effective, ambient, expected) in [
            (true, "000001ffffffffff", none, RawSockets::Root),
            // Two containers: with the default capabilities, and without this one.
            (true, "00000000a80425fb", none, RawSockets::Root),
            (true, "00000000a80405fb", none, RawSockets::Forbidden),
            (false, raw, raw, RawSockets::Capability),
            // The guest would not inherit it.
            (false, raw, none, RawSockets::Forbidden),
            (false, none, none, RawSockets::Forbidden),
        ] {
            assert_eq!(
                RawSockets::of_status(is_root, &status(effective, ambient)),
                expected,
                "{effective} {ambient}"
            );
        }
        assert_eq!(RawSockets::of_status(false, ""), RawSockets::Forbidden);
    }
}
