//! Flags of `scandeck serve` for a service that other machines use.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use ipnet::IpNet;

use scandeck_service::{Settings, TlsFiles};

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Access from other machines")]
pub struct NetworkArgs {
    /// Certificate of the API with its chain (PEM); SIGHUP reloads it
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Certificate of the loggers with its chain (PEM), for payloads with https; SIGHUP reloads it
    #[arg(long, value_name = "FILE", requires = "logger_tls_key")]
    logger_tls_cert: Option<PathBuf>,
    /// Private key of the certificate of the loggers (PEM)
    #[arg(long, value_name = "FILE", requires = "logger_tls_cert")]
    logger_tls_key: Option<PathBuf>,
    /// Reverse proxy with TLS whose X-Forwarded-For is trusted: address or network; repeatable
    #[arg(long, value_name = "NETWORK", value_parser = proxy)]
    behind_proxy: Vec<IpNet>,
    /// Allow other machines to use the API over plain HTTP
    #[arg(long)]
    insecure_http: bool,
    /// Host name under which clients may use the service; repeatable
    #[arg(long = "allow-host", value_name = "NAME", value_parser = host_name)]
    allow_hosts: Vec<String>,
    /// Loopback or private address or network that callbacks may reach; repeatable
    #[arg(long = "allow-callback", value_name = "NETWORK", value_parser = network)]
    allow_callbacks: Vec<IpNet>,
}

impl NetworkArgs {
    pub fn has_certificate(&self) -> bool {
        self.tls_cert.is_some() || self.logger_tls_cert.is_some()
    }

    /// The settings with these flags.
    pub fn apply(self, settings: Settings) -> Settings {
        let tls = self
            .tls_cert
            .zip(self.tls_key)
            .map(|(cert, key)| TlsFiles { cert, key });
        let logger_tls = self
            .logger_tls_cert
            .zip(self.logger_tls_key)
            .map(|(cert, key)| TlsFiles { cert, key });
        Settings {
            tls,
            logger_tls,
            behind_proxy: self.behind_proxy,
            insecure_http: self.insecure_http,
            allow_hosts: self.allow_hosts,
            allow_callbacks: self.allow_callbacks,
            ..settings
        }
    }
}

/// The network of a proxy. Every machine in it can choose the client address that the service sees.
fn proxy(text: &str) -> Result<IpNet, &'static str> {
    let network = network(text)?;
    let widest = if network.addr().is_ipv4() { 8 } else { 7 };
    match network.prefix_len() < widest {
        true => Err("any client could send X-Forwarded-For; use the address of the proxy"),
        false => Ok(network),
    }
}

fn network(text: &str) -> Result<IpNet, &'static str> {
    let address = text.parse::<IpAddr>().map(IpNet::from);
    address
        .or_else(|_| text.parse::<IpNet>().map(|net| net.trunc()))
        .map_err(|_| "use an address or a network, such as 10.0.4.0/24")
}

fn host_name(text: &str) -> Result<String, &'static str> {
    match url::Host::parse(text) {
        Ok(url::Host::Domain(name)) => Ok(name),
        _ => Err("use a name, such as scans.example.net"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxy_network_of_every_client_is_refused() {
        for trusted in ["127.0.0.1", "10.0.0.0/8", "fd00::/8"] {
            assert!(proxy(trusted).is_ok(), "{trusted}");
        }
        for open in ["0.0.0.0/0", "0.0.0.0/1", "::/0"] {
            assert!(
                proxy(open).unwrap_err().contains("address of the proxy"),
                "{open}"
            );
        }
    }
}
