//! Identifies the service of an open port: by its greeting, else by its responses to harmless
//! messages.
//!
//! ```text
//!   greeting ──► usual message of the port ──► TLS ClientHello ─┬─► PING ──► HTTP GET, other protocols ─┬─► guess by port
//!                                                    │          └─► late greeting ────────────────────┘
//!                                                    └──► inside TLS: greeting, HTTP GET, other protocols
//! ```
//!
//! A service that closes two connections at once gets no message, because none would reach it. A
//! port on this machine that stays silent costs about three seconds: each wait is bounded, and the
//! last ones overlap. PING comes before HTTP, which Redis logs as an attack. Mail servers get
//! nothing before their greeting, which some delay on purpose. Printers and industrial controllers
//! get nothing at all: they may act on whatever they receive.

use std::pin::pin;
use std::time::Duration;

use futures::future::{BoxFuture, join};
use futures::{FutureExt, StreamExt, stream};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use super::banner::{Banner, first_line, guess, of_greeting, service_of};
use super::client::{PortClient, PortResponse, read_some};
use super::service_probes::{PROBES, REDIS, ServiceProbe, usual};
use crate::engine::tls::{common_hello, is_server_record};
use crate::scope_check::is_this_host;

/// Ports of services that greet, some of them late.
const GREETING_PORTS: &[u16] = &[21, 22, 25, 110, 143, 587, 2525, 3306, 5900, 5901];
/// Printers and industrial controllers.
const PASSIVE_PORTS: &[u16] = &[
    102, 502, 515, 1911, 2404, 4911, 9100, 9101, 9102, 9103, 9104, 9105, 9106, 9107, 9600, 20000,
    44818, 47808,
];
/// Delayed greetings of mail servers take about six seconds.
const LATE_GREETING: Duration = Duration::from_millis(6500);
/// Concurrent messages to one port.
const CONCURRENCY: usize = 9;

/// The service of a port, and its web page if it has one.
pub struct IdentifiedPort {
    pub banner: Banner,
    pub page: Option<PortResponse>,
    pub over_tls: bool,
}

impl IdentifiedPort {
    fn plain(banner: Banner) -> Self {
        Self {
            banner,
            page: None,
            over_tls: false,
        }
    }

    fn inside_tls(name: &str, detail: String) -> Self {
        Self {
            banner: Banner::over_tls(name, detail),
            page: None,
            over_tls: true,
        }
    }
}

/// Identifies the service behind a new connection.
pub async fn identify(stream: TcpStream, client: PortClient<'_>) -> IdentifiedPort {
    let found = outside_tls(stream, client).await;
    // After all other connections have ended: some servers have one connection at a time.
    if found.over_tls {
        inside_tls(PortClient {
            over_tls: true,
            ..client
        })
        .await
        .unwrap_or(found)
    } else {
        found
    }
}

/// Identifies a service that does not use TLS; a TLS service is named `tls`.
async fn outside_tls(stream: TcpStream, client: PortClient<'_>) -> IdentifiedPort {
    let port = client.to.port();
    let usual = usual(port);
    if let Some(found) = by_greeting(stream, &client, usual.is_some()).await {
        return found;
    }
    if let Some(probe) = usual
        && let Some(banner) = send(&client, probe).await
    {
        return IdentifiedPort::plain(banner);
    }
    let hello = common_hello(client.host);
    let mut exchange = pin!(client.exchange(&hello));
    let early = timeout(client.timeout / 4, &mut exchange).await.ok();
    if let Some(response) = &early
        && let Some(found) = by_hello(&client, &hello, response).await
    {
        return found;
    }
    // A silent server gets the next messages while the response may still come.
    let questions = async {
        let by_late_response = async {
            match early {
                Some(_) => None,
                None => by_hello(&client, &hello, &exchange.await).await,
            }
        };
        let (found, response) = join(by_late_response, client.exchange(REDIS.bytes)).await;
        match found.or_else(|| redis(&response)) {
            Some(found) => Some(found),
            None => any_protocol(&client).await,
        }
    };
    let found = first_of(vec![questions.boxed(), late_greeting(&client).boxed()], 2).await;
    found.unwrap_or_else(|| IdentifiedPort::plain(guess(port)))
}

/// Identifies a service that speaks first, or closes the connection at once.
async fn by_greeting(
    mut stream: TcpStream,
    client: &PortClient<'_>,
    has_usual_probe: bool,
) -> Option<IdentifiedPort> {
    let port = client.to.port();
    let patience = greeting_time(client, has_usual_probe);
    let start = Instant::now();
    let greeting = read_some(&mut stream, patience).await;
    let is_closed = start.elapsed() < patience / 3;
    drop(stream);
    if !greeting.is_empty() || PASSIVE_PORTS.contains(&port) || GREETING_PORTS.contains(&port) {
        return Some(IdentifiedPort::plain(of_greeting(port, &greeting)));
    }
    (is_closed && closes_at_once(client, patience / 3).await)
        .then(|| IdentifiedPort::plain(guess(port)))
}

