//! Listeners of the service itself, which are not findings of a scan of this machine.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError, RwLock};

use crate::scope_check::is_this_host;

/// A shared list of listeners.
#[derive(Clone, Debug, Default)]
pub struct ServicePorts(Arc<RwLock<Vec<SocketAddr>>>);

impl ServicePorts {
    pub fn add(&self, listener: SocketAddr) {
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push(listener);
    }

    /// Whether a connection to `ip:port` reaches a listener of the service.
    pub fn contains(&self, ip: IpAddr, port: u16) -> bool {
        let own = self.0.read().unwrap_or_else(PoisonError::into_inner);
        // A wildcard listener accepts connections on every address of this machine.
        own.iter().any(|own| {
            own.port() == port
                && (own.ip() == ip || (own.ip().is_unspecified() && is_this_host(ip)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contains_matches_listener_address_and_wildcard() {
        let own = ServicePorts::default();
        own.add("127.0.0.1:8765".parse().unwrap());
        own.add("0.0.0.0:8766".parse().unwrap());
        let [one, five] = ["127.0.0.1", "127.0.0.5"].map(|ip| ip.parse().unwrap());
        assert!(own.contains(one, 8765) && !own.contains(five, 8765) && own.contains(five, 8766));
        assert!(!own.contains("192.0.2.1".parse().unwrap(), 8766));
    }
}
