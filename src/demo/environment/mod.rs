//! Starts the demo: a service in a temporary directory, the practice target, and a workspace with a
//! logger, targets and scans, all created through the API.

pub mod plain;

use std::fs::{self, DirEntry, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::fs::{FlockOperation, flock};
use secrecy::SecretString;
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::practice::Practice;
use scandeck_client::{BaseUrl, Client, ClientSettings};
use scandeck_dashboard::config::{ServiceName, StateDir};
use scandeck_service as service;
use scandeck_service::{RateLimit, Running, Settings};
use scandeck_wire::contract::{
    EditWorkspace, LoggerId, NewScan, NewTarget, TargetId, Tool, WorkspaceId,
};
use scandeck_wire::input_files::open_regular;
use scandeck_wire::text::quoted;

/// The start of the name of the temporary directory.
const PREFIX: &str = "scandeck-demo-";
/// The file that a running demo has locked. A demo that was killed has not deleted its directory.
const LOCK: &str = "demo-lock";
/// The file with the settings for scripts.
const ENVIRONMENT: &str = "env";

/// The speed of the demo's website scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tempo {
    /// Slow enough to watch: about half a minute.
    Watched,
    /// Fast enough for a script: a few seconds.
    Plain,
}

impl Tempo {
    fn requests_per_second(self) -> u32 {
        match self {
            Self::Watched => 40,
            Self::Plain => 100,
        }
    }
}

/// A running demo. Dropping it without [`DemoEnvironment::end`] may leave its temporary directory.
pub struct DemoEnvironment {
    /// A client with the API key.
    pub client: Client,
    /// `http://127.0.0.1:PORT/api/v2`.
    pub base_url: String,
    /// The workspace of the targets and scans.
    pub workspace: WorkspaceId,
    /// The logger that records visits to the practice target.
    pub logger: LoggerId,
    pub practice: Practice,
    service: Running,
    shutdown: CancellationToken,
    dir: TempDir,
    _lock: File,
}

impl DemoEnvironment {
    /// Starts the demo; the scans are running when this returns.
    ///
    /// # Errors
    /// When there is no temporary directory or free port, or the service refuses a request.
    pub async fn start(tempo: Tempo) -> Result<Self> {
        let shutdown = CancellationToken::new();
        remove_leftovers(&std::env::temp_dir());
        let (dir, lock) = make_directory().context("no temporary directory")?;
        let practice = Practice::start(shutdown.clone())
            .await
            .context("the practice target did not start")?;
        let mut settings = Settings::new(dir.path()).with_free_ports();
        settings.rate_limit = RateLimit::Off;
        settings.api_key_file = Some(key_file(dir.path()));
        settings.trust_anchors = vec![practice.anchor()];
        let service = service::start(settings, shutdown.clone())
            .await
            .context("the demo's service did not start")?;
        let base_url = service.base_url.to_string();
        let base = BaseUrl::parse(&base_url, false)?;
        let client = Client::new(ClientSettings::new(
            base,
            SecretString::from(service.api_key.clone()),
        ))?;
        let (workspace, logger) = create_objects(&client, &practice, tempo)
            .await
            .context("the demo's scans did not start")?;
        write_environment(dir.path(), &base_url)
            .context("cannot write the demo's settings for scripts")?;
        Ok(Self {
            client,
            base_url,
            workspace,
            logger,
            practice,
            service,
            shutdown,
            dir,
            _lock: lock,
        })
    }

    /// The file with the API key (0600), for scripts.
    pub fn key_file(&self) -> PathBuf {
        key_file(self.dir.path())
    }

    /// A file to source in a shell (0600): scripts then use this service, and share decisions and
    /// payloads with the dashboard.
    pub fn script_file(&self) -> PathBuf {
        self.dir.path().join(ENVIRONMENT)
    }

    /// The directory of decisions, payloads and captures.
    pub fn memory(&self) -> PathBuf {
        StateDir::new(state_home(self.dir.path()).join("scandeck"))
            .of_service(&ServiceName::At(self.base_url.clone()))
    }

    /// Stops the demo and deletes the temporary directory.
    ///
    /// # Errors
    /// When the service panicked, or the directory cannot be deleted.
    pub async fn end(self) -> Result<()> {
        self.shutdown.cancel();
        self.service.stopped().await?;
        self.dir
            .close()
            .context("cannot delete the temporary directory of the demo")
    }
}

/// A new directory, private to the user, with its lock.
fn make_directory() -> io::Result<(TempDir, File)> {
    let dir = tempfile::Builder::new()
        .prefix(PREFIX)
        .permissions(Permissions::from_mode(0o700))
        .tempdir()?;
    let lock = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(dir.path().join(LOCK))?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
    Ok((dir, lock))
}

