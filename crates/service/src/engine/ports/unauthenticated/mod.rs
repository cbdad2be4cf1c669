//! Services that give data or control to everybody, each proven by one harmless read.
//!
//! ```text
//!   identified service ──► a read that authentication would refuse ──► granted? ──► finding with the read and its result
//! ```
//!
//! No check writes, guesses a password, or runs code: a session that opens without a password is
//! closed at once, and no script, share or desktop is requested. `anonymous` of FTP is a public
//! account by its definition. Evidence shows that the read was granted, never the data.

use serde_json::Value;

use super::client::{PortClient, PortResponse};
use super::identify::IdentifiedPort;
use crate::engine::NewFinding;
use crate::engine::exploited::with_cves;
use crate::engine::kinds::{self, FindingKind, unauthenticated as kind};

mod backends;
mod databases;
mod displays;
mod null_session;
mod shares;

/// Characters of a response in the evidence.
const MAX_SHOWN: usize = 200;
/// Modules of an rsync daemon that are requested.
const MAX_MODULES: usize = 5;

/// `{"listDatabases": 1, "nameOnly": true, "$db": "admin"}` as OP_MSG of MongoDB.
const MONGODB_DATABASES: &[u8] =
    b"\x47\0\0\0\x01\0\0\0\0\0\0\0\xdd\x07\0\0\0\0\0\0\0\x32\0\0\0\x10listDatabases\0\
    \x01\0\0\0\x08nameOnly\0\x01\x02$db\0\x06\0\0\0admin\0\0";

/// A granted read.
struct AccessProof {
    kind: FindingKind,
    read: String,
    result: String,
    protocol: &'static str,
    /// The CVE that the read proves.
    cve: Option<&'static str>,
}

/// Checks an identified service; a guess by the port number is no reason to send anything.
pub async fn check(client: PortClient<'_>, port: &IdentifiedPort) -> Vec<NewFinding> {
    let client = PortClient {
        over_tls: port.over_tls,
        ..client
    };
    let banner = &port.banner;
    if banner.source == "port number" {
        return Vec::new();
    }
    let proofs = match (&port.page, &banner.name[..]) {
        (Some(page), _) => web(&client, page).await.into_iter().collect(),
        (_, "smb") => shares::smb(&client).await,
        (_, "memcached") => [
            memcached(&client).await,
            databases::memcached_by_udp(&client).await,
        ]
        .into_iter()
        .flatten()
        .collect(),
        (_, name) => one(&client, name).await.into_iter().collect(),
    };
    proofs
        .into_iter()
        .map(|proof: AccessProof| proof.finding(client.to.port(), &banner.service))
        .collect()
}

/// The read of a service that has one.
async fn one(client: &PortClient<'_>, name: &str) -> Option<AccessProof> {
    match name {
        "redis" => redis(client).await,
        "mongodb" => mongodb(client).await,
        "postgresql" => databases::postgres(client).await,
        "rsync" => rsync(client).await,
        "ftp" | "ftps" => ftp(client).await,
        "vnc" => displays::vnc(client).await,
        "x11" => displays::x11(client).await,
        "ajp" => backends::ajp(client).await,
        "fastcgi" => backends::fastcgi(client).await,
        "zookeeper" => backends::zookeeper(client).await,
        "rpcbind" => shares::nfs(client).await,
        _ => None,
    }
}

impl AccessProof {
    fn new(kind: FindingKind, read: impl Into<String>, result: &str) -> Self {
        let result = result
            .trim()
            .chars()
            .map(|c| if c.is_control() { '.' } else { c });
        Self {
            kind,
            read: read.into(),
            result: result.take(MAX_SHOWN).collect(),
            protocol: "tcp",
            cve: None,
        }
    }

    fn finding(self, port: u16, service: &str) -> NewFinding {
        let evidence = kinds::table(&["Read", "Result"], vec![vec![self.read, self.result]]);
        let finding = match self.cve {
            Some(cve) => with_cves(self.kind.finding(), std::iter::once(cve.to_owned())),
            None => self.kind.finding(),
        };
        let (protocol, service) = (self.protocol.to_owned(), service.to_owned());
        NewFinding {
            port,
            protocol,
            service,
            confirmed: true,
            evidence,
            ..finding
        }
    }
}

/// The line of a response that begins with this word.
fn line_with<'a>(response: &'a str, word: &str) -> Option<&'a str> {
    response.lines().find(|line| line.starts_with(word))
}

async fn redis(client: &PortClient<'_>) -> Option<AccessProof> {
    let response = client.exchange(b"INFO server\r\n").await;
    let response = String::from_utf8_lossy(&response);
    // A bulk string; an error begins with a minus.
    let version = line_with(&response, "redis_version:").filter(|_| response.starts_with('$'))?;
    Some(AccessProof::new(kind::REDIS, "INFO server", version))
}

async fn memcached(client: &PortClient<'_>) -> Option<AccessProof> {
    let response = client.exchange(b"stats\r\n").await;
    let response = String::from_utf8_lossy(&response);
    let version = line_with(&response, "STAT version").filter(|_| response.starts_with("STAT "))?;
    Some(AccessProof::new(kind::MEMCACHED, "stats", version))
}

async fn mongodb(client: &PortClient<'_>) -> Option<AccessProof> {
    let response = client.exchange(MONGODB_DATABASES).await;
    // An array (type 4); an error has none.
    let has_list = response.windows(11).any(|part| part == b"\x04databases\0");
    has_list.then(|| AccessProof::new(kind::MONGODB, "listDatabases", "list of databases"))
}

