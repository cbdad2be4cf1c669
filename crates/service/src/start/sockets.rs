//! The listeners of a service, and the URLs by which clients reach them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::TcpListener;
use url::Url;

use crate::api::router;
use crate::data::data_dir::ServiceInfo;
use crate::errors::StartError;
use crate::settings::{NodeRole, Settings};

/// The listeners with their bound addresses.
pub(super) struct Sockets {
    pub api: TcpListener,
    /// None without the role `logger`.
    pub loggers: Option<TcpListener>,
    pub metrics: Option<TcpListener>,
    pub api_address: SocketAddr,
    pub logger_address: SocketAddr,
}

impl Sockets {
    pub async fn open(settings: &Settings, last: Option<&ServiceInfo>) -> Result<Self, StartError> {
        let any = settings.any_port;
        let port = |url: Option<&Url>| url.filter(|_| any).and_then(Url::port);
        let at = |mut address: SocketAddr, port: Option<u16>| {
            address.set_port(port.unwrap_or(address.port()));
            address
        };
        let api = at(settings.listen, port(last.map(|last| &last.base_url)));
        let loggers = at(
            settings.logger_listen,
            port(last.map(|last| &last.logger_url)),
        );
        let (api, api_address) = listen(api, "listen", any).await?;
        let (loggers, logger_address) = match settings.roles.contains(&NodeRole::Logger) {
            true => {
                let (listener, address) = listen(loggers, "logger-listen", any).await?;
                (Some(listener), address)
            }
            false => (None, loggers),
        };
        let metrics = match settings.metrics_listen {
            Some(address) => Some(listen(address, "metrics-listen", false).await?.0),
            None => None,
        };
        Ok(Self {
            api,
            loggers,
            metrics,
            api_address,
            logger_address,
        })
    }

    /// Ends in `/`, so that tokens can be appended.
    pub fn logger_base(&self, settings: &Settings) -> Result<Url, StartError> {
        let mut base = match &settings.logger_url {
            Some(base) => base.clone(),
            None => {
                let scheme = if settings.logger_tls.is_some() {
                    "https"
                } else {
                    "http"
                };
                url(&format!(
                    "{scheme}://{}/",
                    local_address(self.logger_address)
                ))?
            }
        };
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        Ok(base)
    }
}

/// Refuses an API that other machines can reach over plain HTTP, because every request contains a
/// key.
pub(super) fn check_exposure(settings: &Settings) -> Result<(), StartError> {
    let address = settings.listen;
    let is_protected =
        settings.tls.is_some() || !settings.behind_proxy.is_empty() || settings.insecure_http;
    if address.ip().to_canonical().is_loopback() || is_protected {
        return Ok(());
    }
    Err(StartError::Settings(format!(
        "plain HTTP on {address} would expose the API keys: use --tls-cert FILE --tls-key FILE, --behind-proxy NETWORK \
         for a proxy with TLS, or --insecure-http in a trusted network"
    )))
}

/// Refuses a node that would show addresses of loggers that nobody serves.
pub(super) fn check_roles(settings: &Settings) -> Result<(), StartError> {
    if settings.roles.contains(&NodeRole::Logger) || settings.logger_url.is_some() {
        return Ok(());
    }
    Err(StartError::Settings(
        "a node without the role `logger` needs --logger-url URL, the address of the loggers of other nodes"
            .to_owned(),
    ))
}

pub(super) fn api_url(scheme: &str, address: impl fmt::Display) -> Result<Url, StartError> {
    url(&format!("{scheme}://{address}{}", router::PREFIX))
}

/// The URL for processes of this machine. A certificate is usually valid for a name, so the first
/// allowed one is used.
pub(super) fn local_url(settings: &Settings, address: SocketAddr) -> Result<Url, StartError> {
    match (&settings.tls, settings.allow_hosts.first()) {
        (None, _) => api_url("http", local_address(address)),
        (Some(_), None) => api_url("https", local_address(address)),
        (Some(_), Some(name)) => api_url("https", format!("{name}:{}", address.port())),
    }
}

