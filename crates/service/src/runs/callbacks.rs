//! Callbacks: POST of a report or a notification, repeated until a 2xx response or the last
//! attempt.
//!
//! ```text
//!   queue ─► due? ─► name allowed? ─► resolved, address allowed? ─► POST ─► 2xx: done
//!     ▲                                          ▲      └─ 3xx ─┘ (at most 3)
//!     └────── 3 s later, 5 attempts ─────────────┘
//! ```
//!
//! An address that is not allowed ends the delivery: the next attempt would be refused too.
//!
//! The service must not give access to networks outside the scope, nor to the network in which it
//! runs: addresses that are not public need `--allow-callback`. The name, every address it resolves
//! to, and each redirect are checked; the connection goes to the checked address. Each delivery is
//! signed: `X-Scandeck-Signature: sha256=<hex HMAC-SHA256 of the body>` with the key in
//! `callback.key` of the data directory; `X-Scandeck-Subject` names the scan or report.
//!
//! Each delivery is claimed by one process. If that process ends before it has stored the result,
//! another attempt follows: receivers know a repeated delivery by its `X-Scandeck-Delivery`.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, LOCATION, USER_AGENT};
use reqwest::{Client, Response, redirect};
use sha2::Sha256;
use tokio::task::{self, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::engine::PRODUCT;
use crate::net::address::Address;
use crate::net::resolver::addresses;
use crate::runs::report_maker::queue_pending_callbacks;
use crate::scope_check::{Refusal, is_public, is_this_host};
use crate::state::App;
use crate::store::DatabaseError;
use crate::store::deliveries::{Delivery, RETRY_DELAY};

const TIMEOUT: Duration = Duration::from_secs(10);

/// Concurrent deliveries, so that a slow receiver does not delay others.
const CONCURRENCY: usize = 16;

const MAX_REDIRECTS: usize = 3;

/// Delivers callbacks until `stop`. Queued callbacks remain in the database for the next start.
pub async fn deliver(app: App, key: String, stop: CancellationToken) {
    // Tasks of their own: an attempt may hold the write lock of the database while this loop waits
    // for it.
    let mut sending = JoinSet::new();
    let mut in_flight: HashMap<task::Id, Arc<Delivery>> = HashMap::new();
    while !stop.is_cancelled() {
        let ids: Vec<i64> = in_flight.values().map(|delivery| delivery.id).collect();
        let (due, next) = due(&app, &ids).await.unwrap_or_else(|error| {
            tracing::error!(%error, "callback queue not read");
            (Vec::new(), Some(app.now() + RETRY_DELAY))
        });
        for delivery in due.into_iter().map(Arc::new) {
            let task = sending.spawn(attempt(
                app.clone(),
                key.clone(),
                Arc::clone(&delivery),
                stop.clone(),
            ));
            in_flight.insert(task.id(), delivery);
        }
        let next_due = async {
            match next {
                Some(at) => app.clock.until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = app.deliveries.notified() => {}
            () = next_due => {}
            Some(ended) = sending.join_next_with_id() => {
                let id = ended.as_ref().map_or_else(JoinError::id, |(id, ())| *id);
                if let (Some(delivery), Err(panic)) = (in_flight.remove(&id), ended) {
                    record(&app, &delivery, Err(panic.into()), &stop).await;
                }
            }
        }
    }
    while sending.join_next().await.is_some() {}
}

/// Claims the due deliveries that are not in flight; also the time of the next one.
async fn due(
    app: &App,
    in_flight: &[i64],
) -> Result<(Vec<Delivery>, Option<Timestamp>), DatabaseError> {
    queue_pending_callbacks(app).await?;
    let (mut in_flight, mut due) = (in_flight.to_vec(), Vec::new());
    while in_flight.len() < CONCURRENCY {
        let claimed = app.store.claim_delivery(&in_flight, app.now()).await?;
        let Some(delivery) = claimed else {
            let next = app.store.next_delivery_at(&in_flight).await?;
            let next = next.and_then(|at| Timestamp::from_millisecond(at).ok());
            return Ok((due, next));
        };
        in_flight.push(delivery.id);
        due.push(delivery);
    }
    Ok((due, None))
}

/// One attempt, whose result is stored.
async fn attempt(app: App, key: String, delivery: Arc<Delivery>, stop: CancellationToken) {
    // An attempt that the shutdown cancels does not count.
    if let Some(sent) = stop.run_until_cancelled(send(&app, &key, &delivery)).await {
        record(&app, &delivery, sent, &stop).await;
    }
}

/// Stores the result of an attempt. A panic is a failed attempt.
async fn record(
    app: &App,
    delivery: &Delivery,
    sent: anyhow::Result<()>,
    stop: &CancellationToken,
) {
    let stored = match sent {
        Ok(()) => app.store.delete_delivery(delivery.id).await,
        Err(error) if error.is::<CallbackRefusal>() => {
            tracing::warn!(subject = delivery.subject, %error, retry = false, "callback not delivered");
            app.store.delete_delivery(delivery.id).await
        }
        Err(error) => app
            .store
            .postpone_delivery(delivery, app.now())
            .await
            .map(|retry| {
                let error = format!("{error:#}");
                tracing::warn!(
                    subject = delivery.subject,
                    error,
                    retry,
                    "callback not delivered"
                );
            }),
    };
    if let Err(error) = stored {
        tracing::error!(%error, "result of a callback not stored");
        // The delivery remains due; without a pause it would flood the receiver.
        stop.run_until_cancelled(app.clock.until(app.now() + RETRY_DELAY))
            .await;
    }
}

async fn send(app: &App, key: &str, delivery: &Delivery) -> anyhow::Result<()> {
    tokio::time::timeout(TIMEOUT, follow(app, key, delivery))
        .await
        .context("no response within 10 s")?
}

async fn follow(app: &App, key: &str, delivery: &Delivery) -> anyhow::Result<()> {
    let mut url: Url = delivery.url.parse()?;
    for _ in 0..=MAX_REDIRECTS {
        let response = post(app, key, delivery, &url).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        ensure!(
            status.is_redirection(),
            "the receiver responded with {status}"
        );
        let location = response
            .headers()
            .get(LOCATION)
            .context("redirect without Location")?;
        url = url.join(location.to_str()?)?;
    }
    bail!("more than {MAX_REDIRECTS} redirects")
}

async fn post(app: &App, key: &str, delivery: &Delivery, url: &Url) -> anyhow::Result<Response> {
    let address = Address::parse(url.as_str())?;
    check_name(app, &address)?;
    let socket = resolve(app, &address).await?;
    let mut client = Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .timeout(TIMEOUT);
    if address.ip().is_none() {
        // The connection must go to the checked address, even if the name resolves to another one
        // now.
        client = client.resolve(&address.host(), socket);
    }
    if url.scheme() == "http" {
        // Plain http must work on machines without any trusted certificate.
        client = client.tls_certs_only(Vec::new());
    }
    let response = client
        .build()?
        .post(url.clone())
        .header(USER_AGENT, PRODUCT)
        .header(CONTENT_TYPE, &delivery.content_type)
        .header("x-scandeck-delivery", delivery.id)
        .header("x-scandeck-subject", &delivery.subject)
        .header(
            "x-scandeck-signature",
            format!("sha256={}", signature(key, &delivery.body)),
        )
        .body(delivery.body.clone())
        .send()
        .await?;
    Ok(response)
}

async fn resolve(app: &App, address: &Address) -> anyhow::Result<SocketAddr> {
    let host = address.host();
    let port = address.port().context("URL without a port")?;
    let all = addresses(app.resolver.as_ref(), &host)
        .await
        .map_err(anyhow::Error::msg)?;
    for ip in &all {
        check_ip(app, &host, *ip)?;
    }
    all.first()
        .map(|ip| SocketAddr::new(*ip, port))
        .context("the name has no address")
}

/// Why a callback may not be sent, with a remedy.
#[derive(Debug, thiserror::Error)]
pub enum CallbackRefusal {
    #[error(transparent)]
    Scope(#[from] Refusal),
    #[error("{ip} is not a public address; `scandeck serve --allow-callback {ip}` permits it")]
    NotPublic { ip: IpAddr },
}

/// Checks the receiver of a callback before name resolution.
///
/// # Errors
/// When the name is out of scope, or a literal address is not allowed.
pub fn check_name(app: &App, address: &Address) -> Result<(), CallbackRefusal> {
    match address.ip() {
        Some(ip) => check_ip(app, &address.host(), ip),
        None if is_localhost(&address.host()) => {
            check_ip(app, &address.host(), Ipv4Addr::LOCALHOST.into())
        }
        None => Ok(app.scope_check.check_name(address)?),
    }
}

fn is_localhost(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

/// Checks an address of a receiver. The service is inside the network that it protects, so the
/// scope of scans does not allow callbacks to addresses that only this network reaches.
fn check_ip(app: &App, host: &str, ip: IpAddr) -> Result<(), CallbackRefusal> {
    let ip = ip.to_canonical();
    if is_public(ip) && !is_this_host(ip) {
        return Ok(app.scope_check.check_ip(host, ip)?);
    }
    if app
        .settings
        .allow_callbacks
        .iter()
        .any(|network| network.contains(&ip))
    {
        return Ok(app.scope_check.check_denial(host, ip)?);
    }
    Err(CallbackRefusal::NotPublic { ip })
}

/// The hexadecimal HMAC-SHA256 of a body.
fn signature(key: &str, body: &[u8]) -> String {
    // HMAC accepts keys of any length, so the error of the trait is impossible.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else {
        return String::new();
    };
    mac.update(body);
    mac.finalize()
        .into_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_matches_rfc_4231() {
        assert_eq!(
            signature("Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