/// Deletes the directories of demos that were killed.
fn remove_leftovers(parent: &Path) {
    let is_demo = |entry: &DirEntry| {
        entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    for entry in fs::read_dir(parent)
        .into_iter()
        .flatten()
        .flatten()
        .filter(is_demo)
    {
        let Ok(lock) = open_regular(&entry.path().join(LOCK), OpenOptions::new().read(true)) else {
            continue;
        };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok()
            && let Err(error) = fs::remove_dir_all(entry.path())
        {
            tracing::warn!(path = %entry.path().display(), %error, "directory of a killed demo not deleted");
        }
    }
}

fn key_file(dir: &Path) -> PathBuf {
    dir.join("key")
}

/// The state directory of the demo.
fn state_home(dir: &Path) -> PathBuf {
    dir.join("state")
}

/// Writes the settings for scripts; the key remains in its own file.
fn write_environment(dir: &Path, base_url: &str) -> io::Result<()> {
    let word = |path: PathBuf| quoted(path.display().to_string());
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(dir.join(ENVIRONMENT))?;
    writeln!(file, "export SCANDECK_BASE_URL={}", quoted(base_url))?;
    writeln!(
        file,
        "export SCANDECK_API_KEY=\"$(cat {})\"",
        word(key_file(dir))
    )?;
    writeln!(file, "export XDG_STATE_HOME={}", word(state_home(dir)))
}

/// Creates the workspace, its logger and targets, and starts the scans.
async fn create_objects(
    client: &Client,
    practice: &Practice,
    tempo: Tempo,
) -> Result<(WorkspaceId, LoggerId)> {
    let description = "A temporary practice target on loopback; the control address switches weaknesses on and off";
    // The current workspace, so that scripts need not name one.
    let workspace = client
        .list_workspaces()
        .await?
        .first()
        .context("the service has no workspace")?
        .id;
    let named = EditWorkspace {
        name: Some("Practice target".into()),
        description: Some(description.into()),
    };
    client.edit_workspace(workspace, &named).await?;
    let logger = client
        .create_logger("practice-visits", Some(workspace))
        .await?;
    practice.report_visits_to(client.get_logger(logger).await?.handler_url.parse()?);

    start_scans(client, practice, tempo, workspace).await?;
    Ok((workspace, logger))
}

/// Creates the targets, and starts their scans.
async fn start_scans(
    client: &Client,
    practice: &Practice,
    tempo: Tempo,
    workspace: WorkspaceId,
) -> Result<()> {
    let target = async |name: String, description: &str| {
        create_target(client, workspace, name, description).await
    };
    let portal = "The practice portal, with a faulty certificate";
    let shop = target(practice.http_url(), "The practice target").await?;
    let portal = target(practice.https_url(), portal).await?;
    let host = target("127.0.0.1".into(), "This machine").await?;
    let name = target("localhost".into(), "This machine by name").await?;

    let scan = async |tool: Tool, target: TargetId, params: serde_json::Value| {
        let new = NewScan {
            tool_id: tool.0,
            target_id: Some(target),
            workspace_id: Some(workspace),
            tool_params: Some(params),
            ..NewScan::default()
        };
        client.create_scan(&new).await
    };
    let website = json!({"scan_type": "light", "requests_per_second": tempo.requests_per_second()});
    // Other programs on this machine are not part of the demo.
    let others = practice.ports.iter().map(|(_, address)| *address);
    let addresses = [practice.http, practice.https].into_iter().chain(others);
    let ports = json!({"port_list": addresses.map(|address| address.port()).collect::<Vec<_>>()});
    scan(Tool::WEBSITE, shop, website.clone()).await?;
    scan(Tool::WEBSITE, portal, website).await?;
    scan(Tool::PORTS, host, ports.clone()).await?;
    scan(Tool::TLS, portal, json!({"scan_type": "light"})).await?;
    scan(Tool::PORTS, name, ports).await?;
    Ok(())
}

async fn create_target(
    client: &Client,
    workspace: WorkspaceId,
    name: String,
    description: &str,
) -> Result<TargetId> {
    let new = NewTarget {
        name,
        description: Some(description.into()),
        workspace_id: Some(workspace),
    };
    Ok(client.create_target(&new).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_of_killed_demo_is_removed_and_of_running_demo_remains() {
        let (running, _lock) = make_directory().unwrap();
        assert_eq!(
            fs::metadata(running.path()).unwrap().permissions().mode() & 0o777,
            0o700
        );
        let (killed, lock) = make_directory().unwrap();
        let killed = killed.keep();
        drop(lock);
        remove_leftovers(killed.parent().unwrap());
        assert!(!killed.exists() && running.path().exists());
    }
}
