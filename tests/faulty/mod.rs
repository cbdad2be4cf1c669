//! A service that misbehaves on command: a proxy on loopback in front of a real service, which
//! spoils chosen responses.
//!
//! ```text
//!   client ─► FaultyService ─ no rule matches ──────────────► real service
//!                   └── `GET /findings 503`: the first rule that matches method and path spoils the response
//! ```
//!
//! Rules change while it runs: [`Faults::set`] in tests, standard input or
//! `curl -d RULE http://ADDRESS/faults` with `cargo run --example faulty_service`.

mod fault;
pub mod sample_data;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

pub use fault::{FAULTS, Fault, READ_FAULTS};

/// The delay of a request that is carried out after its response.
const LATE: Duration = Duration::from_secs(2);

/// The path prefix of the API.
const PREFIX: &str = "/api/v2";

/// A running proxy; it stops when it is dropped.
pub struct FaultyService {
    /// Base URL for clients.
    pub base: String,
    pub faults: Faults,
    _task: AbortOnDropHandle<()>,
}

/// The rules, and the requests so far; clones share them.
#[derive(Clone, Default)]
pub struct Faults(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    rules: Vec<Rule>,
    requests: Vec<String>,
}

/// `METHOD PATTERN FAULT [xTIMES]`.
#[derive(Clone, Debug)]
struct Rule {
    line: String,
    method: String,
    pattern: String,
    fault: Fault,
    /// Requests that remain; `None` for all.
    left: Option<u32>,
}

impl Faults {
    /// Adds a rule before the others: `GET /http_loggers/*/data 403`, `* /findings cut x2`. The
    /// fault `ok` removes the rules of the same method and pattern, and `ok` alone removes all.
    pub fn set(&self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut state = self.0.lock().unwrap();
        let (method, pattern, fault, times) = match words.as_slice() {
            ["ok"] => {
                state.rules.clear();
                return Ok(());
            }
            [method, pattern, fault] => (*method, *pattern, *fault, None),
            [method, pattern, fault, times] => (*method, *pattern, *fault, Some(*times)),
            _ => return Err("METHOD PATTERN FAULT [xTIMES], or ok".to_owned()),
        };
        state
            .rules
            .retain(|rule| (rule.method.as_str(), rule.pattern.as_str()) != (method, pattern));
        if fault == "ok" {
            return Ok(());
        }
        let left = times
            .map(|times| times.trim_start_matches('x').parse())
            .transpose();
        let rule = Rule {
            line: line.to_owned(),
            method: method.to_owned(),
            pattern: pattern.to_owned(),
            fault: Fault::parse(fault)
                .ok_or_else(|| format!("no fault {fault:?}; there are {}", FAULTS.join(" ")))?,
            left: left.map_err(|_| "TIMES is a number".to_owned())?,
        };
        state.rules.insert(0, rule);
        Ok(())
    }

    /// The number of requests with this method whose path matches the pattern.
    pub fn count(&self, method: &str, pattern: &str) -> usize {
        let is_counted = |request: &&String| {
            request
                .split_once(' ')
                .is_some_and(|(of, path)| matches(method, of) && matches(pattern, path))
        };
        self.0
            .lock()
            .unwrap()
            .requests
            .iter()
            .filter(is_counted)
            .count()
    }

    /// The rules, and the number of requests.
    pub fn report(&self) -> String {
        let state = self.0.lock().unwrap();
        let rules: String = state
            .rules
            .iter()
            .map(|rule| format!("{}\n", rule.line))
            .collect();
        format!("{rules}{} requests\n", state.requests.len())
    }

    /// The fault of a request, which is noted.
    fn of(&self, method: &str, path: &str) -> Fault {
        let mut state = self.0.lock().unwrap();
        state.requests.push(format!("{method} {path}"));
        let applies = |rule: &&mut Rule| {
            rule.left != Some(0) && matches(&rule.method, method) && matches(&rule.pattern, path)
        };
        let Some(rule) = state.rules.iter_mut().find(applies) else {
            return Fault::None;
        };
        rule.left = rule.left.map(|left| left - 1);
        rule.fault
    }
}

/// Whether a text matches a pattern in which `*` matches any characters. A query is not part of the
/// path.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|left| {
            (0..=left.len())
                .filter(|at| left.is_char_boundary(*at))
                .any(|at| matches(rest, &left[at..]))
        }),
    }
}

impl FaultyService {
    /// Starts a proxy in front of the service with this base URL (`http://ADDRESS/api/v2`).
    pub async fn start(base: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let http = reqwest::Client::builder()
            .no_proxy()
            .no_gzip()
            .tls_certs_only(Vec::new())
            .redirect(reqwest::redirect::Policy::none());
        let service = Upstream {
            base: base.trim_end_matches('/').to_owned(),
            http: http.build().unwrap(),
            address,
        };
        let faults = Faults::default();
        let rules = faults.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (service, faults) = (service.clone(), rules.clone());
                // A client that hangs up ends its own connection only.
                tokio::spawn(async move { answer(stream, &service, &faults).await });
            }
        });
        Self {
            base: format!("http://{address}{PREFIX}"),
            faults,
            _task: AbortOnDropHandle::new(task),
        }
    }
}

/// The real service.
#[derive(Clone)]
struct Upstream {
    base: String,
    http: reqwest::Client,
    /// The address of the proxy.
    address: SocketAddr,
}

