//! `scandeck serve`: the service alone, in the foreground, until SIGTERM or SIGINT.
//!
//! Standard output gets one line, `listening on http://ADDR:PORT/api/v2`, when the service is
//! ready; notes and the log go to standard error.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;
use url::Url;

use super::DataDirArg;
use super::limits::{ConnectionArgs, ScanLimitArgs};
use super::network::NetworkArgs;
use super::value::{at_least, at_least_one, name_server, socket_address};
use crate::cli::error::CliError;
use crate::cli::value::{number, number_in};
use scandeck_report::{ReportTemplate, read_report_template};
use scandeck_service::{
    KeyQuotas, NodeRole, RateLimit, ServerIdentity, Settings, StartError, start,
};
use scandeck_wire::contract::WorkspaceId;
use scandeck_wire::text::CleanLog;

/// A service that the dashboard started ends after this time without a scan, an active logger or a
/// client.
const IDLE_LIMIT: Duration = Duration::from_secs(30 * 60);

#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck serve --listen 127.0.0.1:8765 --data-dir ./service --allow-target 10.0.4.0/24")]
pub struct ServeArgs {
    #[command(flatten)]
    directory: DataDirArg,
    /// Address of the API; port 0 chooses a free port [default: 127.0.0.1:8765]
    #[arg(long, value_name = "ADDR:PORT", value_parser = socket_address)]
    listen: Option<SocketAddr>,
    /// Address of the HTTP loggers; port 0 chooses a free port [default: 127.0.0.1:8766]
    #[arg(long, value_name = "ADDR:PORT", value_parser = socket_address)]
    logger_listen: Option<SocketAddr>,
    /// Address of the metrics for Prometheus, at /metrics without a key; none by default
    #[arg(long, value_name = "ADDR:PORT", value_parser = socket_address)]
    metrics_listen: Option<SocketAddr>,
    /// Format of the log on standard error
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,
    /// Size at which the audit log (DIR/audit.jsonl) is rotated; five older files are kept
    #[arg(long, value_name = "BYTES", default_value_t = 10_485_760, value_parser = |text: &str| at_least(65_536_u64, text))]
    audit_bytes: u64,
    /// Public base URL of the loggers, behind a proxy or tunnel
    #[arg(long, value_name = "URL", value_parser = web_url)]
    logger_url: Option<Url>,
    /// File with the API key, created (0600) if missing [default: DIR/key]
    #[arg(long, value_name = "FILE")]
    api_key_file: Option<PathBuf>,
    /// File with the key that encrypts the credentials of scans, created (0600) if missing
    /// [default: DIR/secrets.key]
    #[arg(long, value_name = "FILE")]
    secrets_key_file: Option<PathBuf>,
    /// Host name, address or network to allow in addition to the scope file; repeatable
    #[arg(long = "allow-target", value_name = "NAME|NETWORK")]
    allow_targets: Vec<String>,
    /// Allow scans of private and link-local addresses
    #[arg(long)]
    allow_private: bool,
    /// Allow active tools, which send attacks, against targets whose scope entry has `active`
    #[arg(long)]
    allow_active: bool,
    /// GET requests per minute of each key, `hosted` (250) or `off`; half for POST, PUT and DELETE,
    /// a quarter for scan output
    #[arg(long, value_name = "N", default_value = "3000")]
    rate_limit: RateLimit,
    /// Maximum number of targets
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = number)]
    max_targets: usize,
    /// Maximum number of concurrent scans
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = at_least_one::<usize>)]
    scans_at_once: usize,
    /// What this node provides, separated by commas; other nodes of one PostgreSQL database provide
    /// the rest [default: api,logger,worker]
    #[arg(long = "role", value_name = "ROLE", value_delimiter = ',', value_parser = NodeRole::from_name)]
    roles: Vec<NodeRole>,
    /// Name server for scans, instead of the system resolver
    #[arg(long, value_name = "IP:PORT", value_parser = name_server)]
    dns_server: Option<SocketAddr>,
    /// Maximum number of requests that a logger records
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = at_least_one::<i64>)]
    logger_quota: i64,
    /// Days that a logger records
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = |text: &str| number_in(1..=3650_i64, text))]
    logger_days: i64,
    /// Maximum size of the requests that a logger records, with headers and bodies
    #[arg(long, value_name = "BYTES", default_value_t = 67_108_864, value_parser = at_least_one::<i64>)]
    logger_bytes: i64,
    /// Past months whose requests to loggers are kept, besides the current month; those of earlier
    /// months are deleted [default: all are kept]
    #[arg(long, value_name = "N", value_parser = |text: &str| number_in(1..=1200_u16, text))]
    capture_months: Option<u16>,
    /// Maximum number of loggers; keys with the role `triage` add none beyond half of it
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = at_least_one::<usize>)]
    max_loggers: usize,
    /// Loggers, and as many reports, that a key with the role `triage` may create in an hour
    #[arg(long, value_name = "N", default_value_t = 100)]
    triage_quota: u32,
    /// Loggers, and as many reports and scans, that a key with the role `scan` may create in an
    /// hour
    #[arg(long, value_name = "N", default_value_t = 1000)]
    scan_quota: u32,
    /// Maximum size of all reports; the oldest ones expire first
    #[arg(long, value_name = "BYTES", default_value_t = 1_073_741_824, value_parser = at_least_one::<i64>)]
    report_bytes: i64,
    /// Template of a client for the reports that the service makes: its texts and logo, and for
    /// the reports of `--callback-url` its options too; examples in assets/reports
    #[arg(long, value_name = "FILE")]
    report_template: Option<PathBuf>,
    /// Maximum requests without a valid key, per minute and client address (then 429)
    #[arg(long, value_name = "N", default_value_t = 60)]
    wrong_keys: u32,
    /// Current workspace: the default for new items and for GET /scans
    #[arg(long, value_name = "ID")]
    current_workspace: Option<WorkspaceId>,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    connections: ConnectionArgs,
    #[command(flatten)]
    scan_limits: ScanLimitArgs,
    /// Used by tests: milliseconds without a beat after which other nodes take the scans over
    #[arg(long, value_name = "MS", default_value_t = 15_000, hide = true, value_parser = |text: &str| number_in(100..=600_000_u64, text))]
    lease_ms: u64,
    /// Used by the dashboard: runs in its own session, reuses its ports or picks free ones, exits
    /// when unused
    #[arg(long, hide = true)]
    detached: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// For people
    Text,
    /// A JSON object on each line
    Json,
}

