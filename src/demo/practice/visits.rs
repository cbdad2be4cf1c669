//! Reports the first visit of each scan, and requests for bait files, to a logger.
//!
//! ```text
//!   request ──note──► queue ──► task ──POST──► http://127.0.0.1:…/l/…/visit?scan=7
//! ```
//!
//! A report is sent at the moment of the visit, to loopback addresses only.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use url::{Host, Url};

use super::http_client;

/// Queued reports; further ones are dropped, because a scan must not fill the memory.
const QUEUE: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Visit {
    server: &'static str,
    path: String,
    scan: Option<String>,
    bait: bool,
}

/// Records and reports visits; cheap to clone.
#[derive(Clone)]
pub struct Visits {
    logger: Arc<Mutex<Option<Url>>>,
    reported: Arc<Mutex<HashSet<Visit>>>,
    queue: mpsc::Sender<Visit>,
}

impl Visits {
    /// Starts the reporting task, which runs until `stop`.
    pub fn start(stop: CancellationToken) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let visits = Self {
            logger: Arc::default(),
            reported: Arc::default(),
            queue,
        };
        let logger = Arc::clone(&visits.logger);
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = report_all(waiting, logger) => {}
            }
        });
        visits
    }

    /// Sets the logger, unless its address is not loopback.
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

    pub fn logger(&self) -> Option<Url> {
        self.logger
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Records a request. The first request of a scan is reported, and each bait file once per
    /// scan.
    pub fn record(&self, server: &'static str, path: &str, user_agent: &str, bait: bool) {
        let scan = scan_of(user_agent);
        if !bait && scan.is_none() || self.logger().is_none() {
            return;
        }
        let path = if bait {
            path.chars().take(200).collect()
        } else {
            "/".to_owned()
        };
        let visit = Visit {
            server,
            path,
            scan,
            bait,
        };
        let is_new = self
            .reported
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(visit.clone());
        if is_new {
            // A full queue means that the logger is slow; the visitor must not wait for it.
            let _ = self.queue.try_send(visit);
        }
    }
}

/// The scan id in the User-Agent of the scanner.
fn scan_of(user_agent: &str) -> Option<String> {
    let (_, rest) = user_agent.split_once("security scan ")?;
    Some(rest.chars().take_while(char::is_ascii_digit).collect())
}

async fn report_all(mut waiting: mpsc::Receiver<Visit>, logger: Arc<Mutex<Option<Url>>>) {
    let Ok(client) = http_client() else { return };
    while let Some(visit) = waiting.recv().await {
        let base = logger
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let Some(url) = base.and_then(|base| address(&base, &visit)) else {
            continue;
        };
        let body = json!({
            "event": if visit.bait { "bait file read" } else { "first visit" },
            "server": visit.server,
            "path": visit.path,
            "scan": visit.scan,
        });
        // A deleted logger must not stop the practice target.
        let _ = client.post(url).json(&body).send().await;
    }
}

fn address(logger: &Url, visit: &Visit) -> Option<Url> {
    let mut base = logger.clone();
    base.path_segments_mut()
        .ok()?
        .pop_if_empty()
        .push(if visit.bait { "bait" } else { "visit" });
    base.query_pairs_mut()
        .append_pair("server", visit.server)
        .append_pair("path", &visit.path);
    if let Some(scan) = &visit.scan {
        base.query_pairs_mut().append_pair("scan", scan);
    }
    Some(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_of_visit_names_server_path_and_scan() {
        let logger = Url::parse("http://127.0.0.1:8766/l/abc/").unwrap();
        let scan = scan_of("scandeck/0.1.0 (security scan 17)");
        let visit = Visit {
            server: "shop",
            path: "/.env".into(),
            scan,
            bait: true,
        };
        let url = address(&logger, &visit).unwrap();
        assert_eq!(
            url.as_str(),
            "http://127.0.0.1:8766/l/abc/bait?server=shop&path=%2F.env&scan=17"
        );
    }

    #[tokio::test]
    async fn report_to_accepts_loopback_only() {
        let visits = Visits::start(CancellationToken::new());
        visits.report_to(Url::parse("http://192.0.2.1/l/abc/").unwrap());
        assert!(visits.logger.lock().unwrap().is_none());
        visits.report_to(Url::parse("http://localhost:1/l/abc/").unwrap());
        assert!(visits.logger.lock().unwrap().is_some());
    }
}