/// A request as it was received.
struct Request {
    method: String,
    /// With the query.
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// A response of the service.
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

async fn answer(mut stream: TcpStream, service: &Upstream, faults: &Faults) -> std::io::Result<()> {
    let Some(request) = read(&mut stream).await? else {
        return Ok(());
    };
    if request.path == "/faults" {
        let text = String::from_utf8_lossy(&request.body);
        let result: Result<(), String> = text.lines().try_for_each(|line| faults.set(line));
        let (status, body) = match result {
            Ok(()) => (200, faults.report()),
            Err(why) => (400, format!("{why}\n")),
        };
        return send(
            &mut stream,
            &Answer {
                status,
                headers: Vec::new(),
                body: body.into_bytes(),
            },
        )
        .await;
    }
    let path = request.path.strip_prefix(PREFIX).unwrap_or(&request.path);
    let fault = faults.of(&request.method, path.split('?').next().unwrap_or(path));
    match fault {
        Fault::Hang => {
            // Until the client closes the connection.
            let _ = stream.read(&mut [0; 1]).await;
            return Ok(());
        }
        Fault::Reset => return stream.set_zero_linger(),
        Fault::Close => return Ok(()),
        Fault::Slow => tokio::time::sleep(Duration::from_secs(3)).await,
        Fault::EmptyLate | Fault::CutLate => {
            let (late, path) = (service.clone(), path.to_owned());
            tokio::spawn(async move {
                tokio::time::sleep(LATE).await;
                late.forward(&request, &path).await
            });
            let mut answer = Answer {
                status: 0,
                headers: Vec::new(),
                body: Vec::new(),
            };
            fault.spoil(&mut answer, service.address);
            return send(&mut stream, &answer).await;
        }
        _ => {}
    }
    let mut answer = Answer {
        status: 0,
        headers: Vec::new(),
        body: Vec::new(),
    };
    if fault.is_forwarded() {
        answer = service.forward(&request, path).await;
    }
    fault.spoil(&mut answer, service.address);
    match fault {
        Fault::ResetAfter => stream.set_zero_linger(),
        Fault::Drip => {
            let head = head(answer.status, &answer.headers, answer.body.len());
            stream.write_all(head.as_bytes()).await?;
            for byte in answer.body {
                stream.write_all(&[byte]).await?;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            Ok(())
        }
        Fault::CutBody => {
            let head = head(answer.status, &answer.headers, answer.body.len());
            stream.write_all(head.as_bytes()).await?;
            stream
                .write_all(&answer.body[..answer.body.len() / 2])
                .await
        }
        _ => send(&mut stream, &answer).await,
    }
}

impl Upstream {
    async fn forward(&self, request: &Request, path: &str) -> Answer {
        let method = request.method.parse().unwrap();
        let mut call = self
            .http
            .request(method, format!("{}{path}", self.base))
            .body(request.body.clone());
        for (name, value) in &request.headers {
            if ["authorization", "content-type", "accept"].contains(&name.as_str()) {
                call = call.header(name, value);
            }
        }
        match call.send().await {
            Ok(response) => {
                let status = response.status().as_u16();
                let is_copied =
                    |name: &str| name.starts_with("x-ratelimit") || name.starts_with("content-");
                let headers = response
                    .headers()
                    .iter()
                    .filter(|(name, _)| is_copied(name.as_str()));
                let headers = headers
                    .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
                let headers = headers
                    .filter(|(name, _)| name != "content-length")
                    .collect();
                Answer {
                    status,
                    headers,
                    body: response.bytes().await.unwrap_or_default().to_vec(),
                }
            }
            Err(_) => Answer {
                status: 502,
                headers: Vec::new(),
                body: Vec::new(),
            },
        }
    }
}

async fn read(stream: &mut TcpStream) -> std::io::Result<Option<Request>> {
    let mut received = Vec::new();
    let end = loop {
        if let Some(at) = received.windows(4).position(|part| part == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut received).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&received[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let (method, path) = (
        first.next().unwrap_or_default(),
        first.next().unwrap_or_default(),
    );
    let header = |line: &str| {
        line.split_once(": ")
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
    };
    let headers: Vec<(String, String)> = lines.filter_map(header).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length
        .and_then(|(_, value)| value.parse().ok())
        .unwrap_or(0);
    let mut body = received.split_off(end + 4);
    while body.len() < length && stream.read_buf(&mut body).await? > 0 {}
    Ok(Some(Request {
        method: method.to_owned(),
        path: path.to_owned(),
        headers,
        body,
    }))
}

async fn send(stream: &mut TcpStream, answer: &Answer) -> std::io::Result<()> {
    stream
        .write_all(head(answer.status, &answer.headers, answer.body.len()).as_bytes())
        .await?;
    stream.write_all(&answer.body).await?;
    stream.shutdown().await
}

fn head(status: u16, headers: &[(String, String)], length: usize) -> String {
    let mut head = format!("HTTP/1.1 {status} -\r\nconnection: close\r\n");
    if status != 204 {
        head.push_str(&format!("content-length: {length}\r\n"));
    }
    if !headers.iter().any(|(name, _)| name == "date") {
        let now = jiff::Timestamp::now().strftime("%a, %d %b %Y %H:%M:%S GMT");
        head.push_str(&format!("date: {now}\r\n"));
    }
    headers
        .iter()
        .for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
    head.push_str("\r\n");
    head
}
