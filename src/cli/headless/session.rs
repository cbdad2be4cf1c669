//! The service a command speaks to: found as the dashboard finds it, or the local one when nothing is configured and
//! one runs.

use std::path::PathBuf;

use clap::Args;

use super::print::Output;
use crate::cli::advised::Advised;
use crate::client;
use crate::client::{Client, ClientSettings};
use crate::config::{Config, Connection, Environment, Flags, ServiceName, StateDir};
use crate::contract::workspace::is_same_name;
use crate::contract::{Shared, Workspace, WorkspaceId};
use crate::dashboard::runtime::Memory;
use crate::oob::Network;

/// Which service, which workspace, which form: what every command takes.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Service")]
pub struct ServiceArgs {
    /// Base URL of the service, with or without /api/v2 [env: SCANDECK_BASE_URL]
    ///
    /// Its key comes from SCANDECK_API_KEY, the profile or --api-key-file, never from the command line. Where nothing
    /// is configured, the local service is meant if one runs, else what is archived and bundled on this machine.
    #[arg(long, value_name = "URL", global = true)]
    pub base_url: Option<String>,
    /// File with the API key, readable by its owner only
    #[arg(long, value_name = "FILE", global = true)]
    pub api_key_file: Option<PathBuf>,
    /// Profile of the configuration file
    #[arg(long, value_name = "NAME", global = true)]
    pub profile: Option<String>,
    /// Only this workspace, by name or id [default: all]
    #[arg(long, value_name = "NAME|ID", global = true)]
    pub workspace: Option<String>,
    /// Allow plain http to other machines; the key travels in the clear
    #[arg(long, global = true)]
    pub insecure_http: bool,
    /// Configuration file [default: $XDG_CONFIG_HOME/scandeck/config.toml]
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// One JSON array for a list, one object for a single thing
    #[arg(long, global = true)]
    pub json: bool,
}

/// A service ready to be asked.
#[derive(Debug)]
pub struct HeadlessSession {
    /// Speaks to it, where there is one.
    client: Option<Client>,
    /// Where answers go.
    pub out: Output,
    /// What the configuration calls it.
    pub name: String,
    /// Where decisions are kept, and who decides.
    pub memory: Memory,
    /// What stands for the workspace in fingerprints; usually empty.
    pub alias: Shared,
    /// Addresses of the analyst's own.
    pub own_addresses: Vec<Network>,
    workspace: Option<String>,
    read_only: bool,
}

/// What is kept on this machine about a service.
#[derive(Clone, Debug)]
pub struct ServicePlace {
    /// Where decisions are kept, and who decides.
    pub memory: Memory,
    /// What stands for the workspace in fingerprints; usually empty.
    pub alias: Shared,
    /// What the configuration calls the service.
    pub service: String,
    /// Everything the program remembers.
    pub state: StateDir,
}

impl HeadlessSession {
    /// Finds the service.
    ///
    /// # Errors
    /// When the configuration is wrong, or no service is configured, none runs here and nothing is kept here either.
    pub async fn open(args: &ServiceArgs) -> anyhow::Result<Self> {
        let (environment, config) = configured(args)?;
        let (settings, service) = match &config.connection {
            Connection::Remote { base, key } => {
                let key = key.read().await.map_err(Advised::from)?;
                (Some(ClientSettings::new(base.clone(), key)), config.service_at(base))
            }
            Connection::Local => (local(&environment, true).await?, ServiceName::Local),
            Connection::Ask => (local(&environment, false).await?, ServiceName::Local),
        };
        let memory = memory(&environment, &config, &service);
        if settings.is_none() && !memory.directory.exists() {
            return Err(client::Error::not_configured().into());
        }
        Ok(Self {
            client: settings.map(Client::new).transpose()?,
            out: Output::new(args.json),
            name: config.name,
            memory,
            alias: config.alias.as_str().into(),
            own_addresses: config.own_addresses,
            workspace: args.workspace.clone(),
            read_only: config.read_only,
        })
    }

    /// Speaks to the service.
    ///
    /// # Errors
    /// When none is configured, and none runs here.
    pub fn client(&self) -> client::ClientResult<&Client> {
        self.client.as_ref().ok_or_else(client::Error::not_configured)
    }

