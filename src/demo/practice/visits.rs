//! The practice target calls home: it reports a scan's first visit, and whoever reads a bait file, to a logger.
//!
//! ```text
//!   request ──note──► queue ──► task ──POST──► http://127.0.0.1:…/l/…/visit?scan=7
//! ```
//!
//! A report is sent because the visit happened, at that moment. Only loopback is ever called.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use url::{Host, Url};

use super::caller;

/// Reports waiting; more are dropped, since a scan must not fill memory.
const QUEUE: usize = 256;

/// One visit to tell of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Visit {
    server: &'static str,
    path: String,
    scan: Option<String>,
    bait: bool,
}

/// Notes visits and reports them; cheap to clone.
#[derive(Clone)]
pub struct Visits {
    logger: Arc<Mutex<Option<Url>>>,
    told: Arc<Mutex<HashSet<Visit>>>,
    queue: mpsc::Sender<Visit>,
}

impl Visits {
    /// Starts the task that reports, until `stop`.
    pub fn start(stop: CancellationToken) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let visits = Self { logger: Arc::default(), told: Arc::default(), queue };
        let logger = Arc::clone(&visits.logger);
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = report_all(waiting, logger) => {}
            }
        });
        visits
    }

    /// Where to report; anything but loopback is not called.
    pub fn report_to(&self, logger: Url) {
        let is_loopback = match logger.host() {
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            Some(Host::Domain(name)) => name == "localhost",
            None => false,
        };
        if is_loopback {
            *self.logger.lock().unwrap_or_else(PoisonError::into_inner) = Some(logger);
        }
    }

    /// Where reports go.
    pub fn logger(&self) -> Option<Url> {
        self.logger.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes a request: a scan's first one is reported, and each bait file once a scan.
    pub fn note(&self, server: &'static str, path: &str, user_agent: &str, bait: bool) {
        let scan = scan_of(user_agent);
        if !bait && scan.is_none() || self.logger().is_none() {
            return;
        }
        let path = if bait { path.chars().take(200).collect() } else { "/".to_owned() };
        let visit = Visit { server, path, scan, bait };
        let is_new = self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(visit.clone());
        if is_new {
            // A full queue means that the logger is slow; the visit itself must not wait for it.
            let _ = self.queue.try_send(visit);
        }
    }
}

/// The scan's number in the User-Agent of this program's scanner.
fn scan_of(user_agent: &str) -> Option<String> {
    let (_, rest) = user_agent.split_once("security scan ")?;
    Some(rest.chars().take_while(char::is_ascii_digit).collect())
}

async fn report_all(mut waiting: mpsc::Receiver<Visit>, logger: Arc<Mutex<Option<Url>>>) {
    let Ok(client) = caller() else { return };
    while let Some(visit) = waiting.recv().await {
        let base = logger.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(url) = base.and_then(|base| address(&base, &visit)) else { continue };
        let body = json!({
            "event": if visit.bait { "bait file read" } else { "first visit" },
            "server": visit.server,
            "path": visit.path,
            "scan": visit.scan,
        });
        // A logger that is gone is no reason to stop practising.
        let _ = client.post(url).json(&body).send().await;
    }
}

fn address(logger: &Url, visit: &Visit) -> Option<Url> {
    let mut base = logger.clone();
    base.path_segments_mut().ok()?.pop_if_empty().push(if visit.bait { "bait" } else { "visit" });
    base.query_pairs_mut().append_pair("server", visit.server).append_pair("path", &visit.path);
    if let Some(scan) = &visit.scan {
        base.query_pairs_mut().append_pair("scan", scan);
    }
    Some(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_goes_below_the_logger_and_names_the_scan() {
        let logger = Url::parse("http://127.0.0.1:8766/l/abc/").unwrap();
        let scan = scan_of("scandeck/0.1.0 (security scan 17)");
        let visit = Visit { server: "shop", path: "/.env".into(), scan, bait: true };
        let url = address(&logger, &visit).unwrap();
        assert_eq!(url.as_str(), "http://127.0.0.1:8766/l/abc/bait?server=shop&path=%2F.env&scan=17");
    }

    #[tokio::test]
    async fn only_loopback_is_called() {
        let visits = Visits::start(CancellationToken::new());
        visits.report_to(Url::parse("http://192.0.2.1/l/abc/").unwrap());
        assert!(visits.logger.lock().unwrap().is_none());
        visits.report_to(Url::parse("http://localhost:1/l/abc/").unwrap());
        assert!(visits.logger.lock().unwrap().is_some());
    }
}
