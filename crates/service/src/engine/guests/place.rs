//! Where a guest connects to: addresses that the scope allows, and a port or a website.

use std::net::{IpAddr, SocketAddr};

use tokio::net::TcpStream;
use tokio::time::timeout;

use super::proxy::{GuestProxy, GuestRoute};
use super::scan::failed;
use super::table::GuestWay;
use crate::engine::ScanOutcome;
use crate::engine::pace::RequestPace;
use crate::engine::params::tools::request_rate;
use crate::engine::run::ScanRun;

const HTTPS: u16 = 443;

pub struct GuestPlace {
    /// Empty for a guest that does not connect to its target.
    pub addresses: Vec<IpAddr>,
    pub port: u16,
    /// Empty for a target that is no website.
    pub url: String,
}

impl GuestPlace {
    /// Resolves the target.
    ///
    /// # Errors
    /// When no address is allowed, or the target is a listener of this service.
    pub async fn of(run: &ScanRun<'_>, way: GuestWay, host: &str) -> Result<Self, ScanOutcome> {
        let place = match way {
            GuestWay::Website => Self::website(run, run.resolve(host).await?).await?,
            GuestWay::Address => Self {
                addresses: run.resolve(host).await?,
                port: chosen_port(run),
                url: String::new(),
            },
            GuestWay::Domain => Self {
                addresses: Vec::new(),
                port: 0,
                url: String::new(),
            },
        };
        let ports = &run.settings.service_ports;
        let is_own = |ip: &IpAddr| ports.contains(*ip, place.port);
        match place.addresses.iter().any(is_own) {
            true => Err(failed(format!(
                "port {} belongs to this service",
                place.port
            ))),
            false => Ok(place),
        }
    }

    /// The website of the target; that of a host speaks HTTPS if its port is open.
    async fn website(run: &ScanRun<'_>, addresses: Vec<IpAddr>) -> Result<Self, ScanOutcome> {
        let mut scheme = "http";
        if run.address.url().is_none() {
            for ip in &addresses {
                let wait = run.lanes.of(*ip).limits.connect_timeout;
                let connecting = TcpStream::connect(SocketAddr::new(*ip, HTTPS));
                if matches!(timeout(wait, connecting).await, Ok(Ok(_))) {
                    scheme = "https";
                    break;
                }
            }
        }
        let url = run.address.url_with(scheme);
        let url = url.ok_or_else(|| failed("the target has no URL".to_owned()))?;
        Ok(Self {
            addresses,
            port: url.port_or_known_default().unwrap_or(HTTPS),
            url: url.to_string(),
        })
    }

    /// The way to the website.
    ///
    /// # Errors
    /// When no port is free.
    pub async fn proxy(
        &self,
        run: &ScanRun<'_>,
        host: &str,
    ) -> Result<Option<GuestProxy>, ScanOutcome> {
        let Some(first) = self.addresses.first() else {
            return Ok(None);
        };
        let rate = request_rate(&run.job.params);
        let route = GuestRoute {
            host: host.to_owned(),
            addresses: self.addresses.clone(),
            service_ports: run.settings.service_ports.clone(),
            lane: run.lanes.of(*first),
            rate: rate.map(|rate| RequestPace::new(Some(rate))),
        };
        let proxy = GuestProxy::open(route).await;
        proxy.map(Some).map_err(|error| failed(error.to_string()))
    }
}

/// The port of the parameters, else that of the target.
fn chosen_port(run: &ScanRun<'_>) -> u16 {
    let chosen = run.job.params["port"].as_u64();
    let chosen = chosen.and_then(|port| u16::try_from(port).ok());
    chosen.or(run.address.port()).unwrap_or(HTTPS)
}