    /// The service's clock minus this machine's in seconds, where an answer told it.
    pub fn clock_offset(&self) -> Option<i64> {
        self.client.as_ref()?.clock_offset().map(|offset| offset.as_secs())
    }

    /// Whether a workspace of this name is in question.
    pub fn means(&self, workspace: &str) -> bool {
        let alike = |named: &String| is_same_name(named, workspace);
        self.workspace.as_ref().is_none_or(alike)
    }

    /// Asked before anything that changes the service.
    ///
    /// # Errors
    /// Where the profile is read-only.
    pub fn may_change(&self) -> Result<(), Advised> {
        if self.read_only {
            return Err(Advised::new(
                format!("the profile {} is read-only", self.name),
                "take another profile, or take read_only out of this one",
            ));
        }
        Ok(())
    }

    /// Asked before anything is deleted.
    ///
    /// # Errors
    /// Where the profile is read-only, or `--yes` was not said; naming what would go.
    pub fn may_delete(&self, yes: bool, what: &str) -> Result<(), Advised> {
        self.may_change()?;
        if yes {
            return Ok(());
        }
        Err(Advised::usage(format!("this deletes {what} for good"), "say so with --yes"))
    }

    /// The workspaces in question: the one that was named, else all.
    ///
    /// # Errors
    /// When the named one is not there, and those of the call.
    pub async fn workspaces(&self) -> anyhow::Result<Vec<Workspace>> {
        let all = self.client()?.list_workspaces().await?;
        let Some(named) = &self.workspace else { return Ok(all) };
        let by_id = all.iter().find(|one| named.parse() == Ok(one.id));
        let by_name = || all.iter().find(|one| is_same_name(&one.name, named));
        match by_id.or_else(by_name) {
            Some(one) => Ok(vec![one.clone()]),
            None => {
                let names: Vec<&str> = all.iter().map(|one| &*one.name).collect();
                Err(Advised::new(
                    format!("there is no workspace {named:?}"),
                    format!("there are: {}", names.join(", ")),
                )
                .into())
            }
        }
    }

    /// The workspace that was named, if one was.
    ///
    /// # Errors
    /// When it is not there, and those of the call.
    pub async fn workspace(&self) -> anyhow::Result<Option<WorkspaceId>> {
        match self.workspace {
            None => Ok(None),
            Some(_) => Ok(self.workspaces().await?.first().map(|one| one.id)),
        }
    }
}

/// Where decisions about the service in question are kept. The service need not be there.
///
/// # Errors
/// When the configuration is wrong.
pub fn place(args: &ServiceArgs) -> anyhow::Result<ServicePlace> {
    let (environment, config) = configured(args)?;
    let memory = memory(&environment, &config, &config.service());
    Ok(ServicePlace {
        memory,
        alias: config.alias.as_str().into(),
        service: config.name,
        state: environment.state_dir(),
    })
}

fn configured(args: &ServiceArgs) -> Result<(Environment, Config), Advised> {
    let environment = Environment::of_process();
    let flags = Flags {
        base_url: args.base_url.clone(),
        api_key_file: args.api_key_file.clone(),
        profile: args.profile.clone(),
        workspace: None,
        read_only: false,
        insecure_http: args.insecure_http,
        config: args.config.clone(),
    };
    let config = Config::load(&flags, &environment)?;
    Ok((environment, config))
}

fn memory(environment: &Environment, config: &Config, service: &ServiceName) -> Memory {
    let (directory, who) = (environment.state_dir().of_service(service), config.user.clone());
    Memory { directory, cache: None, who, keep_days: config.keep_days }
}

#[cfg(feature = "service")]
async fn local(environment: &Environment, start: bool) -> anyhow::Result<Option<ClientSettings>> {
    use crate::dashboard::runtime::local::{find, find_or_start};
    let directory = environment.state_dir().service_dir();
    let found = if start { find_or_start(&directory).await.map(Some) } else { find(&directory).await };
    let found = found.map_err(|error| Advised::new(&error, error.hint()))?;
    Ok(found.map(|service| ClientSettings::new(service.base, service.key)))
}

#[cfg(not(feature = "service"))]
async fn local(_: &Environment, _: bool) -> anyhow::Result<Option<ClientSettings>> {
    Ok(None)
}
