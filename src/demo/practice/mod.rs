//! The practice target: a shop over HTTP, the same as a portal over HTTPS, and a few greeting ports, all on loopback,
//! with honest weaknesses of the kinds the scans find.
//!
//! ```text
//!   weaknesses ─► site (shop, portal), certificates, greeters      control: mend and break while it runs
//!   site ─► visits ─► a logger hears of each scan and of each bait file read
//!   site ─► fetching, fetcher ─► requests what it is given, towards the demo's own loggers alone
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
    /// The shop.
    pub http: SocketAddr,
    /// The portal.
    pub https: SocketAddr,
    /// The control address.
    pub control: SocketAddr,
    /// Greeting ports with the weakness that opens them.
    pub ports: Vec<(&'static str, SocketAddr)>,
    /// The switchboard behind the control address.
    pub weaknesses: Weaknesses,
    anchor: CertificateDer<'static>,
    visits: Visits,
}

impl Practice {
    /// Starts everything on free ports of 127.0.0.1, with every weakness broken.
    ///
    /// # Errors
    /// When no port is to be had.
    pub async fn start(stop: CancellationToken) -> io::Result<Self> {
        let weaknesses = Weaknesses::default();
        let made = certificates::make(&weaknesses)?;
        let visits = Visits::start(stop.clone());
        let [http, https, control] = [bind().await?, bind().await?, bind().await?];
        let practice = Self {
            http: http.local_addr()?,
            https: https.local_addr()?,
            control: control.local_addr()?,
            ports: greeters::open(&weaknesses, &stop).await?,
            weaknesses,
            anchor: made.anchor,
            visits,
        };
        let files = Files { private_key: made.private_key, shop_url: practice.http_url() };
        let fetcher = Fetcher::new(practice.visits.clone(), stop.clone()).map_err(io::Error::other)?;
        let shop = practice.site("shop", &files, &fetcher);
        let portal = practice.site("portal", &files, &fetcher);
        serve(http, shop, &stop);
        serve(TlsListener::new(https, made.config, stop.clone())?, portal, &stop);
        serve(control, control::router(practice.weaknesses.clone(), practice.control), &stop);
        Ok(practice)
    }

    /// The shop, `http://127.0.0.1:PORT/`.
    pub fn http_url(&self) -> String {
        format!("http://{}/", self.http)
    }

    /// The portal by name, since a certificate is about names: `https://localhost:PORT/`.
    pub fn https_url(&self) -> String {
        format!("https://localhost:{}/", self.https.port())
    }

    /// Where the shop can be made to request an address: `http://127.0.0.1:PORT/fetch`.
    pub fn fetch_url(&self) -> String {
        format!("{}fetch", self.http_url())
    }

    /// Where weaknesses are mended and broken: `http://127.0.0.1:PORT/`.
    pub fn control_url(&self) -> String {
        format!("http://{}/", self.control)
    }

    /// The authority behind the mended certificate, for those who shall trust it.
    pub fn anchor(&self) -> CertificateDer<'static> {
        self.anchor.clone()
    }

    /// From now on each scan's first visit, and whoever reads a bait file, is reported to this logger, and addresses of
    /// loggers beside it are requested. Only loopback is called.
    pub fn report_visits_to(&self, logger: Url) {
        self.visits.report_to(logger);
    }

    fn site(&self, name: &'static str, files: &Files, fetcher: &Fetcher) -> Router {
        let (weaknesses, visits) = (self.weaknesses.clone(), self.visits.clone());
        let site = Arc::new(PracticeSite { name, weaknesses, visits, files: files.clone(), fetcher: fetcher.clone() });
        Router::new().fallback(move |request: Request| async move { site.answer(request).await })
    }
}

/// The shop, or the portal.
struct PracticeSite {
    name: &'static str,
    weaknesses: Weaknesses,
    visits: Visits,
    files: Files,
    fetcher: Fetcher,
}

impl PracticeSite {
    async fn answer(&self, request: Request) -> Response<Body> {
        let broken = self.weaknesses.broken();
        let (parts, body) = request.into_parts();
        let path = parts.uri.path();
        let agent = parts.headers.get("user-agent").and_then(|agent| agent.to_str().ok()).unwrap_or_default();
        self.visits.note(self.name, path, agent, Files::is_bait(path, &broken));
        let is_https = self.name == "portal";
        let request = site::SiteRequest { method: &parts.method, path, headers: &parts.headers, is_https };
        match FetchMode::at(path).filter(|_| matches!(parts.method, Method::GET | Method::POST)) {
            Some(way) => {
                let (status, text) = self.fetcher.answer(way, &parts, body).await;
                site::dressed(&request, &broken, site::page(status, "Request an address", &text))
            }
            None => site::answer(&request, &self.files, &broken),
        }
    }
}

/// The client of what calls from here. Who uses it says where to; it follows nobody elsewhere.
fn caller() -> reqwest::Result<reqwest::Client> {
    reqwest::Client::builder()
        .no_proxy()
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
        let served = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await;
        if let Err(error) = served {
            tracing::warn!(%error, "a server of the practice target ended");
        }
    });
}
