//! Opens a service for the dashboard: the configured one, or the one that is chosen at the first
//! start.
//!
//! ```text
//!   Config, or the choice ─► key ─► client ─► check ─► Connected
//! ```
//!
//! An error before the screen opens is printed on two lines, cause and remedy, with exit code 1.

use std::sync::Arc;

use futures::FutureExt;
use secrecy::SecretString;

use super::{demo, headless};
use scandeck_client::{BaseUrl, Client, ClientSettings, Error, ErrorKind, Problem};
use scandeck_dashboard::base::{ConnectionChoice, Session};
use scandeck_dashboard::config::{
    Config, ConfigError, Connection, Environment, FirstStartChoice, KeySource, ServiceName,
};
use scandeck_dashboard::runtime;
use scandeck_dashboard::runtime::{Connected, ConnectionSource, Connector, Memory};

/// Opens the configured service; `None` if nothing is configured.
pub async fn open(
    config: &Config,
    environment: &Environment,
) -> Result<Option<Connected>, Problem> {
    match &config.connection {
        Connection::Prompt => Ok(None),
        Connection::Local => local(config, environment).await.map(Some),
        Connection::Remote { base, key } => {
            let settings = settings(base, key.read().await?, key);
            let memory = cached_memory(config, environment, &config.service_at(base), base);
            // With cached lists the screen opens at once and shows the state of the service itself.
            let client = match memory.has_cached_lists() {
                true => Client::new(settings)?,
                false => checked(settings).await?,
            };
            Ok(Some(connected(client, key, config, &config.name, memory)))
        }
    }
}

fn settings(base: &BaseUrl, key: SecretString, source: &KeySource) -> ClientSettings {
    ClientSettings::new(base.clone(), key).with_key_source(&source.to_string())
}

/// A client whose base URL and key were checked.
async fn checked(settings: ClientSettings) -> Result<Client, Problem> {
    let shown = settings.base.to_string();
    let client = Client::new(settings)?;
    match client.list_workspaces().await {
        Ok(_) => Ok(client),
        Err(error) => Err(unusable(&shown, &error)),
    }
}

fn unusable(base: &str, error: &Error) -> Problem {
    let state = match error.kind {
        ErrorKind::Unauthorized => "API key rejected by",
        ErrorKind::NotThisApi | ErrorKind::Decode | ErrorKind::NotFound => "no scanning API v2 at",
        ErrorKind::Connect | ErrorKind::Timeout => "cannot connect to",
        // The cause names TLS or the certificate.
        ErrorKind::Tls => "",
        _ => "request failed at",
    };
    let hint = match error.kind {
        ErrorKind::NotFound => scandeck_client::NOT_THIS_API_HINT.to_owned(),
        _ => error.hint(),
    };
    let problem = Problem::from(error);
    // The state says the same.
    let cause = problem
        .message
        .strip_prefix("cannot connect: ")
        .unwrap_or(&problem.message);
    let cause = cause.replace(": the server does not implement the API v2", "");
    if error.kind == ErrorKind::Unauthorized {
        // The message of the service is the same fact in other words.
        return Problem {
            message: format!("{state} {base}"),
            hint: Some(hint),
            ..problem
        };
    }
    let hint = Some(hint).filter(|hint| !hint.is_empty());
    Problem {
        message: format!("{state} {base}: {cause}").trim_start().to_owned(),
        hint,
        ..problem
    }
}

fn cached_memory(
    config: &Config,
    environment: &Environment,
    service: &ServiceName,
    base: &BaseUrl,
) -> Memory {
    let cache = environment
        .state_dir()
        .cached_lists(service, &base.to_string());
    Memory {
        cache: Some(cache),
        ..headless::session::memory(environment, config, service)
    }
}

fn connected(
    client: Client,
    key: &KeySource,
    config: &Config,
    name: &str,
    memory: Memory,
) -> Connected {
    let session = Session {
        name: name.to_owned(),
        base_url: client.base().to_string(),
        service_flags: config.service_flags.clone(),
        read_only: config.read_only,
        allow_active: config.allow_active,
        colour: config.colour,
        reads_key_again: key.is_readable_again(),
        key_source: key.to_string(),
        workspace: config.workspace.clone(),
        alias: config.alias.as_str().into(),
        own_addresses: config.own_addresses.clone(),
        ..Session::default()
    };
    let (source, key) = (ConnectionSource::Service(client), Some(key.clone()));
    Connected {
        source,
        session,
        memory,
        key,
        service_dir: None,
        note: None,
        keep_alive: None,
    }
}

/// Opens the service that is chosen at the first start.
pub fn connector(config: Config, environment: Environment) -> Connector {
    let shared = Arc::new((config, environment));
    Arc::new(move |choice| {
        let shared = Arc::clone(&shared);
        async move {
            let (config, environment) = &*shared;
            match choice {
                ConnectionChoice::Here => {
                    let connected = local(config, environment).await?;
                    environment
                        .state_dir()
                        .remember(&FirstStartChoice::Here, None)?;
                    Ok(connected)
                }
                ConnectionChoice::Hosted { base_url, key } => {
                    let base = BaseUrl::parse(&base_url, config.insecure_http)
                        .map_err(ConfigError::from)?;
                    let key = SecretString::from(key.0.trim().to_owned());
                    let client = checked(ClientSettings::new(base.clone(), key.clone())).await?;
                    let choice = FirstStartChoice::Hosted {
                        base_url: base.to_string(),
                    };
                    environment.state_dir().remember(&choice, Some(&key))?;
                    let memory = cached_memory(
                        config,
                        environment,
                        &ServiceName::At(base.to_string()),
                        &base,
                    );
                    let stored = KeySource::File(environment.state_dir().key_file());
                    Ok(connected(client, &stored, config, base.host(), memory))
                }
                ConnectionChoice::Demo => demo::open().await,
            }
        }
        .boxed()
    })
}

/// The local service, which is started if it does not run.
async fn local(config: &Config, environment: &Environment) -> Result<Connected, Problem> {
    let service_dir = environment.state_dir().service_dir();
    let service = runtime::local::find_or_start(&service_dir)
        .await
        .map_err(|error| {
            Problem::local(format!("local service not connected: {error}")).with_hint(error.hint())
        })?;
    let memory = cached_memory(config, environment, &ServiceName::Local, &service.base);
    let client = checked(service.client_settings()).await?;
    let connected = connected(client, &service.key_source, config, "local", memory);
    let session = Session {
        starts_service: true,
        ..connected.session
    };
    Ok(Connected {
        session,
        service_dir: Some(service_dir),
        note: service.note,
        ..connected
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn unreachable_service_is_named_with_a_hint() {
        let base = BaseUrl::parse("http://127.0.0.1:1", false).unwrap();
        let problem = checked(ClientSettings::new(base, "k".to_owned().into()))
            .await
            .unwrap_err();
        assert!(
            problem
                .message
                .starts_with("cannot connect to http://127.0.0.1:1/api/v2: connection refused"),
            "{problem}"
        );
        assert!(problem.hint.is_some());
    }
}