pub(super) fn web_url(text: &str) -> Result<Url, String> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        _ => Err("use http://… or https://…".to_owned()),
    }
}

impl ServeArgs {
    fn settings(self) -> anyhow::Result<Settings> {
        let defaults = self.network.apply(Settings::new(self.directory.path()?));
        let report_template = match &self.report_template {
            Some(path) => read_report_template(path).map_err(|problem| {
                CliError::usage(problem, "check the path, or correct the template")
            })?,
            None => ReportTemplate::default(),
        };
        Ok(Settings {
            database: self.directory.database()?,
            roles: match self.roles.is_empty() {
                true => defaults.roles,
                false => self.roles.into_iter().collect(),
            },
            lease: Duration::from_millis(self.lease_ms),
            // With an explicit address a busy port is an error.
            any_port: self.detached && self.listen.is_none() && self.logger_listen.is_none(),
            listen: self.listen.unwrap_or(defaults.listen),
            logger_listen: self.logger_listen.unwrap_or(defaults.logger_listen),
            metrics_listen: self.metrics_listen,
            audit_bytes: self.audit_bytes,
            logger_url: self.logger_url,
            api_key_file: self.api_key_file,
            secrets_key_file: self.secrets_key_file,
            allow_targets: self.allow_targets,
            allow_private: self.allow_private,
            allow_active: self.allow_active,
            rate_limit: self.rate_limit,
            max_targets: self.max_targets,
            scans_at_once: self.scans_at_once,
            scan_limits: self.scan_limits.into(),
            dns_server: self.dns_server,
            logger_quota: self.logger_quota,
            logger_days: self.logger_days,
            logger_bytes: self.logger_bytes,
            capture_months: self.capture_months,
            wrong_keys: self.wrong_keys,
            key_quotas: KeyQuotas {
                triage: self.triage_quota,
                scan: self.scan_quota,
            },
            max_loggers: self.max_loggers,
            report_bytes: self.report_bytes,
            report_template,
            connections: self.connections.into(),
            current_workspace: self.current_workspace,
            idle_exit: self.detached.then_some(IDLE_LIMIT),
            ..defaults
        })
    }
}