/// Requests listed modules until one is granted without a password.
async fn rsync(client: &PortClient<'_>) -> Option<AccessProof> {
    let mut connection = client.connect().await?;
    let greeting = connection.read(client.timeout).await;
    if !greeting.starts_with(b"@RSYNCD:") {
        return None;
    }
    let list = connection.exchange(b"@RSYNCD: 30.0\n\n").await;
    drop(connection);
    let list = String::from_utf8_lossy(&list);
    let modules = list
        .lines()
        .filter(|line| !line.starts_with('@'))
        .filter_map(|line| line.split_once('\t'));
    for module in modules
        .map(|(name, _)| name.trim())
        .filter(|name| !name.is_empty())
        .take(MAX_MODULES)
    {
        let mut connection = client.connect().await?;
        connection.read(client.timeout).await;
        let response = connection
            .exchange(format!("@RSYNCD: 30.0\n{module}\n").as_bytes())
            .await;
        let response = String::from_utf8_lossy(&response);
        if let Some(granted) = line_with(&response, "@RSYNCD: OK") {
            return Some(AccessProof::new(
                kind::RSYNC,
                format!("module {module}"),
                granted,
            ));
        }
    }
    None
}

async fn ftp(client: &PortClient<'_>) -> Option<AccessProof> {
    let mut connection = client.connect().await?;
    let greeting = connection.read(client.timeout).await;
    if !greeting.starts_with(b"220") {
        return None;
    }
    let user = connection.exchange(b"USER anonymous\r\n").await;
    let response = match user.get(..3) {
        Some(b"331") => {
            connection
                .exchange(b"PASS scandeck@scandeck.invalid\r\n")
                .await
        }
        _ => user,
    };
    let granted = response
        .starts_with(b"230")
        .then(|| String::from_utf8_lossy(&response).into_owned())?;
    connection.exchange(b"QUIT\r\n").await;
    Some(AccessProof::new(
        kind::FTP,
        "USER anonymous",
        granted.lines().next().unwrap_or_default(),
    ))
}

/// A read over HTTP that needs authentication where it is enabled.
struct WebRead {
    kind: FindingKind,
    path: &'static str,
    /// The JSON body of a read that its API defines as POST.
    body: &'static str,
    /// Whether the response grants the read.
    grants: fn(&Value) -> bool,
    result: &'static str,
}

const DOCKER: WebRead = WebRead {
    kind: kind::DOCKER,
    path: "/containers/json?limit=1",
    body: "",
    grants: Value::is_array,
    result: "list of containers",
};
const ELASTICSEARCH: WebRead = WebRead {
    kind: kind::ELASTICSEARCH,
    path: "/_cat/indices?format=json",
    body: "",
    grants: Value::is_array,
    result: "list of indices",
};
const NODE_INSPECTOR: WebRead = WebRead {
    kind: kind::NODE_INSPECTOR,
    path: "/json/list",
    body: "",
    grants: |list| list[0]["webSocketDebuggerUrl"].is_string(),
    result: "list of debugging targets",
};
/// The first key of the database, without its value.
const ETCD: WebRead = WebRead {
    kind: kind::ETCD,
    path: "/v3/kv/range",
    body: r#"{"key":"AA==","range_end":"AA==","limit":"1","keys_only":true}"#,
    grants: |range| range["header"]["revision"].is_string(),
    result: "range of keys",
};
const KUBERNETES: WebRead = WebRead {
    kind: kind::KUBERNETES,
    path: "/api/v1/namespaces?limit=1",
    body: "",
    grants: |list| list["kind"] == "NamespaceList",
    result: "list of namespaces",
};
const KUBELET: WebRead = WebRead {
    kind: kind::KUBERNETES,
    path: "/pods",
    body: "",
    grants: |list| list["kind"] == "PodList",
    result: "list of pods",
};

async fn web(client: &PortClient<'_>, page: &PortResponse) -> Option<AccessProof> {
    let read = web_read(client, page).await?;
    let response = match read.body {
        "" => client.get(read.path).await?,
        body => client.post_json(read.path, body).await?,
    };
    let is_granted = response.status == 200
        && match serde_json::from_str::<Value>(&response.body) {
            Ok(value) => (read.grants)(&value),
            // A list that is longer than what is read.
            Err(error) => error.is_eof() && is_begin_of_list(&response.body, read),
        };
    let method = if read.body.is_empty() { "GET" } else { "POST" };
    is_granted.then(|| AccessProof::new(read.kind, format!("{method} {}", read.path), read.result))
}

/// Whether a cut body begins like the list of its kind.
fn is_begin_of_list(body: &str, read: &WebRead) -> bool {
    match read.path {
        "/pods" => body.starts_with("{\"kind\":\"PodList\""),
        "/containers/json?limit=1" | "/_cat/indices?format=json" => body.starts_with("[{\""),
        _ => false,
    }
}

/// The read for the product that the start page shows.
async fn web_read(client: &PortClient<'_>, page: &PortResponse) -> Option<&'static WebRead> {
    let body = &page.body;
    let has_api_paths = body.contains("\"paths\"") && body.contains("\"/apis\"");
    match super::banner::web_service(page) {
        "docker" => Some(&DOCKER),
        "elasticsearch" => Some(&ELASTICSEARCH),
        "node-inspector" => Some(&NODE_INSPECTOR),
        "kubernetes" => Some(&KUBERNETES),
        _ if has_api_paths => Some(&KUBERNETES),
        // etcd and kubelets show nothing on their start page.
        _ if page.status == 404 && body.trim() == "404 page not found" => {
            if matches!(client.to.port(), 10250 | 10255) {
                return Some(&KUBELET);
            }
            let version = client.get("/version").await?;
            version.body.contains("\"etcdserver\"").then_some(&ETCD)
        }
        _ => None,
    }
}
