//! Finds the local service by its lock and `service.json`, or starts it as a separate process. This
//! is the only file of the dashboard that knows the service.

use super::{LocalError, LocalService};
use crate::config::KeySource;
use jiff::Timestamp;
use scandeck_client::{BaseUrl, BaseUrlError, ProofDestination, ProofScope, ServiceLocator};
use scandeck_service::address::Address;
use scandeck_service::audit::{AuditLog, AuditedCommand};
use scandeck_service::scope::{PatternError, ScopeEntry};
use scandeck_service::scope_check::{ActiveUse, ScopeCheck, ScopeCheckSettings};
use scandeck_service::{DataDir, DatabaseAddress, Holder, ServiceInfo, ServiceScope};
use scandeck_wire::contract::Stamp;
use scandeck_wire::input_files::{InputKind, open_regular, read_text};
use scandeck_wire::login::login;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::time::Instant;

/// Limit for the start of a service.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// Interval of the checks for the started service.
const LOOK: Duration = Duration::from_millis(25);

/// Finds the service of a data directory, or starts it.
///
/// # Errors
/// When it cannot be started or is not ready within 20 s; with the last line that it wrote.
pub async fn find_or_start(data_dir: &Path) -> Result<LocalService, LocalError> {
    let try_by_hand = || {
        format!(
            "run `scandeck serve --data-dir {}` to see why",
            data_dir.display()
        )
    };
    let directory = DataDir::open(data_dir).map_err(|error| {
        LocalError::new(
            format!("{}: {error}", data_dir.display()),
            "check the path and its permissions",
        )
    })?;
    let held = |directory: &DataDir| {
        directory
            .holder()
            .map_err(|error| LocalError::new(error, try_by_hand()))
    };
    let mut child = match held(&directory)? {
        Holder::Running(_) => None,
        Holder::Nobody => {
            Some(Started::new(&directory).map_err(|error| LocalError::new(error, try_by_hand()))?)
        }
    };
    let deadline = Instant::now() + START_TIMEOUT;
    loop {
        // The file appears when the service listens, not before.
        if let Holder::Running(Some(info)) = held(&directory)? {
            return found(&directory, &info, child.is_some()).await;
        }
        if let Some(started) = &mut child
            && started.has_ended()
            && matches!(held(&directory)?, Holder::Nobody)
        {
            return Err(LocalError::new(started.last_words(), try_by_hand()));
        }
        if Instant::now() > deadline {
            let why = format!("not ready after {} s", START_TIMEOUT.as_secs());
            return Err(LocalError::new(why, try_by_hand()));
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Finds the running service of a data directory, for commands that do not start one.
///
/// # Errors
/// When a running service cannot be used.
pub async fn find(data_dir: &Path) -> Result<Option<LocalService>, LocalError> {
    let advice = "run `scandeck status` for details";
    let existing = DataDir::existing(data_dir).map_err(|error| LocalError::new(error, advice))?;
    let Some(directory) = existing else {
        return Ok(None);
    };
    match directory
        .holder()
        .map_err(|error| LocalError::new(error, advice))?
    {
        Holder::Running(Some(info)) => found(&directory, &info, false).await.map(Some),
        Holder::Running(None) | Holder::Nobody => Ok(None),
    }
}

/// Allows targets in the scope of the service of a data directory. Returns their number.
///
/// # Errors
/// When a target is no scope entry, and when the scope cannot be written.
pub async fn add_to_scope(data_dir: &Path, names: &[String]) -> Result<usize, LocalError> {
    let advice = "add it with `scandeck scope add`";
    let directory = DataDir::open(data_dir).map_err(|error| LocalError::new(error, advice))?;
    // A service that the dashboard started has the variables of the dashboard.
    let directory = DatabaseAddress::find(None)
        .and_then(|address| directory.with_database(address))
        .map_err(|error| LocalError::new(error, advice))?;
    let (who, now) = (login(|name| std::env::var(name).ok()), Timestamp::now());
    let entry = |name: &String| {
        let target = host_of(name)
            .parse()
            .map_err(|error: PatternError| LocalError::new(error, advice))?;
        let added = Some(Stamp(now));
        Ok(ScopeEntry {
            target,
            until: None,
            active: false,
            place: None,
            note: String::new(),
            who: who.clone(),
            added,
        })
    };
    let entries = names
        .iter()
        .map(entry)
        .collect::<Result<Vec<_>, LocalError>>()?;
    let count = entries.len();
    let subject = entries
        .iter()
        .map(|entry| entry.target.to_string())
        .collect::<Vec<_>>()
        .join(" ");
    ServiceScope::new(&directory)
        .add(entries)
        .await
        .map_err(|error| LocalError::new(error, advice))?;
    let command = AuditedCommand {
        who: &who,
        command: "scope add",
        subject: &subject,
    };
    AuditLog::new(directory.audit_log(), None).write("command", &command, now);
    Ok(count)
}

/// Which targets are in the scope file of a data directory, which may be missing. Proofs are sent
/// from this machine, also while the findings are those of another service. A request that may
/// carry a payload needs an active entry, and whoever runs the program allows it
/// (`--allow-active`).
///
/// # Errors
/// When the directory cannot be read.
pub fn proof_scope(data_dir: &Path, allow_active: bool) -> Result<ProofScope, LocalError> {
    let advice = "check the path and its permissions";
    let directory = DataDir::existing(data_dir).map_err(|error| LocalError::new(error, advice))?;
    let is_default = directory
        .as_ref()
        .is_none_or(|directory| directory.command_suffix().is_empty());
    let scope_check = ScopeCheck::new(ScopeCheckSettings {
        scope_file: directory.map_or_else(
            || data_dir.join("scope.toml"),
            |directory| directory.scope_file(),
        ),
        allow_active,
        active_use: ActiveUse::Proofs,
        only_here: true,
        command_suffix: if is_default { "" } else { " --data-dir DIR" },
        ..ScopeCheckSettings::default()
    });
    Ok(ProofScope::new(move |to| check(&scope_check, to)))
}

/// Checks a destination, and whether a request that may carry a payload is permitted there.
fn check(scope_check: &ScopeCheck, to: &ProofDestination<'_>) -> Result<(), String> {
    let address = || Address::parse(to.host).map_err(|error| error.to_string());
    let in_scope = match to.address {
        Some(ip) => scope_check.check_ip(to.host, ip),
        None => scope_check.check_name(&address()?),
    };
    in_scope.map_err(|refusal| refusal.to_string())?;
    if !to.has_payload {
        return Ok(());
    }
    let is_active = match to.address {
        Some(ip) => scope_check.check_active_ip(to.host, ip),
        None => scope_check.check_active_name(&address()?),
    };
    is_active.map_err(|refusal| refusal.to_string())
}

/// The host of a target: of a URL its host, else the name or address itself.
fn host_of(target: &str) -> String {
    let url = url::Url::parse(target).ok();
    let host = url.as_ref().and_then(url::Url::host_str).unwrap_or(target);
    host.trim_matches(['[', ']']).to_owned()
}

async fn found(
    directory: &DataDir,
    info: &ServiceInfo,
    started: bool,
) -> Result<LocalService, LocalError> {
    let base = base_url(info).map_err(|error| {
        LocalError::new(
            &error,
            "stop it with `scandeck stop`, then start it on 127.0.0.1",
        )
    })?;
    let key_source = KeySource::File(
        info.api_key_file
            .clone()
            .unwrap_or_else(|| directory.key_file()),
    );
    let key = key_source
        .read()
        .await
        .map_err(|error| LocalError::new(&error, error.hint().to_owned()))?;
    let note = info
        .previous_logger_url
        .as_ref()
        .filter(|_| started)
        .map(|old| {
            let new = &info.logger_url;
            format!("logger URLs changed from {old} to {new}; old URLs no longer record")
        });
    Ok(LocalService {
        base,
        key,
        key_source,
        locator: locator(directory.clone()),
        note,
    })
}

fn base_url(info: &ServiceInfo) -> Result<BaseUrl, BaseUrlError> {
    BaseUrl::parse(info.base_url.as_str(), false)
}

/// Finds the URL of the service of a data directory while it runs.
fn locator(directory: DataDir) -> ServiceLocator {
    ServiceLocator::new(move || match directory.holder() {
        Ok(Holder::Running(Some(info))) => base_url(&info).ok(),
        Ok(Holder::Running(None) | Holder::Nobody) | Err(_) => None,
    })
}

/// A started process that is not ready yet.
struct Started {
    child: Child,
    log: PathBuf,
}

impl Started {
    fn new(directory: &DataDir) -> std::io::Result<Self> {
        let log = directory.path().join("service.log");
        let options = &mut OpenOptions::new();
        let output = open_regular(
            &log,
            options.create(true).write(true).truncate(true).mode(0o600),
        )?;
        // The arguments contain no secret, because all users of the machine can read them.
        let child = Command::new(std::env::current_exe()?)
            .args(["serve", "--detached", "--data-dir"])
            .arg(directory.path())
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()?;
        Ok(Self { child, log })
    }

    fn has_ended(&mut self) -> bool {
        // An error means that the process cannot be waited for, so it has ended.
        self.child
            .try_wait()
            .map_or(true, |status| status.is_some())
    }

    fn last_words(&self) -> String {
        let text = read_text(&self.log, InputKind::Parameters).unwrap_or_default();
        let last = text
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("it ended without a message");
        scandeck_wire::text::clean(last.trim()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use scandeck_client::{ClientResult, ClientSettings};
    use secrecy::SecretString;

    use super::*;

    #[tokio::test]
    async fn key_is_not_sent_to_the_port_of_a_stopped_service() {
        let server = wiremock::MockServer::start().await;
        let directory = tempfile::tempdir().unwrap();
        let base = BaseUrl::parse(&server.uri(), false).unwrap();
        let locator = locator(DataDir::open(directory.path()).unwrap());
        let settings = ClientSettings::new(base, SecretString::from("key")).with_locator(locator);
        let error = scandeck_client::Client::new(settings)
            .unwrap()
            .list_workspaces()
            .await
            .unwrap_err();
        assert_eq!(
            (error.to_string().as_str(), error.is_refused),
            ("local service stopped", true)
        );
        assert!(server.received_requests().await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn client_follows_the_service_to_another_port() {
        let (first, second) = (
            wiremock::MockServer::start().await,
            wiremock::MockServer::start().await,
        );
        let response = wiremock::ResponseTemplate::new(200).set_body_string("[]");
        wiremock::Mock::given(wiremock::matchers::any())
            .respond_with(response)
            .mount(&second)
            .await;
        let directory = tempfile::tempdir().unwrap();
        let lock = fs::File::create(directory.path().join("lock")).unwrap();
        lock.lock().unwrap();
        let info = serde_json::json!({
            "base_url": second.uri(), "logger_url": "http://127.0.0.1:1", "pid": 1, "logger_days": 7
        });
        fs::write(directory.path().join("service.json"), info.to_string()).unwrap();
        let base = BaseUrl::parse(&first.uri(), false).unwrap();
        let locator = locator(DataDir::open(directory.path()).unwrap());
        let settings = ClientSettings::new(base, SecretString::from("key")).with_locator(locator);
        let client = scandeck_client::Client::new(settings).unwrap();
        client.list_workspaces().await.unwrap();
        assert_eq!(client.base(), BaseUrl::parse(&second.uri(), false).unwrap());
        assert!(first.received_requests().await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn proofs_go_to_this_machine_and_to_targets_in_the_scope_file() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("none");
        let scope = proof_scope(&missing, false).unwrap();
        assert!(!missing.exists());
        assert!(sends(&scope, "localhost", "127.0.0.1", false).is_ok());
        assert!(sends(&scope, "shop.acme.test", "203.0.113.7", false).is_err());
        let names = ["shop.acme.test".to_owned()];
        let added = add_to_scope(directory.path(), &names).await;
        assert_eq!(added.unwrap(), 1);
        let scope = proof_scope(directory.path(), false).unwrap();
        assert!(sends(&scope, "shop.acme.test", "8.8.8.8", false).is_ok());
        let refused = sends(&scope, "shop.acme.test", "10.0.0.1", false).unwrap_err();
        assert!(
            refused.to_string().contains("not a public address"),
            "{refused}"
        );
        assert!(sends(&scope, "other.test", "8.8.8.8", false).is_err());
    }

    #[test]
    fn payload_needs_the_flag_and_an_active_entry() {
        let directory = tempfile::tempdir().unwrap();
        let allow = "allow = [{ target = 'a.test', active = true }, { target = 'b.test' }]";
        fs::write(directory.path().join("scope.toml"), allow).unwrap();
        let refused = |allow_active: bool, host: &str| {
            let scope = proof_scope(directory.path(), allow_active).unwrap();
            let sent = sends(&scope, host, "8.8.8.8", true);
            sent.err()
                .map(|error| error.to_string())
                .unwrap_or_default()
        };
        assert_eq!(refused(true, "a.test"), "");
        let no_flag = refused(false, "a.test");
        assert!(no_flag.contains("without `--allow-active`"), "{no_flag}");
        let no_entry = refused(true, "b.test");
        assert!(no_entry.contains("scope add b.test --active"), "{no_entry}");
        let local = refused(true, "localhost");
        assert!(local.contains("no scope entry with `active`"), "{local}");
        let out = refused(true, "c.test");
        assert!(out.contains("c.test is out of scope"), "{out}");
    }

    fn sends(scope: &ProofScope, host: &str, ip: &str, has_payload: bool) -> ClientResult<()> {
        let to = |address| ProofDestination {
            host,
            address,
            has_payload,
        };
        scope.check(&to(None))?;
        scope.check(&to(ip.parse().ok()))
    }

    #[tokio::test]
    async fn added_targets_are_in_the_scope_file_with_their_hosts() {
        let directory = tempfile::tempdir().unwrap();
        let names = [
            "shop.acme.test",
            "https://api.acme.test:8443/v1",
            "10.0.4.1",
        ]
        .map(str::to_owned);
        let added = add_to_scope(directory.path(), &names).await;
        assert_eq!(added.unwrap(), 3);
        let data_dir = DataDir::open(directory.path()).unwrap();
        let scope = ServiceScope::new(&data_dir).load().await.unwrap();
        let targets: Vec<String> = scope
            .allow
            .iter()
            .map(|entry| entry.target.to_string())
            .collect();
        assert_eq!(targets, ["shop.acme.test", "api.acme.test", "10.0.4.1"]);
        let names = ["not a name".to_owned()];
        let refused = add_to_scope(directory.path(), &names).await;
        assert!(refused.is_err());
    }
}
