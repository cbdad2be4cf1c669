//! Callbacks: POST of a finished report or of a note, until somebody answered 2xx or the tries are used up.
//!
//! ```text
//!   queue ─► due? ─► name allowed? ─► resolved, address allowed? ─► POST there ─► 2xx: done
//!     ▲                                          ▲      └─ 3xx ─┘ (at most 3)
//!     └────── 3 s later, 5 tries ────────────────┘
//! ```
//!
//! The service must not become a way into networks its user may not scan: the rails judge the name, every address it
//! resolves to, and each redirect, and the connection goes to the address that was judged. Each delivery is signed:
//! `X-Scandeck-Signature: sha256=<hex HMAC-SHA256 of the body>` with the key in `callback.key` of the data directory;
//! `X-Scandeck-Subject` names the scan or report.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, LOCATION, USER_AGENT};
use reqwest::{Client, Response, redirect};
use sha2::Sha256;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::address::Address;
use super::engine::PRODUCT;
use super::report_maker::settle_owed;
use super::state::App;
use super::store::DatabaseError;
use super::store::deliveries::{Delivery, PAUSE};

/// How long the receiver may take to answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Deliveries under way at the same time: a receiver that hangs delays no other.
const AT_ONCE: usize = 16;

/// Redirects that are followed.
const REDIRECTS: usize = 3;

/// Delivers until `stop`. What is queued stays in the database and goes on at the next start.
pub async fn deliver(app: App, key: String, stop: CancellationToken) {
    let mut sending = FuturesUnordered::new();
    let mut busy = Vec::new();
    while !stop.is_cancelled() {
        let (due, next) = due(&app, &busy).await.unwrap_or_else(|error| {
            tracing::error!(%error, "callbacks could not be read or written");
            (Vec::new(), Some(app.now() + PAUSE))
        });
        busy.extend(due.iter().map(|delivery| delivery.id));
        sending.extend(due.into_iter().map(|delivery| attempt(&app, &key, delivery, &stop)));
        let later = async {
            match next {
                Some(at) => app.clock.until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = app.deliveries.notified() => {}
            () = later => {}
            Some(done) = sending.next() => busy.retain(|id| *id != done),
        }
    }
    while sending.next().await.is_some() {}
}

/// What is due and not being sent, and when the next one after these is.
async fn due(app: &App, busy: &[i64]) -> Result<(Vec<Delivery>, Option<Timestamp>), DatabaseError> {
    settle_owed(app).await?;
    let (mut busy, mut due) = (busy.to_vec(), Vec::new());
    while busy.len() < AT_ONCE
        && let Some(delivery) = app.store.next_delivery(&busy).await?
    {
        if delivery.next_at > app.now().as_millisecond() {
            return Ok((due, Timestamp::from_millisecond(delivery.next_at).ok()));
        }
        busy.push(delivery.id);
        due.push(delivery);
    }
    Ok((due, None))
}

/// One try, noted; gives the delivery's id.
async fn attempt(app: &App, key: &str, delivery: Delivery, stop: &CancellationToken) -> i64 {
    // A service that ends counts no try: the receiver did nothing wrong.
    let Some(sent) = stop.run_until_cancelled(send(app, key, &delivery)).await else { return delivery.id };
    let noted = match sent {
        Ok(()) => app.store.forget_delivery(delivery.id).await,
        Err(error) => app.store.put_off(&delivery, app.now()).await.map(|again| {
            let error = format!("{error:#}");
            tracing::warn!(subject = delivery.subject, error, again, "a callback was not delivered");
        }),
    };
    if let Err(error) = noted {
        tracing::error!(%error, "the try of a callback could not be noted");
        // It is due as before; the receiver must not be flooded meanwhile.
        stop.run_until_cancelled(app.clock.until(app.now() + PAUSE)).await;
    }
    delivery.id
}

async fn send(app: &App, key: &str, delivery: &Delivery) -> anyhow::Result<()> {
    tokio::time::timeout(TIMEOUT, follow(app, key, delivery)).await.context("no answer within 10 s")?
}

async fn follow(app: &App, key: &str, delivery: &Delivery) -> anyhow::Result<()> {
    let mut url: Url = delivery.url.parse()?;
    for _ in 0..=REDIRECTS {
        let answer = post(app, key, delivery, &url).await?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        ensure!(status.is_redirection(), "the receiver answered {status}");
        let location = answer.headers().get(LOCATION).context("a redirect without Location")?;
        url = url.join(location.to_str()?)?;
    }
    bail!("more than {REDIRECTS} redirects")
}

async fn post(app: &App, key: &str, delivery: &Delivery, url: &Url) -> anyhow::Result<Response> {
    let address = Address::parse(url.as_str())?;
    app.rails.check_name(&address)?;
    let reach = resolve(app, &address).await?;
    let mut client = Client::builder().no_proxy().redirect(redirect::Policy::none()).timeout(TIMEOUT);
    if address.ip().is_none() {
        // The connection goes to the address that was judged, whatever the name resolves to by then.
        client = client.resolve(&address.host(), reach);
    }
    let answer = client
        .build()?
        .post(url.clone())
        .header(USER_AGENT, PRODUCT)
        .header(CONTENT_TYPE, &delivery.content_type)
        .header("x-scandeck-subject", &delivery.subject)
        .header("x-scandeck-signature", format!("sha256={}", signature(key, &delivery.body)))
        .body(delivery.body.clone())
        .send()
        .await?;
    Ok(answer)
}

async fn resolve(app: &App, address: &Address) -> anyhow::Result<SocketAddr> {
    let host = address.host();
    let port = address.port().context("a URL without a port")?;
    let all: Vec<SocketAddr> = match address.ip() {
        Some(ip) => vec![SocketAddr::new(ip, port)],
        None => tokio::net::lookup_host((host.as_str(), port)).await?.collect(),
    };
    for found in &all {
        app.rails.check_ip(&host, found.ip())?;
    }
    all.first().copied().context("the name resolves to no address")
}

/// HMAC-SHA256 of a body in hexadecimal.
fn signature(key: &str, body: &[u8]) -> String {
    // HMAC takes keys of any length; the error of the trait never happens.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else { return String::new() };
    mac.update(body);
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_of_rfc_4231() {
        assert_eq!(
            signature("Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
