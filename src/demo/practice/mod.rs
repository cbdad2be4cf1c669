//! The practice target: a shop over HTTP, the same site as a portal over HTTPS, and some ports with
//! banners, all on loopback, with deliberate weaknesses of the kinds that scans find.
//!
//! ```text
//!   weaknesses ─► site (shop, portal), certificates, greeters      control: switches weaknesses on and off
//!   site ─► visits ─► a logger receives the first visit of each scan and each request for a bait file
//!   site ─► fetching, fetcher ─► server-side requests to the demo's own loggers only
//! ```

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Method, Response};
use axum::serve::Listener;
use rustls::pki_types::CertificateDer;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use url::Url;

mod certificates;
mod control;
mod fetcher;
mod fetching;
mod files;
mod greeters;
mod listener;
mod site;
#[cfg(test)]
mod tests;
mod visits;
pub mod weaknesses;

use fetcher::Fetcher;
use fetching::FetchMode;
use files::Files;
use listener::TlsListener;
use visits::Visits;
use weaknesses::Weaknesses;

/// A practice target that runs until its token is cancelled.
pub struct Practice {
    pub http: SocketAddr,
    pub https: SocketAddr,
    pub control: SocketAddr,
    /// Open ports with their weaknesses.
    pub ports: Vec<(&'static str, SocketAddr)>,
    pub weaknesses: Weaknesses,
    anchor: CertificateDer<'static>,
    visits: Visits,
}

impl Practice {
    /// Starts on free ports of 127.0.0.1, with all weaknesses on.
    ///
    /// # Errors
    /// When there is no free port.
    pub async fn start(stop: CancellationToken) -> io::Result<Self> {
        let weaknesses = Weaknesses::default();
        let tls = certificates::create(&weaknesses)?;
        let visits = Visits::start(stop.clone());
        let [http, https, control] = [bind().await?, bind().await?, bind().await?];
        let practice = Self {
            http: http.local_addr()?,
            https: https.local_addr()?,
            control: control.local_addr()?,
            ports: greeters::open(&weaknesses, &stop).await?,
            weaknesses,
            anchor: tls.anchor,
            visits,
        };
        let files = Files {
            private_key: tls.private_key,
            shop_url: practice.http_url(),
        };
        let fetcher =
            Fetcher::new(practice.visits.clone(), stop.clone()).map_err(io::Error::other)?;
        let shop = practice.site("shop", &files, &fetcher);
        let portal = practice.site("portal", &files, &fetcher);
        serve(http, shop, &stop);
        serve(
            TlsListener::new(https, tls.config, stop.clone())?,
            portal,
            &stop,
        );
        serve(
            control,
            control::router(practice.weaknesses.clone(), practice.control),
            &stop,
        );
        Ok(practice)
    }

    /// The shop, `http://127.0.0.1:PORT/`.
    pub fn http_url(&self) -> String {
        format!("http://{}/", self.http)
    }

    /// The portal by host name, because certificates contain names: `https://localhost:PORT/`.
    pub fn https_url(&self) -> String {
        format!("https://localhost:{}/", self.https.port())
    }

    /// The page for server-side requests: `http://127.0.0.1:PORT/fetch`.
    pub fn fetch_url(&self) -> String {
        format!("{}fetch", self.http_url())
    }

    /// The control address: `http://127.0.0.1:PORT/`.
    pub fn control_url(&self) -> String {
        format!("http://{}/", self.control)
    }

    /// The authority that signed the valid certificate.
    pub fn anchor(&self) -> CertificateDer<'static> {
        self.anchor.clone()
    }

    /// Reports the first visit of each scan and requests for bait files to this logger from now on,
    /// and allows server-side requests to loggers of the same service. Only loopback addresses are
    /// accepted.
    pub fn report_visits_to(&self, logger: Url) {
        self.visits.report_to(logger);
    }

    fn site(&self, name: &'static str, files: &Files, fetcher: &Fetcher) -> Router {
        let (weaknesses, visits) = (self.weaknesses.clone(), self.visits.clone());
        let site = Arc::new(PracticeSite {
            name,
            weaknesses,
            visits,
            files: files.clone(),
            fetcher: fetcher.clone(),
        });
        Router::new().fallback(move |request: Request| async move { site.answer(request).await })
    }
}

/// The shop or the portal.
struct PracticeSite {
    name: &'static str,
    weaknesses: Weaknesses,
    visits: Visits,
    files: Files,
    fetcher: Fetcher,
}

impl PracticeSite {
    async fn answer(&self, request: Request) -> Response<Body> {
        let active = self.weaknesses.active();
        let (parts, body) = request.into_parts();
        let path = parts.uri.path();
        let agent = parts
            .headers
            .get("user-agent")
            .and_then(|agent| agent.to_str().ok())
            .unwrap_or_default();
        self.visits
            .record(self.name, path, agent, Files::is_bait(path, &active));
        let is_https = self.name == "portal";
        let request = site::SiteRequest {
            method: &parts.method,
            path,
            headers: &parts.headers,
            is_https,
        };
        match FetchMode::at(path).filter(|_| matches!(parts.method, Method::GET | Method::POST)) {
            Some(mode) => {
                let (status, text) = self.fetcher.answer(mode, &parts, body).await;
                site::with_headers(
                    &request,
                    &active,
                    site::page(status, "Server-side request", &text),
                )
            }
            None => site::answer(&request, &self.files, &active),
        }
    }
}

/// A client that follows no redirects. The service of the demo speaks plain HTTP, so it needs no
/// certificates, which take long to read.
fn http_client() -> reqwest::Result<reqwest::Client> {
    reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only(Vec::new())
        .user_agent(concat!("scandeck-practice/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .timeout(Duration::from_secs(5))
        .build()
}

async fn bind() -> io::Result<TcpListener> {
    TcpListener::bind("127.0.0.1:0").await
}

fn serve<L>(listener: L, router: Router, stop: &CancellationToken)
where
    L: Listener,
    L::Addr: std::fmt::Debug,
{
    let stop = stop.clone();
    tokio::spawn(async move {
        let served = axum::serve(listener, router)
            .with_graceful_shutdown(stop.cancelled_owned())
            .await;
        if let Err(error) = served {
            tracing::warn!(%error, "server of the practice target failed");
        }
    });
}
