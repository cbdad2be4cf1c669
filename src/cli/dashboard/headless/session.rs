//! The service of a command: the configured one, or else a running local one.

use std::path::PathBuf;

use clap::Args;

use super::print::Output;
use crate::cli::error::CliError;
use scandeck_client as client;
use scandeck_client::{Client, ClientSettings};
use scandeck_dashboard::config::{Config, Connection, Environment, Flags, ServiceName, StateDir};
use scandeck_dashboard::runtime::Memory;
use scandeck_dashboard::runtime::local::{LocalError, LocalService, find, find_or_start};
use scandeck_dashboard::runtime::team::may_decide;
use scandeck_wire::contract::team::Member;
use scandeck_wire::contract::workspace::is_same_name;
use scandeck_wire::contract::{Shared, Workspace, WorkspaceId};

/// Flags of every command: service, workspace, output format.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Service")]
pub struct ServiceArgs {
    /// Base URL of the service, with or without /api/v2 [env: SCANDECK_BASE_URL]
    ///
    /// The API key comes from SCANDECK_API_KEY, the profile or --api-key-file, never from the
    /// command line. Without a configuration, commands use the local service if it runs. Without a
    /// service, only the captures, payloads and decisions on this machine can be read.
    #[arg(long, value_name = "URL", global = true)]
    pub base_url: Option<String>,
    /// File with the API key, readable by its owner only
    #[arg(long, value_name = "FILE", global = true)]
    pub api_key_file: Option<PathBuf>,
    /// Profile of the configuration file
    #[arg(long, value_name = "NAME", global = true)]
    pub profile: Option<String>,
    /// Workspace, by name or id [default: all; for new items, the current one]
    #[arg(long, value_name = "NAME|ID", global = true)]
    pub workspace: Option<String>,
    /// Allow plain http to other machines; sends the key in clear text
    #[arg(long, global = true)]
    pub insecure_http: bool,
    /// Configuration file [default: $XDG_CONFIG_HOME/scandeck/config.toml]
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Print JSON: an array for a list, an object for a single item
    #[arg(long, global = true)]
    pub json: bool,
}

/// The service of a command, with the data about it on this machine.
#[derive(Debug)]
pub struct HeadlessSession {
    client: Option<Client>,
    pub out: Output,
    pub config: Config,
    /// Directory of the decisions, and the person who decides.
    pub memory: Memory,
    workspace: Option<String>,
}

/// The data about a service on this machine.
#[derive(Clone, Debug)]
pub struct StoredService {
    pub config: Config,
    /// Directory of the decisions, and the person who decides.
    pub memory: Memory,
    pub state: StateDir,
}

impl HeadlessSession {
    /// Finds the service.
    ///
    /// # Errors
    /// When the configuration is invalid, or no service is configured, none runs here and no data
    /// is stored here.
    pub async fn open(args: &ServiceArgs) -> anyhow::Result<Self> {
        let (environment, config) = load_config(args)?;
        Self::of_config(args, &environment, config).await
    }

    /// Uses the local service, which is started if it does not run, whatever the configuration says.
    ///
    /// # Errors
    /// When the configuration is invalid, or the local service cannot be used.
    pub async fn open_local(args: &ServiceArgs) -> anyhow::Result<Self> {
        let (environment, mut config) = load_config(args)?;
        config.connection = Connection::Local;
        Self::of_config(args, &environment, config).await
    }

    async fn of_config(
        args: &ServiceArgs,
        environment: &Environment,
        config: Config,
    ) -> anyhow::Result<Self> {
        let (settings, service) = match &config.connection {
            Connection::Remote { base, key } => {
                let settings = ClientSettings::new(base.clone(), key.read().await?);
                (
                    Some(settings.with_key_source(&key.to_string())),
                    config.service_at(base),
                )
            }
            Connection::Local => (local(environment, true).await?, ServiceName::Local),
            Connection::Prompt => (local(environment, false).await?, ServiceName::Local),
        };
        let memory = memory(environment, &config, &service);
        if settings.is_none() && !memory.directory.exists() {
            return Err(match (&args.profile, &config.connection) {
                (Some(name), Connection::Prompt) => {
                    let hint = "add base_url, or local = true, to this profile";
                    CliError::new(format!("profile {name:?} has no base_url"), hint).into()
                }
                _ => client::Error::not_configured().into(),
            });
        }
        let (client, workspace) = (
            settings.map(Client::new).transpose()?,
            args.workspace.clone(),
        );
        Ok(Self {
            client,
            out: Output::new(args.json),
            config,
            memory,
            workspace,
        })
    }

    /// The client of the service.
    ///
    /// # Errors
    /// When no service is configured, and none runs here.
    pub fn client(&self) -> client::ClientResult<&Client> {
        self.client
            .as_ref()
            .ok_or_else(client::Error::not_configured)
    }

    /// The service's clock minus the local clock in seconds; `None` before the first response.
    pub fn clock_offset(&self) -> Option<i64> {
        self.client
            .as_ref()?
            .clock_offset()
            .map(|offset| offset.as_secs())
    }

    /// Whether the command includes this workspace.
    pub fn includes(&self, workspace: &str) -> bool {
        self.workspace
            .as_ref()
            .is_none_or(|name| is_same_name(name, workspace))
    }

    /// Checks that the command may change the service.
    ///
    /// # Errors
    /// When the profile is read-only.
    pub fn require_writable(&self) -> Result<(), CliError> {
        if !self.config.read_only {
            return Ok(());
        }
        let hint = "choose another profile, or remove read_only from this one";
        Err(CliError::new(
            format!("profile {} is read-only", self.config.name),
            hint,
        ))
    }

