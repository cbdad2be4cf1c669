//! The practice target: a shop over HTTP, the same as a portal over HTTPS, and a few greeting ports, all on loopback,
//! with honest weaknesses of the kinds the scans find.
//!
//! ```text
//!   weaknesses ─► site (shop, portal), certificates, greeters      control: mend and break while it runs
//!   site ─► visits ─► a logger hears of each scan and of each bait file read
//! ```

use std::io;
use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::Response;
use axum::serve::Listener;
use rustls::pki_types::CertificateDer;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use url::Url;

mod certificates;
mod control;
mod files;
mod greeters;
mod listener;
mod site;
#[cfg(test)]
mod tests;
mod visits;
pub mod weaknesses;

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
        let shop = practice.site("shop", &files);
        let portal = practice.site("portal", &files);
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

    /// Where weaknesses are mended and broken: `http://127.0.0.1:PORT/`.
    pub fn control_url(&self) -> String {
        format!("http://{}/", self.control)
    }

    /// The authority behind the mended certificate, for those who shall trust it.
    pub fn anchor(&self) -> CertificateDer<'static> {
        self.anchor.clone()
    }

    /// From now on each scan's first visit, and whoever reads a bait file, is reported to this logger. Only loopback
    /// is called.
    pub fn report_visits_to(&self, logger: Url) {
        self.visits.report_to(logger);
    }

    fn site(&self, name: &'static str, files: &Files) -> Router {
        let (weaknesses, visits, files) = (self.weaknesses.clone(), self.visits.clone(), files.clone());
        Router::new().fallback(async move |request: Request| answer(name, &request, &weaknesses, &visits, &files))
    }
}

fn answer(
    name: &'static str,
    request: &Request,
    weaknesses: &Weaknesses,
    visits: &Visits,
    files: &Files,
) -> Response<Body> {
    let broken = weaknesses.broken();
    let path = request.uri().path();
    let agent = request.headers().get("user-agent").and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    visits.note(name, path, agent, Files::is_bait(path, &broken));
    let request =
        site::Request { method: request.method(), path, headers: request.headers(), is_https: name == "portal" };
    site::answer(&request, files, &broken)
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