/// Runs the service until a signal stops it.
///
/// # Errors
/// When the service cannot start.
pub async fn run(args: ServeArgs) -> anyhow::Result<ExitCode> {
    if args.detached {
        // The service must outlive the terminal of the dashboard. A group leader already has a
        // session.
        let _ = rustix::process::setsid();
    }
    log_to_stderr(args.log_format);
    let shutdown = CancellationToken::new();
    // Before the start: a signal must not interrupt the start halfway.
    let reload = Arc::new(Notify::new());
    let hangup = match () {
        () if args.network.has_certificate() => Hangup::Reload(Arc::clone(&reload)),
        () if args.detached => Hangup::Ignore,
        () => Hangup::Stop,
    };
    let signals = tokio::spawn(stop_on_signal(hangup, shutdown.clone()));
    let running = match start(args.settings()?, shutdown.clone()).await {
        Err(StartError::Stopped) => return Ok(ExitCode::SUCCESS),
        started => started?,
    };
    let identities: Vec<_> = [&running.identity, &running.logger_identity]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    let reloads = tokio::spawn(reload_certificates(identities, reload));
    if running.logger_base.host_str().is_some_and(is_loopback) {
        note!("note: loggers are reachable from this machine only; see --logger-url");
    }
    for note in &running.notes {
        note!("note: {note}");
    }
    let mut out = std::io::stdout().lock();
    // A closed output does not stop the service.
    let _ = writeln!(out, "listening on {}", running.base_url).and_then(|()| out.flush());
    drop(out);
    let ended = running.stopped().await;
    signals.abort();
    reloads.abort();
    ended.map(|()| ExitCode::SUCCESS)
}

fn is_loopback(host: &str) -> bool {
    let ip = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<std::net::IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

pub(super) fn log_to_stderr(format: LogFormat) {
    let filter = EnvFilter::try_from_env("SCANDECK_LOG")
        .unwrap_or_else(|_| EnvFilter::new("warn,scandeck=info"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false);
    // A closed standard error must not stop the service.
    let log = log.log_internal_errors(false);
    // Another part of the program may have set a log already.
    let _ = match format {
        LogFormat::Text => log.with_writer(|| CleanLog(std::io::stderr())).try_init(),
        LogFormat::Json => log
            .with_writer(std::io::stderr)
            .json()
            .flatten_event(true)
            .with_span_list(false)
            .try_init(),
    };
}

/// The meaning of SIGHUP.
pub(super) enum Hangup {
    /// The terminal was closed.
    Stop,
    /// The service outlives the terminal of the dashboard.
    Ignore,
    /// The certificate was renewed.
    Reload(Arc<Notify>),
}

/// Cancels `shutdown` at SIGTERM, SIGINT or, with a terminal, SIGHUP.
pub(super) async fn stop_on_signal(at_hangup: Hangup, shutdown: CancellationToken) {
    let streams = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
        signal(SignalKind::hangup()),
    );
    let (Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)) = streams else {
        note!("note: signals cannot be caught; stop the service with `scandeck stop`");
        return;
    };
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => match &at_hangup {
                Hangup::Stop => break,
                Hangup::Ignore => {}
                Hangup::Reload(reload) => reload.notify_one(),
            },
        }
    }
    shutdown.cancel();
}

async fn reload_certificates(identities: Vec<Arc<ServerIdentity>>, reload: Arc<Notify>) {
    loop {
        reload.notified().await;
        for identity in &identities {
            match identity.reload() {
                Ok(()) => tracing::info!("certificate {} reloaded", identity.path().display()),
                Err(error) => {
                    let path = identity.path().display();
                    tracing::error!(error = %format!("{error:#}"), "certificate {path} not reloaded; the old one remains");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        serve: ServeArgs,
    }

    fn settings(args: &str) -> Settings {
        Command::try_parse_from(["serve"].into_iter().chain(args.split_whitespace()))
            .unwrap()
            .serve
            .settings()
            .unwrap()
    }

    #[test]
    fn settings_without_flags_are_defaults() {
        let (given, expected) = (settings("--data-dir /x"), Settings::new("/x"));
        assert_eq!(format!("{given:?}"), format!("{expected:?}"));
    }

    #[test]
    fn detached_service_without_addresses_uses_any_port_and_ends_when_idle() {
        assert!(settings("--detached").any_port && settings("--detached").idle_exit.is_some());
        assert!(!settings("--detached --listen 127.0.0.1:1").any_port);
        assert!(!settings("").any_port && settings("").idle_exit.is_none());
    }

    #[test]
    fn roles_are_separated_by_commas() {
        let roles = |args: &str| Vec::from_iter(settings(args).roles);
        assert_eq!(roles(""), NodeRole::ALL);
        assert_eq!(
            roles("--role worker,api"),
            [NodeRole::Api, NodeRole::Worker]
        );
    }

    #[test]
    fn invalid_values_are_rejected() {
        for args in [
            "--listen nowhere",
            "--rate-limit 0",
            "--scans-at-once 0",
            "--logger-url oob.example",
            "--logger-days 0",
            "--capture-months 0",
            "--role scanner",
        ] {
            assert!(
                Command::try_parse_from(["serve"].into_iter().chain(args.split_whitespace()))
                    .is_err(),
                "{args}"
            );
        }
    }
}