    /// Checks that the command may delete an object.
    ///
    /// # Errors
    /// When the profile is read-only, or `--yes` is missing.
    pub fn confirm_delete(&self, yes: bool, object: &str) -> Result<(), CliError> {
        self.confirm(yes, format!("not deleted: {object}"))
    }

    /// As [`confirm_delete`](Self::confirm_delete), with the whole message.
    ///
    /// # Errors
    /// The message, unless `--yes` confirms, and when the session is read-only.
    pub fn confirm(&self, yes: bool, message: String) -> Result<(), CliError> {
        self.require_writable()?;
        if yes {
            Ok(())
        } else {
            Err(CliError::usage(message, "add --yes to confirm"))
        }
    }

    /// Checks by the list of workspaces that the service is one of scandeck, which alone has these
    /// objects: another one receives no request for them.
    ///
    /// # Errors
    /// When it is another service, and those of the call.
    pub async fn require_extension(&self, nouns: &str) -> anyhow::Result<()> {
        let client = self.client()?;
        client.list_workspaces().await?;
        if client.has_team() {
            return Ok(());
        }
        let message = format!("the service at {} has no {nouns}", client.base());
        let hint = format!("{nouns} need the local service, or your own `scandeck serve`");
        Err(CliError::new(message, hint).into())
    }

    /// Whether the command names a workspace.
    pub fn names_workspace(&self) -> bool {
        self.workspace.is_some()
    }

    /// The owner of the key; none at a service without a team, by the header of a list.
    ///
    /// # Errors
    /// Those of the call.
    pub async fn member(&self) -> anyhow::Result<Option<Member>> {
        match &self.client {
            Some(client) if client.has_team() => Ok(Some(client.team_member().await?)),
            _ => Ok(None),
        }
    }

    /// The author of decisions and payloads: the name of the key in a team, otherwise the user of
    /// this machine.
    ///
    /// # Errors
    /// When a key of a team may only read, and those of the call.
    pub async fn author(&self) -> anyhow::Result<Shared> {
        let who = Shared::from(self.memory.who.as_str());
        match self
            .member()
            .await?
            .filter(|member| !member.name.is_empty())
        {
            None => Ok(who),
            Some(member) if may_decide(&member) => Ok(member.name),
            Some(_) => {
                let message = "this key may only read: a decision needs a key with the role triage";
                Err(CliError::new(message, "use another key").into())
            }
        }
    }

    /// The selected workspace, or all.
    ///
    /// # Errors
    /// When the selected workspace does not exist, and those of the call.
    pub async fn workspaces(&self) -> anyhow::Result<Vec<Workspace>> {
        let all = self.client()?.list_workspaces().await?;
        let Some(name) = &self.workspace else {
            return Ok(all);
        };
        let by_id = all.iter().find(|one| name.parse() == Ok(one.id));
        let by_name = || all.iter().find(|one| is_same_name(&one.name, name));
        match by_id.or_else(by_name) {
            Some(one) => Ok(vec![one.clone()]),
            None => {
                Err(
                    CliError::not_found("workspace", name, all.iter().map(|one| one.name.as_str()))
                        .into(),
                )
            }
        }
    }

    /// The id of the selected workspace.
    ///
    /// # Errors
    /// When the workspace does not exist, and those of the call.
    pub async fn workspace_id(&self) -> anyhow::Result<Option<WorkspaceId>> {
        match self.workspace {
            None => Ok(None),
            Some(_) => Ok(self.workspaces().await?.first().map(|one| one.id)),
        }
    }
}

/// The data about the configured service, which need not be reachable.
///
/// # Errors
/// When the configuration is invalid.
pub fn stored_service(args: &ServiceArgs) -> anyhow::Result<StoredService> {
    let (environment, config) = load_config(args)?;
    let memory = memory(&environment, &config, &config.service());
    Ok(StoredService {
        memory,
        config,
        state: environment.state_dir(),
    })
}

/// Directory of the decisions about a service, and the person who decides. Commands do not cache
/// lists.
pub fn memory(environment: &Environment, config: &Config, service: &ServiceName) -> Memory {
    let (directory, who) = (
        environment.state_dir().of_service(service),
        config.user.clone(),
    );
    Memory {
        directory,
        cache: None,
        who,
        keep_days: config.keep_days,
    }
}

/// Environment and configuration of a command.
///
/// # Errors
/// When the configuration is invalid.
pub fn load_config(args: &ServiceArgs) -> anyhow::Result<(Environment, Config)> {
    let environment = Environment::of_process()?;
    let flags = Flags {
        base_url: args.base_url.clone(),
        api_key_file: args.api_key_file.clone(),
        profile: args.profile.clone(),
        insecure_http: args.insecure_http,
        config: args.config.clone(),
        ..Flags::default()
    };
    let config = Config::load(&flags, &environment)?;
    Ok((environment, config))
}

/// The local service if one runs; `start` starts it otherwise.
///
/// # Errors
/// When it cannot be used.
pub async fn local(
    environment: &Environment,
    start: bool,
) -> anyhow::Result<Option<ClientSettings>> {
    let directory = environment.state_dir().service_dir();
    let found = if start {
        find_or_start(&directory).await.map(Some)
    } else {
        find(&directory).await
    };
    let failed = |error: LocalError| {
        CliError::new(
            format!("local service not connected: {error}"),
            error.hint(),
        )
    };
    let found = found.map_err(failed)?;
    Ok(found.as_ref().map(LocalService::client_settings))
}
