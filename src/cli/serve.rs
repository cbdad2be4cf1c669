//! `scandeck serve`: the service alone, in the foreground, until SIGTERM or SIGINT.
//!
//! Standard output gets exactly one line, `listening on http://ADDR:PORT/api/v2`, once requests are answered; notes
//! and the log go to standard error.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;
use url::Url;

use super::data_dir::DataDirArg;
use crate::contract::WorkspaceId;
use crate::service::{RateLimit, Settings, start};

/// How long a service that the dashboard started goes on with no scan, no live logger and no client.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// Flags of `scandeck serve`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  scandeck serve --listen 127.0.0.1:8765 --data-dir ./service --allow-target 10.0.4.0/24
  curl -H \"authorization: Bearer $(cat ./service/key)\" http://127.0.0.1:8765/api/v2/workspaces

The key is made on the first start and kept in DIR/key. What may be scanned besides this machine is in the scope \
file; see `scandeck scope --help`. The service stops cleanly on SIGTERM and SIGINT; scans that run go on with the \
next start.")]
pub struct ServeArgs {
    #[command(flatten)]
    directory: DataDirArg,
    /// Where the API listens; port 0 takes a free one [default: 127.0.0.1:8765]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<SocketAddr>,
    /// Where the HTTP loggers listen; port 0 takes a free one [default: 127.0.0.1:8766]
    #[arg(long, value_name = "ADDR:PORT")]
    logger_listen: Option<SocketAddr>,
    /// Public base of the loggers' URLs, when a proxy or tunnel stands in front of them
    #[arg(long, value_name = "URL", value_parser = web_url)]
    logger_url: Option<Url>,
    /// File with the API key, made (0600) when missing [default: DIR/key]
    #[arg(long, value_name = "FILE")]
    api_key_file: Option<PathBuf>,
    /// A host name, address or network that may be scanned besides those of the scope file; can be repeated
    #[arg(long = "allow-target", value_name = "NAME|CIDR")]
    allow_targets: Vec<String>,
    /// Lets private addresses (RFC 1918, unique local IPv6) be scanned
    #[arg(long)]
    allow_private: bool,
    /// GET requests a minute, `hosted` (250) or `off`; POST and DELETE have half, scan output a quarter
    #[arg(long, value_name = "N", default_value = "3000")]
    rate_limit: RateLimit,
    /// Targets the service keeps
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    max_targets: usize,
    /// Scans that run at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = at_least_one)]
    scans_at_once: usize,
    /// Requests one logger records
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(i64).range(1..))]
    logger_quota: i64,
    /// Days one logger records
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(i64).range(1..=3650))]
    logger_days: i64,
    /// Makes this workspace the one that requests without workspace_id mean
    #[arg(long, value_name = "ID")]
    current_workspace: Option<WorkspaceId>,
    /// Started by the dashboard: a session of its own, the ports of last time or free ones, an end when unused
    #[arg(long, hide = true)]
    detached: bool,
}

fn web_url(text: &str) -> Result<Url, String> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        _ => Err("write http://… or https://…".to_owned()),
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..) => Ok(number),
        _ => Err("write a number from 1".to_owned()),
    }
}

impl ServeArgs {
    fn settings(self) -> Settings {
        let defaults = Settings::new(self.directory.path());
        Settings {
            // An address that was named is meant: then a busy port is an error.
            any_port: self.detached && self.listen.is_none() && self.logger_listen.is_none(),
            listen: self.listen.unwrap_or(defaults.listen),
            logger_listen: self.logger_listen.unwrap_or(defaults.logger_listen),
            logger_url: self.logger_url,
            api_key_file: self.api_key_file,
            allow_targets: self.allow_targets,
            allow_private: self.allow_private,
            rate_limit: self.rate_limit,
            max_targets: self.max_targets,
            scans_at_once: self.scans_at_once,
            logger_quota: self.logger_quota,
            logger_days: self.logger_days,
            current_workspace: self.current_workspace,
            idle_exit: self.detached.then_some(IDLE),
            ..defaults
        }
    }
}

/// Runs the service until a signal ends it.
///
/// # Errors
/// When it cannot start; the message says what to do.
pub async fn run(args: ServeArgs) -> anyhow::Result<ExitCode> {
    if args.detached {
        // It must outlive the terminal of the dashboard; a process that leads a group already has its own session.
        let _ = rustix::process::setsid();
    }
    log_to_stderr();
    let shutdown = CancellationToken::new();
    // Before the start: a signal that comes meanwhile must not kill half a start.
    let signals = tokio::spawn(stop_on_signal(args.detached, shutdown.clone()));
    let running = start(args.settings(), shutdown.clone()).await?;
    if running.logger_base.host_str().is_some_and(is_loopback) {
        eprintln!("note: the loggers are reachable from this machine only; --logger-url names a public way to them");
    }
    for note in &running.notes {
        eprintln!("note: {note}");
    }
    let mut out = std::io::stdout().lock();
    // Who closed our output does not end the service.
    let _ = writeln!(out, "listening on {}", running.base_url).and_then(|()| out.flush());
    drop(out);
    let ended = running.stopped().await;
    signals.abort();
    ended.map(|()| ExitCode::SUCCESS)
}

fn is_loopback(host: &str) -> bool {
    let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

fn log_to_stderr() {
    let filter = EnvFilter::try_from_env("SCANDECK_LOG").unwrap_or_else(|_| EnvFilter::new("warn,scandeck=info"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false);
    // Another part of the program may have set a log already; then that one is used.
    let _ = log.try_init();
}

/// Cancels `shutdown` at SIGTERM, SIGINT or, with a terminal, SIGHUP.
async fn stop_on_signal(detached: bool, shutdown: CancellationToken) {
    let streams = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()), signal(SignalKind::hangup()));
    let (Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)) = streams else {
        eprintln!("note: signals cannot be caught here; end the service with `scandeck stop`, or by killing it");
        return;
    };
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => if !detached { break },
        }
    }
    shutdown.cancel();
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
        Command::try_parse_from(["serve"].into_iter().chain(args.split_whitespace())).unwrap().serve.settings()
    }

    #[test]
    fn without_flags_the_defaults_of_the_settings_stand() {
        let (given, expected) = (settings("--data-dir /x"), Settings::new("/x"));
        assert_eq!(format!("{given:?}"), format!("{expected:?}"));
    }

    #[test]
    fn only_a_detached_service_without_addresses_looks_for_free_ports_and_ends_when_unused() {
        assert!(settings("--detached").any_port && settings("--detached").idle_exit.is_some());
        assert!(!settings("--detached --listen 127.0.0.1:1").any_port);
        assert!(!settings("").any_port && settings("").idle_exit.is_none());
    }

    #[test]
    fn values_that_make_no_sense_are_refused() {
        for args in
            ["--listen nowhere", "--rate-limit 0", "--scans-at-once 0", "--logger-url oob.example", "--logger-days 0"]
        {
            assert!(Command::try_parse_from(["serve"].into_iter().chain(args.split_whitespace())).is_err(), "{args}");
        }
    }
}
