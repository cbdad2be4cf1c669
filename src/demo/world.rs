//! Starts the world: a service in a temporary directory, the practice target, and in a workspace of their own a
//! logger, targets and scans. All of it is made through the API, as a person would.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use secrecy::SecretString;
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::practice::Practice;
use crate::client::{BaseUrl, Client, ClientSettings};
use crate::config::{ServiceName, StateDir};
use crate::contract::{EditWorkspace, LoggerId, NewScan, NewTarget, TargetId, Tool, WorkspaceId};
use crate::service;
use crate::service::{RateLimit, Running, Settings};
use crate::text::quoted;

/// The file that scripts take their settings from.
const ENVIRONMENT: &str = "env";

/// How quickly the website scans of the demo ask, in requests a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tempo {
    /// Slow enough to watch: about half a minute.
    Watched,
    /// Quick enough for a script: a few seconds.
    Plain,
}

impl Tempo {
    fn requests_per_second(self) -> u32 {
        match self {
            Self::Watched => 3,
            Self::Plain => 12,
        }
    }
}

/// A world that runs. Dropping it without [`DemoWorld::end`] leaves its temporary directory to the system's clean-up.
pub struct DemoWorld {
    /// A client with the world's key.
    pub client: Client,
    /// `http://127.0.0.1:PORT/api/v2`.
    pub base_url: String,
    /// The workspace with everything in it.
    pub workspace: WorkspaceId,
    /// The logger that hears of visits to the practice target.
    pub logger: LoggerId,
    /// The target with weaknesses.
    pub practice: Practice,
    service: Running,
    shutdown: CancellationToken,
    dir: TempDir,
}

impl DemoWorld {
    /// Starts everything; the scans are under way when this returns.
    ///
    /// # Errors
    /// When no temporary directory or no free port is to be had, or the service refuses what it is asked.
    pub async fn start(tempo: Tempo) -> Result<Self> {
        let shutdown = CancellationToken::new();
        let dir = tempfile::Builder::new().prefix("scandeck-demo-").tempdir().context("no temporary directory")?;
        let practice = Practice::start(shutdown.clone()).await.context("the practice target did not start")?;
        let mut settings = Settings::new(dir.path()).with_free_ports();
        settings.rate_limit = RateLimit::Off;
        settings.api_key_file = Some(key_file(dir.path()));
        settings.trust_anchors = vec![practice.anchor()];
        let service = service::start(settings, shutdown.clone()).await.context("the demo's service did not start")?;
        let base_url = service.base_url.to_string();
        let base = BaseUrl::parse(&base_url, false)?;
        let client = Client::new(ClientSettings::new(base, SecretString::from(service.api_key.clone())))?;
        let (workspace, logger) =
            furnish(&client, &practice, tempo).await.context("the demo could not be furnished")?;
        write_environment(dir.path(), &base_url).context("the demo's settings for scripts could not be written")?;
        Ok(Self { client, base_url, workspace, logger, practice, service, shutdown, dir })
    }

    /// The file with the key (0600), for scripts.
    pub fn key_file(&self) -> PathBuf {
        key_file(self.dir.path())
    }

    /// A file for `.` in a shell (0600): scripts speak to this service then, and share decisions and payloads with the
    /// dashboard.
    pub fn script_file(&self) -> PathBuf {
        self.dir.path().join(ENVIRONMENT)
    }

    /// Where decisions about it, payloads and captures are kept while it lives.
    pub fn memory(&self) -> PathBuf {
        StateDir::new(state_home(self.dir.path()).join("scandeck")).of_service(&ServiceName::At(self.base_url.clone()))
    }

    /// Ends everything and removes the temporary directory.
    ///
    /// # Errors
    /// When a part of the service ended by a panic, or the directory cannot be removed.
    pub async fn end(self) -> Result<()> {
        self.shutdown.cancel();
        self.service.stopped().await?;
        self.dir.close().context("the temporary directory of the demo could not be removed")
    }
}

fn key_file(dir: &Path) -> PathBuf {
    dir.join("key")
}

/// The state directories below it are those of the demo alone.
fn state_home(dir: &Path) -> PathBuf {
    dir.join("state")
}

/// Writes what scripts need; the key stays in its file.
fn write_environment(dir: &Path, base_url: &str) -> io::Result<()> {
    let word = |path: PathBuf| quoted(&path.display().to_string());
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(dir.join(ENVIRONMENT))?;
    writeln!(file, "export SCANDECK_BASE_URL={}", quoted(base_url))?;
    writeln!(file, "export SCANDECK_API_KEY=\"$(cat {})\"", word(key_file(dir)))?;
    writeln!(file, "export XDG_STATE_HOME={}", word(state_home(dir)))
}

/// Makes the workspace, its logger and targets, and starts the scans.
async fn furnish(client: &Client, practice: &Practice, tempo: Tempo) -> Result<(WorkspaceId, LoggerId)> {
    let description = "A throw-away world on loopback: mend and break its weaknesses at the control address";
    // The service's own: what is asked without a workspace, as scripts do, is about the range too.
    let workspace = client.list_workspaces().await?.first().context("the service has no workspace")?.id;
    let named = EditWorkspace { name: Some("Practice range".into()), description: Some(description.into()) };
    client.edit_workspace(workspace, &named).await?;
    let logger = client.create_logger("practice-visits", Some(workspace)).await?;
    practice.report_visits_to(client.get_logger(logger).await?.handler_url.parse()?);

    let target = async |name: String, description: &str| {
        let new = NewTarget { name, description: Some(description.into()), workspace_id: Some(workspace) };
        client.create_target(&new).await
    };
    let shop = target(practice.http_url(), "The practice shop").await?;
    let portal = target(practice.https_url(), "The practice portal, with a certificate worth a look").await?;
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
    let every_port = json!({"scan_type": "custom", "port_range": {"start_port": 1, "end_port": 65535}});
    scan(Tool::WEBSITE, shop, website.clone()).await?;
    scan(Tool::WEBSITE, portal, website).await?;
    scan(Tool::PORTS, host, every_port).await?;
    scan(Tool::TLS, portal, json!({"scan_type": "light"})).await?;
    scan(Tool::PORTS, name, json!({"scan_type": "light"})).await?;
    Ok((workspace, logger))
}