/// The address by which this machine reaches a listener: loopback for `0.0.0.0` and `::`.
fn local_address(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

async fn listen(
    address: SocketAddr,
    flag: &'static str,
    any: bool,
) -> Result<(TcpListener, SocketAddr), StartError> {
    let busy = |cause| StartError::Busy {
        address,
        flag,
        cause,
    };
    let listener = match TcpListener::bind(address).await {
        Err(_) if any => TcpListener::bind((address.ip(), 0)).await,
        other => other,
    };
    let listener = listener.map_err(busy)?;
    let address = listener.local_addr().map_err(busy)?;
    Ok((listener, address))
}

fn url(text: &str) -> Result<Url, StartError> {
    Url::parse(text).map_err(|error| StartError::Settings(format!("{text} is not a URL: {error}")))
}

/// What a node does not do.
pub(super) fn role_notes(settings: &Settings) -> Vec<String> {
    let mut notes = Vec::new();
    if !settings.roles.contains(&NodeRole::Api) {
        notes.push("this node answers health checks only: it has no role `api`".to_owned());
    }
    if !settings.roles.contains(&NodeRole::Worker) && settings.database.is_none() {
        let note = "scans wait: this node has no role `worker`, and a database file has no other \
            nodes; add `worker` to --role";
        notes.push(note.to_owned());
    }
    notes
}

/// Metrics need no key, so the note says who can read them.
pub(super) fn metrics_note(address: SocketAddr) -> String {
    let url = format!("http://{}/metrics", local_address(address));
    match address.ip().to_canonical().is_loopback() {
        true => format!("metrics at {url}"),
        false => format!("metrics at {url}, which other machines can read without a key"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::tls::TlsFiles;

    #[test]
    fn metrics_note_names_an_address_to_open() {
        assert_eq!(
            metrics_note("127.0.0.1:9100".parse().unwrap()),
            "metrics at http://127.0.0.1:9100/metrics"
        );
        let public = metrics_note("0.0.0.0:9100".parse().unwrap());
        assert!(
            public.starts_with("metrics at http://127.0.0.1:9100/metrics")
                && public.contains("without a key")
        );
    }

    #[test]
    fn node_without_loggers_needs_the_address_of_others() {
        let mut settings = Settings::new("/nonexistent");
        assert!(check_roles(&settings).is_ok());
        settings.roles = [NodeRole::Api].into();
        let error = check_roles(&settings).unwrap_err().to_string();
        assert!(error.contains("--logger-url"), "{error}");
        settings.logger_url = Some("https://oob.example.net".parse().unwrap());
        assert!(check_roles(&settings).is_ok());
    }

    #[test]
    fn node_without_worker_on_a_file_says_that_scans_wait() {
        let mut settings = Settings::new("/nonexistent");
        assert!(role_notes(&settings).is_empty());
        settings.roles = [NodeRole::Api, NodeRole::Logger].into();
        let notes = role_notes(&settings).join("\n");
        assert!(
            notes.starts_with("scans wait") && notes.contains("--role"),
            "{notes}"
        );
    }

    #[test]
    fn plain_http_beyond_loopback_needs_a_flag() {
        let exposed = |address: &str, change: &dyn Fn(&mut Settings)| {
            let mut settings = Settings::new("/nonexistent");
            settings.listen = address.parse().unwrap();
            change(&mut settings);
            check_exposure(&settings)
                .err()
                .map(|error| error.to_string())
        };
        for address in [
            "127.0.0.1:0",
            "127.9.0.1:0",
            "[::1]:0",
            "[::ffff:127.0.0.1]:0",
        ] {
            assert_eq!(exposed(address, &|_| ()), None, "{address}");
        }
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
            let error = exposed(address, &|_| ()).expect(address);
            for flag in [
                "--tls-cert",
                "--tls-key",
                "--behind-proxy",
                "--insecure-http",
            ] {
                assert!(error.contains(flag), "{error}");
            }
            let files = || TlsFiles {
                cert: "c".into(),
                key: "k".into(),
            };
            assert_eq!(
                exposed(address, &|settings| settings.insecure_http = true),
                None
            );
            assert_eq!(
                exposed(address, &|settings| settings.tls = Some(files())),
                None
            );
            let proxy = |settings: &mut Settings| {
                settings.behind_proxy = vec!["10.0.0.0/8".parse().unwrap()]
            };
            assert_eq!(exposed(address, &proxy), None);
        }
    }
}