fn redis(response: &[u8]) -> Option<IdentifiedPort> {
    let banner = || Banner::of(REDIS.service, &first_line(response));
    (REDIS.matches)(response).then(|| IdentifiedPort::plain(banner()))
}

/// Identifies the service by its response to a ClientHello.
async fn by_hello(
    client: &PortClient<'_>,
    hello: &[u8],
    response: &[u8],
) -> Option<IdentifiedPort> {
    if response == hello {
        return Some(IdentifiedPort::plain(Banner::of("echo", "")));
    }
    if is_server_record(response) {
        return Some(IdentifiedPort::inside_tls("tls", String::new()));
    }
    if response.starts_with(b"HTTP/") {
        return web_server(client).await;
    }
    service_of(response)
        .map(|service| IdentifiedPort::plain(Banner::of(service, &first_line(response))))
}

/// The first result of a number of concurrent attempts.
async fn first_of<T: Send>(
    attempts: Vec<BoxFuture<'_, Option<T>>>,
    concurrency: usize,
) -> Option<T> {
    let mut found = stream::iter(attempts)
        .buffer_unordered(concurrency)
        .filter_map(std::future::ready)
        .boxed();
    found.next().await
}

fn greeting_time(client: &PortClient, has_usual: bool) -> Duration {
    let is_local = is_this_host(client.to.ip());
    match (
        GREETING_PORTS.contains(&client.to.port()),
        is_local,
        has_usual,
    ) {
        (true, ..) => LATE_GREETING,
        // These services do not greet.
        (_, true, true) => Duration::from_millis(100),
        (_, false, true) | (_, true, false) => Duration::from_millis(500),
        (_, false, false) => Duration::from_millis(1500),
    }
}

/// Whether the service closes another connection too before it has received anything, so that no
/// message reaches it.
async fn closes_at_once(client: &PortClient<'_>, patience: Duration) -> bool {
    let Some(mut connection) = client.connect().await else {
        return false;
    };
    let start = Instant::now();
    connection.read(patience).await.is_empty() && start.elapsed() < patience
}

async fn send(client: &PortClient<'_>, probe: &ServiceProbe) -> Option<Banner> {
    let response = client.exchange(probe.bytes).await;
    let text = if probe.is_shown {
        first_line(&response)
    } else {
        String::new()
    };
    (probe.matches)(&response).then(|| Banner::of(probe.service, &text))
}

/// Waits for a greeting that comes late.
async fn late_greeting(client: &PortClient<'_>) -> Option<IdentifiedPort> {
    let bytes = client.connect().await?.read(3 * client.timeout).await;
    service_of(&bytes).map(|_| IdentifiedPort::plain(of_greeting(client.to.port(), &bytes)))
}

/// Sends the messages of all protocols; the first service that identifies itself.
async fn any_protocol(client: &PortClient<'_>) -> Option<IdentifiedPort> {
    first_of(
        std::iter::once(web_server(client).boxed())
            .chain(probes(client))
            .collect(),
        CONCURRENCY,
    )
    .await
}

/// The messages of all protocols but HTTP.
fn probes<'a>(
    client: &'a PortClient<'_>,
) -> impl Iterator<Item = BoxFuture<'a, Option<IdentifiedPort>>> {
    PROBES
        .iter()
        .map(|probe| async { send(client, probe).await.map(IdentifiedPort::plain) }.boxed())
}

async fn web_server(client: &PortClient<'_>) -> Option<IdentifiedPort> {
    let page = client.get("/").await?;
    Some(IdentifiedPort {
        banner: Banner::of_page(&page, client.over_tls),
        page: Some(page),
        over_tls: client.over_tls,
    })
}

/// The service inside TLS: one that greets, a web server, or another protocol.
async fn inside_tls(client: PortClient<'_>) -> Option<IdentifiedPort> {
    let greeting = client.connect().await?.read(client.timeout / 3).await;
    if let Some(service) = service_of(&greeting) {
        return Some(IdentifiedPort::inside_tls(
            &name_inside_tls(service),
            first_line(&greeting),
        ));
    }
    if let Some(found) = web_server(&client).await {
        return Some(found);
    }
    let found = first_of(probes(&client).collect(), CONCURRENCY).await?;
    Some(IdentifiedPort::inside_tls(
        &name_inside_tls(&found.banner.name),
        found.banner.text,
    ))
}

/// The registered name of a service inside TLS, if it has one.
fn name_inside_tls(service: &str) -> String {
    match service {
        "imap" | "pop3" | "smtp" | "ftp" | "ldap" | "mqtt" | "amqp" => format!("{service}s"),
        other => other.to_owned(),
    }
}
